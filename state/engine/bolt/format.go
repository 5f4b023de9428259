package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	bolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/state/engine"
)

// The format. The bucket meta has a record with the schema version, the revision, and
// for each table a tally of its values; every other bucket is a table. A value is kept
// behind a checksum of itself and of its place, so that damage to either shows;
// that values are missing, or twice there, shows in the tally.
//
// A field added to a resource needs no new version as long as its zero
// value means what rows without it meant: they are read with that, and written
// with it when they change. Everything else is a row of upgrades.

var (
	metaBucket  = []byte("meta")
	formatKey   = []byte("format")
	revisionKey = []byte("revision")
)

type format struct {
	SchemaVersion int
}

// unguarded is the version whose values have no checksums.
const unguarded = 1

// upgrades bring a file from the version to the next one, forward only, each in
// the transaction that says so.
var upgrades = map[int]func(*bolt.Tx) error{
	unguarded: guardAll,
}

// readFormat refuses a format that this version does not know, and brings an old
// one up to date unless the file is only to be read.
func (e *Engine) readFormat() error {
	if err := e.db.View(func(tx *bolt.Tx) (err error) {
		e.version, err = versionOf(tx.Bucket(metaBucket))
		return err
	}); err != nil || e.readOnly || e.version == engine.SchemaVersion {
		return err
	}
	return e.update(func(tx *bolt.Tx) error {
		for ; e.version < engine.SchemaVersion; e.version++ {
			if err := upgrades[e.version](tx); err != nil {
				return fmt.Errorf("upgrade from schema version %d: %w", e.version, err)
			}
		}
		return writeFormat(tx.Bucket(metaBucket))
	})
}

func versionOf(meta *bolt.Bucket) (int, error) {
	if meta == nil {
		return 0, errors.New("this bbolt file was not written by clbemu; choose another --data-dir")
	}
	var f format
	if err := json.Unmarshal(meta.Get(formatKey), &f); err != nil {
		return 0, fmt.Errorf("unreadable format record: %w", err)
	}
	if f.SchemaVersion > engine.SchemaVersion {
		return 0, fmt.Errorf("the store has schema version %d and this clbemu reads up to %d: use a newer clbemu, or another --data-dir",
			f.SchemaVersion, engine.SchemaVersion)
	}
	if f.SchemaVersion < unguarded {
		return 0, fmt.Errorf("unknown schema version %d", f.SchemaVersion)
	}
	return f.SchemaVersion, nil
}

func writeFormat(meta *bolt.Bucket) error {
	text, err := json.Marshal(format{SchemaVersion: engine.SchemaVersion})
	if err != nil {
		return err
	}
	return meta.Put(formatKey, text)
}

// guardAll puts checksums before the values of version 1. Each table becomes a new
// bucket: bbolt's cursors never end in one whose values were deleted in the same
// transaction.
func guardAll(tx *bolt.Tx) error {
	tables, err := tablesOf(tx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		var changes engine.ChangeSet
		if err := tx.Bucket(table).ForEach(func(k, v []byte) error {
			changes = append(changes, engine.Change{Table: string(table), ID: string(k), Value: bytes.Clone(v)})
			return nil
		}); err != nil {
			return err
		}
		if err := tx.DeleteBucket(table); err != nil {
			return err
		}
		if err := write(tx, changes); err != nil {
			return err
		}
	}
	return nil
}

// tablesOf returns the names of the tables, which stay valid when those change.
func tablesOf(tx *bolt.Tx) (tables [][]byte, err error) {
	err = tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
		if !bytes.Equal(name, metaBucket) {
			tables = append(tables, bytes.Clone(name))
		}
		return nil
	})
	return tables, err
}

