package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"time"
)

// maxNonces bounds what is remembered, some 20 MB. When clients send more within
// the window, the calls with the oldest timestamps fail from there on, as
// their nonces are no longer known.
const maxNonces = 1 << 20

// nonces remembers the used ones, as long as the timestamp that came
// with one is good, so that nothing signed once is executed twice. How long
// that is does not depend on what the machine's clock shows, which a user may set. The
// zero value is ready for use. A restart forgets all of them.
type nonces struct {
	mu    sync.Mutex
	start time.Time       // of ages
	spans map[int64]*span // by the span that the timestamp is in
	count int
	floor int64         // it refuses timestamps in earlier spans
	ends  time.Duration // the age at which they no longer are
	swept time.Duration // the age at which it last made room
	limit int           // of count; 0 is maxNonces
}

// span is the nonces of the calls with timestamps within ten seconds.
type span struct {
	digests map[uint64]struct{}
	last    time.Duration // the age of the last use
}

// nonceLife is the longest time for which a timestamp can be good: the sender's clock
// may be ahead as far as it may be.
const nonceLife = 2 * timestampWindow

const sweepEvery = 10 * time.Second

// spanOf numbers the ten seconds that a time is in.
func spanOf(t time.Time) int64 { return t.Unix() / 10 }

// nonce is one, with the span of its call's timestamp.
type nonce struct {
	span   int64
	digest uint64
}

func nonceOf(accessKeyID, text string, timestamp time.Time) nonce {
	var room [128]byte // more than most need
	sum := sha256.Sum256(append(append(append(room[:0], accessKeyID...), 0), text...))
	return nonce{spanOf(timestamp), binary.BigEndian.Uint64(sum[:])}
}

// refuse returns the refusal of a call with the nonce, or nil if it is fresh.
func (n *nonces) refuse(used nonce) *Problem {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refuseLocked(used)
}

func (n *nonces) refuseLocked(used nonce) *Problem {
	if used.span < n.floor {
		return problemTimestampExpired
	}
	if s := n.spans[used.span]; s != nil {
		if _, known := s.digests[used.digest]; known {
			return problemNonceUsed
		}
	}
	return nil
}

// elapsed returns the time since the first call, by the monotonic clock.
func (n *nonces) elapsed(now time.Time) time.Duration {
	if n.start.IsZero() {
		n.start = now
	}
	return now.Sub(n.start)
}

// spend remembers a nonce, or returns why it is not good.
func (n *nonces) spend(used nonce, now time.Time) *Problem {
	n.mu.Lock()
	defer n.mu.Unlock()
	age := n.elapsed(now)
	n.makeRoom(age)
	if problem := n.refuseLocked(used); problem != nil {
		return problem
	}
	n.add(used, age)
	return nil
}

func (n *nonces) add(used nonce, age time.Duration) {
	s := n.spans[used.span]
	if s == nil {
		if n.spans == nil {
			n.spans = make(map[int64]*span)
		}
		s = &span{digests: make(map[uint64]struct{})}
		n.spans[used.span] = s
	}
	before := len(s.digests)
	s.digests[used.digest] = struct{}{}
	s.last = age
	n.count += len(s.digests) - before
}

// makeRoom forgets what no call can come with any more, and more of those with the
// oldest timestamps when there is no room for another one.
func (n *nonces) makeRoom(age time.Duration) {
	limit := cmp.Or(n.limit, maxNonces)
	if age < n.swept+sweepEvery && n.count < limit {
		return
	}
	n.swept = age
	if age >= n.ends {
		n.floor = 0
	}
	for at, s := range n.spans {
		if age > s.last+nonceLife {
			n.forget(at)
		}
	}
	if n.count < limit {
		return
	}
	for _, at := range slices.Sorted(maps.Keys(n.spans)) {
		if n.count < limit {
			return
		}
		n.forget(at)
		n.floor, n.ends = max(n.floor, at+1), age+nonceLife
	}
}

func (n *nonces) forget(at int64) {
	n.count -= len(n.spans[at].digests)
	delete(n.spans, at)
}
