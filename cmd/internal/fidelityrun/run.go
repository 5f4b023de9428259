package fidelityrun

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/scenarios"
)

// The outcomes of a statement in the cloud.
const (
	Held      = "held"
	Failed    = "failed"
	Undecided = "undecided"
)

// Judged is a played statement.
type Judged struct {
	Statement string `json:"statement"`
	Says      string `json:"says"`
	Source    string `json:"source"` // its kind
	// Here is the verdict in clbemu, and There the one in the cloud.
	Here     fidelity.Verdict `json:"here"`
	There    string           `json:"there"`
	Expected string           `json:"expected,omitempty"`
	Instead  string           `json:"instead,omitempty"`
	Reason   string           `json:"reason,omitempty"` // why it has no verdict
}

// Report is the result of a run. It holds nothing private to the account.
type Report struct {
	Clbemu     string         `json:"clbemu"` // its version
	Date       string         `json:"date"`
	Region     string         `json:"region"`
	Changes    bool           `json:"changes"`
	Counts     map[string]int `json:"counts"`
	Statements []Judged       `json:"statements"`
	LeftOut    []LeftOut      `json:"leftOut"`
	// Stopped says why the run ended early.
	Stopped string `json:"stopped,omitempty"`
}

// Run is a run against the cloud.
type Run struct {
	Cloud   *Cloud
	Plan    *Plan
	Mapping Mapping
	// Ledger is nil for a run that changes nothing.
	Ledger  *Ledger
	Account string
	Version string
	// Judged, if set, gets each statement after its play, with how many there are.
	Judged func(j Judged, done, planned int)
	// Record, if set, gets the answers.
	Record *Recording
}

// cleaning limits the clean-up after an interrupted run.
const cleaning = 10 * time.Minute

// Do plays the cases, and deletes what each has made. The error ended it early; the report
// says so too.
func (r *Run) Do(ctx context.Context) (*Report, Cleaned, error) {
	report := &Report{Clbemu: r.Version, Date: r.Cloud.Clock.Now().UTC().Format(time.DateOnly), Region: r.Cloud.Region, Changes: r.Ledger != nil,
		Counts: map[string]int{Held: 0, Failed: 0, Undecided: 0, "leftOut": len(r.Plan.LeftOut)}, Statements: []Judged{}, LeftOut: append([]LeftOut{}, r.Plan.LeftOut...)}
	hider := newHider(r.Account, r.Cloud.Credentials, r.Mapping)
	mark := strings.ToLower(rand.Text()[:12])
	var err error
	var left Cleaned
	for i := range r.Plan.Cases {
		if err = ctx.Err(); err != nil {
			break
		}
		c := &r.Plan.Cases[i]
		var judged Judged
		judged, err = r.play(ctx, c, fmt.Sprintf("%s-%d", mark, i+1), hider)
		if err != nil && errors.Is(err, ctx.Err()) {
			break // the interruption is no finding
		}
		report.Statements = append(report.Statements, judged)
		report.Counts[judged.There]++
		if r.Judged != nil {
			r.Judged(judged, i+1, len(r.Plan.Cases))
		}
		if err != nil {
			break
		}
		if r.Ledger == nil || len(r.Ledger.Left()) == 0 {
			continue
		}
		if _, err = r.Cloud.Clean(ctx, r.Ledger); err != nil {
			break
		}
	}
	if err != nil {
		report.Stopped = hider.text(err.Error())
		if ctx.Err() != nil {
			report.Stopped = "interrupted"
		}
	}
	if rejected := (*realcloud.Rejected)(nil); r.Ledger != nil && len(r.Ledger.Left()) > 0 && !errors.As(err, &rejected) {
		// Also what is only left over of an earlier run: it costs too.
		over, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
		defer cancel()
		var cleanErr error
		if left, cleanErr = r.Cloud.Clean(over, r.Ledger); !errors.Is(err, cleanErr) {
			err = errors.Join(err, cleanErr)
		}
	}
	return report, left, err
}

// play plays a case.
func (r *Run) play(ctx context.Context, c *Case, mark string, hider *hider) (Judged, error) {
	j := Judged{Statement: c.Name, Says: c.Of.Says, Source: c.File.Source(c.Of).Kind, Here: c.Of.Verdict(), There: Held}
	s := &session{Cloud: r.Cloud, mapping: r.Mapping, mark: mark, statement: c.Name, mine: make(map[string]bool)}
	if c.Changes {
		s.ledger = r.Ledger
	}
	result := scenarios.Play(ctx, c.Scenario, scenarios.ClientPart, scenarios.Setup{Target: s})
	for _, e := range s.exchanges {
		hider.learn(e)
	}
	switch {
	case s.ended != nil:
		j.There, j.Reason = Undecided, hider.text(s.ended.Error())
	case s.undecided != "" && result.Status != scenarios.Passed:
		j.There, j.Reason = Undecided, hider.text(s.undecided)
	case result.Status == scenarios.Broken:
		j.There, j.Reason = Undecided, hider.text(result.Failure.Step+": "+firstOf(result.Failure))
	case result.Status != scenarios.Passed:
		j.There = Failed
		u := result.Failure.Unmet[0]
		j.Expected, j.Instead = hider.text(u.Step+": "+u.Expected), hider.text(u.Seen)
	case !c.Of.Proven(s.refusal):
		j.There, j.Expected, j.Instead = Failed, "a refusal for what the statement is about", hider.text(s.refusal(c.File.Action))
	}
	if r.Record != nil && len(s.exchanges) > 0 {
		r.Record.add(j, s.exchanges, hider)
	}
	return j, s.ended
}

// firstOf returns the reason of a failure of a play, or its first unmet expectation.
func firstOf(f *scenarios.Failure) string {
	if f.Reason != "" || len(f.Unmet) == 0 {
		return f.Reason
	}
	return "expected " + f.Unmet[0].Expected + ", saw " + f.Unmet[0].Seen
}
