// Package engine is the boundary between the working set and the medium that
// keeps it. It moves opaque values under (table, id); it knows no resource, no
// index and no JSON.
package engine

import (
	"context"
	"errors"
	"fmt"
)

// SchemaVersion is the version of what this build writes. It reads all before:
// version 2 guards each value by a checksum, the values themselves are those of
// version 1.
const SchemaVersion = 2

// What errors of engines wrap.
var (
	// ErrLocked reports that another process holds the data folder.
	ErrLocked = errors.New("the data folder is in use by another process")
	// ErrReadOnly is the answer to every commit of an engine that was opened to be
	// read.
	ErrReadOnly = errors.New("the state was opened to be read only")
	// ErrDamaged reports that what is kept is not what was written.
	ErrDamaged = errors.New("what is kept is damaged")
)

// Change puts Value at (Table, ID); a nil Value deletes what is there.
type Change struct {
	Table string
	ID    string
	Value []byte
}

// ChangeSet is the outcome of one transaction: all of it or nothing.
type ChangeSet []Change

// Engine keeps values. Implementations need not be safe for concurrent commits:
// the store has one committer.
type Engine interface {
	// Load calls fn for every value that is kept, in order of table and id. The
	// value is only valid during the call. A value that is not the one that was
	// written is an error that wraps ErrDamaged and names it.
	Load(ctx context.Context, fn func(table, id string, value []byte) error) error

	// Commit makes the change sets durable, in order and all together. After an
	// error it is not known whether they are kept, and nothing may be asked of
	// the engine but Recover and Close.
	Commit(ctx context.Context, sets []ChangeSet) error

	// Recover makes known what is kept after a Commit that failed: what Load yields
	// from then on is durable. After an error it may be tried again.
	Recover(ctx context.Context) error

	// Revision returns how many change sets were ever committed, also before the
	// engine was opened.
	Revision(ctx context.Context) (uint64, error)

	Close() error
}

// CopyTo commits all that an engine keeps into another one, which is empty.
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
