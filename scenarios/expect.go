package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
)

// expect holds an expectation: now, within a time, or for a time.
func (p *play) expect(ctx context.Context, e *Expectation) error {
	limit := time.Duration(max(e.Within, e.For))
	for passed := time.Duration(0); ; {
		over, pause, err := p.ended(ctx)
		if err != nil {
			return err
		}
		passed += pause
		gone := e.For == 0 && over
		if gone && e.State == nil { // the cloud may still be at work
			limit = passed
		}
		err = p.look(ctx, e)
		d := (*difference)(nil)
		switch differs := errors.As(err, &d); {
		case err != nil && !differs:
			return err
		case e.For > 0 && differs:
			return d.after(" for "+e.For.String(), " after "+passed.String())
		case e.For == 0 && !differs, passed >= limit && !differs:
			return nil
		case passed >= limit && e.Within > 0:
			return d.after(" within "+e.Within.String(), "")
		case passed >= limit:
			return d
		case differs:
			p.waiting(passed, limit, "saw "+d.seen)
		default:
			p.waiting(passed, limit, "as it should be so far")
		}
		pause = pauseFor(limit)
		if e.For == 0 {
			pause = lookAgain(passed, limit)
		}
		if gone && p.SkipIdle {
			err = p.Target.SetClock(ctx, pause, nil)
		} else {
			err = p.pass(ctx, pause)
		}
		if err != nil {
			return err
		}
		passed += pause
	}
}

// lookAgain is the pause before the next look at something that may take until a limit.
// It is short at first: most of what is expected comes soon.
func lookAgain(passed, limit time.Duration) time.Duration {
	return min(max((passed/4).Truncate(lookEvery), firstLook), pauseFor(limit), max(limit-passed, lookEvery))
}

// firstLook is the shortest such pause, which leaves time for what is looked at by kubectl.
const firstLook = 100 * time.Millisecond

// expectAll holds all of a list, and reports all that do not hold. After one that
// does not, time has run out for the others too: they are looked at once.
func (p *play) expectAll(ctx context.Context, list []Expectation, over func(*Expectation, bool)) error {
	var not unmet
	for i := range list {
		e, err := filled[Expectation](p, list[i].node)
		if err != nil {
			return err
		}
		if not != nil {
			e.Within, e.For = 0, 0
		}
		err = p.expect(ctx, e)
		d := (*difference)(nil)
		switch differs := errors.As(err, &d); {
		case differs:
			not = append(not, unmetOf(list[i].Line, e.kind(), e.title(), d))
			not[len(not)-1].Of = e
		case err != nil && not == nil:
			return err
		}
		over(e, err == nil)
	}
	if not == nil {
		return nil
	}
	return not
}

// look looks once.
func (p *play) look(ctx context.Context, e *Expectation) error {
	switch {
	case e.Resource != nil:
		return p.lookAtResource(ctx, e.Resource)
	case e.Calls != nil:
		return p.lookAtCalls(ctx, e.Calls)
	case e.Quota != nil:
		return p.lookAtQuota(ctx, e.Quota)
	case e.Addresses != nil:
		return p.lookAtAddresses(ctx, e.Addresses)
	case e.LoadBalancer != nil:
		return p.lookAtLoadBalancer(ctx, e.LoadBalancer)
	case e.State != nil:
		return p.lookAtState(ctx, *e.State)
	case e.Backends != nil:
		return p.lookAtBackends(ctx, e.Backends)
	case e.Refused != nil:
		return p.lookAtRefused(ctx, e.Refused)
	case e.Ingress != nil:
		return p.lookAtIngress(ctx, e.Ingress)
	case e.Service != nil:
		return p.lookAtService(ctx, e.Service)
	case e.Event != nil:
		return p.lookForEvent(ctx, e.Event)
	}
	return p.lookForFinalizer(ctx, e.Finalizer)
}

// title says in a few words what is expected.
func (e *Expectation) title() string {
	switch {
	case e.Resource != nil:
		return "expect " + e.Resource.Action
	case e.Calls != nil:
		return "expect calls of " + e.Calls.actions()
	case e.Quota != nil:
		return "expect quota " + e.Quota.Name
	case e.Addresses != nil:
		return "expect addresses of " + e.Addresses.VSwitch
	case e.LoadBalancer != nil:
		return "expect load balancer " + e.LoadBalancer.Name
	case e.State != nil:
		return "expect state"
	case e.Backends != nil:
		return "expect backends"
	case e.Refused != nil:
		return "expect refused calls"
	case e.Ingress != nil:
		return "expect ingress"
	case e.Service != nil:
		return "expect service " + e.Service.Name
	case e.Event != nil:
		return "expect event " + e.Event.Reason
	}
	return "expect finalizer " + e.Finalizer.Name
}

func (p *play) lookAtResource(ctx context.Context, r *Resource) error {
	call := APICall{Product: orSlb(r.Product), Action: r.Action, Params: texts(r.Params), UserAgent: ObserverAgent}
	answer, err := p.Target.Call(ctx, call)
	if err != nil {
		return err
	}
	if d := (&Reply{Code: r.Code, Fields: r.Fields}).compare(answer); d != nil {
		return d
	}
	return nil
}

