package rpc

import (
	"strconv"
	"testing"
	"time"
)

// However many nonces come, two generations of them are remembered at most.
func TestNoncesAreBounded(t *testing.T) {
	var n nonces
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 3 * maxNonces {
		n.spend("testid", strconv.Itoa(i), now)
		if size := len(n.younger) + len(n.older); size > 2*maxNonces {
			t.Fatalf("%d nonces are remembered after %d", size, i)
		}
	}
	if last := strconv.Itoa(3*maxNonces - 1); !n.used("testid", last) {
		t.Error("the newest nonce is forgotten")
	}
}

// A nonce is remembered as long as a timestamp that came with it is good.
func TestNoncesLive(t *testing.T) {
	var n nonces
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	n.spend("testid", "0", start)
	for minute := 1; minute <= 30; minute++ {
		n.spend("testid", strconv.Itoa(minute), start.Add(time.Duration(minute)*time.Minute))
		if !n.used("testid", "0") {
			t.Fatalf("the nonce is forgotten after %d minutes", minute)
		}
	}
	n.spend("testid", "generation 2", start.Add(31*time.Minute))
	n.spend("testid", "generation 3", start.Add(62*time.Minute))
	if n.used("testid", "0") || !n.used("testid", "generation 2") {
		t.Error("an old nonce is kept, or one that may still matter is not")
	}
}
