package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
)

var callsKind = kind[Calls](Kind{Name: "calls", About: "Calls in the journal since the part started.", Rule: "calls", Flaky: true})

// Calls selects calls to count, and the number that there must be.
type Calls struct {
	Action  string             `yaml:"action" doc:"A glob, or several separated by commas; all if absent."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for calls that succeeded."`
	Params  map[string]Matcher `yaml:"params" doc:"Parameters by name."`
	Since   string             `yaml:"since" doc:"Count only calls since a mark."`
	Polls   NameList           `yaml:"polls" doc:"Actions of which the calls that succeed do not count."`
	AtLeast *int               `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int               `yaml:"atMost" doc:"At most this many."`
	Exactly *int               `yaml:"exactly" doc:"Exactly this many."`
	None    bool               `yaml:"none" doc:"true: none."`
	Order   []string           `yaml:"order" doc:"Actions that occur in this order; other calls may come between them."`
}

func (e *Calls) Validate() error {
	switch {
	case e.AtLeast != nil && *e.AtLeast < 1:
		return errors.New("atLeast is always so: give 1 or more")
	case e.AtMost != nil && *e.AtMost < 0, e.Exactly != nil && *e.Exactly < 0:
		return errors.New("there are never fewer than 0 calls")
	case e.AtLeast != nil && e.AtMost != nil && *e.AtLeast > *e.AtMost:
		return errors.New("atLeast is more than atMost: that is never so")
	case e.Order != nil && len(e.Order) == 0:
		return errors.New("order is empty: give the actions")
	}
	return exactlyOne([]string{"atLeast or atMost", "exactly", "none", "order"}, e.AtLeast != nil || e.AtMost != nil, e.Exactly != nil, e.None, e.Order != nil)
}

func (e *Calls) title() string { return "calls of " + e.actions() }
func (e *Calls) since() string { return e.Since }

func (e *Calls) expectsAbsence() bool {
	return e.None || e.Exactly != nil && *e.Exactly == 0 || e.AtMost != nil && e.AtLeast == nil
}

// check checks which calls count. Those of actions that are not emulated are
// made too, by clients.
func (e *Calls) check(c *checker, at spot, in scope) {
	if c.names == nil || !c.settled(at.in("action"), e.Action) {
		return
	}
	actions, ok := c.globs(at.in("action"), e.Action)
	if !ok {
		return
	}
	for i, name := range e.Order {
		if under := at.in("order").at(i); c.settled(under, name) {
			c.listed(under, name, namesOf(actions, Action.name), "no action is called %s", "clbemu actions lists them")
		}
	}
	c.counted(at, e, actions, in)
}

// counted checks what is looked at of calls of actions.
func (c *checker) counted(at spot, e *Calls, actions []Action, in scope) {
	for _, name := range sortedKeys(e.Params) {
		under, m := at.in("params").in(name), e.Params[name]
		switch {
		case !c.settled(under, name):
		case !reads(actions, name):
			c.refuse(under, "no such call has this parameter%s", suggest(name, parametersOf(actions), "clbemu actions lists the actions"))
		case m.Count != nil:
			c.refuse(under, "it is a text, and has no count")
		case !m.Absent && slices.ContainsFunc(actions, func(a Action) bool { return slices.Contains(a.Secrets, name) }):
			c.refuse(under, "the journal keeps no secrets: only {absent: true} can be told")
		}
	}
	c.code(at.in("code"), e.Code, actions, in)
}

// globs returns the named actions, or all.
func (c *checker) globs(at spot, action string) (actions []Action, ok bool) {
	actions = c.names.Actions()
	if action == "" {
		return actions, true
	}
	matched, idle := glob.Select(glob.Split(action), actions, Action.name)
	if idle != "" {
		c.refuse(at, "no action is called %s%s", idle, suggest(idle, namesOf(actions, Action.name), "clbemu actions lists them"))
	}
	return matched, idle == ""
}

// look counts the client's calls: the scripted one's in the client part,
// and all but the runner's own in the other.
func (e *Calls) look(ctx context.Context, p *play) error {
	all, err := p.Target.Calls(ctx, p.marks[e.Since])
	if err != nil {
		return err
	}
	var actions []string
	for _, call := range all {
		if p.judged(call) && e.matches(call) {
			actions = append(actions, call.Action)
		}
	}
	return e.judge(actions)
}

func (e *Calls) matches(call JournalCall) bool {
	if !e.matchesAction(call.Action) || call.Code == "" && len(call.Faults) == 0 && slices.Contains(e.Polls, call.Action) {
		return false
	}
	if e.Code != nil && !e.Code.ofCode(call.Code) {
		return false
	}
	for name, matcher := range e.Params {
		if value, ok := call.Params[name]; !matcher.holds(value, ok) {
			return false
		}
	}
	return true
}

func (e *Calls) matchesAction(action string) bool {
	if e.Action == "" {
		return e.Order == nil || slices.Contains(e.Order, action)
	}
	return glob.Split(e.Action).Match(action)
}

// actions names the actions whose calls count.
func (e *Calls) actions() string {
	switch {
	case e.Order != nil:
		return strings.Join(e.Order, ", ")
	case e.Action == "":
		return "any action"
	}
	return e.Action
}

// about says which calls count, with their conditions.
func (e *Calls) about() string {
	text := e.actions()
	for i, name := range sortedKeys(e.Params) {
		text += []string{" with ", " and "}[min(i, 1)] + name + " " + e.Params[name].fieldName()
	}
	if e.Code != nil {
		text += " answered with " + e.Code.fieldName()
	}
	if e.Since != "" {
		text += " since " + e.Since
	}
	return text
}

// judge holds the actions called against the number or order wanted.
func (e *Calls) judge(actions []string) error {
	n, bound := len(actions), ""
	switch {
	case e.Order != nil:
		return e.judgeOrder(actions)
	case e.None && n > 0:
		bound = "no calls"
	case e.Exactly != nil && n != *e.Exactly:
		bound = "exactly " + callsOf(*e.Exactly)
	case e.AtLeast != nil && n < *e.AtLeast:
		bound = "at least " + callsOf(*e.AtLeast)
	case e.AtMost != nil && n > *e.AtMost:
		bound = "at most " + callsOf(*e.AtMost)
	default:
		return nil
	}
	return &Unmet{Expected: bound + " of " + e.about(), Seen: e.seen(n)}
}

// seen describes how many of the expected calls came.
func (e *Calls) seen(n int) string {
	for _, want := range []*int{e.AtLeast, e.Exactly} {
		if want != nil && n < *want {
			return fmt.Sprintf("%d of %s", n, callsOf(*want))
		}
	}
	return callsOf(n)
}

func callsOf(n int) string { return counted(n, "call") }

func (e *Calls) judgeOrder(actions []string) error {
	next := 0
	for _, action := range actions {
		if next < len(e.Order) && action == e.Order[next] {
			next++
		}
	}
	if next == len(e.Order) {
		return nil
	}
	return &Unmet{Expected: "calls in the order " + strings.Join(e.Order, ", "),
		Seen: fmt.Sprintf("no %s after the first %d of them in: %s", e.Order[next], next, strings.Join(actions, ", "))}
}
