package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// Call is a call of a play: the n-th of its action.
type Call struct {
	Product string `json:"product"`
	Action  string `json:"action"`
	N       int    `json:"n"`
	Write   bool   `json:"write,omitempty"`
	Code    string `json:"code,omitempty"`

	sequence uint64
	address  string // the first one that a lookup of network interfaces asks for
	asks     string // the action with its parameters
	at       time.Time
}

func (c Call) String() string {
	if c.N < 2 {
		return c.Action
	}
	return fmt.Sprintf("%s %d", c.Action, c.N)
}

// Disturbance is one thing that goes wrong, at a call or at rest.
type Disturbance struct {
	Kind string `json:"kind"`
	// At is the call; the empty one is rest.
	At Call `json:"at"`
	// What is the code of a refusal, the condition, or the change made by hand.
	What string `json:"what,omitempty"`
	// Rest is the rest at which it happens, from 0 on.
	Rest int `json:"rest,omitempty"`

	// Skip is the number of calls that its rule lets pass before.
	Skip int `json:"skip,omitempty"`

	// refused is the code with which a condition makes a script's call fail.
	refused string
}

// Name returns the kind and what the disturbance is about.
func (d Disturbance) Name() string { return strings.TrimSpace(d.Kind + " " + d.What) }

func (d Disturbance) String() string {
	if d.At.Action == "" && d.Rest > 0 {
		return fmt.Sprintf("%s at rest %d", d.Name(), d.Rest+1)
	}
	if d.At.Action == "" {
		return d.Name() + " at rest"
	}
	return d.Name() + " at " + d.At.String()
}

// planned is a play of the plan, by its disturbances.
type planned []Disturbance

func (p planned) id() string {
	if len(p) == 0 {
		return "undisturbed"
	}
	texts := make([]string, len(p))
	for i, d := range p {
		texts[i] = d.String()
	}
	return strings.Join(texts, ", then ")
}

// ofConditions reports whether conditions disturb the play.
func (p planned) ofConditions() bool {
	return slices.ContainsFunc(p, func(d Disturbance) bool { return d.Kind == conditionKind })
}

// hangs reports whether a call hangs, for as long as the client waits.
func (p planned) hangs() bool {
	return slices.ContainsFunc(p, func(d Disturbance) bool { return d.Kind == hangKind })
}

// retryIn returns the longest time from a disturbed call to the client's next. One after a rest
// does not count: the next step makes the client act.
func (e *explorer) retryIn(journal []scenarios.JournalCall, rests []uint64) (longest time.Duration) {
	var struck *scenarios.JournalCall
	for i := range journal {
		c := &journal[i]
		if c.UserAgent == scenarios.ObserverAgent || e.subject.program == (c.UserAgent == scenarios.ClientAgent) {
			continue
		}
		if struck != nil && !slices.ContainsFunc(rests, func(mark uint64) bool { return struck.Sequence <= mark && mark < c.Sequence }) {
			longest = max(longest, c.Time.Sub(struck.Time))
		}
		if struck = nil; slices.ContainsFunc(c.Faults, func(name string) bool { return slices.Contains(faultNames, name) }) {
			struck = c
		}
	}
	return longest
}

// callsOf returns the client's calls of the steps. N counts the calls of all clients, like a fault
// rule that the first step adds.
func (e *explorer) callsOf(journal []scenarios.JournalCall) (calls []Call) {
	count := make(map[string]int)
	for _, c := range journal {
		if c.Product == "" || !e.subject.program && c.UserAgent != scenarios.ClientAgent {
			continue
		}
		count[c.Action]++
		if c.UserAgent == scenarios.ObserverAgent || e.subject.program && c.UserAgent == scenarios.ClientAgent {
			continue
		}
		calls = append(calls, Call{Product: c.Product, Action: c.Action, N: count[c.Action],
			Write: e.actions[c.Product+" "+c.Action].Writes, Code: c.Code, sequence: c.Sequence, address: addressIn(c), asks: asksOf(c), at: c.Time})
	}
	return calls
}

// addressIn returns the address by which a call looks for a pod's network interface.
func addressIn(c scenarios.JournalCall) string {
	if c.Action != "DescribeNetworkInterfaces" {
		return ""
	}
	return c.Params["PrivateIpAddress.1"]
}

// inBoth returns the calls that two plays have in common, and the others.
func inBoth(a, b []Call) (both, varying []Call) {
	has := func(list []Call, c Call) bool {
		return slices.ContainsFunc(list, func(o Call) bool { return o.Product == c.Product && o.Action == c.Action && o.N == c.N })
	}
	for _, c := range a {
		if has(b, c) {
			both = append(both, c)
		} else {
			varying = append(varying, c)
		}
	}
	for _, c := range b {
		if !has(a, c) {
			varying = append(varying, c)
		}
	}
	return both, varying
}

// since returns a text that is equal for plays that went the same way from the first
// disturbance on, and how many times the client had rested then.
func (o *observed) since(p planned) (trace string, rests int) {
	if len(p) == 0 {
		return "", 0
	}
	first := p[0].At
	hash, struck := fnv.New64a(), false
	for _, c := range o.calls {
		if !struck && c.Action == first.Action && c.N == first.N {
			struck = true
			for rests < len(o.rests) && o.rests[rests] < c.sequence {
				rests++
			}
		}
		if struck {
			fmt.Fprintln(hash, c.Action, c.Code)
		}
	}
	for _, lines := range o.states {
		fmt.Fprintln(hash, lines)
	}
	return fmt.Sprintf("%s %d %x", first.Action, first.N, hash.Sum64()), rests
}

