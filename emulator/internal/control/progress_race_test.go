package control

import (
	"sync"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// TestStatusDuringProgress proves that who asks for the status of a play sees its steps in order,
// and at the end its result.
func TestStatusDuringProgress(t *testing.T) {
	const steps = 1000
	runs := &scenarioRuns{news: make(chan struct{})}
	if !runs.begin("a", false) {
		t.Fatal("it does not begin")
	}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for before := 0; ; {
				status := runs.status()
				if status.Playing == nil {
					if len(status.Results) != 1 {
						t.Errorf("%d results, want 1", len(status.Results))
					}
					return
				}
				if status.Playing.Steps < before || status.Playing.Steps != status.Playing.Line {
					t.Errorf("step %d in line %d after step %d", status.Playing.Steps, status.Playing.Line, before)
				}
				before = status.Playing.Steps
			}
		})
	}
	for n := range steps {
		runs.progress(scenarios.StepDone{Line: n + 1})
	}
	runs.end(scenarios.Result{Scenario: "a"})
	readers.Wait()
}
