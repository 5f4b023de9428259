package gateway

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var nonceStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// spend spends a nonce whose timestamp is right, and returns the code of a refusal.
func spend(t testing.TB, n *Nonces, text string, timestamp, now time.Time) string {
	t.Helper()
	problem, lost := n.spend(nonceOf("testid", text, timestamp), now)
	if lost != nil {
		t.Fatal(lost)
	}
	if problem == nil {
		return ""
	}
	return problem.Code
}

// However many nonces come, the store remembers a bounded number, in memory and
// in the file, and a forgotten one never becomes valid again, before and after a
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
		if code := spend(t, n, strconv.Itoa(i), at(i), at(i)); code != "" {
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

// A clock that ran ahead and was set right again locks no caller out, before and after a
// restart, and lets no call repeat.
func TestNoncesOfAClockThatRanAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonces")
	n, err := OpenNonces(path, nonceStart)
	if err != nil {
		t.Fatal(err)
	}
	ahead := nonceStart.Add(24 * time.Hour)
	spend(t, n, "before", nonceStart, nonceStart)
	n.start = n.start.Add(24 * time.Hour) // the clock jumps; no time has passed
	for minute := range 16 {
		now := ahead.Add(time.Duration(minute) * time.Minute)
		if code := spend(t, n, strconv.Itoa(minute), now, now); code != "" {
			t.Fatalf("ahead: %s", code)
		}
	}
	n.start = n.start.Add(-24 * time.Hour)
	for restart := range 2 {
		now := nonceStart.Add(16 * time.Minute)
		if code := spend(t, n, fmt.Sprint("right ", restart), now, now); code != "" {
			t.Errorf("after %d restarts, a call by the right clock: %s", restart, code)
		}
		for text, at := range map[string]time.Time{"before": nonceStart, "0": ahead, "15": ahead.Add(15 * time.Minute)} {
			if code := spend(t, n, text, at, now); code != "SignatureNonceUsed" {
				t.Errorf("after %d restarts, the nonce %s again: %q", restart, text, code)
			}
		}
		if n, err = OpenNonces(path, now); err != nil {
			t.Fatal(err)
		}
	}
	// A file of version 1, whose floor was as high as the clock had been.
	older := []byte(olderHeader)
	older = binary.BigEndian.AppendUint64(older, uint64(spanOf(ahead)))
	older = append(older, make([]byte, 8)...)
	used := nonceOf("testid", "older", nonceStart)
	older = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(older, uint64(used.span)), used.digest)
	if err := os.WriteFile(path, older, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err = OpenNonces(path, nonceStart); err != nil {
		t.Fatal(err)
	}
	if a, b := spend(t, n, "older", nonceStart, nonceStart), spend(t, n, "new", nonceStart, nonceStart); a != "SignatureNonceUsed" || b != "" {
		t.Errorf("with a file of version 1: %q and %q", a, b)
	}
}

// Damage to the file stops the start, and names it; what is missing at its end does
// not.
func TestDamagedNonces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nonces")
	n, err := OpenNonces(path, nonceStart)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		spend(t, n, strconv.Itoa(i), nonceStart, nonceStart)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range text[:len(text)-nonceRecord] {
		damaged := slices.Clone(text)
		damaged[at] ^= 1
		if at < len(nonceHeader) {
			continue // TestNoncesOfAnotherKind
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenNonces(path, nonceStart); err == nil || !strings.Contains(err.Error(), path+" is damaged (record "+strconv.Itoa((at-len(nonceHeader))/nonceRecord)) {
			t.Fatalf("damage at byte %d = %v", at, err)
		}
	}
	lost := append(slices.Clone(text[:len(text)-2*nonceRecord]), make([]byte, 2*nonceRecord)...)
	if err := os.WriteFile(path, lost, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := OpenNonces(path, nonceStart); err != nil || n.count != 3 {
		t.Errorf("without its end: %v", err)
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
			if code := spend(t, n, strconv.Itoa(i), nonceStart, nonceStart); code != "SignatureNonceUsed" {
				t.Errorf("run %d, nonce of run %d: %q", run, i, code)
			}
		}
		if code := spend(t, n, strconv.Itoa(run), nonceStart, nonceStart); code != "" {
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
