package fidelityrun

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Plan lists the statements that a run plays.
type Plan struct {
	Cases   []Case
	LeftOut []LeftOut
	// Creates counts the creations by product and action.
	Creates map[string]int
}

// Case is a statement that a run plays.
type Case struct {
	Name     string
	File     *fidelity.File
	Of       *fidelity.Statement
	Scenario *scenarios.Scenario
	Changes  bool
}

// LeftOut is a statement that a run does not play, with the reason.
type LeftOut struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason"`
}

// Changing returns how many of the cases change something.
func (p *Plan) Changing() (n int) {
	for i := range p.Cases {
		if p.Cases[i].Changes {
			n++
		}
	}
	return n
}

// Reasons counts the omitted statements by reason, the most frequent first.
func (p *Plan) Reasons() [][2]string {
	counts := make(map[string]int)
	for _, l := range p.LeftOut {
		counts[l.Reason]++
	}
	reasons := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(reasons, func(a, b string) int { return counts[b] - counts[a] })
	list := make([][2]string, len(reasons))
	for i, r := range reasons {
		list[i] = [2]string{strconv.Itoa(counts[r]), r}
	}
	return list
}

// Choice selects the content of a plan.
type Choice struct {
	Files   []*fidelity.File
	Known   []names.Action
	Match   glob.List // names of statements, all if there are none
	Region  string
	Mapping Mapping
	// Changes lets the run create and change.
	Changes bool
}

// MakePlan chooses the cases. An error is about a pattern that no statement has.
func MakePlan(c Choice) (*Plan, error) {
	var all []Case
	for _, f := range c.Files {
		for i := range f.Statements {
			all = append(all, Case{Name: f.Name(&f.Statements[i]), File: f, Of: &f.Statements[i]})
		}
	}
	if len(c.Match) > 0 {
		chosen, idle := glob.Select(c.Match, all, func(s Case) string { return s.Name })
		if idle != "" {
			return nil, fmt.Errorf("no statement is called %s: names are such as Slb/DescribeZones/answers-request-id, and * stands for no slash", idle)
		}
		all = chosen
	}
	p := &Plan{Creates: make(map[string]int)}
	for _, s := range all {
		if reason := p.add(&c, s); reason != "" {
			p.LeftOut = append(p.LeftOut, LeftOut{s.Name, reason})
		}
	}
	return p, nil
}

// mostRepeats and mostCreations bound what one case may cost.
const (
	mostRepeats   = 20
	mostCreations = 20
)

// add plans a case, or returns why not.
func (p *Plan) add(c *Choice, s Case) (reason string) {
	if s.Of.Scenario() == nil {
		return "it has no case"
	}
	if s.Of.Class == "rate" {
		return "it is about call limits, which a run stays under"
	}
	played := *s.Of.Scenario()
	w := &caseWalk{Choice: c, creates: make(map[string]int)}
	w.steps(played.Client.Steps, 1)
	if len(played.Given.State) > 0 && !w.changes && w.aboutItself {
		played.Given = scenarios.Given{} // the plan ignores all of it
	}
	if played.Given.World != nil || played.Given.Clock != nil || len(played.Given.Servers) > 0 {
		return "it needs another world than the account's: only clbemu sets one"
	}
	for i := range played.Given.State {
		w.call(&played.Given.State[i], 1)
	}
	if w.reason != "" {
		return w.reason
	}
	if len(played.Client.Expect) > 0 {
		return "it looks into clbemu's own state"
	}
	total := 0
	for _, n := range w.creates {
		total += n
	}
	if total > mostCreations {
		return fmt.Sprintf("it creates more than %d things", mostCreations)
	}
	for what, n := range w.creates {
		p.Creates[what] += n
	}
	s.Scenario, s.Changes = &played, w.changes
	p.Cases = append(p.Cases, s)
	return ""
}

// caseWalk goes through the calls of a case.
type caseWalk struct {
	*Choice

	creates map[string]int
	changes bool
	// aboutItself is true as long as each call says all that its answer depends on.
	aboutItself bool
	begun       bool
	reason      string // the first reason to leave the case out
}

