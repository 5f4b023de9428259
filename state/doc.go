// Package state is the store: transactions over tables of immutable values, their
// indexes, what is declared of each kind and follows from that (checks, removal,
// tags, quotas, life), the emulated clock, and what is handed out of each change. It
// knows no resource: package cloud declares those. It reports facts (a thing is not
// there, a limit is reached) and must not know any wire format, error code or HTTP.
//
// The working set is trees that share what they have in common with those before
// and after: a *T that a table returned or took is never written to again, neither
// are the slices and maps in it. Edit hands out a copy to change.
//
// Writers are serial. A transaction is applied to the newest working set, its
// change set joins a batch, one committer makes the batch durable, and only then
// do readers see it and do its callers return.
package state
