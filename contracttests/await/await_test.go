package await_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
)

// fails is a test that remembers what was said of it, and when.
type fails struct {
	testing.TB
	begin time.Time
	said  []string
}

func (f *fails) Helper() {}

func (f *fails) Logf(format string, args ...any) {
	f.said = append(f.said, time.Since(f.begin).Round(time.Second).String()+": "+fmt.Sprintf(format, args...))
}

func (f *fails) Fatalf(format string, args ...any) {
	f.Logf(format, args...)
	panic("failed")
}

// TestUntil proves that a wait ends with its condition, says after a minute what it waits for,
// and fails after five.
func TestUntil(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		said  []string
	}{
		"at once": {0, nil},
		"soon":    {30 * time.Second, nil},
		"late":    {2 * time.Minute, []string{"1m0s: waiting until it rains, for a minute by now"}},
		"never":   {time.Hour, []string{"1m0s: waiting until it rains, for a minute by now", "5m0s: waited 5m0s until it rains"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fails{TB: t, begin: time.Now()}
				func() {
					defer func() { _ = recover() }()
					await.Until(f, "it rains", func() bool { return time.Since(f.begin) >= c.after })
				}()
				if !slices.Equal(f.said, c.said) {
					t.Errorf("said %q, want %q", f.said, c.said)
				}
				if took := time.Since(f.begin); took < min(c.after, await.Patience) || took > c.after+time.Second && c.after < await.Patience { // in a bubble
					t.Errorf("it took %s, want %s", took, c.after)
				}
			})
		})
	}
}
