package gateway

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

var nonceStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spent spends a nonce whose timestamp is right, and tells the code of a refusal.
func spent(t testing.TB, n *Nonces, text string, timestamp, now time.Time) string {
	t.Helper()
	problem, err := n.spend(nonceOf("testid", text, timestamp), now)
	if err != nil {
		t.Fatal(err)
	}
	if problem == nil {
		return ""
	}
	return problem.Code
}

// However many nonces come, a bounded number of them is remembered, in memory and
// in the file, and none that was forgotten is good again, before and after a
// restart.
func TestNoncesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonces")
	n, err := OpenNonces(path, nonceStart)
	if err != nil {
		t.Fatal(err)
	}
	n.limit = 1000
	const each = 70 // within ten seconds
	at := func(i int) time.Time { return nonceStart.Add(time.Duration(i/each) * 10 * time.Second) }
	all := 3*n.limit + 1
	for i := range all {
		if code := spent(t, n, strconv.Itoa(i), at(i), at(i)); code != "" {
			t.Fatalf("nonce %d: %s", i, code)
		}
		if n.count > n.limit {
			t.Fatalf("%d nonces are remembered after %d", n.count, i)
		}
	}
	info, err := os.Stat(path)
	if limit := int64((2*n.limit + 2) * nonceRecord); err != nil || info.Size() > limit {
		t.Errorf("the file has %d bytes, want at most %d (%v)", info.Size(), limit, err)
	}
	for restart := range 2 {
		for i := 0; i < all; i++ {
			if n.refuse(nonceOf("testid", strconv.Itoa(i), at(i))) == nil {
				t.Fatalf("after %d restarts, nonce %d is good again", restart, i)
			}
		}
		if n, err = OpenNonces(path, at(all)); err != nil {
			t.Fatal(err)
		}
	}
}

// A nonce is remembered as long as the timestamp that came with it is good, which
// one from a clock that is ahead is longest.
func TestNoncesLive(t *testing.T) {
	var n Nonces
	ahead := nonceStart.Add(timestampWindow)
	spent(t, &n, "0", ahead, nonceStart)
	for minute := 1; minute <= 30; minute++ {
		now := nonceStart.Add(time.Duration(minute) * time.Minute)
		if code := spent(t, &n, "0", ahead, now); code != "SignatureNonceUsed" {
			t.Fatalf("after %d minutes: %q", minute, code)
		}
		spent(t, &n, strconv.Itoa(minute), now, now)
	}
	late := nonceStart.Add(31 * time.Minute)
	if code := spent(t, &n, "31", late, late); code != "" || n.count != 16 {
		t.Errorf("%q, and %d nonces are remembered, want those of the last 15 minutes and the new one", code, n.count)
	}
}

// What an earlier process used is used, also when that one had no time to close
// the file, and when it ended within a record.
func TestNoncesSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonces")
	for run := range 4 {
		n, err := OpenNonces(path, nonceStart)
		if err != nil {
			t.Fatal(err)
		}
		for i := range run {
			if code := spent(t, n, strconv.Itoa(i), nonceStart, nonceStart); code != "SignatureNonceUsed" {
				t.Errorf("run %d, nonce of run %d: %q", run, i, code)
			}
		}
		if code := spent(t, n, strconv.Itoa(run), nonceStart, nonceStart); code != "" {
			t.Errorf("run %d, its own nonce: %s", run, code)
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString("half"); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that is something else stops the start, with what to do, and stays.
func TestNoncesOfAnotherKind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonces")
	for _, text := range []string{"", "clbemu nonces 1\n", "a text of some length, and of no nonces"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenNonces(path, nonceStart); err == nil {
			t.Errorf("%q is taken for used nonces", text)
		}
		if kept, err := os.ReadFile(path); string(kept) != text {
			t.Errorf("%q became %q (%v)", text, kept, err)
		}
	}
}
