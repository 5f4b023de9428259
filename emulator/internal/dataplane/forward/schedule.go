package forward

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"net/netip"
	"slices"
	"sync"
)

// A target is an available member of a pool.
type target struct {
	Member
	record *record
	host   string // Addr as text
	hash   uint64
	spent  int // what smooth weighted round robin has given it
}

// A client has the parts of a connection, session or request that schedulers see.
type client struct {
	from, to netip.AddrPort
	quicID   []byte // of UDP packets, where the scheduler wants it
}

// A scheduler chooses among the targets that are not in tried. It returns nil
// where none is left.
type scheduler interface {
	pick(c client, tried []*target) *target
}

func newScheduler(name Scheduler, targets []*target) scheduler {
	switch name {
	case RoundRobin:
		return &roundRobin{targets: targets}
	case WeightedLeastConnection:
		return leastConnection{targets}
	case SourceHash:
		return hashed{targets, sourceHash}
	case TupleHash:
		return hashed{targets, tupleHash}
	case QUICHash:
		return hashed{targets, quicHash}
	default:
		return &weightedRoundRobin{targets: targets}
	}
}

// weightedRoundRobin is the smooth form that nginx made known: of weights 5, 1
// and 1 it picks a a b a c a a.
type weightedRoundRobin struct {
	mu      sync.Mutex
	targets []*target
}

func (s *weightedRoundRobin) pick(_ client, tried []*target) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best *target
	total := 0
	for _, t := range s.targets {
		if slices.Contains(tried, t) {
			continue
		}
		t.spent += t.Weight
		total += t.Weight
		if best == nil || t.spent > best.spent {
			best = t
		}
	}
	if best != nil {
		best.spent -= total
	}
	return best
}

type roundRobin struct {
	mu      sync.Mutex
	next    int
	targets []*target
}

func (s *roundRobin) pick(_ client, tried []*target) *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.targets {
		t := s.targets[s.next]
		s.next = (s.next + 1) % len(s.targets)
		if !slices.Contains(tried, t) {
			return t
		}
	}
	return nil
}

type leastConnection struct{ targets []*target }

func (s leastConnection) pick(_ client, tried []*target) *target {
	var best *target
	var bestLoad int64
	for _, t := range s.targets {
		if slices.Contains(tried, t) {
			continue
		}
		load := t.record.active.Load() + 1
		if best == nil || load*int64(best.Weight) < bestLoad*int64(t.Weight) {
			best, bestLoad = t, load
		}
	}
	return best
}

// hashed gives each client the target with the highest score of the two
// (rendezvous hashing): when a target leaves, only its clients move (CLB-0607).
type hashed struct {
	targets []*target
	key     func(client) uint64
}

func (s hashed) pick(c client, tried []*target) *target {
	var best *target
	var bestScore float64
	key := s.key(c)
	for _, t := range s.targets {
		if slices.Contains(tried, t) {
			continue
		}
		if score := score(key, t); best == nil || score > bestScore {
			best, bestScore = t, score
		}
	}
	return best
}

// score returns the score of a target for a key. Over all keys, a target scores best for its
// weight's share.
func score(key uint64, t *target) float64 {
	uniform := (float64(mix(key^t.hash)>>11) + 0.5) / (1 << 53)
	return float64(t.Weight) / -math.Log(uniform)
}

// mix applies the finalizer of splitmix64: each bit of x changes half of the result's.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func hashBytes(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return mix(h.Sum64())
}

func sourceHash(c client) uint64 {
	a := c.from.Addr().As16()
	return hashBytes(a[:])
}

func tupleHash(c client) uint64 {
	var b [36]byte
	from, to := c.from.Addr().As16(), c.to.Addr().As16()
	copy(b[:], from[:])
	copy(b[16:], to[:])
	binary.BigEndian.PutUint16(b[32:], c.from.Port())
	binary.BigEndian.PutUint16(b[34:], c.to.Port())
	return hashBytes(b[:])
}

// quicHash falls back on the source for packets that carry no id.
func quicHash(c client) uint64 {
	if len(c.quicID) == 0 {
		return sourceHash(c)
	}
	return hashBytes(c.quicID)
}
