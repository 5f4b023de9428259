package explore

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// atRestMark names the mark after which a client at rest writes nothing.
const atRestMark = "at-rest"

// againMark names the mark after which a client starts again.
const againMark = "again"

// deletion is the action that deletes a load balancer, of any product.
const deletion = "DeleteLoadBalancer"

// writeGlobs match the actions that change something.
const writeGlobs = "Activate*,Add*,Allocate*,Apply*,Associate*,Attach*,Change*,Create*,Delete*,Detach*,Disassociate*,Join*,Modify*,Move*,Release*,Remove*,Set*,Start*,Stop*,Tag*,Untag*,Update*,Upload*"

// expect adds what the undisturbed play led to.
func (c *composer) expect() {
	if c.Part == scenarios.KubernetesPart {
		c.expectAtRests()
	}
	list := child(c.part, "expect")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		put(c.part, "expect", list)
	}
	within := settleScript
	if c.subject.program {
		within = c.settle()
	}
	if c.Part != scenarios.KubernetesPart {
		list.Content = append(list.Content, stateNode(c.base.last(), within))
		list.Content = append(list.Content, c.keeps()...)
	} else if !c.off(ruleRefused) {
		for _, namespace := range c.namespaces() {
			list.Content = append(list.Content, snippet("{refused: {action: %q, namespace: %s}, within: %s}", writeGlobs, namespace, time.Duration(c.subject.Within)))
		}
	}
	most := int(math.Ceil(float64(c.subject.Calls)*float64(len(c.base.calls)))) + 5
	if !c.off(ruleCalls) && c.atRest() == nil {
		list.Content = append(list.Content, snippet("{calls: {%satMost: %d}}", c.pollsNode(), most))
	}
	if c.subject.program && !c.subject.ends && !c.off(ruleRest) {
		c.steps = append(c.steps, snippet("{mark: %s}", atRestMark))
		list.Content = append(list.Content, snippet("{calls: {action: %q, since: %s, none: true}, for: %s}", writeGlobs, atRestMark, time.Duration(c.subject.Quiet)),
			stateNode(c.base.last(), within)) // what it wrote meanwhile says more
	}
	if c.late() {
		c.judgeLate(list)
	}
}

// pollsNode returns the field that excludes polls from the count.
func (c *composer) pollsNode() string {
	if len(c.subject.polls) == 0 {
		return ""
	}
	return "polls: [" + strings.Join(c.subject.polls, ", ") + "], "
}

// keeps lists what must still hold of what a program has made so far. A change by hand may undo
// all.
func (c *composer) keeps() (list []*yaml.Node) {
	switch hand := c.atRest(); {
	case hand != nil && hand.Kind == againKind:
		return c.sinceAgain()
	case hand != nil:
		return nil
	}
	if !c.off(ruleBackends) {
		list = append(list, snippet("{backends: {}}"))
	}
	return append(list, c.served("", len(c.base.lost)-1)...)
}

// served expects that what serves goes on to serve, except what stopped in the same part of the
// undisturbed play. A script does as it says.
func (c *composer) served(since string, part int) []*yaml.Node {
	if !c.subject.program || c.off(ruleOutage) || c.off(ruleReplaced) || slices.ContainsFunc(c.play, c.takesBackends) {
		return nil
	}
	is := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	if since != "" {
		put(is, "since", scalar(since))
	}
	if part >= 0 && part < len(c.base.lost) && len(c.base.lost[part]) > 0 {
		put(is, "except", listOf(c.base.lost[part]))
	}
	return []*yaml.Node{{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("served"), is}}}
}

// takesBackends reports whether a disturbance itself takes backends away.
func (c *composer) takesBackends(d Disturbance) bool {
	return d.Kind == conditionKind && c.condition(d.What).Interface
}

// late reports whether to watch the client at rest for late repetitions by its queue: one that
// keeps running, and that was disturbed at a write.
func (c *composer) late() bool {
	return c.subject.program && !c.subject.ends && slices.ContainsFunc(c.play, func(d Disturbance) bool { return d.At.Write && kindOf(d.Kind).late })
}

// judgeLate lets the expectations be the last step but one, and judges the state again after
// a while.
func (c *composer) judgeLate(list *yaml.Node) {
	judged := &yaml.Node{Kind: yaml.SequenceNode, Content: list.Content}
	rest := c.rest(c.quietTime())
	put(child(rest, "rest"), "after", scalar(scenarios.Duration(c.lateTime()).String()))
	c.steps = append(c.steps, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("expect"), judged}}, rest)
	list.Content = []*yaml.Node{stateNode(c.base.last(), c.settle())}
	c.during[rest] = c.Part == scenarios.KubernetesPart
}

// lateTime returns how long such a client is watched: twice its longest back-off so far, if that is
// more than the scenario says, and no longer than it may take to come to rest.
func (e *explorer) lateTime() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	longest := time.Duration(0)
	for i := range e.outcomes {
		longest = max(longest, time.Duration(e.outcomes[i].Retry*float64(time.Second)))
	}
	return max(time.Duration(e.subject.Late), min(2*longest, time.Duration(e.subject.Within))).Round(time.Second)
}

