package contracttests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/scenarios"
)

// ccmEvents are the Events that a real cloud controller manager (CCM) wrote at
// Services when it played the scenarios. The end-to-end tests record them, and
// compare them when they run with the same CCM.
type ccmEvents struct {
	CCM    string
	Events []string
}

func readCCMEvents(t *testing.T) map[string]ccmEvents {
	t.Helper()
	return record.Read[map[string]ccmEvents](t, "testdata/ccm_events.json")
}

// toldByCCM returns the page that shows them.
func toldByCCM(t *testing.T) string {
	t.Helper()
	told := readCCMEvents(t)
	versions := make(map[string]bool)
	for _, e := range told {
		versions["`"+e.CCM+"`"] = true
	}
	var part strings.Builder
	fmt.Fprintf(&part, `# Events of a Cloud Controller Manager

The Events that %s wrote at the Services of each scenario with a Kubernetes
part, except those that report success. They are recorded by
`+"`CCM_BIN=... go test -run TestLibrary -update-events .`"+` in kubernetes.

| scenario | Events |
|---|---|
`, strings.Join(slices.Sorted(maps.Keys(versions)), " and "))
	for _, name := range slices.Sorted(maps.Keys(told)) {
		events := cell(html(strings.Join(told[name].Events, "\n")))
		if events == "" {
			events = "none"
		}
		fmt.Fprintf(&part, "| %s | %s |\n", name, strings.ReplaceAll(events, "\n", "<br>"))
	}
	return part.String()
}

// eventsOf lists the recorded Events in order, each with the scenarios that it is of.
func eventsOf(recorded map[string]ccmEvents) (events []explain.Event) {
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		for _, text := range recorded[name].Events {
			i := slices.IndexFunc(events, func(e explain.Event) bool { return e.Text == text })
			if i < 0 {
				i, events = len(events), append(events, explain.Event{Text: text})
			}
			events[i].Scenarios = append(events[i].Scenarios, name)
		}
	}
	slices.SortFunc(events, func(a, b explain.Event) int { return strings.Compare(a.Text, b.Text) })
	return events
}

// html escapes a text for a page.
func html(text string) string { return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text) }

// playedByControllers lists the scenarios with a kubernetes part, in order.
func playedByControllers() (names []string) {
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		if scenario, err := scenarios.Load(name, text, scenarios.Options{}); err == nil && scenario.Kubernetes != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestCCMEvents proves that the Events are recorded of just the scenarios that a
// controller plays.
func TestCCMEvents(t *testing.T) {
	played := playedByControllers()
	if recorded := slices.Sorted(maps.Keys(readCCMEvents(t))); !slices.Equal(recorded, played) {
		t.Errorf("Events are recorded of %q, want %q", recorded, played)
	}
}
