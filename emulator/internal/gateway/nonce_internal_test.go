package gateway

import (
	"strconv"
	"testing"
	"time"
)

var nonceStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spend spends a nonce whose timestamp is right, and returns the code of a refusal.
func spend(t testing.TB, n *nonces, text string, timestamp, now time.Time) string {
	t.Helper()
	problem := n.spend(nonceOf("testid", text, timestamp), now)
	if problem == nil {
		return ""
	}
	return problem.Code
}

// However many nonces come, a bounded number is remembered, and a forgotten one never
// becomes valid again.
func TestNoncesAreBounded(t *testing.T) {
	n := &nonces{limit: 1000}
	const each = 70 // within ten seconds
	at := func(i int) time.Time { return nonceStart.Add(time.Duration(i/each) * 10 * time.Second) }
	all := 3*n.limit + 1
	for i := range all {
		if code := spend(t, n, strconv.Itoa(i), at(i), at(i)); code != "" {
			t.Fatalf("nonce %d: %s", i, code)
		}
		if n.count > n.limit {
			t.Fatalf("%d nonces are remembered after %d", n.count, i)
		}
	}
	for i := range all {
		if n.refuse(nonceOf("testid", strconv.Itoa(i), at(i))) == nil {
			t.Fatalf("nonce %d is good again", i)
		}
	}
}

// A nonce is remembered as long as the timestamp that came with it is good, which
// one from a clock that is ahead is longest.
func TestNoncesLive(t *testing.T) {
	var n nonces
	ahead := nonceStart.Add(timestampWindow)
	spend(t, &n, "0", ahead, nonceStart)
	for minute := 1; minute <= 30; minute++ {
		now := nonceStart.Add(time.Duration(minute) * time.Minute)
		if code := spend(t, &n, "0", ahead, now); code != "SignatureNonceUsed" {
			t.Fatalf("after %d minutes: %q", minute, code)
		}
		spend(t, &n, strconv.Itoa(minute), now, now)
	}
	late := nonceStart.Add(61 * time.Minute)
	if code := spend(t, &n, "31", late, late); code != "" || n.count != 1 {
		t.Errorf("%q, and %d nonces are remembered, want the new one", code, n.count)
	}
}

// A clock that ran ahead and was set right again locks no caller out, and lets no call
// repeat.
func TestNoncesOfAClockThatRanAhead(t *testing.T) {
	var n nonces
	ahead := nonceStart.Add(24 * time.Hour)
	spend(t, &n, "before", nonceStart, nonceStart)
	n.start = n.start.Add(24 * time.Hour) // the clock jumps; no time has passed
	for minute := range 16 {
		now := ahead.Add(time.Duration(minute) * time.Minute)
		if code := spend(t, &n, strconv.Itoa(minute), now, now); code != "" {
			t.Fatalf("ahead: %s", code)
		}
	}
	n.start = n.start.Add(-24 * time.Hour)
	now := nonceStart.Add(16 * time.Minute)
	if code := spend(t, &n, "right", now, now); code != "" {
		t.Errorf("a call by the right clock: %s", code)
	}
	for text, at := range map[string]time.Time{"before": nonceStart, "0": ahead, "15": ahead.Add(15 * time.Minute)} {
		if code := spend(t, &n, text, at, now); code != "SignatureNonceUsed" {
			t.Errorf("the nonce %s again: %q", text, code)
		}
	}
}