// sinceAgain lists what must hold of a client that starts again where all is done.
func (c *composer) sinceAgain() (list []*yaml.Node) {
	if !c.off(ruleBackends) {
		list = append(list, snippet("{backends: {since: %s}}", againMark))
	}
	deletes := slices.ContainsFunc(c.base.calls, func(is Call) bool { return is.Action == deletion })
	if c.Part == scenarios.KubernetesPart {
		return append(list, c.served(againMark, -1)...)
	}
	list = append(list, c.served(againMark, len(c.base.lost)-1)...)
	if !c.off(ruleReplaced) && !deletes {
		list = append(list, snippet("{calls: {action: %s, code: OK, since: %s, none: true}}", deletion, againMark))
	}
	return list
}

// atRest returns a disturbance at rest, or nil if there is none.
func (c *composer) atRest() *Disturbance {
	for i := range c.play {
		if c.play[i].At.Action == "" {
			return &c.play[i]
		}
	}
	return nil
}

// expectAtRests expects the state of the undisturbed play after each rest of a cluster's
// controller, whose back-off may be long.
func (c *composer) expectAtRests() {
	var all []*yaml.Node
	seen := 0
	for _, step := range c.steps {
		rest := child(step, "rest")
		if rest == nil {
			all = append(all, step)
			continue
		}
		if c.during[step] {
			all = append(all, step)
			continue
		}
		if rest, is := c.again[step]; is {
			expected := append([]*yaml.Node{stateNode(c.base.states[rest], time.Duration(c.subject.Within))}, c.sinceAgain()...)
			all = append(all, step, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("expect"), {Kind: yaml.SequenceNode, Content: expected}}})
			continue
		}
		if len(c.play) > 0 { // or the check would run during the client's back-off
			if child(rest, "within") == nil {
				put(rest, "within", scalar((time.Duration(c.subject.Within) + c.quietTime()).String()))
			}
			all = append(all, step)
		}
		if seen < len(c.base.states) {
			all = append(all, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("expect"), {Kind: yaml.SequenceNode, Content: c.atThisRest(seen)}}})
		}
		if seen+2 < len(c.base.states) && c.keepsBackends(seen+1) { // the last state is that of the end
			all = append(all, snippet("{mark: rest-%d}", seen+1))
		}
		seen++
	}
	c.steps = all
}

// keepsBackends reports whether listeners must keep their backends until a rest. Manual
// changes may take them away.
func (c *composer) keepsBackends(rest int) bool {
	hand := c.atRest()
	return !c.off(ruleBackends) && (hand == nil || hand.Kind == againKind || hand.Rest != rest-1)
}

// atThisRest lists the expectations of a rest.
func (c *composer) atThisRest(seen int) []*yaml.Node {
	within := time.Duration(c.subject.Within)
	list := []*yaml.Node{stateNode(c.base.states[seen], within)}
	if !c.off(ruleStatus) {
		for _, namespace := range c.namespaces() {
			ingress := snippet("{ingress: {namespace: %s}, within: %s}", namespace, within)
			if kinds := c.ingressKinds(seen, namespace); kinds != nil {
				put(child(ingress, "ingress"), "kinds", kinds)
			}
			list = append(list, ingress)
		}
	}
	if seen > 0 && c.keepsBackends(seen) {
		since := fmt.Sprintf("rest-%d", seen)
		list = append(append(list, snippet("{backends: {since: %s}}", since)), c.served(since, seen)...)
	} else if seen == 0 {
		list = append(list, c.served("", 0)...)
	}
	return list
}

// ingressKinds returns the kinds of the addresses that Services had at a rest, or nil if none had
// any.
func (c *composer) ingressKinds(rest int, namespace string) *yaml.Node {
	if rest >= len(c.base.ingress) || len(c.base.ingress[rest][namespace]) == 0 {
		return nil
	}
	kinds := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, name := range sorted(c.base.ingress[rest][namespace]) {
		kinds.Content = append(kinds.Content, scalar(name), listOf(c.base.ingress[rest][namespace][name]))
	}
	return kinds
}

// namespaces lists the namespaces of the Services that the part applies.
func (e *explorer) namespaces() (all []string) {
	var document yaml.Node
	if err := yaml.Unmarshal(e.Text, &document); err != nil {
		return nil // impossible: it has loaded
	}
	steps := child(child(document.Content[0], e.Part), "steps")
	if steps == nil {
		return nil
	}
	for _, step := range steps.Content {
		for _, object := range objects(child(child(step, "kubectl"), "apply")) {
			if kind := child(object, "kind"); kind == nil || kind.Value != "Service" {
				continue
			}
			namespace := "default"
			if is := child(child(object, "metadata"), "namespace"); is != nil {
				namespace = is.Value
			}
			if !slices.Contains(all, namespace) {
				all = append(all, namespace)
			}
		}
	}
	return all
}

// objects lists what a step applies as YAML.
func objects(apply *yaml.Node) []*yaml.Node {
	if apply != nil && apply.Kind == yaml.SequenceNode {
		return apply.Content
	}
	return []*yaml.Node{apply}
}

func stateNode(lines []string, within time.Duration) *yaml.Node {
	list := listOf(lines)
	list.Style = 0
	for _, line := range list.Content {
		line.Style = yaml.SingleQuotedStyle
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("state"), list, scalar("within"), scalar(scenarios.Duration(within).String())}}
}
