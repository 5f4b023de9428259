package scenarios_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// allocated returns how many bytes do takes from the heap in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mostAllocated is far above what reading such a file allocates, also with the race
// detector, and far below what its templates would become.
const mostAllocated = 256 << 20

// The size of filled templates is bounded, so that a small file can't take the memory of
// the machine: values that use values, values that are used many times, and what is
// saved during the play.
func TestTemplatesAreBounded(t *testing.T) {
	const steps = "client:\n  steps:\n    - call: {action: DescribeRegions}\n"
	nested := "values:\n  a0: " + strings.Repeat("x", 100) + "\n"
	for i := range 8 {
		nested += fmt.Sprintf("  a%d: %q\n", i+1, strings.Repeat(fmt.Sprintf("{{a%d}}", i), 10))
	}
	for name, text := range map[string]string{
		"nested":      nested + steps,
		"in the text": "advice: \"" + strings.Repeat("{{v}}", 20_000) + "\"\nvalues: {v: " + strings.Repeat("x", 20_000) + "}\n" + steps,
		"in many texts": "values: {v: " + strings.Repeat("x", 20_000) + "}\nclient:\n  steps:\n" +
			strings.Repeat("    - call: {action: \"{{v}}\"}\n", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = load(text) })
			if err == nil || !strings.Contains(err.Error(), "the templates become more than 4 MiB") {
				t.Errorf("a file of %d bytes = %.300v", len(text), err)
			}
			if took > mostAllocated {
				t.Errorf("a file of %d bytes takes %d MiB", len(text), took>>20)
			}
		})
	}
	t.Run("saved", func(t *testing.T) {
		f := &fake{answer: func(scenarios.APICall) scenarios.Answer {
			return scenarios.Answer{Status: 200, Body: map[string]any{"Long": strings.Repeat("x", 1<<20)}}
		}}
		var result scenarios.Result
		text := "client:\n  steps:\n    - call: {action: A, save: {v: Long}}\n    - call: {action: B, params: {P: \"" + strings.Repeat("{{v}}", 1000) + "\"}}\n"
		took := allocated(func() { result = play(t, text, scenarios.ClientPart, scenarios.Setup{Target: f}) })
		if result.Failure == nil || result.Status != scenarios.Broken || !strings.Contains(result.Failure.Reason, "the templates become more than 4 MiB") {
			t.Errorf("the result is %+v", result)
		}
		if took > mostAllocated {
			t.Errorf("it takes %d MiB", took>>20)
		}
	})
}

// A result keeps a part of what is too long, whoever said it.
func TestResultsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	f := &fake{answer: func(scenarios.APICall) scenarios.Answer {
		return scenarios.Answer{Status: 400, Body: map[string]any{"Code": "Bad.Luck", "Message": long}}
	}}
	var steps int
	result := play(t, "advice: "+long+"\nclient:\n  steps:\n    - call: {action: A, expect: {code: Bad.Luck, message: "+long+"x}}\n"+
		"  expect:\n    - calls: {action: "+long[:100_000]+", exactly: 1}\n", scenarios.ClientPart,
		scenarios.Setup{Target: f, Progress: func(s scenarios.StepDone) { steps += len(s.Title) }})
	text, err := json.Marshal(result)
	if err != nil || result.Failure == nil || len(text) > 256<<10 || steps > 2<<10 {
		t.Errorf("the result has %d bytes, the step's title %d (%v)", len(text), steps, err)
	}
	if advice := result.Failure.Advice; !strings.HasPrefix(advice, "éé") || !strings.HasSuffix(advice, "é… (2080768 bytes more)") {
		t.Errorf("the advice ends with %q", advice[len(advice)-40:])
	}
}
