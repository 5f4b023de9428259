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

// Nonces remembers the used nonces, as long as the timestamp that came
// with one is good, so that nothing signed once is executed twice. How long
// that is does not depend on what the machine's clock shows, which a user may set. The
// zero value keeps them in memory alone.
type Nonces struct {
	mu    sync.Mutex
	start time.Time       // of ages
	spans map[int64]*span // by the span that the timestamp is in
	count int
	floor int64         // it refuses timestamps in earlier spans
	ends  time.Duration // the age at which they no longer are
	swept time.Duration // the age at which it last made room
	limit int           // of count; 0 is maxNonces
	file  *nonceFile
	// failing is why the file can't be written, since the last try.
	failing error
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

// OpenNonces returns the nonces kept in a file, which need not exist. It
// has each when the call that it belongs to is executed; the last seconds of it
// can be lost when the machine loses its power, but not when the process ends.
func OpenNonces(path string, now time.Time) (*Nonces, error) {
	n := &Nonces{}
	floor, records, err := readNonces(path)
	if err != nil {
		return nil, err
	}
	if floor <= spanOf(now.Add(timestampWindow)) { // and not from a clock that was ahead
		n.floor, n.ends = floor, nonceLife
	}
	age := n.elapsed(now)
	for _, r := range records {
		n.makeRoom(age)
		n.add(r, age)
	}
	n.file = &nonceFile{path: path}
	n.failing = n.file.write(n) // a full disk refuses writes, and no reads
	return n, nil
}

// Failing returns why used nonces are not kept, and writes are refused, nil if they are kept.
func (n *Nonces) Failing() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failing != nil && n.file != nil { // the disk may have room again
		n.failing = n.file.write(n)
	}
	return n.failing
}

// Close closes the file; nonces used later are not kept.
func (n *Nonces) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil || n.file.file == nil {
		return nil
	}
	return n.file.close()
}

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

// refuse returns the refusal of a call with the nonce, nil if it is fresh.
func (n *Nonces) refuse(used nonce) *Problem {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refuseLocked(used)
}

func (n *Nonces) refuseLocked(used nonce) *Problem {
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

// elapsed is the time since the first call, by the monotonic clock.
func (n *Nonces) elapsed(now time.Time) time.Duration {
	if n.start.IsZero() {
		n.start = now
	}
	return now.Sub(n.start)
}

// spend remembers a nonce, or returns why it is not good. Lost is why a restart does not
// know it.
func (n *Nonces) spend(used nonce, now time.Time) (problem *Problem, lost error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	age := n.elapsed(now)
	n.makeRoom(age)
	if problem := n.refuseLocked(used); problem != nil {
		return problem, nil
	}
	n.add(used, age)
	if n.file != nil {
		lost = n.file.append(n, used)
		n.failing = lost
	}
	return nil, lost
}

func (n *Nonces) add(used nonce, age time.Duration) {
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
func (n *Nonces) makeRoom(age time.Duration) {
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

func (n *Nonces) forget(at int64) {
	n.count -= len(n.spans[at].digests)
	delete(n.spans, at)
}
