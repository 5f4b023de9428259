package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/state/engine"
)

// reading holds the rows at one revision of etcd.
type reading struct {
	e        *Engine
	at       int64
	hands    *hands
	revision uint64
	staged   *staged // nil but while a commit in parts is on its way
	partRows engine.ChangeSet

	confirmed atomic.Pointer[time.Time]
}

var _ engine.Reading = (*reading)(nil)

// Follow implements engine.Followed.
func (e *Engine) Follow(ctx context.Context) (engine.Reading, error) {
	r, err := e.read(ctx)
	if err != nil {
		return nil, err
	}
	e.watching.Do(func() { go e.watchHands(r.hands, r.at) })
	return r, nil
}

// read begins to read the state as it is now.
func (e *Engine) read(ctx context.Context) (*reading, error) {
	begun := time.Now()
	before := e.seen.newest()
	kept, err := e.transact(ctx, nil, append(e.handsOps(0), clientv3.OpGet(e.key("state", "revision")), clientv3.OpGet(e.key("state", "staged"))))
	if err != nil {
		return nil, err
	}
	found := func(n int) []*mvccpb.KeyValue { return kept.Responses[n].GetResponseRange().Kvs }
	r := &reading{e: e, at: kept.Header.Revision, hands: e.newHands(found(0), found(1))}
	r.confirmed.Store(&begun)
	if r.revision, _, err = e.countOf(found(2), before); err != nil {
		return nil, err
	}
	if pointer := found(3); len(pointer) > 0 {
		if r.staged, err = readStaged(pointer[0].Value); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", pointer[0].Key, engine.ErrDamaged, err)
		}
		if r.partRows, err = e.readParts(ctx, r.staged, r.at); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// readParts reads a commit in parts.
func (e *Engine) readParts(ctx context.Context, s *staged, at int64) (all engine.ChangeSet, err error) {
	for n := range s.Parts {
		changes, err := e.readPart(ctx, s.Commit, n, at)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	return all, nil
}

// Revision implements engine.Reading.
func (r *reading) Revision() uint64 { return r.revision }

// Confirmed implements engine.Reading.
func (r *reading) Confirmed() time.Time { return *r.confirmed.Load() }

// Load implements engine.Reading.
func (r *reading) Load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	found, err := r.compare(ctx, r.e.sums.at(r.revision), fn)
	if err == nil {
		r.e.sums.set(r.revision, found)
	}
	return err
}

// load yields the rows. The commit in parts that is on its way, if there is one, covers them.
func (r *reading) load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	covers := r.partRows
	cover := func(upTo func(engine.Change) bool) error {
		for len(covers) > 0 && upTo(covers[0]) {
			c := covers[0]
			covers = covers[1:]
			if c.Value != nil {
				if err := fn(c.Table, c.ID, c.Value); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := r.eachRow(ctx, func(table, id string, value []byte) error {
		here := engine.Change{Table: table, ID: id}
		if err := cover(func(c engine.Change) bool { return engine.Before(c, here) }); err != nil {
			return err
		}
		if len(covers) > 0 && !engine.Before(here, covers[0]) {
			return nil // cover yields it before the next row
		}
		return fn(table, id, value)
	})
	if err != nil {
		return err
	}
	return cover(func(engine.Change) bool { return true })
}

// eachRow yields the rows, in order of table and id.
func (r *reading) eachRow(ctx context.Context, fn func(table, id string, value []byte) error) error {
	rows := r.e.rows()
	from, end := rows, clientv3.GetPrefixRangeEnd(rows)
	for {
		page, err := r.e.get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageSize), clientv3.WithRev(r.at))
		if err != nil {
			return err
		}
		for _, kv := range page.Kvs {
			table, id, err := placeOf(rows, kv)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(table, id, kv.Value); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
		from = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

func placeOf(rows string, kv *mvccpb.KeyValue) (table, id string, err error) {
	table, id, ok := strings.Cut(strings.TrimPrefix(string(kv.Key), rows), "/")
	if !ok || table == "" || id == "" {
		return "", "", fmt.Errorf("%w: the key %q names no table and id", engine.ErrDamaged, kv.Key)
	}
	return table, id, nil
}

// confirmEvery is the interval at which a follower asks etcd for the last commit, so that it can
// say how far it may be behind.
const confirmEvery = 20 * time.Millisecond

// confirmation says that a follower that has seen etcd's transaction with the revision has seen all
// that was committed before asked.
type confirmation struct {
	asked    time.Time
	revision int64
}

// Commits implements engine.Reading.
func (r *reading) Commits(ctx context.Context) iter.Seq2[engine.Commit, error] {
	return func(yield func(engine.Commit, error) bool) {
		ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		defer cancel()
		watch := r.e.client.Watch(ctx, r.e.key("state")+"/", clientv3.WithPrefix(), clientv3.WithRev(r.at+1))
		answers, replaced := make(chan confirmation), r.e.seen.over()
		go r.confirmLoop(ctx, answers)
		at := r.at // the transaction of etcd that the caller has seen
		var open confirmation
		for {
			select {
			case open = <-answers:
			case <-replaced: // a watch would wait for its next commits in silence
				yield(engine.Commit{}, errReplaced)
				return
			case seen, more := <-watch:
				if err := watchError(ctx, seen, more); err != nil {
					yield(engine.Commit{}, err)
					return
				}
				for len(seen.Events) > 0 {
					n := sameTransaction(seen.Events)
					c, made, err := r.commitOf(ctx, seen.Events[:n])
					if err != nil {
						yield(engine.Commit{}, err)
						return
					}
					if made && !yield(c, nil) {
						return
					}
					at, seen.Events = seen.Events[0].Kv.ModRevision, seen.Events[n:]
				}
			}
			if !open.asked.IsZero() && open.revision <= at {
				asked := open.asked
				r.confirmed.Store(&asked)
			}
		}
	}
}

// confirmLoop asks etcd, until ctx ends, which commit is the last.
func (r *reading) confirmLoop(ctx context.Context, answers chan<- confirmation) {
	tick := time.NewTicker(confirmEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c := confirmation{asked: time.Now()}
		var err error
		if _, c.revision, err = r.e.lastCommit(ctx); err != nil {
			continue // the feed is not confirmed meanwhile
		}
		select {
		case answers <- c:
		case <-ctx.Done():
			return
		}
	}
}

// watchError returns why a watch ended, or nil if it goes on.
func watchError(ctx context.Context, seen clientv3.WatchResponse, open bool) error {
	switch err := seen.Err(); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, rpctypes.ErrCompacted):
		return fmt.Errorf("etcd was compacted at revision %d: %w", seen.CompactRevision, engine.ErrBehind)
	case err != nil:
		return fmt.Errorf("%w: %w", errorText(err), engine.ErrBehind)
	case !open:
		return fmt.Errorf("etcd ended the watch: %w", engine.ErrBehind)
	}
	return nil
}

// commitOf reads the events of one transaction of etcd. One that makes no commit moves
// the values of a commit in parts, or is a leader's first.
func (r *reading) commitOf(ctx context.Context, events []*clientv3.Event) (c engine.Commit, made bool, err error) {
	rows, revision, pointer, clock := r.e.rows(), []byte(r.e.key("state", "revision")), []byte(r.e.key("state", "staged")), []byte(r.e.key("state", "clock"))
	for _, event := range events {
		switch kv := event.Kv; {
		case bytes.Equal(kv.Key, revision):
			if c.Revision, _, err = r.e.countOf([]*mvccpb.KeyValue{kv}, mark{count: r.revision}); err != nil {
				return c, false, err
			}
		case bytes.Equal(kv.Key, clock):
			r.e.readClock(kv.Value)
		case bytes.Equal(kv.Key, pointer) && event.Type == clientv3.EventTypeDelete:
			r.staged = nil
		case bytes.Equal(kv.Key, pointer):
			if r.staged, err = readStaged(kv.Value); err != nil {
				return c, false, fmt.Errorf("%s: %w: %w", kv.Key, engine.ErrDamaged, err)
			}
			if c.Changes, err = r.e.readParts(ctx, r.staged, kv.ModRevision); err != nil {
				return c, false, fmt.Errorf("%w: %w", err, engine.ErrBehind)
			}
		case r.staged == nil:
			table, id, err := placeOf(rows, kv)
			if err != nil {
				return c, false, err
			}
			change := engine.Change{Table: table, ID: id}
			if event.Type != clientv3.EventTypeDelete {
				change.Value = slices.Clone(kv.Value)
			}
			c.Changes = append(c.Changes, change)
		}
	}
	if c.Revision == r.revision || c.Revision == 0 {
		return c, false, nil
	}
	r.e.sums.commit(r.revision, c.Revision, c.Changes)
	r.revision = c.Revision
	return c, true, nil
}
