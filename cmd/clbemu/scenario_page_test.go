package main_test

import (
	"os"
	"strings"
	"testing"
)

// TestScenarioPageIsWhole proves that the page describes every step and every
// expectation that the schema has.
func TestScenarioPageIsWhole(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"set", "fault", "clear", "call", "wait", "clock", "restart", "kill", "exec", "start", "kubectl", "repeat", "mark", "expect",
		"resource", "calls", "quota", "addresses", "service", "event", "finalizer"} {
		if !strings.Contains(string(text), "`"+word+":") {
			t.Errorf("the page does not describe %s", word)
		}
	}
}
