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
	ruleReplaced = "replaced"
	ruleOutage   = "outage"
	ruleBackends = "backends"
	ruleRuns     = "runs"
	ruleRefused  = "refused"
	ruleCalls    = "calls"
	ruleRest     = "rest"
)

// refusedWith returns the code of the refusal of a play's last call, or "" for success.
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
	if why := e.ownFault(&r); why != "" {
		o.Verdict, o.Why = Broken, why
		return
	}
	if i := slices.IndexFunc(r.Failure.Faults, func(f scenarios.FaultHits) bool { return slices.Contains(faultNames, f.Name) && f.Hits == 0 }); i >= 0 {
		o.Verdict, o.Why = idle(o.Disturbances, r.Failure.Faults[i])
		return
	}
	worst := -1
	for i := range r.Failure.Unmet {
		u := &r.Failure.Unmet[i]
		rule := e.ruleOf(u)
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

// ranks lists the rules, the most telling first.
var ranks = []string{ruleDouble, ruleLeft, ruleOthers, ruleStatus, ruleReplaced, ruleOutage, ruleBackends, ruleRuns, ruleState, ruleEnds, ruleRefused, ruleRest, ruleCalls}

func rankOf(rule string) int { return slices.Index(ranks, rule) }

// ruleOf returns the rule that an expectation stands for.
func (e *explorer) ruleOf(u *scenarios.Unmet) string {
	if u.Of == nil {
		return ruleEnds
	}
	if u.Rule != "" {
		return u.Rule
	}
	switch of := u.Of.Value.(type) {
	case *scenarios.State:
		return ruleOfState(*of, e.base.given, u.Missing, u.Extra)
	case *scenarios.Calls:
		switch of.Since {
		case atRestMark:
			return ruleRest
		case againMark:
			return ruleReplaced
		}
	}
	return cmp.Or(u.Of.Kind.Rule, ruleEnds)
}

// ownFault says that a step by hand failed: that is no verdict on the client.
func (e *explorer) ownFault(r *scenarios.Result) string {
	u := &r.Failure.Unmet[0]
	if !e.subject.program || u.Of != nil || u.Kind != kindCall {
		return ""
	}
	return fmt.Sprintf("a step by hand failed, %s: expected %s, saw %s", u.Step, u.Expected, u.Seen)
}

// kindCall is the kind of the step that makes a call by hand.
const kindCall = "call"

// idle says of a play in which a disturbance did not happen why: the client did not make the
// call. Of a pair, the play with the first alone has shown the call.
func idle(p planned, rule scenarios.FaultHits) (Verdict, string) {
	of := min(max(slices.Index(faultNames, rule.Name), 0), max(len(p)-1, 0))
	if len(p) == 0 {
		return Idle, ""
	}
	d := p[of]
	why := fmt.Sprintf("%s did not happen: its rule saw %d calls of %s, and was to strike the next after %d", d, rule.Seen, d.At.Action, d.Skip)
	if len(p) == 1 {
		return Idle, why
	}
	return Broken, why
}

// ruleOfState returns the rule that a difference of states is about. Expected is the state of
// the undisturbed play, and given what was there before the client.
func ruleOfState(expected, given, missing, extra []string) string {
	heads := make(map[string]int) // how many more of a name there are than expected
	gone := slices.ContainsFunc(slices.Concat(missing, extra), func(line string) bool { return strings.HasPrefix(line, "- ") }) ||
		slices.ContainsFunc(missing, func(line string) bool {
			return slices.Contains(given, line) && !slices.ContainsFunc(extra, func(is string) bool { return idles(line, is) })
		})
	for _, line := range extra {
		heads[headOf(line)]++
	}
	lacks := false
	for _, line := range missing {
		heads[headOf(line)]--
		lacks = lacks || heads[headOf(line)] < 0
	}
	double, left, balancers := false, false, 0
	for _, line := range missing {
		if isBalancer(line) {
			balancers--
		}
	}
	for _, line := range extra {
		if isBalancer(line) {
			balancers++
		}
	}
	for _, line := range extra {
		switch more := heads[headOf(line)] > 0; {
		case !more || strings.HasPrefix(line, "- "):
		case !isBalancer(line):
			left = left || !lacks && !strings.HasPrefix(line, "Tag ")
		case slices.ContainsFunc(expected, func(is string) bool { return headOf(is) == headOf(line) }):
			double = true
		case balancers > 0:
			left = true
		}
	}
	switch {
	case double:
		return ruleDouble
	case gone:
		return ruleOthers
	case left, len(expected) == 0:
		return ruleLeft
	case len(missing) == len(extra) && len(missing) > 0 && !slices.ContainsFunc(missing, func(line string) bool {
		return !slices.ContainsFunc(extra, func(is string) bool { return withoutStatus(is) == withoutStatus(line) })
	}):
		return ruleRuns
	}
	return ruleState
}

// isBalancer reports whether a line is about a load balancer, of any product.
func isBalancer(line string) bool {
	kind, _, _ := strings.Cut(line, " ")
	return strings.HasSuffix(kind, "LoadBalancer")
}

// idles reports whether two lines differ in what the cloud alone does to a load balancer that
// loses its last listener, or gets one.
func idles(a, b string) bool {
	const idle = " Idle=true"
	return strings.Contains(a, idle) != strings.Contains(b, idle) &&
		withoutStatus(strings.Replace(a, idle, "", 1)) == withoutStatus(strings.Replace(b, idle, "", 1))
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

// ids finds in texts what differs between plays: ids of the cloud and of Kubernetes, the
// names that controllers make of them, and addresses.
var ids = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[a-z]{1,5}-[a-z0-9]{10,}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\ba?[0-9a-f]{31,32}\b|\b\d{1,3}(\.\d{1,3}){3}\b|\b\d+(\.\d+)?(ms|s|m)\b`)
})

// alike returns the text without its ids, addresses and times, to be compared.
func alike(text string) string { return ids().ReplaceAllString(text, "…") }

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
		key := alike(strings.Join([]string{o.Rule, o.at(), o.Expected, o.Seen}, "\n"))
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
