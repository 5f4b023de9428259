package scenarios_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// results has one of each status.
var results = []scenarios.Result{
	{Scenario: "a", File: "a.yaml", Part: "client", Status: scenarios.Passed, Seconds: 0.25},
	{Scenario: "a", File: "a.yaml", Part: "kubernetes", Status: scenarios.Skipped, Reason: "there is no cluster"},
	{Scenario: "b", File: "b.yaml", Part: "client", Status: scenarios.Failed, Seconds: 1,
		Failure: &scenarios.Failure{File: "b.yaml", Line: 3, Step: "call <Do>", Unmet: []scenarios.Unmet{{Line: 3, Step: "call <Do>", Expected: "success", Seen: "400 & no luck"}}}},
	{Scenario: "c", File: "c.yaml", Part: "client", Status: scenarios.Broken,
		Failure: &scenarios.Failure{File: "c.yaml", Line: 4, Step: "restart", Reason: "it is not ended"}},
}

// TestJUnit proves that the report is XML with a case for each part, where CI
// systems look for it: a skipped one does not count as passed.
func TestJUnit(t *testing.T) {
	var text strings.Builder
	if err := scenarios.WriteJUnit(&text, results); err != nil {
		t.Fatal(err)
	}
	var got struct {
		XMLName                          xml.Name `xml:"testsuites"`
		Tests, Failures, Errors, Skipped int      `xml:",attr"`
		Suites                           []struct {
			Name  string `xml:"name,attr"`
			Time  string `xml:"time,attr"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	lower := strings.NewReplacer(`tests="`, `Tests="`, `failures="`, `Failures="`, `errors="`, `Errors="`, `skipped="`, `Skipped="`)
	if err := xml.Unmarshal([]byte(lower.Replace(text.String())), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Errors != 1 || got.Skipped != 1 || len(got.Suites) != 3 {
		t.Fatalf("the report is\n%s\nwant 4 tests with one of each in 3 suites", text.String())
	}
	a, b, c := got.Suites[0], got.Suites[1], got.Suites[2]
	if len(a.Cases) != 2 || a.Time != "0.250" || a.Cases[0].Failure != nil || a.Cases[1].Skipped == nil {
		t.Errorf("suite a = %+v, want one passed and one skipped", a)
	}
	if f := b.Cases[0].Failure; f == nil || f.Message != "call <Do>: expected success, saw 400 & no luck" || !strings.HasPrefix(f.Text, "b.yaml:3: call <Do>") {
		t.Errorf("suite b = %+v, want the failure with its place", b)
	}
	if c.Cases[0].Error == nil || c.Cases[0].Failure != nil {
		t.Errorf("suite c = %+v, want an error", c)
	}
}

// TestJSON proves that the results are one JSON object with their counts.
func TestJSON(t *testing.T) {
	var text strings.Builder
	if err := json.NewEncoder(&text).Encode(scenarios.ReportOf(results)); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Summary map[string]int
		Results []struct {
			Scenario, Status string
			Failure          *struct {
				Line  int
				Unmet []struct{ Expected, Seen string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Summary["passed"] != 1 || got.Summary["failed"] != 1 || got.Summary["skipped"] != 1 || got.Summary["broken"] != 1 {
		t.Errorf("summary = %v, want one of each", got.Summary)
	}
	if f := got.Results[2].Failure; f == nil || f.Line != 3 || f.Unmet[0].Seen != "400 & no luck" {
		t.Errorf("results = %+v, want the failure of b", got.Results)
	}
}
