// Package engine is the boundary between the working set and the medium that
// keeps it. It moves opaque values under (table, id); it knows no resource, no
// index and no JSON.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// SchemaVersion is the version of what this build writes. It reads all before:
// version 2 guards each value by a checksum, the values themselves are those of
// version 1.
const SchemaVersion = 2

// What errors of engines wrap.
var (
	// ErrLocked reports that another process holds the data folder.
	ErrLocked = errors.New("the data folder is in use by another process")
	// ErrReadOnly is the answer to every commit of an engine opened to be
	// read.
	ErrReadOnly = errors.New("the state was opened to be read only")
	// ErrDamaged reports that the content differs from what was written.
	ErrDamaged = errors.New("what is kept is damaged")
	// ErrNotMade is in an error of Commit after which nothing of the commit is
	// kept, nor will be.
	ErrNotMade = errors.New("nothing of it is kept")
	// ErrTooLarge reports a change that the medium can't take. It wraps ErrNotMade, and
	// the engine takes other commits as before.
	ErrTooLarge = fmt.Errorf("the change is too large: %w", ErrNotMade)
	// ErrFenced reports that another process may write now, and this one no longer.
	ErrFenced = errors.New("another process leads now")
	// ErrReplaced reports a medium that lacks what this process has read or written.
	ErrReplaced = errors.New("the medium was replaced by an older or another one")
	// ErrBehind ends a feed that would leave out a commit.
	ErrBehind = errors.New("the commits that follow are no longer kept")
)

// Change puts Value at (Table, ID); a nil Value deletes it.
type Change struct {
	Table string
	ID    string
	Value []byte
}

// ChangeSet is the outcome of one transaction: all of it or nothing.
type ChangeSet []Change

// InOrder sorts changes by where they go, and keeps the last of those to the same
// place. Engines take keys in their order as fast as they can, and a large import in any
// other order in time that grows with its square.
func InOrder(sets []ChangeSet) ChangeSet {
	changes := slices.Concat(sets...)
	slices.SortStableFunc(changes, byPlace)
	last := changes[:0]
	for i, c := range changes {
		if i+1 == len(changes) || byPlace(c, changes[i+1]) != 0 {
			last = append(last, c)
		}
	}
	return last
}

// Before reports whether a goes to an earlier place than b.
func Before(a, b Change) bool { return byPlace(a, b) < 0 }

func byPlace(a, b Change) int {
	return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.ID, b.ID))
}

// Engine keeps values. Implementations need not be safe for concurrent commits:
// the store has one committer.
type Engine interface {
	// Load calls fn for every stored value, in order of table and id. The
	// value is only valid during the call. A value that is not the one that was
	// written is an error that wraps ErrDamaged and names it.
	Load(ctx context.Context, fn func(table, id string, value []byte) error) error

	// Commit makes the change sets durable, in order and all together, on the
	// precondition that no other process writes. After an error that does not wrap
	// ErrNotMade it is not known whether they are kept. After any but ErrTooLarge
	// callers may call only Recover and Close.
	Commit(ctx context.Context, sets []ChangeSet) error

	// Recover determines the content after a Commit that failed: what Load yields
	// from then on is durable. After an error the caller may try again.
	Recover(ctx context.Context) error

	// Revision returns how many change sets were ever committed, also before the
	// engine was opened.
	Revision(ctx context.Context) (uint64, error)

	Close() error
}

// Commit is one commit of a process: the last change of each place.
type Commit struct {
	// Revision is the engine's after it.
	Revision uint64
	Changes  ChangeSet
}

// Reading holds an engine's rows at one moment, and the commits after it.
type Reading interface {
	// Load is Engine's, as of that moment.
	Load(ctx context.Context, fn func(table, id string, value []byte) error) error
	// Revision is the engine's at that moment.
	Revision() uint64
	// Commits yields every commit after that moment, in order. It ends with ctx's error, or with
	// one that wraps ErrBehind, after which another Reading goes on.
	Commits(ctx context.Context) iter.Seq2[Commit, error]
	// Confirmed returns a time, on this machine's clock, up to which all commits
	// were yielded.
	Confirmed() time.Time
}

// Followed is an engine whose commits other processes can follow.
type Followed interface {
	Engine
	Follow(ctx context.Context) (Reading, error)
}

// Elected is an engine that several processes share; one of them leads at a time.
type Elected interface {
	Followed
	Election
	// Ahead returns how far the clock that all replicas go by is ahead of this machine's.
	// That clock is the first leader's, and goes on with the next.
	Ahead() time.Duration
	// NewBranch begins a state of that name next to this one, whose users see to it that
	// no branch of the name is open. Only the leader has branches; closing one deletes
	// nothing. It refuses a name that is kept with an error that wraps fs.ErrExist.
	NewBranch(ctx context.Context, name string) (Engine, error)
	// KeepBranch stores a description of a branch. From then on the next leader finds the branch.
	KeepBranch(ctx context.Context, name string, about []byte) error
	// Branches returns the kept branches with their descriptions, and drops those that a leader
	// began and did not keep.
	Branches(ctx context.Context) (map[string][]byte, error)
	// Branch opens one of them.
	Branch(ctx context.Context, name string) (Engine, error)
	// DropBranch deletes a branch, if there is one.
	DropBranch(ctx context.Context, name string) error
}

// Election lets processes find out which of them leads.
type Election interface {
	// Campaign waits until this process leads, which the others see as a member that
	// has the name self. Commit works from then on, until the term is over.
	Campaign(ctx context.Context, self string) (Term, error)
	// Members calls fn with the members whenever they change, the leader first, until
	// ctx ends.
	Members(ctx context.Context, fn func([]Member)) error
	// Changed waits until a program other than clbemu has changed the kept state, and returns what
	// it changed. From then on Commit fails, and Campaign waits in vain. It returns ctx's error
	// when ctx ends.
	Changed(ctx context.Context) error
}

// Term is a time in which a process leads. It ends with the engine, or when the process
// does not answer for some seconds.
type Term interface {
	// Leads reports whether no other process can have begun to lead.
	Leads() bool
	// Over closes at the end of the term, and then Why is the reason.
	Over() <-chan struct{}
	Why() error
}

// Member is a process that leads or waits to.
type Member struct {
	Self string
	// Term numbers its term, or the one that it waits for.
	Term int64
}

// CopyTo commits everything that an engine keeps into another one, which is empty.
func CopyTo(ctx context.Context, from, to Engine) error {
	var all ChangeSet
	if err := from.Load(ctx, func(table, id string, value []byte) error {
		all = append(all, Change{Table: table, ID: id, Value: append([]byte{}, value...)})
		return nil
	}); err != nil {
		return err
	}
	if err := to.Commit(ctx, []ChangeSet{all}); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return nil
}
