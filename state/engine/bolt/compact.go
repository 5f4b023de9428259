package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/state/engine/durable"
)

// Compaction is worth its reading of all values when most of a file of
// some size is free.
const (
	compactFrom  = 1 << 20
	compactShare = 4       // at most one page in four is in use
	compactChunk = 1 << 20 // bytes a transaction
)

// mostlyFree reports whether to compact the file.
func (e *Engine) mostlyFree() bool {
	if e.size < max(compactFrom, e.compactAbove) {
		return false
	}
	stats := e.db.Stats()
	free := int64(stats.FreePageN+stats.PendingPageN) * int64(e.db.Info().PageSize)
	return (e.size-free)*compactShare < e.size
}

// compact makes the file as small as what it keeps. It locks the new file, which is
// whole before it has the name. Failure to make it, for want of room perhaps,
// is no error: the old file serves, and compaction waits until it has grown.
func (e *Engine) compact() (err error) {
	defer catchDamage(e.path, &err)
	if info, err := os.Lstat(e.path); err != nil || !info.Mode().IsRegular() { // a link: the file stays as large as it is
		e.compactAbove = 2 * e.size
		return nil
	}
	small, err := e.shrunk()
	if err != nil {
		e.compactAbove = 2 * e.size
		return nil
	}
	if err := os.Rename(small.path, e.path); err != nil {
		e.compactAbove = 2 * e.size
		return errors.Join(small.Close(), durable.Discard(small.path))
	}
	large := e.db
	small.path = e.path
	*e = *small
	return errors.Join(durable.SyncFolder(filepath.Dir(e.path)), large.Close())
}

// shrunk returns a synced copy without free pages, under another name.
func (e *Engine) shrunk() (*Engine, error) {
	name, err := fresh(e.path)
	if err != nil {
		return nil, err
	}
	small := &Engine{path: name, db: &bolt.DB{}, version: e.version}
	err = small.openFile(false)
	if err == nil {
		err = bolt.Compact(small.db, e.db, compactChunk)
	}
	if err == nil {
		err = errors.Join(small.db.Sync(), small.countTransactions())
		small.acknowledged, small.tried = small.lastTx, small.lastTx
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compact: %w", err), small.Close(), durable.Discard(name))
	}
	return small, nil
}
