package forward

import (
	"context"
	"sync"
	"time"
)

// A limit holds a listener to its bandwidth, each way on its own. A nil limit
// lets everything pass.
type limit struct {
	rate    float64 // bytes a second
	in, out bucket
}

func newLimit(mbits int) *limit {
	if mbits <= 0 {
		return nil
	}
	rate := float64(mbits) * 1e6 / 8
	return &limit{rate: rate, in: bucket{rate: rate}, out: bucket{rate: rate}}
}

// connections is the number of connections that can use all of a listener's bandwidth:
// the cloud gives one connection no more than peak/(N-1) on a cluster of N = 4
// (CLB-0609).
const connections = 3

// connection returns the buckets of one connection, for each way its own and
// the listener's.
func (l *limit) connection() (in, out buckets) {
	if l == nil {
		return nil, nil
	}
	return buckets{{rate: l.rate / connections}, &l.in}, buckets{{rate: l.rate / connections}, &l.out}
}

// A bucket admits bytes at a rate, and up to a tenth of a second's at once.
type bucket struct {
	mu   sync.Mutex
	rate float64
	full time.Time // when the bucket is full again
}

const burst = 100 * time.Millisecond

// take takes n bytes and returns how long the caller has to wait for them.
func (b *bucket) take(now time.Time, n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.After(b.full) {
		b.full = now
	}
	b.full = b.full.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	return b.full.Sub(now) - burst
}

// allow takes n bytes if they need no wait, and reports whether it did.
func (b *bucket) allow(now time.Time, n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full.Sub(now) > burst {
		return false
	}
	if now.After(b.full) {
		b.full = now
	}
	b.full = b.full.Add(time.Duration(float64(n) / b.rate * float64(time.Second)))
	return true
}

// buckets lists the buckets that a byte passes.
type buckets []*bucket

// wait takes n bytes from each and waits for the slowest.
func (bs buckets) wait(ctx context.Context, n int) error {
	if len(bs) == 0 {
		return nil
	}
	now := time.Now()
	var longest time.Duration
	for _, b := range bs {
		longest = max(longest, b.take(now, n))
	}
	return pause(ctx, longest)
}
