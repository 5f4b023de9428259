package state

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/hashicorp/go-memdb"

	"github.com/clbemu/clbemu/state/engine"
)

// load reads everything that the engine keeps, and returns what in it this
// version does not know, a line for each kind and field. Decoding has all the
// processors; insertion, which can't be shared, keeps the order of the engine.
func (s *Schema) load(ctx context.Context, e engine.Engine, db *memdb.MemDB) (unknown []string, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	todo, ordered := make(chan *chunk, chunksAhead), make(chan *chunk, chunksAhead)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for c := range todo {
				c.decode()
			}
		})
	}
	workers.Go(func() {
		defer close(ordered)
		defer close(todo)
		if err := s.readChunks(ctx, e, todo, ordered); err != nil {
			fail(err)
		}
	})
	txn := db.Txn(true)
	defer txn.Abort() // does nothing after a commit
	for c := range ordered {
		<-c.decoded
		if ctx.Err() != nil {
			continue // the reader is about to stop
		}
		if err := c.insert(txn); err != nil {
			fail(err)
		}
		unknown = append(unknown, c.unknown...)
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	txn.Commit()
	slices.Sort(unknown)
	return slices.Compact(unknown), nil
}

// chunk is some records in the order of the engine. Single ones would cost more
// in passing them around than in decoding them.
type chunk struct {
	records []record
	bytes   []byte // of the values
	unknown []string
	err     error
	decoded chan struct{}
}

type record struct {
	table anyTable
	id    string
	value []byte
	r     any
}

const (
	chunkSize   = 256
	chunksAhead = 16
)

func newChunk() *chunk {
	return &chunk{records: make([]record, 0, chunkSize), decoded: make(chan struct{})}
}

// add copies the value, which is the engine's.
func (c *chunk) add(t anyTable, id string, value []byte) {
	start := len(c.bytes)
	c.bytes = append(c.bytes, value...)
	c.records = append(c.records, record{table: t, id: id, value: c.bytes[start:]})
}

func (c *chunk) decode() {
	defer close(c.decoded)
	for i := range c.records {
		rec := &c.records[i]
		var unknown error
		if rec.r, unknown, c.err = rec.table.decode(rec.value); c.err != nil {
			c.err = fmt.Errorf("%s %s: %w", rec.table.name(), rec.id, c.err)
			return
		}
		if unknown != nil {
			c.unknown = append(c.unknown, fmt.Sprintf("%s: %v: a newer clbemu may have written it, and it goes when the resource changes",
				rec.table.name(), unknown))
		}
	}
}

func (c *chunk) insert(txn *memdb.Txn) error {
	if c.err != nil {
		return c.err
	}
	for _, rec := range c.records {
		if err := txn.Insert(string(rec.table.name()), rec.r); err != nil {
			return fmt.Errorf("%s %s: %w", rec.table.name(), rec.id, err)
		}
	}
	return nil
}

// readChunks puts what the engine keeps into all of the queues.
func (s *Schema) readChunks(ctx context.Context, e engine.Engine, queues ...chan<- *chunk) error {
	send := func(c *chunk) error {
		for _, queue := range queues {
			select {
			case queue <- c:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	c := newChunk()
	err := e.Load(ctx, func(table, id string, value []byte) error {
		k, ok := s.kinds[Kind(table)]
		if !ok {
			return fmt.Errorf("unknown table %q", table)
		}
		c.add(k.table, id, value)
		if len(c.records) < chunkSize {
			return nil
		}
		full := c
		c = newChunk()
		return send(full)
	})
	if err != nil {
		return err
	}
	return send(c)
}
