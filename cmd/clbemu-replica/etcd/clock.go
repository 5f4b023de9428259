package etcd

import (
	"context"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/state/engine"
)

// The time of a state must not jump when another process leads whose machine's clock is
// wrong: what is due or expires by it would at once, or much later. So the leader tells
// its time, and who leads next goes on from there.

// tolerated is a difference of clocks that is left alone. What a follower sees holds the
// way of the message as well.
const tolerated = time.Second

// Ahead implements engine.Elected.
func (e *Engine) Ahead() time.Duration { return time.Duration(e.ahead.Load()) }

// publishClock tells the followers what the clock shows that all go by, and makes sure that
// etcd is not an older copy, which may have the leader's lease too.
func (e *Engine) publishClock(ctx context.Context, t *term) error {
	before := e.seen.newest()
	now := e.clock().Add(e.Ahead()).UnixNano()
	done, err := e.transact(ctx, []clientv3.Cmp{t.leads()},
		[]clientv3.Op{clientv3.OpPut(e.key("state", "clock"), strconv.FormatInt(now, 10)), clientv3.OpGet(e.key("state", "revision")), t.stamp()})
	if err != nil {
		return err
	}
	if !done.Succeeded {
		return engine.ErrFenced
	}
	_, _, err = e.countOf(done.Responses[1].GetResponseRange().Kvs, before)
	return err
}

// readClock takes notice of what the leader told.
func (e *Engine) readClock(told []byte) {
	now, err := strconv.ParseInt(string(told), 10, 64)
	if err != nil {
		return // by a version that tells it in another way
	}
	ahead := time.Unix(0, now).Sub(e.clock())
	if ahead.Abs() < tolerated {
		ahead = 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term == nil {
		e.ahead.Store(int64(ahead))
	}
}
