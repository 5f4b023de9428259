// Package state is the store: transactions over tables of immutable values, their
// indexes, the declarations of kinds and what follows from them (checks, removal,
// tags, quotas, life), the emulated clock, and the feed of changes. It knows no
// resource: package kinds declares those. It reports facts (a resource is missing, a
// limit is reached) and must not know any wire format, error code or HTTP.
//
// The working set consists of trees that share their common parts with earlier and
// later versions: a *T that a table returned or received is never written again, nor
// are its slices and maps. Edit returns a copy to change.
//
// Writers are serial. A transaction applies to the newest working set, its
// change set joins a batch, one committer makes the batch durable, and only then
// do readers see it and do its callers return.
package state
