package bolt

import (
	"errors"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/state/engine/durable"
)

// create makes an empty database that has its name when it is whole: a file of
// that name without contents is never a new one. That another process makes it
// meanwhile is no error.
func create(path string) error {
	name, err := fresh(path)
	if err != nil {
		return err
	}
	err = fill(name)
	if err == nil {
		err = durable.Publish(name, path)
	}
	if err == nil {
		return nil
	}
	if _, there := os.Stat(path); there == nil && (errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)) {
		err = nil
	}
	return errors.Join(err, durable.Discard(name))
}

// fresh makes an unfinished file for a database and returns its name.
func fresh(path string) (string, error) {
	file, err := durable.Create(path)
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// fill syncs the file once, when all is in it: no process reads it before.
func fill(name string) error {
	db, err := bolt.Open(name, 0o600, &bolt.Options{NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucket(metaBucket)
		if err != nil {
			return err
		}
		return writeFormat(meta)
	})
	return errors.Join(err, db.Sync(), db.Close())
}
