// Package state owns what the emulated cloud remembers: the resource types in
// the cloud's own words, the transactions over them, their indexes and their
// invariants. It reports facts (a thing is not there, a limit is reached) and
// must not know any wire format, error code or HTTP.
//
// The working set is a go-memdb of immutable values: a *T that a table returned
// or took is never written to again, neither are the slices and maps in it.
// Edit hands out a copy to change.
//
// Writers are serial. A transaction is applied to the newest working set, its
// change set joins a batch, one committer makes the batch durable, and only then
// do readers see it and do its callers return.
package state
