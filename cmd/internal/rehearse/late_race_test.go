package rehearse_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/rehearse"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/scenarios"
)

// TestJudgesLate proves that a change which a CCM makes after it seemed to rest is judged: the report says whose
// it is.
func TestJudgesLate(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.annotate("preserve-lb-on-delete", "true") // the last step deletes the Service
	report, err := a.rehearse(none, late)
	if err != nil {
		t.Fatal(err)
	}
	last := report.Phases[len(report.Phases)-1]
	c := last.Changes[len(last.Changes)-1]
	if c.Words() != "update listener 80" || c.Services != "shop/web" {
		t.Errorf("the last change is %q of %q, want update listener 80 of shop/web", c.Words(), c.Services)
	}
}

// patient is a program that notes how long it was waited for.
type patient struct {
	waiting

	longest func(time.Duration)
}

var _ scenarios.Running = (*patient)(nil)

// Wait implements scenarios.Running.
func (p patient) Wait(ctx context.Context, limit time.Duration) (bool, error) {
	p.longest(limit)
	return p.waiting.Wait(ctx, limit)
}

// TestWaitsLonger proves that a phase which throttles waits twice as long: a CCM waits before it tries again.
func TestWaitsLonger(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	var mu sync.Mutex
	longest := make(map[string]time.Duration)
	phase := ""
	const quiet = 300 * time.Millisecond
	_, err := a.rehearse(none, none, func(c *rehearse.Config) {
		c.Quiet = quiet
		c.Progress = func(name string) {
			mu.Lock()
			defer mu.Unlock()
			phase = name
		}
		start := c.Start
		c.Start = func(ctx context.Context, program string, p *cluster.Plane, e *emulator.Emulator) (scenarios.Running, error) {
			r, err := start(ctx, program, p, e)
			return patient{waiting{r.(*smallCCM)}, func(limit time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				longest[phase] = max(longest[phase], limit)
			}}, err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range longest {
		throttled := name == "each Service is edited, and a read of its load balancer is throttled" || name == "all is edited back, and one change is throttled"
		if (limit > quiet) != throttled {
			t.Errorf("%s: waited for %s at a time, with a quiet time of %s", name, limit, quiet)
		}
	}
	if len(longest) < 9 {
		t.Errorf("waited in the phases %v only", longest)
	}
}
