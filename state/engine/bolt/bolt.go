// Package bolt keeps values in one bbolt file, a bucket a table. It owns the
// file's format (the meta bucket with the schema version), its permissions and
// the lock against a second process.
package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/clbemu/clbemu/state/engine"
)

// FileName is the database's name in the data folder.
const FileName = "clbemu.db"

// lockTimeout is how long Open waits for a process that is just ending.
const lockTimeout = time.Second

var (
	metaBucket = []byte("meta")
	formatKey  = []byte("format")
)

type format struct {
	SchemaVersion int
}

// Engine is a bbolt file.
type Engine struct {
	db *bolt.DB
}

// Open opens or creates the database in dir. It fails with engine.ErrLocked
// when another process has it, and refuses a file that is not a clbemu database
// or that a newer version wrote; in both cases the file stays as it was.
func Open(dir string) (e *Engine, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data folder: %w", err)
	}
	path := filepath.Join(dir, FileName)
	defer catchDamage(path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if err := inspect(path); err != nil {
		return nil, err
	}
	db, err := open(path, false)
	if err != nil {
		return nil, err
	}
	e = &Engine{db: db}
	if err := e.checkFormat(); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// catchDamage, deferred, turns what bbolt does with a damaged file, panic and
// read outside of it, into a message.
func catchDamage(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s is damaged (%v): restore a copy, or move it away to start afresh", path, r)
	}
}

// open turns bbolt's errors into messages. The list of free pages is kept in the
// file: without it bbolt walks all pages in a goroutine of its own, where a
// damaged one kills the process.
func open(path string, readOnly bool) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		ReadOnly:     readOnly,
		Timeout:      lockTimeout,
		FreelistType: bolt.FreelistMapType,
	})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w: stop the other server or choose another --data-dir", path, engine.ErrLocked)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return nil, fmt.Errorf("%s is not a clbemu database, or is damaged (%w): restore a copy, or move it away to start afresh", path, err)
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}

// inspect looks at an existing file before it is opened for writing, which
// would extend a truncated one.
func inspect(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open the database: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a database", path)
	case info.Size() == 0:
		return nil
	}
	truncated := fmt.Errorf("%s is truncated or not a clbemu database (%d bytes): restore a copy, or move it away to start afresh",
		path, info.Size())
	if info.Size() < int64(2*os.Getpagesize()) {
		return truncated
	}
	db, err := open(path, true)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error {
		if tx.Size() > info.Size() {
			return truncated
		}
		return nil
	})
}

func (e *Engine) checkFormat() error {
	return e.db.Update(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			if name, _ := tx.Cursor().First(); name != nil {
				return errors.New("this bbolt file was not written by clbemu; choose another --data-dir")
			}
			b, err := tx.CreateBucket(metaBucket)
			if err != nil {
				return err
			}
			text, err := json.Marshal(format{SchemaVersion: engine.SchemaVersion})
			if err != nil {
				return err
			}
			return b.Put(formatKey, text)
		}
		return readable(meta)
	})
}

// readable refuses a format that this version does not know.
func readable(meta *bolt.Bucket) error {
	var f format
	if err := json.Unmarshal(meta.Get(formatKey), &f); err != nil {
		return fmt.Errorf("unreadable format record: %w", err)
	}
	if f.SchemaVersion > engine.SchemaVersion {
		return fmt.Errorf("the store has schema version %d and this clbemu reads up to %d: use a newer clbemu, or another --data-dir",
			f.SchemaVersion, engine.SchemaVersion)
	}
	if f.SchemaVersion < 1 {
		return fmt.Errorf("unknown schema version %d", f.SchemaVersion)
	}
	return nil
}

// Copy reads the database of a folder into another engine. It changes nothing
// there, and fails with engine.ErrLocked while a process serves it.
func Copy(ctx context.Context, dir string, into engine.Engine) (err error) {
	path := filepath.Join(dir, FileName)
	defer catchDamage(path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("there is no state in %s: %w", dir, err)
	}
	if err := inspect(path); err != nil {
		return err
	}
	db, err := open(path, true)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.View(func(tx *bolt.Tx) error {
		if meta := tx.Bucket(metaBucket); meta != nil {
			return readable(meta)
		}
		return errors.New("this bbolt file was not written by clbemu")
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var all engine.ChangeSet
	if err := (&Engine{db: db}).Load(ctx, func(table, id string, value []byte) error {
		all = append(all, engine.Change{Table: table, ID: id, Value: bytes.Clone(value)})
		return nil
	}); err != nil {
		return err
	}
	return into.Commit(ctx, []engine.ChangeSet{all})
}

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, fn func(table, id string, value []byte) error) (err error) {
	defer catchDamage(e.db.Path(), &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return e.db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			if bytes.Equal(name, metaBucket) {
				return nil
			}
			table := string(name)
			return b.ForEach(func(k, v []byte) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return fn(table, string(k), v)
			})
		})
	})
}

// Commit implements engine.Engine: one bbolt transaction, one fsync, however
// many change sets wait.
func (e *Engine) Commit(_ context.Context, sets []engine.ChangeSet) error {
	err := e.db.Update(func(tx *bolt.Tx) error {
		for _, c := range inOrder(sets) {
			if err := apply(tx, c); err != nil {
				return fmt.Errorf("%s %s: %w", c.Table, c.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", e.db.Path(), err)
	}
	return nil
}

// inOrder sorts changes by where they go, those to the same place in the order
// in which they were made. bbolt takes keys in their order as fast as it can,
// and a large import in any other order in time that grows with its square.
func inOrder(sets []engine.ChangeSet) engine.ChangeSet {
	changes := slices.Concat(sets...)
	slices.SortStableFunc(changes, func(a, b engine.Change) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.ID, b.ID))
	})
	return changes
}

func apply(tx *bolt.Tx, c engine.Change) error {
	name := []byte(c.Table)
	b := tx.Bucket(name)
	if b == nil {
		var err error
		if b, err = tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if c.Value == nil {
		return b.Delete([]byte(c.ID))
	}
	return b.Put([]byte(c.ID), c.Value)
}

// Close implements engine.Engine.
func (e *Engine) Close() error { return e.db.Close() }
