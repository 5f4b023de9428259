package kubernetes_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// versionsFile has what each version of the CCM did in the scenarios; contracttests/ccm-versions.md
// shows it.
const versionsFile = "../testdata/ccm_versions.json"

var recordVersion = flag.String("record-version", "", "record what the CCM of CCM_BIN, which has this version, does in the scenarios")

// The verdicts about a version in a scenario.
const (
	passes = "passes"
	fails  = "fails"
	notRun = "not run"
)

// outcome is what a version of the CCM did in a scenario.
type outcome struct {
	Verdict string `json:"verdict"`
	// Why says which expectation failed, or why the scenario was not run.
	Why string `json:"why,omitempty"`
	// Events are the warnings, each once.
	Events []string `json:"events,omitempty"`
}

// recordOutcome writes the outcome of a scenario into the column of the version.
func recordOutcome(t *testing.T, scenario string, is outcome) {
	t.Helper()
	recording.Lock()
	defer recording.Unlock()
	all := record.Read[map[string]map[string]outcome](t, versionsFile)
	if all[*recordVersion] == nil {
		all[*recordVersion] = make(map[string]outcome)
	}
	all[*recordVersion][scenario] = is
	record.Write(t, versionsFile, all, 2)
}

// unmet finds the step of a part that failed in what the command printed.
var unmet = regexp.MustCompile(`\.yaml:[0-9]+: (.*)`)

// judged returns the outcome of a part that the CCM served.
func (f *fixture) judged(out string, err error) outcome {
	f.Helper()
	is := outcome{Verdict: passes, Events: f.heard()}
	if err != nil {
		is.Verdict = fails
		if found := unmet.FindStringSubmatch(out); found != nil {
			is.Why = withoutIDs(found[1])
		}
	}
	return is
}

// readsEndpointSlices reports whether the CCM reads the EndpointSlices of this Kubernetes.
// Older ones read discovery.k8s.io/v1beta1, which Kubernetes 1.25 removed.
func readsEndpointSlices() bool {
	return *recordVersion == "" || !annotations.Before(*recordVersion, "v2.8.0")
}

// cantRun says why the CCM of a version can't run a scenario; empty where it can.
func cantRun(t *testing.T, scenario string) string {
	t.Helper()
	text, err := os.ReadFile("../../scenarios/library/" + scenario + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	slices := bytes.Contains(text, []byte("kind: EndpointSlice"))
	switch {
	case nlbs(scenario) && !knows(t, "service/nlbv2"):
		return "it knows no NLB"
	case slices && isFirstGeneration(t):
		return "it reads Endpoints, and the scenario has EndpointSlices"
	case slices && !readsEndpointSlices():
		return "it reads EndpointSlices of discovery.k8s.io/v1beta1, which Kubernetes 1.25 removed"
	}
	return ""
}

// knows reports whether the program of CCM_BIN has a text, such as a flag's name.
func knows(t *testing.T, text string) bool {
	t.Helper()
	program, err := os.ReadFile(ccmBinary())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(program, []byte(text))
}