// lookAtCalls counts the client's calls: the scripted one's in the client half,
// and all but the runner's own in the other.
func (p *play) lookAtCalls(ctx context.Context, c *Calls) error {
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

// judged reports whether a call is from the client that the half is about. Where a
// client half runs programs, they and its script are one client.
func (p *play) judged(call JournalCall) bool {
	switch {
	case call.UserAgent == ObserverAgent:
		return false
	case p.half == ClientHalf:
		return call.UserAgent == ClientAgent || p.scenario.RunsPrograms(p.half)
	}
	return call.UserAgent != ClientAgent
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

func callsOf(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

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

func (p *play) lookAtQuota(ctx context.Context, q *Quota) error {
	list, err := p.Target.Quotas(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(is QuotaUse) bool { return is.Name == q.Name })
	if i < 0 {
		return fmt.Errorf("there is no quota %s: clbemu quota lists them", q.Name)
	}
	used := 0
	for holder, n := range list[i].Used {
		if q.Holder == "" || q.Holder == holder {
			used += n
		}
	}
	switch {
	case q.Used != nil && used != *q.Used:
		return &difference{expected: fmt.Sprintf("%d used of %s", *q.Used, q.Name), seen: fmt.Sprint(used)}
	case q.Free != nil && list[i].Limit-used != *q.Free:
		return &difference{expected: fmt.Sprintf("%d free of %s", *q.Free, q.Name), seen: fmt.Sprint(list[i].Limit - used)}
	}
	return nil
}

func (p *play) lookAtAddresses(ctx context.Context, a *Addresses) error {
	free, err := p.Target.FreeAddresses(ctx, a.VSwitch)
	if err == nil && free != *a.Free {
		return &difference{expected: fmt.Sprintf("%d free addresses in %s", *a.Free, a.VSwitch), seen: fmt.Sprint(free)}
	}
	return err
}

func (p *play) lookAtLoadBalancer(ctx context.Context, want *LoadBalancer) error {
	found, err := p.Target.LoadBalancers(ctx, want.Name)
	if err != nil {
		return err
	}
	if n := len(found); want.Absent != (n == 0) || n > 1 {
		expected := "one load balancer "
		if want.Absent {
			expected = "no load balancer "
		}
		return &difference{expected: expected + want.Name, seen: fmt.Sprint(n)}
	}
	if want.Absent {
		return nil
	}
	is := found[0]
	if m := want.Address; m != nil && !slices.ContainsFunc(is.Addresses, func(a string) bool { return m.holds(a, true) }) {
		return &difference{expected: "an address of " + want.Name + ", " + m.String(), seen: strings.Join(is.Addresses, ", ")}
	}
	if want.Listeners != nil && !want.listens(is.Listeners) {
		return &difference{expected: "the listeners " + listenersText(want.Listeners), seen: listenersText(is.Listeners)}
	}
	return nil
}

// listens reports whether listeners are those wanted, with as many backends.
func (l *LoadBalancer) listens(listeners map[string]int) bool {
	for name, backends := range listeners {
		if want, ok := l.Listeners[name]; !ok || !want.holds(backends) {
			return false
		}
	}
	return len(listeners) == len(l.Listeners)
}

// listenersText writes listeners with their backends, as the file has them.
func listenersText[N int | Amount](listeners map[string]N) string {
	if len(listeners) == 0 {
		return "no running listener"
	}
	var list []string
	for _, name := range sortedKeys(listeners) {
		list = append(list, fmt.Sprintf("%s: %v", name, listeners[name]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func (p *play) lookAtService(ctx context.Context, s *Service) error {
	var service any
	if err := p.get(ctx, &service, "service/"+s.Name, s.Namespace); err != nil {
		return err
	}
	if d := compare(service, s.Fields); d != nil {
		return d
	}
	return nil
}

func (p *play) lookForEvent(ctx context.Context, e *Event) error {
	kind, name, _ := strings.Cut(e.Object, "/")
	list, err := p.events(ctx, e.Namespace, "--field-selector", "involvedObject.kind="+kind+",involvedObject.name="+name)
	if err != nil {
		return err
	}
	var seen []string
	found := false
	for _, is := range list {
		if !p.ours(is, idOf(kind, e.Namespace, name), e.Since) {
			continue
		}
		seen = append(seen, is.Reason+" "+is.Message)
		found = found || is.Reason == e.Reason && (e.Message == nil || e.Message.holds(is.Message, true))
	}
	if found != e.Absent {
		return nil
	}
	return &difference{expected: e.String(), seen: "the events: " + strings.Join(seen, "; ")}
}

func (e *Event) String() string {
	text := "an event " + e.Reason + " about " + e.Object
	if e.Message != nil {
		text += " with " + e.Message.String()
	}
	if e.Absent {
		return "no such thing as " + text
	}
	return text
}

func (p *play) lookForFinalizer(ctx context.Context, f *Finalizer) error {
	var object struct {
		Metadata struct {
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := p.get(ctx, &object, f.Object, f.Namespace, "--ignore-not-found"); err != nil {
		return err
	}
	if slices.Contains(object.Metadata.Finalizers, f.Name) != f.Absent {
		return nil
	}
	expected := "the finalizer " + f.Name + " on " + f.Object
	if f.Absent {
		expected = "no finalizer " + f.Name + " on " + f.Object
	}
	return &difference{expected: expected, seen: "the finalizers: " + strings.Join(object.Metadata.Finalizers, ", ")}
}

// get reads an object of the cluster. One that is ignored when it is not found
// leaves the target as it is.
func (p *play) get(ctx context.Context, into any, object, namespace string, args ...string) error {
	out, err := p.Cluster.Kubectl(ctx, "", append([]string{"get", object, "--namespace", orDefault(namespace), "--output", "json"}, args...)...)
	if err != nil {
		return &difference{expected: object + " in the cluster", seen: err.Error()}
	}
	if len(out) == 0 {
		return nil
	}
	return json.Unmarshal(out, into)
}
