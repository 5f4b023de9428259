// Package rehearse plays an upgrade on a copy of an account and of a cluster: it runs the old and the
// new version of a Cloud Controller Manager (CCM) against them, lets what happens in every cluster happen,
// and reports each change with whether clients felt it. It must not know where the copies come from, or
// how a report is shown.
package rehearse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// Report is the outcome of a rehearsal.
type Report struct {
	Services int `json:"services"`
	Nodes    int `json:"nodes"`
	// Notes say how the copy differs from the cluster and the account.
	Notes cluster.Notes `json:"notes,omitempty"`
	// Drift lists the changes that the old version makes too, nil without one.
	Drift *Phase `json:"drift,omitempty"`
	// Phases begin with the start of the new version.
	Phases []*Phase `json:"phases"`
	// Left lists what still differed from the state after the upgrade once all steps were undone,
	// and what deleted Services left behind.
	Left []string `json:"left,omitempty"`
	// Applied lists the results for the Services of a manifest.
	Applied []Applied `json:"applied,omitempty"`
	// Explored holds the results of disturbed calls.
	Explored *Explored `json:"explored,omitempty"`
}

// Explored is the outcome of an exploration: plays with a disturbance each.
type Explored struct {
	Plays    int               `json:"plays"`
	Findings []explore.Finding `json:"findings"`
	// Stopped says why it did not make all plays.
	Stopped string `json:"stopped,omitempty"`
}

// explored keeps the outcome of an exploration; what went wrong there must not lose the rest.
func (r *Report) explored(x *explore.Report, err error) {
	if err != nil {
		x = &explore.Report{Stopped: err.Error()}
	}
	r.Explored = &Explored{len(x.Outcomes), x.Findings, x.Stopped}
}

// Phase is a part of a play: it begins when something happens, and ends when the CCM rests.
type Phase struct {
	Name string `json:"name"`
	// Skipped says why it was not played.
	Skipped string    `json:"skipped,omitempty"`
	Changes []*Change `json:"changes"`
	// Breaks lists the broken connections, by listener.
	Breaks []*Break `json:"breaks,omitempty"`
	// Warnings are the CCM's Events.
	Warnings []Warning `json:"warnings,omitempty"`
	// Unrested says how the CCM ended, or that it did not rest, with the last lines of its log.
	Unrested string `json:"unrested,omitempty"`
	Seconds  int    `json:"seconds"`
}

// Verdict says why a change, a call or a break is no finding; it is one where both are false.
type Verdict struct {
	// Meant reports whether it should follow from what happened.
	Meant bool `json:"meant,omitempty"`
	// Before reports whether the old version does the same.
	Before bool `json:"before,omitempty"`
}

func (v Verdict) counts() bool { return !v.Meant && !v.Before }

