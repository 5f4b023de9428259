package gateway

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// TestBucketsOfManyCalls proves that of calls at the same time as many pass as a limit lets.
func TestBucketsOfManyCalls(t *testing.T) {
	const burst = 100
	var b buckets
	var passed atomic.Int64
	var callers sync.WaitGroup
	limits, of := kinds.Rate{PerSecond: 1, Burst: burst}, &kinds.Throttle{}
	for range 8 {
		callers.Go(func() {
			for range burst {
				if b.take("key/testid", of, limits, nonceStart) {
					passed.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if passed.Load() != burst {
		t.Errorf("%d calls passed, want %d", passed.Load(), burst)
	}
}

// TestIDsOfManyCalls proves that calls at the same time get different ids.
func TestIDsOfManyCalls(t *testing.T) {
	s := &Server{chance: rand.NewChaCha8([32]byte{})}
	var given sync.Map
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 1000 {
				request, trace := s.mintIDs()
				if _, twice := given.LoadOrStore(request, true); twice || request == trace {
					t.Errorf("the id %s comes twice", request)
				}
			}
		})
	}
	callers.Wait()
}

// TestNoncesOfManyCalls proves that of calls with one nonce at the same time one is good.
func TestNoncesOfManyCalls(t *testing.T) {
	const given = 200
	n := &nonces{limit: 10 * given}
	var good atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for i := range given {
				if n.spend(nonceOf("testid", strconv.Itoa(i), nonceStart), nonceStart) == nil {
					good.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if good.Load() != given {
		t.Errorf("%d calls with %d nonces were good", good.Load(), given)
	}
}