// plan lists the plays with one disturbance.
func (e *explorer) plan() (plays []planned) {
	for _, d := range e.disturbancesAt(e.base.calls) {
		d.Skip = d.skipped(e.base.all, e.subject.program)
		plays = append(plays, planned{d})
	}
	if e.subject.program && e.Calls == nil {
		for _, d := range e.atRest() {
			if e.wanted(d) {
				plays = append(plays, planned{d})
			}
		}
	}
	return plays
}

// nothingToTry says why no call takes the chosen disturbances.
func (e *explorer) nothingToTry() error {
	why := ""
	switch {
	case e.Calls != nil && !slices.ContainsFunc(e.base.calls, func(c Call) bool { return e.Calls.Match(c.Action) }):
		why = ": it calls none of the actions in --calls"
	case !e.subject.program && e.Disturbances != nil && slices.ContainsFunc(kinds, func(k kind) bool { return k.program && e.Disturbances.Match(k.name, k.name) }):
		why = ": a script can't be killed, and looks at nothing twice; name the program after --, or a controller's clusters"
	case e.Disturbances != nil && !slices.ContainsFunc(e.base.calls, func(c Call) bool { return c.Write }):
		why = ": it makes no call that changes something"
	}
	return errors.New("the client makes no call at which one of the chosen disturbances can be tried" + why)
}

// wanted reports whether to try a disturbance.
func (e *explorer) wanted(d Disturbance) bool {
	return (e.Calls == nil || d.At.Action == "" || e.Calls.Match(d.At.Action)) &&
		(e.Disturbances == nil || e.Disturbances.Match(d.Name(), d.Kind))
}

// disturbancesAt lists what can go wrong at calls.
func (e *explorer) disturbancesAt(calls []Call) (all []Disturbance) {
	wrote := false
	for _, c := range calls {
		for _, k := range kinds {
			if k.program && !e.subject.program || k.name == staleKind && !wrote || !k.applies(c) {
				continue
			}
			for _, what := range k.whats(e, c) {
				if d := (Disturbance{Kind: k.name, At: c, What: what}); e.wanted(d) {
					all = append(all, d)
				}
			}
		}
		wrote = wrote || c.Write
	}
	return all
}

// atRest lists what can go wrong once the client is at rest: it starts again at each rest,
// and what it made is changed by hand. A cluster's controller gets a nudge by the step that
// follows, which the last rest has not; a program starts again.
func (e *explorer) atRest() (all []Disturbance) {
	for rest := range e.restsToStartAt() {
		all = append(all, Disturbance{Kind: againKind, Rest: rest})
	}
	rests := [][]string{e.base.last()}
	if e.Part == scenarios.KubernetesPart {
		rests = e.base.states[:max(len(e.base.states)-2, 0)]
	}
	for rest, state := range rests {
		own := slices.DeleteFunc(slices.Clone(state), e.isGiven)
		for _, h := range manualChanges {
			for _, what := range h.targets(own) {
				all = append(all, Disturbance{Kind: h.name, What: what, Rest: rest})
			}
		}
	}
	return all
}

// restsToStartAt counts the rests at which the client can start again. A controller that
// explore did not start is not started again.
func (e *explorer) restsToStartAt() int {
	switch {
	case e.Part != scenarios.KubernetesPart:
		return 1
	case len(e.Program.Command) == 0:
		return 0
	}
	return max(len(e.base.states)-1, 0)
}

// isGiven reports whether a line is about something that was there before the client.
func (e *explorer) isGiven(line string) bool {
	return slices.ContainsFunc(e.base.given, func(given string) bool { return headOf(given) == headOf(line) })
}

func (o *observed) last() []string {
	if len(o.states) == 0 {
		return nil
	}
	return o.states[len(o.states)-1]
}

// pairs lists the plays with a second disturbance after the first. It adds none to a first
// disturbance whose play was not fine, or equals another's.
func (e *explorer) pairs() (plays []planned) {
	seen := make(map[string]bool)
	firsts := slices.Clone(e.outcomes)
	slices.SortFunc(firsts, func(a, b Outcome) int { return strings.Compare(a.ID, b.ID) })
	for _, o := range firsts {
		if o.Verdict != Fine || o.Trace == "" || seen[o.Trace] || o.Disturbances[0].At.Action == "" {
			continue
		}
		seen[o.Trace] = true
		first := o.Disturbances[0]
		at := indexOf(o.Went, first.At)
		if at < 0 {
			continue
		}
		first.Skip = first.skipped(e.base.all, e.subject.program)
		for _, second := range e.disturbancesAt(o.Went) {
			if second.Kind == conditionKind || indexOf(o.Went, second.At) <= at {
				continue
			}
			second.Skip = second.skippedAfter(first, o.Went, e.subject.program)
			plays = append(plays, planned{first, second})
		}
		again := Disturbance{Kind: againKind, Rest: o.Rests}
		if e.subject.program && e.Calls == nil && o.Rests < e.restsToStartAt() && e.wanted(again) {
			plays = append(plays, planned{first, again})
		}
	}
	return plays
}

// sample chooses as many plays as there may be, always the same for a seed, and keeps
// their order.
func (e *explorer) sample(plays []planned) []planned {
	if e.Plays == 0 || len(plays) <= e.Plays {
		return plays
	}
	order := rand.New(rand.NewPCG(e.Seed, e.Seed)).Perm(len(plays))[:e.Plays]
	slices.Sort(order)
	chosen := make([]planned, len(order))
	for i, at := range order {
		chosen[i] = plays[at]
	}
	return chosen
}