// Warning is an Event that warns.
type Warning struct {
	Service string `json:"service"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Verdict
}

func (w *Warning) String() string { return w.Service + ": " + w.Reason + ": " + w.Message }

// counts reports whether a warning is about a failure that the upgrade brings.
func (w *Warning) counts() bool { return w.Verdict.counts() && strings.Contains(w.Reason, "Fail") }

// Change is a call that changes something, or was refused.
type Change struct {
	// Services lists namespace/name, separated by commas. It is "" if no Service has the resource.
	Services     string `json:"services,omitempty"`
	LoadBalancer string `json:"loadBalancer,omitempty"`
	// Item is a listener's port, a group's name or a route's block.
	Item string `json:"item,omitempty"`
	upgradecheck.Change
	// Servers are the changes of the groups' members.
	Servers []string `json:"servers,omitempty"`
	Felt    []*Felt  `json:"felt,omitempty"`
	// Message is a refusal's, which came Times times.
	Message string `json:"message,omitempty"`
	Times   int    `json:"times,omitempty"`
	// Guess is the number of the evidence that the answer rests on, and that is a guess.
	Guess string `json:"guess,omitempty"`
	Verdict

	servers []string // ids of those that came or went
	weights bool     // of others changed
	product string
	group   string
	names   []string // that the call gives
	made    string   // settings of what it made
}

// Felt lists the effects on clients.
type Felt struct {
	What         string `json:"what"`
	LoadBalancer string `json:"loadBalancer"`
	Listener     string `json:"listener,omitempty"`
	// Lasted is empty if it did not end.
	Lasted string `json:"lasted,omitempty"`
	Meant  bool   `json:"meant,omitempty"`

	begun time.Time
	ids   []string // of the servers that are missing
	port  string
}

// Applied is the result for a Service of a manifest.
type Applied struct {
	Service   string   `json:"service"`
	Addresses []string `json:"addresses,omitempty"`
	Listeners []string `json:"listeners,omitempty"`
	Problem   string   `json:"problem,omitempty"`
}

func (f *Felt) String() string {
	text := strings.TrimSpace(f.Listener + " " + f.What)
	if f.Listener != "" {
		text = "listener " + text
	}
	if f.Lasted != "" {
		text += ", for " + f.Lasted
	}
	return text
}

// Words returns the change in one line.
func (c *Change) Words() string {
	text := strings.TrimSpace(c.Change.Change + " " + c.Item)
	if c.Code != "" {
		if text += ", refused with " + c.Code; c.Times > 1 {
			text += fmt.Sprintf(" %d times", c.Times)
		}
	}
	return text
}

// Details returns, in lines, what the change replaces and by what.
func (c *Change) Details() (lines []string) {
	lines = append(lines, c.Servers...)
	if len(lines) == 0 {
		for _, d := range c.Differences {
			line := d.Parameter + ": " + cut(d.Sent)
			if d.Stored != "" {
				line += ", stored: " + cut(d.Stored)
			}
			lines = append(lines, line)
		}
	}
	if c.Message != "" {
		lines = append(lines, c.Message)
	}
	if c.Guess != "" {
		lines = append(lines, "the answer rests on a guess, "+c.Guess)
	}
	return lines
}

// cut returns the beginning of a value.
func cut(value string) string {
	const most = 120
	if len(value) > most {
		return strings.ToValidUTF8(value[:most], "") + "…"
	}
	return value
}

// counts reports whether a change is one that the upgrade brings.
func (c *Change) counts() bool {
	felt := slices.ContainsFunc(c.Felt, func(f *Felt) bool { return !f.Meant })
	return c.Verdict.counts() || felt && !c.Before
}

// Findings returns the changes of a phase that count as findings: the upgrade brings them.
func (p *Phase) Findings() (list []*Change) {
	for _, c := range p.Changes {
		if c.counts() {
			list = append(list, c)
		}
	}
	return list
}

// Problems counts what would change or break.
func (r *Report) Problems() int {
	n := len(r.Left)
	if r.Explored != nil {
		if n += len(r.Explored.Findings); r.Explored.Stopped != "" {
			n++
		}
	}
	for _, p := range r.Phases {
		n += len(p.Findings())
		for _, b := range p.Breaks {
			if b.counts() {
				n++
			}
		}
		for i := range p.Warnings {
			if p.Warnings[i].counts() {
				n++
			}
		}
		if p.Unrested != "" {
			n++
		}
	}
	for i := range r.Applied {
		if r.Applied[i].Problem != "" {
			n++
		}
	}
	return n
}

// compare marks what the old version does too in the same phase. A call that the old version never gets
// done may come in any: it is tried again when a back-off allows.
func (r *Report) compare(old *play) {
	if old == nil {
		return
	}
	r.Left = slices.DeleteFunc(r.Left, func(line string) bool { return slices.Contains(old.left, line) })
	same := make(map[string]bool)
	for _, p := range append(old.phases, old.drift) { // of the drift its Events count, which come once
		p.each(func(key string, _ *Verdict) { same[key] = true })
	}
	vain := old.vain()
	for _, p := range r.Phases {
		p.each(func(key string, v *Verdict) { v.Before = same[key] })
		for _, c := range p.Changes {
			c.Before = c.Before || c.Code != "" && vain[c.key("")]
		}
	}
}

// vain returns the calls that the version makes for certain by its own will, and that never
// succeed.
func (p *play) vain() map[string]bool {
	refused, done := make(map[string]*Change), make(map[string]bool)
	for _, phase := range append(p.phases, p.drift) {
		for _, c := range phase.Changes {
			if c.Code == "" {
				done[c.about()] = true
			} else if !c.Meant {
				refused[c.key("")] = c
			}
		}
	}
	vain := make(map[string]bool)
	for key, c := range refused {
		vain[key] = !done[c.about()]
	}
	return vain
}

// about returns what a change is made to.
func (c *Change) about() string { return c.Services + "\n" + c.Change.Change + "\n" + c.Item }

// key returns a key that is equal for the same change in the same phase of two versions.
func (c *Change) key(phase string) string {
	key := append([]string{phase, c.about(), c.Code, c.made}, c.Servers...)
	for _, d := range c.Differences {
		if len(c.Servers) == 0 && d.Stored != "" && d.Parameter != "VServerGroupId" && d.Parameter != "ServerGroupId" { // each copy makes groups of its own
			key = append(key, d.Parameter, d.Sent)
		}
	}
	return strings.Join(key, "\n")
}

// each visits the verdicts of a phase, with what two versions have in common.
func (p *Phase) each(visit func(key string, v *Verdict)) {
	for _, c := range p.Changes {
		visit(c.key(p.Name), &c.Verdict)
	}
	for _, b := range p.Breaks {
		visit(p.Name+b.LoadBalancer+b.Listener, &b.Verdict)
	}
	for i := range p.Warnings {
		visit(p.Warnings[i].Service+" "+p.Warnings[i].Reason, &p.Warnings[i].Verdict)
	}
}