// write makes changes, which are in order of table and id.
func write(tx *bolt.Tx, changes engine.ChangeSet) error {
	meta := tx.Bucket(metaBucket)
	for len(changes) > 0 {
		table := changes[0].Table
		n := 1
		for n < len(changes) && changes[n].Table == table {
			n++
		}
		if err := writeTable(tx, meta, table, changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

func writeTable(tx *bolt.Tx, meta *bolt.Bucket, table string, changes engine.ChangeSet) error {
	b, err := tx.CreateBucketIfNotExists([]byte(table))
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	count, err := readTally(meta, table)
	if err != nil {
		return err
	}
	key, _ := b.Cursor().Last()
	last := string(key)
	if last < changes[0].ID {
		b.FillPercent = 1 // what comes at the end leaves no room for what would come between
	}
	for _, c := range changes {
		if err := count.change(b, c, c.ID <= last); err != nil {
			return fmt.Errorf("%s %s: %w", c.Table, c.ID, err)
		}
	}
	return meta.Put(tallyKey(table), guard(string(metaBucket), tallyKey(table), count.bytes()))
}

const sumSize = 8

// guard puts a checksum of a value and its place before the value.
func guard(table string, id, value []byte) []byte {
	guarded := make([]byte, sumSize, sumSize+len(value))
	binary.LittleEndian.PutUint64(guarded, checksum(table, id, value))
	return append(guarded, value...)
}

// unguard returns the value behind a checksum that fits it.
func unguard(table string, id, guarded []byte) (value []byte, sum uint64, err error) {
	if len(guarded) >= sumSize {
		sum, value = binary.LittleEndian.Uint64(guarded), guarded[sumSize:]
		if sum == checksum(table, id, value) {
			return value, sum, nil
		}
	}
	return nil, 0, fmt.Errorf("the value of %s %q does not have its checksum", table, id)
}

func checksum(table string, id, value []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(table) // it never fails
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(id)
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(value)
	return d.Sum64()
}

// tally holds the number of values in a table and the sum of their checksums.
type tally struct{ Count, Sum uint64 }

func (t *tally) add(sum uint64)    { t.Count, t.Sum = t.Count+1, t.Sum+sum }
func (t *tally) remove(sum uint64) { t.Count, t.Sum = t.Count-1, t.Sum-sum }

// change makes a change and counts it. There may be an old value.
func (t *tally) change(b *bolt.Bucket, c engine.Change, mayBe bool) error {
	id := []byte(c.ID)
	if mayBe {
		if old := b.Get(id); old != nil {
			_, sum, err := unguard(c.Table, id, old)
			if err != nil {
				return fmt.Errorf("%w: %w", err, engine.ErrDamaged)
			}
			t.remove(sum)
		}
	}
	if c.Value == nil {
		return b.Delete(id)
	}
	guarded := guard(c.Table, id, c.Value)
	t.add(binary.LittleEndian.Uint64(guarded))
	return b.Put(id, guarded)
}

func tallyKey(table string) []byte { return []byte("tally/" + table) }

func (t *tally) bytes() []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.Count), t.Sum)
}

func readTally(meta *bolt.Bucket, table string) (t tally, err error) {
	kept := meta.Get(tallyKey(table))
	if kept == nil {
		return t, nil
	}
	value, _, err := unguard(string(metaBucket), tallyKey(table), kept)
	if err == nil && len(value) != 16 {
		err = fmt.Errorf("the tally of %s has %d bytes", table, len(value))
	}
	if err != nil {
		return t, fmt.Errorf("%w: %w", err, engine.ErrDamaged)
	}
	return tally{binary.LittleEndian.Uint64(value), binary.LittleEndian.Uint64(value[8:])}, nil
}

// readRevision returns the number of committed change sets: none of those from before
// files had a revision.
func readRevision(meta *bolt.Bucket) (uint64, error) {
	kept := meta.Get(revisionKey)
	if kept == nil {
		return 0, nil
	}
	value, _, err := unguard(string(metaBucket), revisionKey, kept)
	if err == nil && len(value) != 8 {
		err = fmt.Errorf("the revision has %d bytes", len(value))
	}
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(value), nil
}

// checkMeta returns what is wrong with the bucket meta. A key that no version writes is a damaged
// one: without its own, a revision would count as none.
func checkMeta(tx *bolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if _, err := readRevision(meta); err != nil {
		return err
	}
	return meta.ForEach(func(key, _ []byte) error {
		table, isTally := bytes.CutPrefix(key, tallyKey(""))
		if bytes.Equal(key, formatKey) || bytes.Equal(key, revisionKey) || isTally && tx.Bucket(table) != nil {
			return nil
		}
		return fmt.Errorf("%s has an unknown key %q", metaBucket, key)
	})
}

// advance counts change sets.
func advance(meta *bolt.Bucket, sets int) error {
	revision, err := readRevision(meta)
	if err != nil {
		return fmt.Errorf("%w: %w", err, engine.ErrDamaged)
	}
	value := binary.LittleEndian.AppendUint64(nil, revision+uint64(sets))
	return meta.Put(revisionKey, guard(string(metaBucket), revisionKey, value))
}

// compare compares the content of a table with its tally.
func (t *tally) compare(meta *bolt.Bucket, table string) error {
	want, err := readTally(meta, table)
	if err != nil {
		return err
	}
	if t.Count != want.Count {
		return fmt.Errorf("%s has %d values, and should have %d", table, t.Count, want.Count)
	}
	if t.Sum != want.Sum {
		return fmt.Errorf("%s has other values than it should have", table)
	}
	return nil
}
