package explore

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios"
)

// The rules of scenarios.Rules.
const (
	ruleEnds     = "ends"
	ruleState    = "state"
	ruleDouble   = "double"
	ruleLeft     = "left"
	ruleOthers   = "others"
	ruleStatus   = "status"
	ruleKept     = "kept"
	ruleBackends = "backends"
	ruleRuns     = "runs"
	ruleRefused  = "refused"
	ruleCalls    = "calls"
	ruleRest     = "rest"
)

// refusedWith returns the code of the refusal of a play's last call, "" for success.
func refusedWith(r scenarios.Result) string {
	if r.Status != scenarios.Failed || r.Failure.Unmet[0].Of != nil {
		return ""
	}
	return r.Failure.Unmet[0].Code
}

// judge says how a play ended.
func (e *explorer) judge(o *Outcome, seen *observed) {
	o.Verdict = Fine
	r := seen.result
	if seen.flooded && !slices.Contains(e.subject.Off, ruleCalls) {
		o.Verdict, o.Rule, o.Expected, o.Seen = Violated, ruleCalls, fmt.Sprintf("some %d calls", len(e.base.calls)), "more than the journal keeps"
		return
	}
	switch r.Status {
	case scenarios.Broken:
		o.Verdict, o.Why = Broken, r.Failure.Reason
		return
	case scenarios.Passed:
		return
	}
	for _, f := range r.Failure.Faults {
		if slices.Contains(ruleNames, f.Name) && f.Hits == 0 {
			o.Verdict = Idle
			return
		}
	}
	worst := -1
	for i := range r.Failure.Unmet {
		u := &r.Failure.Unmet[i]
		rule := ruleOf(u)
		if slices.Contains(e.subject.Off, rule) {
			continue
		}
		if rank := rankOf(rule); worst < 0 || rank < worst {
			worst = rank
			o.Rule, o.Expected, o.Seen, o.Missing, o.Extra = rule, u.Expected, u.Seen, u.Missing, u.Extra
			if rule == ruleEnds {
				o.Expected = u.Step + ": " + o.Expected
			}
		}
	}
	if worst < 0 {
		return // by rules alone that are off
	}
	o.Verdict = Violated
	if why, known := e.known(o); known {
		o.Verdict, o.Why = Known, why
	}
}

// ranks has the rules from the one that says most.
var ranks = []string{ruleDouble, ruleLeft, ruleOthers, ruleStatus, ruleKept, ruleBackends, ruleRuns, ruleState, ruleEnds, ruleRefused, ruleRest, ruleCalls}

func rankOf(rule string) int { return slices.Index(ranks, rule) }

// ruleOf returns the rule that an expectation stands for.
func ruleOf(u *scenarios.Unmet) string {
	if u.Of == nil {
		return ruleEnds
	}
	switch of := u.Of.Value.(type) {
	case *scenarios.State:
		return ruleOfState(len(*of) == 0, u.Missing, u.Extra)
	case *scenarios.Calls:
		switch of.Since {
		case atRestMark:
			return ruleRest
		case againMark:
			return ruleKept
		}
	}
	return cmp.Or(u.Of.Kind.Rule, ruleEnds)
}

// ruleOfState returns the rule that a difference of states is about; empty is whether the
// undisturbed play leaves nothing.
func ruleOfState(empty bool, missing, extra []string) string {
	balancers := func(list []string) (n int) {
		for _, line := range list {
			if kind, _, _ := strings.Cut(line, " "); strings.HasSuffix(kind, "LoadBalancer") { // of any product
				n++
			}
		}
		return n
	}
	gone := func(list []string) bool {
		return slices.ContainsFunc(list, func(line string) bool { return strings.HasPrefix(line, "- ") })
	}
	switch {
	case balancers(extra) > balancers(missing) && !empty:
		return ruleDouble
	case gone(extra) || gone(missing):
		return ruleOthers
	case empty:
		return ruleLeft
	case len(missing) == len(extra) && len(missing) > 0 && !slices.ContainsFunc(missing, func(line string) bool {
		return !slices.ContainsFunc(extra, func(is string) bool { return withoutStatus(is) == withoutStatus(line) })
	}):
		return ruleRuns
	}
	return ruleState
}

var status = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` [A-Za-z]*Status="[^"]*"`) })

func withoutStatus(line string) string { return status().ReplaceAllString(line, "") }

// known returns why a violation stays, if the scenario names it.
func (e *explorer) known(o *Outcome) (why string, is bool) {
	for _, k := range e.subject.Known {
		if k.Rule != o.Rule {
			continue
		}
		if slices.ContainsFunc(o.Disturbances, func(d Disturbance) bool {
			return (k.Call == "" || glob.Split(k.Call).Match(d.At.Action)) && (k.Disturbance == "" || glob.Split(k.Disturbance).Match(d.Name(), d.Kind))
		}) {
			return k.Why, true
		}
	}
	return "", false
}

// rank orders outcomes by how simple they are to explain.
func (o *Outcome) rank() int {
	if len(o.Disturbances) == 0 {
		return 0
	}
	of := slices.IndexFunc(kinds, func(k kind) bool { return k.name == o.Disturbances[0].Kind })
	if of < 0 {
		of = len(kinds)
	}
	return len(o.Disturbances)*100 + of
}

// at returns the action that the first disturbance is about.
func (o *Outcome) at() string {
	if len(o.Disturbances) == 0 {
		return ""
	}
	return o.Disturbances[0].At.Action
}

// findings puts violations that are alike together, and makes each minimal.
func (e *explorer) findings(ctx context.Context) (all []Finding) {
	alone := make(map[string]string) // the rule that one disturbance violates
	for _, o := range e.outcomes {
		if len(o.Disturbances) == 1 && o.Rule != "" {
			alone[o.ID] = o.Rule
		}
	}
	index := make(map[string]int)
	simplest := slices.Clone(e.outcomes)
	slices.SortStableFunc(simplest, func(a, b Outcome) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, o := range simplest {
		if o.Verdict != Violated && o.Verdict != Known {
			continue
		}
		if len(o.Disturbances) > 1 && slices.ContainsFunc(o.Disturbances, func(d Disturbance) bool { return alone[planned{d}.id()] == o.Rule }) {
			continue // one of the two is enough
		}
		key := strings.Join([]string{o.Rule, o.at(), o.Expected, o.Seen}, "\n")
		if at, ok := index[key]; ok {
			all[at].Plays = append(all[at].Plays, o.ID)
			continue
		}
		index[key] = len(all)
		f := Finding{Rule: o.Rule, About: o.ID, Expected: o.Expected, Seen: o.Seen, Missing: o.Missing, Extra: o.Extra, Plays: []string{o.ID}, Known: o.Why, Scenario: o.Scenario}
		all = append(all, f)
	}
	var group errgroup.Group
	group.SetLimit(max(e.Parallel, 1))
	for i := range all {
		if all[i].Known == "" {
			group.Go(func() error {
				e.minimise(ctx, &all[i])
				return nil
			})
		}
	}
	_ = group.Wait() // which returns no error
	return all
}
