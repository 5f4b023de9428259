package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/clbemu/clbemu/state/engine"
)

const (
	// leaseSeconds is the time for which the others wait for a leader that is gone. etcd looks for
	// leases that have ended twice a second, so that another leads some 3.5 s after a leader was
	// killed.
	leaseSeconds = 3
	// renewEvery is the interval at which the leader renews its lease, and so learns until when it
	// leads for certain.
	renewEvery = 500 * time.Millisecond
)

// term implements engine.Term.
type term struct {
	e       *Engine
	key     string // of the election
	created int64  // etcd's revision that created it
	session *concurrency.Session

	until  atomic.Pointer[time.Time]
	over   chan struct{}
	once   sync.Once
	reason error // set before over is closed
}

var _ engine.Term = (*term)(nil)

// leads returns the precondition of every write of a leader: its key exists, as it does while its
// lease lives.
func (t *term) leads() clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(t.key), "=", t.created)
}

// Campaign implements engine.Election.
func (e *Engine) Campaign(ctx context.Context, self string) (engine.Term, error) {
	t, err := e.campaign(ctx, self)
	if err == nil {
		return t, nil
	}
	if e.seen.changed() != nil && !errors.Is(err, engine.ErrReplaced) {
		<-ctx.Done() // what this process knows is not what etcd keeps
		return nil, ctx.Err()
	}
	return nil, err
}

func (e *Engine) campaign(ctx context.Context, self string) (*term, error) {
	if err := e.seen.changed(); err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(e.client, concurrency.WithTTL(leaseSeconds), concurrency.WithContext(context.WithoutCancel(ctx)))
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", errorText(err))
	}
	campaign, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-session.Done():
			cancel(errors.New("its lease has ended")) // and its place with it
		case <-e.seen.over():
			cancel(errReplaced)
		case <-e.seen.changes():
			cancel(e.seen.changed())
		case <-campaign.Done():
		}
	}()
	election := concurrency.NewElection(session, e.key("leader"))
	if err := election.Campaign(campaign, self); err != nil {
		if cause := context.Cause(campaign); cause != nil && ctx.Err() == nil {
			err = cause
		}
		return nil, errors.Join(fmt.Errorf("campaign: %w", errorText(err)), session.Close())
	}
	t := &term{e: e, key: election.Key(), created: election.Rev(), session: session, over: make(chan struct{})}
	begun := time.Now()
	t.until.Store(&begun) // until the first renewal says more
	go t.watchKey()
	if err := e.begin(ctx, t); err != nil {
		t.lose(err)
		return nil, errors.Join(fmt.Errorf("lead: %w", err), session.Close())
	}
	go t.renewLoop()
	go t.publishClock()
	return t, nil
}

// begin fences earlier leaders off, and finishes what they have begun.
func (e *Engine) begin(ctx context.Context, t *term) error {
	if err := t.renew(ctx); err != nil {
		return errorText(err)
	}
	if err := e.takeOver(ctx, t); err != nil {
		return err
	}
	if e.pending != nil {
		return e.finish(ctx, e.pending)
	}
	return e.removeParts(ctx, t)
}

// renew learns until when the term lasts for certain.
func (t *term) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseSeconds*time.Second)
	defer cancel()
	sent := time.Now()
	renewed, err := t.e.client.KeepAliveOnce(ctx, t.session.Lease())
	if err != nil {
		return err
	}
	until := sent.Add(time.Duration(renewed.TTL) * time.Second)
	t.until.Store(&until)
	return nil
}

// renewLoop renews the lease until it is lost or the term ends.
func (t *term) renewLoop() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		err := t.renew(context.Background())
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			t.lose(errors.New("its lease has ended"))
			return
		}
		select {
		case <-tick.C:
		case <-t.session.Done():
			t.lose(errors.New("its lease was not renewed in time"))
			return
		case <-t.over:
			return
		}
	}
}

// publishClock tells the others the time until the term ends. It does not hold up the renewals:
// etcd may be slow to write.
func (t *term) publishClock() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		err := t.e.publishClock(context.Background(), t)
		if errors.Is(err, engine.ErrReplaced) || errors.Is(err, engine.ErrFenced) {
			t.lose(err)
			return
		}
		select {
		case <-tick.C:
		case <-t.over:
			return
		}
	}
}

// watchKey ends the term as soon as its key is gone: who revokes a lease or deletes a key lets
// another lead before the lease's time is over.
func (t *term) watchKey() {
	ctx, cancel := context.WithCancel(t.e.client.Ctx())
	defer cancel()
	go func() {
		<-t.over
		cancel()
	}()
	for at := t.created; ctx.Err() == nil; {
		for seen := range t.e.client.Watch(ctx, t.key, clientv3.WithFilterPut(), clientv3.WithRev(at+1)) {
			if len(seen.Events) > 0 {
				t.lose(errGone)
			}
		}
		// A compaction has ended the watch, or etcd has.
		kept, err := t.e.get(ctx, t.key)
		switch {
		case err == nil && (len(kept.Kvs) == 0 || kept.Kvs[0].CreateRevision != t.created):
			t.lose(errGone)
		case err == nil:
			at = kept.Header.Revision
		}
		select {
		case <-time.After(renewEvery / 10):
		case <-ctx.Done():
		}
	}
}

// errGone ends a term before its time.
var errGone = errors.New("its lease was revoked, or its key deleted")

func (t *term) lose(why error) {
	t.once.Do(func() {
		t.reason = why
		close(t.over)
	})
}

// Leads implements engine.Term.
func (t *term) Leads() bool {
	select {
	case <-t.over:
		return false
	default:
		return time.Now().Before(*t.until.Load())
	}
}

// Over implements engine.Term.
func (t *term) Over() <-chan struct{} { return t.over }

// Why implements engine.Term.
func (t *term) Why() error {
	select {
	case <-t.over:
		return t.reason
	default:
		return nil
	}
}

// end lets another lead at once.
func (t *term) end() {
	t.lose(nil)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = t.e.client.Revoke(ctx, t.session.Lease()) // or it ends on its own
	t.session.Orphan()
}

// Members implements engine.Election.
func (e *Engine) Members(ctx context.Context, fn func([]engine.Member)) error {
	prefix := e.key("leader") + "/"
	for ctx.Err() == nil {
		kept, err := e.get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
		if errors.Is(err, errReplaced) {
			return err
		}
		if err != nil {
			select {
			case <-time.After(renewEvery):
			case <-ctx.Done():
			}
			continue
		}
		members := make([]engine.Member, len(kept.Kvs))
		for i, kv := range kept.Kvs {
			members[i] = engine.Member{Self: string(kv.Value), Term: kv.CreateRevision}
		}
		fn(members)
		// One change is enough to look again: etcd tells all of them.
		waiting, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), renewEvery*4)
		<-e.client.Watch(waiting, prefix, clientv3.WithPrefix(), clientv3.WithRev(kept.Header.Revision+1))
		cancel()
	}
	return ctx.Err()
}
