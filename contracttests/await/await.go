// Package await waits in tests for what a busy machine does late. It owns how long a test
// waits; it must not know what for.
package await

import (
	"testing"
	"time"
)

// Patience limits how long a test waits for the machine. A machine with other work takes minutes
// for what takes a second on a quiet one, so that no verdict may depend on less.
const Patience = 5 * time.Minute

const (
	pause = 5 * time.Millisecond // between two looks, in which others have the core
	slow  = time.Minute          // after which a test says what it waits for
)

// Until waits until a condition holds, and fails the test if it does not within Patience. After
// a minute it logs what it waits for. The text completes "waiting until".
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if holds() {
		return
	}
	begin, said := time.Now(), false
	looks := time.NewTicker(pause)
	defer looks.Stop()
	for range looks.C {
		switch took := time.Since(begin); {
		case holds():
			return
		case took > Patience:
			t.Fatalf("waited %s until %s", Patience, what)
		case took > slow && !said:
			said = true
			t.Logf("waiting until %s, for a minute by now", what)
		}
	}
}