func (w *caseWalk) leaveOut(format string, args ...any) {
	if w.reason == "" {
		w.reason = fmt.Sprintf(format, args...)
	}
}

func (w *caseWalk) steps(steps []scenarios.Step, times int) {
	if !w.begun {
		w.begun, w.aboutItself = true, true
	}
	for i := range steps {
		switch does := steps[i].Value.(type) {
		case *scenarios.CallStep:
			w.call(does, times)
			w.aboutItself = w.aboutItself && sufficient(does)
		case *scenarios.Wait:
			w.call(&does.Call, times)
			w.aboutItself = false
		case *scenarios.Repeat:
			n, err := strconv.Atoi(does.Times)
			if err != nil || n > mostRepeats {
				w.leaveOut("it repeats calls more than %d times", mostRepeats)
				n = 1
			}
			w.steps(does.Steps, times*n)
		default:
			w.leaveOut("it needs another world, clock or server than the account's: only clbemu has such a step")
		}
	}
}

// sufficient reports whether the expectations of a call depend on nothing that exists: a
// refusal of a call that names nothing, or a list, which may be empty.
func sufficient(c *scenarios.CallStep) bool {
	for _, value := range c.Params {
		if strings.Contains(string(value), "{{") {
			return false
		}
	}
	if c.Expect != nil && (c.Expect.Status >= http.StatusMultipleChoices || c.Expect.Code != nil) {
		return true
	}
	if !strings.HasSuffix(c.Action, "s") && !strings.HasPrefix(c.Action, "List") {
		return false
	}
	if c.Expect == nil {
		return true
	}
	for field := range c.Expect.Fields {
		if field != "RequestId" {
			return false
		}
	}
	return true
}

// call looks at a call made so many times.
func (w *caseWalk) call(c *scenarios.CallStep, times int) {
	product := c.Product
	if product == "" {
		product = "Slb"
	}
	params := make(map[string]string, len(c.Params))
	for name, value := range c.Params {
		params[name] = string(value)
		w.places(string(value))
	}
	if c.Expect != nil {
		for _, m := range c.Expect.Fields {
			if m.Equals != nil {
				w.places(*m.Equals)
			}
			w.places(m.Matches)
		}
	}
	i := slices.IndexFunc(w.Known, func(a names.Action) bool { return a.Product == product && a.Name == c.Action })
	if i < 0 {
		w.leaveOut("clbemu does not know whether %s %s changes something", product, c.Action)
		return
	}
	if !w.Known[i].Mutates {
		return
	}
	w.changes = true
	if !w.Changes {
		w.leaveOut("it changes something: give --allow-changes")
	}
	if kindOf(product, c.Action) != nil {
		w.creates[product+" "+c.Action] += times
	}
	inAccount := make(map[string]string, len(params))
	for name, value := range params {
		inAccount[name] = w.Mapping.toAccount(value)
	}
	// What a template stands for is known, and held against the ledger, when it is sent.
	if err := allowed(product, c.Action, w.Region, inAccount, func(id string) bool { return strings.HasPrefix(id, "{{") }); err != nil {
		w.leaveOut("%s", err)
	}
}

// ofDefaultWorld finds things of the default world, and toMap has the flags for them.
var (
	ofDefaultWorld = pattern(`\b[a-z]+-[a-z0-9]*clbemu[a-z0-9]*|\bcn-hangzhou-[a-z]\b`)
	toMap          = map[string]string{"vpc": "--vpc", "vsw": "--vswitch", "i": "--instance", "cn": "--zone", "sg": "--security-group"}
)

// places leaves a case out that names a thing of the default world which nothing of the
// account stands for.
func (w *caseWalk) places(text string) {
	for _, id := range ofDefaultWorld().FindAllString(text, -1) {
		if w.Mapping.has(id) {
			continue
		}
		prefix, _, _ := strings.Cut(id, "-")
		if flag := toMap[prefix]; flag != "" {
			w.leaveOut("it names %s: give what stands for it in the account by %s", id, flag)
		} else {
			w.leaveOut("it names %s, which only clbemu's default world has", id)
		}
	}
}
