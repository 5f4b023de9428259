package state

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// loader is the part of an engine that loads rows.
type loader interface {
	Load(ctx context.Context, fn func(table, id string, value []byte) error) error
}

// load reads everything that the engine keeps, and returns what in it this
// version does not know, a line for each kind and field, and the retired rows. Decoding has all the
// processors; insertion, which can't be shared, keeps the order of the engine.
func (s *Schema) load(ctx context.Context, e loader) (w *workingSet, unknown []string, gone []changeKey, err error) {
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
	w = newWorkingSet(s)
	keys, tallies := make([][]string, len(w.indexes)), make([][]tally, len(w.tallies))
	for c := range ordered {
		<-c.decoded
		if ctx.Err() != nil {
			continue // the reader is about to stop
		}
		if err := c.insert(w, keys, tallies); err != nil {
			fail(err)
		}
		unknown, gone = append(unknown, c.unknown...), append(gone, c.retired...)
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, nil, nil, context.Cause(ctx)
	}
	parallel(keys, func(at int) {
		slices.Sort(keys[at])
		for _, key := range keys[at] {
			w.indexes[at].Load(key, struct{}{})
		}
	})
	parallel(tallies, func(at int) {
		if w.tallies[at] == nil { // a quota of another schema that shares the kind
			return
		}
		for _, t := range summed(tallies[at]) {
			w.tallies[at].Load(t)
		}
	})
	slices.Sort(unknown)
	return w, slices.Compact(unknown), gone, nil
}

// chunk is some records in the order of the engine. Single ones would cost more
// in passing them around than in decoding them.
type chunk struct {
	records []record
	bytes   []byte // of the values
	unknown []string
	retired []changeKey // rows to drop
	err     error
	decoded chan struct{}
}

type record struct {
	kind  *kind
	id    string
	value []byte
	r     any
	keys  []indexKey
	// counts holds what the record adds to tallies.
	counts []quotaCount
}

// indexKey is a key on its way into an index.
type indexKey struct {
	position int
	key      string
}

const (
	chunkSize   = 256
	chunksAhead = 16
)

func newChunk() *chunk {
	return &chunk{records: make([]record, 0, chunkSize), decoded: make(chan struct{})}
}

// add copies the value, which is the engine's.
func (c *chunk) add(k *kind, id string, value []byte) {
	start := len(c.bytes)
	c.bytes = append(c.bytes, value...)
	c.records = append(c.records, record{kind: k, id: id, value: c.bytes[start:]})
}

func (c *chunk) decode() {
	defer close(c.decoded)
	for i := range c.records {
		rec := &c.records[i]
		var unknown error
		if rec.r, unknown, c.err = rec.kind.table.decode(rec.value); c.err != nil {
			c.err = fmt.Errorf("%s %s: %w", rec.kind.name, rec.id, c.err)
			return
		}
		rec.value = nil
		rec.kind.table.loadKeys(rec.r, func(position int, key string) { rec.keys = append(rec.keys, indexKey{position, key}) })
		rec.kind.eachTally(rec.r, func(position int, t tally) { rec.counts = append(rec.counts, quotaCount{position, t}) })
		if rec.kind.retired != nil && rec.kind.retired(rec.r) {
			c.retired = append(c.retired, changeKey{rec.kind.name, rec.id})
		}
		if unknown != nil {
			c.unknown = append(c.unknown, fmt.Sprintf("%s: %v: a newer clbemu may have written it, and it goes when the resource changes",
				rec.kind.name, unknown))
		}
	}
}

// insert puts the rows into their trees, and their keys and counts on the lists of
// those to sort.
func (c *chunk) insert(w *workingSet, keys [][]string, tallies [][]tally) error {
	if c.err != nil {
		return c.err
	}
	for i := range c.records {
		rec := &c.records[i]
		w.rows[rec.kind.position].Load(rec.kind.table.idOf(rec.r), rec.r)
		for _, k := range rec.keys {
			keys[k.position] = append(keys[k.position], k.key)
		}
		for _, n := range rec.counts {
			tallies[n.position] = append(tallies[n.position], n.tally)
		}
	}
	return nil
}

// parallel builds a tree of each list that has anything, each on a processor of
// its own.
func parallel[T any](lists [][]T, build func(at int)) {
	var workers sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for at, list := range lists {
		if len(list) == 0 {
			continue
		}
		workers.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			build(at)
		})
	}
	workers.Wait()
}

// summed returns one tally for each holder, with the sum of its counts.
func summed(counts []tally) []tally {
	slices.SortFunc(counts, compareTallies)
	sums := counts[:1]
	for _, t := range counts[1:] {
		if last := &sums[len(sums)-1]; last.account == t.account && last.holder == t.holder {
			last.n += t.n
		} else {
			sums = append(sums, t)
		}
	}
	return slices.DeleteFunc(sums, func(t tally) bool { return t.n == 0 })
}

// readChunks puts what the engine keeps into all of the queues.
func (s *Schema) readChunks(ctx context.Context, e loader, queues ...chan<- *chunk) error {
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
		if _, gone := s.retired[Kind(table)]; gone {
			c.retired = append(c.retired, changeKey{Kind(table), id})
			return nil
		}
		if !ok {
			return fmt.Errorf("unknown table %q", table)
		}
		c.add(k, id, value)
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
