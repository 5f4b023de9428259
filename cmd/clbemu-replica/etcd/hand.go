package etcd

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/state/engine"
)

// Each transaction of a leader puts the key hand, with the number of its term. A change below
// the prefix without it was made by another program. An older clbemu does not put it: while one
// leads, its changes can't be told from others.

// stamp marks a transaction as one of the term.
func (t *term) stamp() clientv3.Op {
	return clientv3.OpPut(t.e.root+"hand", strconv.FormatInt(t.created, 10))
}

// hands distinguishes the leader's changes from those of other programs.
type hands struct {
	root    string
	leaders map[string]int64 // the keys of who leads and who waits to, and etcd's revisions that created them
	last    string           // the last stamp of a leader
	stamped bool             // whether the leader stamps what it changes
}

// handsOps read what newHands needs, as it was at a revision of etcd; 0 is now.
func (e *Engine) handsOps(at int64) []clientv3.Op {
	return []clientv3.Op{clientv3.OpGet(e.root+"hand", clientv3.WithRev(at)), clientv3.OpGet(e.root+"leader/", clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithRev(at))}
}

func (e *Engine) newHands(hand, leaders []*mvccpb.KeyValue) *hands {
	h := &hands{root: e.root, leaders: make(map[string]int64)}
	for _, kv := range leaders {
		h.leaders[string(kv.Key)] = kv.CreateRevision
	}
	if len(hand) > 0 {
		h.last = string(hand[0].Value)
	}
	h.stamped = h.last != "" && h.last == h.term()
	return h
}

// term returns the leader's term, or "" while no process leads.
func (h *hands) term() string {
	first := int64(0)
	for _, created := range h.leaders {
		if first == 0 || created < first {
			first = created
		}
	}
	if first == 0 {
		return ""
	}
	return strconv.FormatInt(first, 10)
}

// foreign returns a key that another program changed in a transaction, or "" if there is none.
func (h *hands) foreign(events []*clientv3.Event) (key string) {
	ours, begins := false, false
	for _, event := range events {
		switch string(event.Kv.Key) {
		case h.root + "hand":
			ours = event.Type == clientv3.EventTypePut && string(event.Kv.Value) == h.term()
		case h.root + "state/revision":
			begins = event.Type == clientv3.EventTypePut && h.last != h.term()
		}
	}
	switch {
	case ours:
		h.last, h.stamped = h.term(), true
	case begins: // the term of an older clbemu
		h.stamped = false
	}
	for _, event := range events {
		at := string(event.Kv.Key)
		elects := strings.HasPrefix(at, h.root+"leader/")
		switch {
		case elects && event.Type == clientv3.EventTypeDelete:
			delete(h.leaders, at)
		case elects && event.Kv.Lease != 0:
			h.leaders[at] = event.Kv.CreateRevision
		case key == "" && (elects || h.stamped && !ours):
			key = at
		}
	}
	return key
}

// watchHands watches all keys after a revision of etcd for changes of other programs, until the
// client is closed.
func (e *Engine) watchHands(h *hands, at int64) {
	ctx := clientv3.WithRequireLeader(e.client.Ctx())
	for ctx.Err() == nil {
		compacted, err := e.checkHands(ctx, h, &at)
		if err == nil {
			return
		}
		if compacted != 0 {
			h, at, err = e.afterCompaction(ctx, h, at, compacted)
		}
		if err == nil {
			continue
		}
		select {
		case <-time.After(renewEvery):
		case <-ctx.Done():
			return
		}
	}
}

// afterCompaction compares the rows, which show what was changed until a compaction ended the watch,
// and returns the leaders and the revision from which the watch continues. Rows that can't be read
// were changed, too.
func (e *Engine) afterCompaction(ctx context.Context, h *hands, at, compacted int64) (*hands, int64, error) {
	kept, err := e.transact(ctx, nil, e.handsOps(compacted))
	if err == nil {
		err = e.compareRows(ctx)
	}
	if errors.Is(err, engine.ErrDamaged) {
		e.seen.noteChange(e.rows(), "by", kept.Header.Revision)
		err = nil
	}
	if err != nil {
		return h, at, err
	}
	return e.newHands(kept.Responses[0].GetResponseRange().Kvs, kept.Responses[1].GetResponseRange().Kvs), compacted, nil
}

// checkHands returns nil once another program has changed a key, or why the watch ended: the
// revision of etcd up to which it was compacted, or 0 if it was not.
func (e *Engine) checkHands(ctx context.Context, h *hands, at *int64) (compacted int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for seen := range e.client.Watch(ctx, e.root, clientv3.WithPrefix(), clientv3.WithRev(*at+1)) {
		if err := seen.Err(); err != nil {
			return seen.CompactRevision, err
		}
		for events := seen.Events; len(events) > 0; {
			n := sameTransaction(events)
			if key := h.foreign(events[:n]); key != "" {
				e.seen.noteChange(key, "at", events[0].Kv.ModRevision)
				return 0, nil
			}
			*at, events = events[0].Kv.ModRevision, events[n:]
		}
	}
	return 0, engine.ErrBehind
}

// sameTransaction returns the number of events, at least one, that belong to the first event's
// transaction.
func sameTransaction(events []*clientv3.Event) int {
	n := 1
	for n < len(events) && events[n].Kv.ModRevision == events[0].Kv.ModRevision {
		n++
	}
	return n
}

// Changed implements engine.Election.
func (e *Engine) Changed(ctx context.Context) error {
	select {
	case <-e.seen.changes():
		return e.seen.changed()
	case <-ctx.Done():
		return ctx.Err()
	}
}
