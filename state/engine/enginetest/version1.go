package enginetest

import (
	"context"
	"encoding/json"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/state/engine"
)

// WriteVersion1 writes what an engine keeps into a bbolt file as clbemu did while
// the schema had version 1: values without checksums, tables without tallies.
func WriteVersion1(ctx context.Context, from engine.Engine, path string) error {
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		format, err := json.Marshal(map[string]int{"SchemaVersion": 1})
		if err != nil {
			return err
		}
		if err := putInto(tx, "meta", "format", format); err != nil {
			return err
		}
		return from.Load(ctx, func(table, id string, value []byte) error { return putInto(tx, table, id, value) })
	})
	return errors.Join(err, db.Sync(), db.Close())
}

func putInto(tx *bolt.Tx, table, id string, value []byte) error {
	b, err := tx.CreateBucketIfNotExists([]byte(table))
	if err != nil {
		return err
	}
	return b.Put([]byte(id), append([]byte(nil), value...))
}
