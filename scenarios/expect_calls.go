package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
)

var callsKind = kind[Calls](Kind{Name: "calls", About: "Calls in the journal since the half started.", Rule: "calls", Fickle: true})

// Calls selects calls to count, and the number that there must be.
type Calls struct {
	Action  string             `yaml:"action" doc:"A glob, or several separated by commas; all if absent."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for calls that succeeded."`
	Params  map[string]Matcher `yaml:"params" doc:"Parameters by name."`
	Since   string             `yaml:"since" doc:"Count only calls since a mark."`
	AtLeast *int               `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int               `yaml:"atMost" doc:"At most this many."`
	Exactly *int               `yaml:"exactly" doc:"Exactly this many."`
	None    bool               `yaml:"none" doc:"true: none."`
	Order   []string           `yaml:"order" doc:"Actions that occur in this order; other calls may come between them."`
}

func (c *Calls) Validate() error {
	switch {
	case c.AtLeast != nil && *c.AtLeast < 1:
		return errors.New("atLeast is always so: give 1 or more")
	case c.AtMost != nil && *c.AtMost < 0, c.Exactly != nil && *c.Exactly < 0:
		return errors.New("there are never fewer than 0 calls")
	case c.AtLeast != nil && c.AtMost != nil && *c.AtLeast > *c.AtMost:
		return errors.New("atLeast is more than atMost: that is never so")
	case c.Order != nil && len(c.Order) == 0:
		return errors.New("order is empty: give the actions")
	}
	return exactlyOne([]string{"atLeast or atMost", "exactly", "none", "order"}, c.AtLeast != nil || c.AtMost != nil, c.Exactly != nil, c.None, c.Order != nil)
}

func (c *Calls) title() string { return "calls of " + c.actions() }
func (c *Calls) since() string { return c.Since }

func (c *Calls) ofNothing() bool {
	return c.None || c.Exactly != nil && *c.Exactly == 0 || c.AtMost != nil && c.AtLeast == nil
}

// check checks which calls are counted. Those of actions that are not emulated are
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

// globs returns the actions that are meant, all if none is named.
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

// look counts the client's calls: the scripted one's in the client half,
// and all but the runner's own in the other.
func (c *Calls) look(ctx context.Context, p *play) error {
	since := p.start
	if c.Since != "" {
		since = p.marks[c.Since]
	}
	all, err := p.Target.Calls(ctx, since)
	if err != nil {
		return err
	}
	var actions []string
	for _, call := range all {
		if p.judged(call) && c.matches(call) {
			actions = append(actions, call.Action)
		}
	}
	return c.judge(actions)
}

func (c *Calls) matches(call JournalCall) bool {
	if !c.matchesAction(call.Action) {
		return false
	}
	if c.Code != nil && !c.Code.ofCode(call.Code) {
		return false
	}
	for name, matcher := range c.Params {
		if value, ok := call.Params[name]; !matcher.holds(value, ok) {
			return false
		}
	}
	return true
}

func (c *Calls) matchesAction(action string) bool {
	if c.Action == "" {
		return c.Order == nil || slices.Contains(c.Order, action)
	}
	return glob.Split(c.Action).Match(action)
}

// actions names the actions whose calls are counted.
func (c *Calls) actions() string {
	switch {
	case c.Order != nil:
		return strings.Join(c.Order, ", ")
	case c.Action == "":
		return "any action"
	}
	return c.Action
}

// about says which calls are counted, with all that is asked of them.
func (c *Calls) about() string {
	text := c.actions()
	for i, name := range sortedKeys(c.Params) {
		text += []string{" with ", " and "}[min(i, 1)] + name + " " + c.Params[name].asked()
	}
	if c.Code != nil {
		text += " answered with " + c.Code.asked()
	}
	if c.Since != "" {
		text += " since " + c.Since
	}
	return text
}

// judge holds the actions called against the number or order wanted.
func (c *Calls) judge(actions []string) error {
	n, bound := len(actions), ""
	switch {
	case c.Order != nil:
		return c.judgeOrder(actions)
	case c.None && n > 0:
		bound = "no calls"
	case c.Exactly != nil && n != *c.Exactly:
		bound = "exactly " + callsOf(*c.Exactly)
	case c.AtLeast != nil && n < *c.AtLeast:
		bound = "at least " + callsOf(*c.AtLeast)
	case c.AtMost != nil && n > *c.AtMost:
		bound = "at most " + callsOf(*c.AtMost)
	default:
		return nil
	}
	return &difference{expected: bound + " of " + c.about(), seen: c.seen(n)}
}

// seen describes how many calls were seen, of how many are wanted.
func (c *Calls) seen(n int) string {
	for _, want := range []*int{c.AtLeast, c.Exactly} {
		if want != nil && n < *want {
			return fmt.Sprintf("%d of %s", n, callsOf(*want))
		}
	}
	return callsOf(n)
}

func callsOf(n int) string { return counted(n, "call") }

func (c *Calls) judgeOrder(actions []string) error {
	next := 0
	for _, action := range actions {
		if next < len(c.Order) && action == c.Order[next] {
			next++
		}
	}
	if next == len(c.Order) {
		return nil
	}
	return &difference{expected: "calls in the order " + strings.Join(c.Order, ", "),
		seen: fmt.Sprintf("no %s after the first %d of them in: %s", c.Order[next], next, strings.Join(actions, ", "))}
}
