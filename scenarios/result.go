package scenarios

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Status is the outcome of a part.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // there was no cluster
	Broken  Status = "broken"  // it could not run
	// NotApplicable is of a program that never makes the call that the part judges, though
	// nothing kept it from making it.
	NotApplicable Status = "not applicable"
)

// Result is the result of a part of a scenario.
type Result struct {
	Scenario string `json:"scenario"`
	File     string `json:"file"`
	Part     string `json:"part" enum:"client,kubernetes"`
	// Client names whose client the play judged.
	Client  string   `json:"client,omitempty"`
	Status  Status   `json:"status"`
	Seconds float64  `json:"seconds"`
	Failure *Failure `json:"failure,omitempty"`
	// Reason is why it did not run, or is not applicable.
	Reason string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// The bounds of what a result keeps, in bytes of a text and in elements of a list.
// Texts have what clients and the file said, which may be any size.
const (
	maxKeptLine  = 1 << 10
	maxKeptText  = 16 << 10
	maxKeptList  = 20
	maxKeptLines = 200 // of a state
	// maxKeptParams bounds the parameters of all kept calls.
	maxKeptParams = 256 << 10
)

// clip bounds what the result keeps.
func (r *Result) clip() {
	for i := range r.Notes {
		r.Notes[i] = truncate(r.Notes[i], maxKeptLine)
	}
	r.Notes = r.Notes[:min(len(r.Notes), maxKeptList)]
	f := r.Failure
	if f == nil {
		return
	}
	f.Step, f.Reason = truncate(f.Step, maxKeptLine), truncate(f.Reason, maxKeptText)
	f.Advice = truncate(f.Advice, maxKeptText)
	f.Output = strings.ToValidUTF8(f.Output[max(len(f.Output)-maxKeptText, 0):], "")
	f.Faults = f.Faults[:min(len(f.Faults), maxKeptList)]
	f.Unmet = f.Unmet[:min(len(f.Unmet), maxKeptList)]
	from, size := len(f.Calls), 0
	for from > 0 && size <= maxKeptParams {
		from--
		for name, value := range f.Calls[from].Call.Params {
			size += len(name) + len(value)
		}
	}
	f.Calls = f.Calls[from:]
	for i := range f.Unmet {
		u := &f.Unmet[i]
		u.Missing, u.Extra = u.Missing[:min(len(u.Missing), maxKeptLines)], u.Extra[:min(len(u.Extra), maxKeptLines)]
		u.Step, u.Expected, u.Seen = truncate(u.Step, maxKeptLine), truncate(u.Expected, maxKeptText), truncate(u.Seen, maxKeptText)
	}
}

// truncate returns a text cut to most bytes and, if it was longer, words that say so.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes more)", len(text)-most)
}

// Summary counts results by status.
func Summary(results []Result) map[Status]int {
	count := make(map[Status]int)
	for _, r := range results {
		count[r.Status]++
	}
	return count
}

// Report is the results as programs read them.
type Report struct {
	Summary map[Status]int `json:"summary"`
	Results []Result       `json:"results"`
}

// ReportOf sums results up.
func ReportOf(results []Result) Report {
	return Report{Summary(results), append([]Result{}, results...)}
}

// The JUnit report, in the form that CI systems read: a suite for each scenario,
// a case for each part. It is no library: those that write it bring a parser of the
// output of go test, for structs as long as these.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suites []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name string `xml:"name,attr"`
	junitCounts
	Cases []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
	seconds  float64
}

// add counts a result.
func (c *junitCounts) add(r Result) {
	c.Tests++
	switch r.Status {
	case Failed:
		c.Failures++
	case Broken:
		c.Errors++
	case Skipped, NotApplicable:
		c.Skipped++
	}
	c.seconds += r.Seconds
	c.Time = seconds(c.seconds)
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitMessage `xml:"failure"`
	Error     *junitMessage `xml:"error"`
	Skipped   *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the results as JUnit XML.
func WriteJUnit(w io.Writer, results []Result) error {
	report := junitSuites{junitCounts: junitCounts{Time: seconds(0)}}
	for _, r := range results {
		if n := len(report.Suites); n == 0 || report.Suites[n-1].Name != r.Scenario {
			report.Suites = append(report.Suites, &junitSuite{Name: r.Scenario})
		}
		suite := report.Suites[len(report.Suites)-1]
		suite.Cases = append(suite.Cases, caseOf(r))
		suite.add(r)
		report.add(r)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	return e.Encode(report)
}

func caseOf(r Result) junitCase {
	c := junitCase{Name: r.Part, ClassName: r.Scenario, File: r.File, Time: seconds(r.Seconds)}
	switch r.Status {
	case Failed:
		c.Failure = &junitMessage{r.Failure.Unmet[0].String(), r.Failure.String()}
	case Broken:
		c.Error = &junitMessage{r.Failure.Step + ": " + r.Failure.Reason, r.Failure.String()}
	case Skipped, NotApplicable:
		c.Skipped = &junitMessage{Message: r.Reason}
	}
	return c
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }
