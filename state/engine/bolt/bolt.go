// Package bolt keeps values in one bbolt file, with one bucket per table. It owns the
// file: its format and versions, the checksums that detect damage, its permissions,
// its size, and the lock against a second process.
package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// FileName is the database's name in the data folder.
const FileName = "clbemu.db"

// lockTimeout limits how long Open waits for a process that is just ending.
const lockTimeout = time.Second

// Engine is a bbolt file.
type Engine struct {
	path     string
	readOnly bool
	file     *os.File    // what db works on
	identity os.FileInfo // of that file
	db       *bolt.DB
	version  int // of the values
	lastTx   int // number of the newest transaction in the file that is open
	// acknowledged and tried are the newest durable transaction, and the
	// newest that may be in the file: a file that ends elsewhere is another one.
	acknowledged, tried int
	size                int64 // in bytes, of the pages that it knew
	// compactAbove is the size from which to try a failed compaction again.
	compactAbove int64
	panicked     bool // bbolt gave up within a commit: its locks are in an unknown state
}

var _ engine.Engine = (*Engine)(nil)

// Open opens or creates the database in dir. It fails with engine.ErrLocked
// when another process has it, and refuses a file that is not a clbemu database,
// that is damaged or that a newer version wrote; in all cases the file stays as
// it was. One that an older version wrote is brought up to date.
func Open(dir string) (*Engine, error) {
	if err := durable.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("create the data folder: %w", err)
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	e := &Engine{path: path, db: &bolt.DB{}, tried: anyTransaction}
	if err := e.open(); err != nil {
		return nil, err
	}
	if err := durable.CleanUp(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("clean up %s: %w", dir, err), e.Close())
	}
	return e, nil
}

// OpenReadOnly opens the database of a folder without ever writing to it, which
// may be on a read-only medium. It fails with engine.ErrLocked while
// a process serves it.
func OpenReadOnly(dir string) (*Engine, error) {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no state in %s: %w", dir, err)
	}
	e := &Engine{path: path, db: &bolt.DB{}, readOnly: true, tried: anyTransaction}
	if err := e.open(); err != nil {
		return nil, err
	}
	return e, nil
}

// anyTransaction is as far as a file that was not open yet may be.
const anyTransaction = math.MaxInt

// open opens the file after the check found it whole.
func (e *Engine) open() (err error) {
	defer catchDamage(e.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := e.inspect(); err != nil {
		return err
	}
	if err := e.openFile(e.readOnly); err != nil {
		return err
	}
	if e.lastTx < e.acknowledged || e.lastTx > e.tried {
		return errors.Join(fmt.Errorf("%s: %w", e.path, errReplaced), e.Close())
	}
	if e.tried == anyTransaction {
		e.acknowledged, e.tried = e.lastTx, e.lastTx
	}
	if err := e.readFormat(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", e.path, err), e.Close())
	}
	return nil
}

// openFile turns bbolt's errors into messages. The list of free pages is kept in
// the file: without it bbolt walks all pages in another goroutine, where a
// damaged one kills the process. It is bbolt's array, which gives the lowest free
// pages: a commit's pages lie side by side and are written in fewer pieces.
func (e *Engine) openFile(readOnly bool) error {
	db, err := bolt.Open(e.path, 0o600, &bolt.Options{
		ReadOnly:     readOnly,
		Timeout:      lockTimeout,
		FreelistType: bolt.FreelistArrayType,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			file, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
			e.file = file
			return file, err
		},
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%s: %w: stop the other server or choose another --data-dir", e.path, engine.ErrLocked)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return fmt.Errorf("%s is not a clbemu database, or is damaged (%w): restore a copy, or move it away to start afresh", e.path, err)
	case err != nil:
		return fmt.Errorf("open %s: %w", e.path, err)
	}
	e.db = db
	e.identity, err = e.file.Stat()
	if err == nil {
		err = e.countTransactions()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open %s: %w", e.path, err), e.Close())
	}
	return nil
}

func (e *Engine) countTransactions() error {
	return e.db.View(func(tx *bolt.Tx) error {
		e.lastTx = tx.ID()
		return nil
	})
}

// catchDamage, deferred, turns what bbolt does with a damaged file, panic and
// read outside of it, into a message.
func catchDamage(path string, err *error) {
	if r := recover(); r != nil {
		*err = damaged(path, fmt.Sprint(r))
	}
}

// damaged returns an error that says what is wrong with a file and what to do.
func damaged(path, what string) error {
	return fmt.Errorf("%s is damaged (%s): restore a copy, or move it away to start afresh: %w", path, what, engine.ErrDamaged)
}

// inspect looks at the file before opening it for writing, which would extend
// a truncated one and build on a damaged one.
func (e *Engine) inspect() error {
	info, err := os.Stat(e.path)
	switch {
	case err != nil:
		return fmt.Errorf("open the database: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a database", e.path)
	case info.Size() == 0:
		return fmt.Errorf("%s is empty, which clbemu never leaves: restore a copy, or delete it to start afresh: %w", e.path, engine.ErrDamaged)
	case info.Size() < int64(2*os.Getpagesize()):
		return truncated(e.path, info.Size())
	}
	if err := e.openFile(true); err != nil { // it holds the lock that keeps writers away
		return err
	}
	return errors.Join(verify(e.path, e.file), e.Close())
}

func truncated(path string, size int64) error {
	return fmt.Errorf("%s is truncated or not a clbemu database (%d bytes): restore a copy, or move it away to start afresh: %w",
		path, size, engine.ErrDamaged)
}

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, fn func(table, id string, value []byte) error) (err error) {
	defer catchDamage(e.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return e.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if e.version != unguarded {
			if err := checkMeta(tx); err != nil {
				return damaged(e.path, err.Error())
			}
		}
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if bytes.Equal(name, metaBucket) {
				return nil
			}
			return e.loadTable(ctx, meta, string(name), b, fn)
		})
	})
}

