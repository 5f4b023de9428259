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
// the window, the calls with the oldest timestamps are refused from there on, as
// their nonces are no longer known.
const maxNonces = 1 << 20

// Nonces remembers which nonces were used, as long as the timestamp that came
// with one is good, so that nothing that was signed once is executed twice. The
// zero value keeps them in memory alone.
type Nonces struct {
	mu    sync.Mutex
	spans map[int64]map[uint64]struct{} // by the span that the timestamp is in
	count int
	floor int64 // timestamps in earlier spans are refused
	swept int64 // the span of time in which room was made last
	limit int   // of count; 0 is maxNonces
	file  *nonceFile
}

// OpenNonces returns the nonces that are kept in a file, which need not exist. It
// has each when the call that it belongs to is executed; the last seconds of it
// can be lost when the machine loses its power, but not when the process ends.
func OpenNonces(path string, now time.Time) (*Nonces, error) {
	n := &Nonces{}
	floor, records, err := readNonces(path)
	if err != nil {
		return nil, err
	}
	n.floor = floor
	for _, r := range records {
		if r.span >= spanOf(now.Add(-timestampWindow)) {
			n.add(r)
		}
	}
	n.makeRoom(now)
	n.file = &nonceFile{path: path}
	return n, n.file.write(n)
}

// Close lets go of the file; what is used from there on is not kept.
func (n *Nonces) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
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

// refuse tells why a call with the nonce is not taken, nil if it is.
func (n *Nonces) refuse(used nonce) *Problem {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refuseLocked(used)
}

func (n *Nonces) refuseLocked(used nonce) *Problem {
	if used.span < n.floor {
		return problemTimestampExpired
	}
	if _, known := n.spans[used.span][used.digest]; known {
		return problemNonceUsed
	}
	return nil
}

// spend remembers a nonce, or tells why it is not good. An error means that a
// restart will forget it.
func (n *Nonces) spend(used nonce, now time.Time) (*Problem, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if problem := n.refuseLocked(used); problem != nil {
		return problem, nil
	}
	n.makeRoom(now)
	n.add(used)
	if n.file == nil {
		return nil, nil
	}
	return nil, n.file.append(n, used)
}

func (n *Nonces) add(used nonce) {
	span := n.spans[used.span]
	if span == nil {
		if n.spans == nil {
			n.spans = make(map[int64]map[uint64]struct{})
		}
		span = make(map[uint64]struct{})
		n.spans[used.span] = span
	}
	before := len(span)
	span[used.digest] = struct{}{}
	n.count += len(span) - before
}

// makeRoom forgets what no call can come with any more, and more of the oldest
// when there is no room for another one.
func (n *Nonces) makeRoom(now time.Time) {
	limit := cmp.Or(n.limit, maxNonces)
	if n.swept == spanOf(now) && n.count < limit {
		return
	}
	n.swept = spanOf(now)
	for _, span := range slices.Sorted(maps.Keys(n.spans)) {
		if span >= spanOf(now.Add(-timestampWindow)) && n.count < limit {
			return
		}
		n.count -= len(n.spans[span])
		delete(n.spans, span)
		n.floor = max(n.floor, span+1)
	}
}
