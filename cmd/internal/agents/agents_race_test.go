package agents_test

import (
	"sync"
	"testing"
)

// TestScenariosAtOnce proves that scenarios run at the same time, each in a fork of its own.
func TestScenariosAtOnce(t *testing.T) {
	s := start(t, true, "secret")
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() { s.call("run_scenario", m{"name": "backend-quota"}, false, `"status":"passed"`) })
	}
	running.Wait()
}