func (e *Engine) loadTable(ctx context.Context, meta *bolt.Bucket, table string, b *bolt.Bucket, fn func(table, id string, value []byte) error) error {
	var found tally
	if err := b.ForEach(func(k, v []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.version == unguarded {
			return fn(table, string(k), v)
		}
		value, sum, err := unguard(table, k, v)
		if err != nil {
			return damaged(e.path, err.Error())
		}
		found.add(sum)
		return fn(table, string(k), value)
	}); err != nil || e.version == unguarded {
		return err
	}
	if err := found.compare(meta, table); err != nil {
		return damaged(e.path, err.Error())
	}
	return nil
}

// errReplaced is why the engine no longer writes to a file that others changed.
var errReplaced = errors.New("the database was removed, moved or replaced while it was served: stop clbemu and put it back")

// Commit implements engine.Engine: one bbolt transaction, one fsync, however
// many change sets wait.
func (e *Engine) Commit(_ context.Context, sets []engine.ChangeSet) error {
	if e.readOnly {
		return engine.ErrReadOnly
	}
	err := e.update(func(tx *bolt.Tx) error {
		if err := write(tx, engine.InOrder(sets)); err != nil {
			return err
		}
		return advance(tx.Bucket(metaBucket), len(sets))
	})
	if err == nil && e.mostlyFree() {
		err = e.compact()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", e.path, err)
	}
	return nil
}

// update runs a bbolt transaction. It notices when the file is no longer the one
// that was opened, or when another process wrote into it.
func (e *Engine) update(fn func(*bolt.Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.panicked = true
			err = damaged(e.path, fmt.Sprint(r))
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var number int
	var size int64
	err = e.db.Update(func(tx *bolt.Tx) error {
		number, size = tx.ID(), tx.Size()
		if number != e.lastTx+1 {
			return errReplaced
		}
		e.tried = number
		return fn(tx)
	})
	if err != nil {
		return err
	}
	e.lastTx, e.acknowledged, e.size = number, number, size
	return e.stillThere()
}

// stillThere reports whether the file has its name, without which the changes
// are gone when the process ends.
func (e *Engine) stillThere() error {
	info, err := os.Stat(e.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(info, e.identity) {
		return errReplaced
	}
	return err
}

// Recover implements engine.Engine. What was written but not synced may not be
// on the disk though it reads as if it were: an empty transaction after a fresh
// look writes the page that says what counts, and syncs it. See
// https://wiki.postgresql.org/wiki/Fsync_Errors.
func (e *Engine) Recover(context.Context) error {
	if e.readOnly {
		return engine.ErrReadOnly
	}
	if err := e.stillThere(); err != nil {
		return fmt.Errorf("recover %s: %w", e.path, err)
	}
	if err := e.Close(); err != nil {
		return fmt.Errorf("recover %s: %w", e.path, err)
	}
	if err := e.open(); err != nil {
		return err
	}
	err := e.update(func(*bolt.Tx) error { return nil })
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(e.path))
	}
	if err != nil {
		return fmt.Errorf("recover %s: %w", e.path, err)
	}
	return nil
}

// Revision implements engine.Engine.
func (e *Engine) Revision(context.Context) (revision uint64, err error) {
	err = e.db.View(func(tx *bolt.Tx) error {
		revision, err = readRevision(tx.Bucket(metaBucket))
		return err
	})
	if err != nil {
		return 0, damaged(e.path, err.Error())
	}
	return revision, nil
}

// Close implements engine.Engine. After a panic only the file and its lock can be
// let go: bbolt would wait for itself.
func (e *Engine) Close() error {
	db, panicked := e.db, e.panicked
	e.db, e.panicked = &bolt.DB{}, false // which answers everything with an error
	if panicked {
		return errors.Join(unlock(e.file), e.file.Close())
	}
	return db.Close()
}
