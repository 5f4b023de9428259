// Package engine is the boundary between the working set and the medium that
// keeps it. It moves opaque values under (table, id); it knows no resource, no
// index and no JSON.
package engine

import (
	"context"
	"errors"
)

// SchemaVersion is the version of the values that this build reads and writes.
const SchemaVersion = 1

// ErrLocked reports that another process holds the data folder.
var ErrLocked = errors.New("the data folder is in use by another process")

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
	// value is only valid during the call.
	Load(ctx context.Context, fn func(table, id string, value []byte) error) error

	// Commit makes the change sets durable, in order and all together. After an
	// error none of them is kept.
	Commit(ctx context.Context, sets []ChangeSet) error

	Close() error
}
