package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Notes are put under leases, which are not renewed: a note is there for an hour or
// less, and half an hour or more.
const (
	noteLease = time.Hour
	newLease  = noteLease / 2
)

// shareEvery is how soon notes are shared that nobody waits for. The next commit takes
// them along if it comes earlier.
const shareEvery = 100 * time.Millisecond

// notes is what this process tells the others.
type notes struct {
	leasing sync.Mutex // held by who asks for a lease
	lease   clientv3.LeaseID
	since   time.Time

	mu      sync.Mutex
	filling *noteBatch   // takes notes
	flying  []*noteBatch // are on their way
	count   int
	sharing bool          // by shareAll
	hurry   chan struct{} // wakes shareAll when somebody waits
}

// noteBatch is notes that are shared together.
type noteBatch struct {
	number int
	note   []byte
	err    error // set before done is closed
	done   chan struct{}
}

// Share implements engine.Notes.
func (e *Engine) Share(note []byte) (kept func(context.Context) error) {
	n := &e.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hurry == nil {
		n.hurry = make(chan struct{}, 1)
	}
	if n.filling == nil {
		n.filling = &noteBatch{done: make(chan struct{})}
	}
	b := n.filling
	b.note = append(b.note, note...)
	if !n.sharing {
		n.sharing = true
		go e.shareAll()
	}
	return func(ctx context.Context) error {
		select {
		case <-b.done: // by a commit, as a rule
			return b.err
		default:
		}
		select {
		case n.hurry <- struct{}{}:
		default:
		}
		select {
		case <-b.done:
			return b.err
		case <-ctx.Done():
			return fmt.Errorf("share: %w", inWords(ctx.Err()))
		}
	}
}

// shareAll shares batch after batch until none waits.
func (e *Engine) shareAll() {
	n := &e.notes
	for {
		select {
		case <-n.hurry:
		case <-time.After(shareEvery):
		}
		n.mu.Lock()
		b := n.launch()
		n.sharing = b != nil
		n.mu.Unlock()
		if b == nil {
			return
		}
		e.share(b)
	}
}

// launch lets the batch that takes notes go. The caller holds the lock.
func (n *notes) launch() *noteBatch {
	b := n.filling
	if b != nil {
		n.count++
		b.number, n.filling = n.count, nil
		n.flying = append(n.flying, b)
	}
	return b
}

// share shares a batch by a transaction of its own.
func (e *Engine) share(b *noteBatch) {
	err := e.shareNow(b)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = e.shareNow(b)
	}
	if err != nil {
		err = fmt.Errorf("share: %w", err)
	}
	e.notes.landed([]*noteBatch{b}, err)
}

func (e *Engine) shareNow(b *noteBatch) error {
	ctx := context.Background()
	lease, err := e.leaseOfNotes(ctx)
	if err != nil {
		return err
	}
	_, err = e.transact(ctx, nil, []clientv3.Op{e.putNotes(b, lease)})
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		e.notes.forget(lease)
	}
	return err
}

func (e *Engine) putNotes(b *noteBatch, lease clientv3.LeaseID) clientv3.Op {
	return clientv3.OpPut(e.key("shared", fmt.Sprintf("%016x-%d", lease, b.number)), string(b.note), clientv3.WithLease(lease))
}

// leaseOfNotes returns a lease for notes that lasts long enough.
func (e *Engine) leaseOfNotes(ctx context.Context) (clientv3.LeaseID, error) {
	n := &e.notes
	n.leasing.Lock()
	defer n.leasing.Unlock()
	if n.lease == 0 || time.Since(n.since) > newLease {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		granted, err := e.client.Grant(ctx, int64(noteLease/time.Second))
		if err != nil {
			return 0, inWords(err)
		}
		n.lease, n.since = granted.ID, time.Now()
	}
	return n.lease, nil
}

// forget gives up a lease that etcd does not know.
func (n *notes) forget(lease clientv3.LeaseID) {
	n.leasing.Lock()
	defer n.leasing.Unlock()
	if n.lease == lease {
		n.lease = 0
	}
}

// landed tells those who wait for batches what became of them.
func (n *notes) landed(batches []*noteBatch, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range batches {
		for i, flying := range n.flying {
			if flying == b {
				n.flying = append(n.flying[:i:i], n.flying[i+1:]...)
				b.err = err
				close(b.done)
				break
			}
		}
	}
}

// riding is the notes that a commit takes along: all that are not known to be shared.
type riding struct {
	e       *Engine
	batches []*noteBatch
	own     *noteBatch // the one that nobody else has launched
	lease   clientv3.LeaseID
}

// ride lets the notes that wait go with the next transaction.
func (e *Engine) ride(ctx context.Context) (r riding, err error) {
	n := &e.notes
	n.mu.Lock()
	r = riding{e: e, own: n.launch()}
	r.batches = append(r.batches, n.flying[max(0, len(n.flying)-maxNotes):]...)
	n.mu.Unlock()
	if len(r.batches) == 0 {
		return r, nil
	}
	if r.lease, err = e.leaseOfNotes(ctx); err != nil {
		r.failed(err)
	}
	return r, err
}

func (r riding) ops() []clientv3.Op {
	var ops []clientv3.Op
	for _, b := range r.batches {
		ops = append(ops, r.e.putNotes(b, r.lease))
	}
	return ops
}

func (r riding) landed() { r.e.notes.landed(r.batches, nil) }

// failed lets the notes go without the commit, since it was not made, or perhaps not.
func (r riding) failed(err error) {
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		r.e.notes.forget(r.lease)
	}
	if r.own != nil {
		go r.e.share(r.own)
	}
}

// Shared implements engine.Notes. A position is a revision of etcd.
func (e *Engine) Shared(ctx context.Context, after int64) (list [][]byte, position int64, err error) {
	kept, err := e.get(ctx, e.key("shared")+"/", clientv3.WithPrefix(), clientv3.WithMinModRev(after+1))
	if err != nil {
		return nil, after, fmt.Errorf("read what is shared: %w", err)
	}
	for _, kv := range kept.Kvs {
		list = append(list, kv.Value)
	}
	return list, kept.Header.Revision, nil
}
