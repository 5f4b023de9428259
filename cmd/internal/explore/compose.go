package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// A play is a scenario: the explored part with the disturbances as steps, and with what
// the undisturbed play led to as expectations.

// faultNames are the names of the fault rules of a play.
var faultNames = []string{"disturbance", "second-disturbance", unseenReads}

// unseenReads is the rule that hides a change from reads after its answer got lost.
const unseenReads = "unseen-reads"

// composed is the scenario of a play.
type composed struct {
	text string
	// during has the rests of its top level, from 0 on, that are under a condition, or follow
	// another start, and none of the client's own.
	during map[int]bool
	// learns says that the play is to show what disturbed ones are judged by.
	learns bool
}

// composer writes the scenario of a play.
type composer struct {
	*explorer
	play   planned
	judged bool
	part   *yaml.Node
	steps  []*yaml.Node
	during map[*yaml.Node]bool // the rests under a condition
	again  map[*yaml.Node]int  // the rests after another start, with the rest of before
}

// compose returns the text of the play with these disturbances. A play that is judged
// has the expectations.
func (e *explorer) compose(p planned, judged bool) (all composed, err error) {
	var document yaml.Node
	if err := yaml.Unmarshal(e.Text, &document); err != nil {
		return all, err
	}
	root := document.Content[0]
	c := &composer{explorer: e, play: p, judged: judged, part: child(root, e.Part), during: make(map[*yaml.Node]bool), again: make(map[*yaml.Node]int)}
	all.learns = !judged
	for _, name := range append(slices.Clone(scenarios.Parts), "explore") {
		if name != e.Part {
			remove(root, name)
		}
	}
	if len(p) > 0 {
		put(root, "about", scalar("Found by clbemu explore: "+p.id()+"."))
		remove(root, "advice")
	}
	if steps := child(c.part, "steps"); steps != nil {
		c.steps = steps.Content
	}
	c.filter()
	c.disturb()
	if judged {
		c.expect()
	}
	put(c.part, "steps", &yaml.Node{Kind: yaml.SequenceNode, Content: c.steps})
	if e.subject.program && e.Part == scenarios.ProgramPart {
		c.restartProgram()
	}
	if e.subject.program && child(c.part, "command") == nil && len(e.Program.Command) > 0 {
		c.part.Content = append([]*yaml.Node{scalar("command"), listOf(e.Program.Command)}, c.part.Content...)
	}
	dropUnused(root)
	all.during = c.restsDuring()
	all.text, err = encoded(&document)
	return all, err
}

// restsDuring returns which of the rests are under a condition, and says in the others what
// a disturbed client owes.
func (c *composer) restsDuring() map[int]bool {
	during, n := make(map[int]bool), 0
	for _, step := range c.steps {
		rest := child(step, "rest")
		if rest == nil {
			continue
		}
		_, again := c.again[step]
		if during[n] = c.during[step] || again; !c.during[step] && c.subject.program {
			c.requireBackOff(rest)
		}
		c.forPolls(rest)
		n++
	}
	return during
}

// requireBackOff lets a client that a fault has struck rest only after its back-off.
func (c *composer) requireBackOff(rest *yaml.Node) {
	var names []string
	again := false
	for i, d := range c.play {
		if d.At.Action != "" {
			names = append(names, faultNames[i])
			again = again || kindOf(d.Kind).again
		}
	}
	if names != nil {
		put(rest, "disturbed", snippet("{by: [%s], quiet: %s, again: %t}", strings.Join(names, ", "), c.quietTime(), again))
	}
}

// restartProgram lets the program start again, as whoever runs it would.
func (c *composer) restartProgram() {
	if child(c.part, "restarts") == nil {
		put(c.part, "restarts", scalar(fmt.Sprint(c.subject.Tries)))
	}
}

// filter leaves out what a disturbance may change without any harm, and marks, which only
// that uses.
func (c *composer) filter() {
	if !c.judged {
		return
	}
	var kept []*yaml.Node
	for _, step := range c.steps {
		if list := child(step, "expect"); list != nil {
			list.Content = slices.DeleteFunc(list.Content, flaky)
			if len(list.Content) == 0 {
				continue
			}
		}
		if child(step, "mark") == nil {
			kept = append(kept, step)
		}
	}
	c.steps = kept
	if list := child(c.part, "expect"); list != nil {
		list.Content = slices.DeleteFunc(list.Content, flaky)
		if len(list.Content) == 0 {
			remove(c.part, "expect")
		}
	}
}

func flaky(expectation *yaml.Node) bool {
	return slices.ContainsFunc(scenarios.ExpectationKinds(), func(k *scenarios.Kind) bool { return k.Flaky && child(expectation, k.Name) != nil })
}

// disturb adds the disturbances.
func (c *composer) disturb() {
	if !c.subject.program {
		c.disturbScript()
		return
	}
	c.start()
	c.disturbCalls()
	for _, d := range c.play {
		if d.At.Action == "" {
			c.addManualChange(d)
		}
	}
	if c.Part != scenarios.ProgramPart {
		return
	}
	c.steps = append(c.steps, c.rest(c.quietTime()))
	for _, d := range c.play {
		if d.At.Action == "" {
			if d.Kind == againKind && c.judged && len(c.sinceAgain()) > 0 {
				c.steps = append(c.steps, snippet("{mark: %s}", againMark))
			}
			c.steps = append(c.steps, c.begin()...)
			c.steps = append(c.steps, c.rest(c.quietTime()))
		}
	}
}

// disturbCalls adds the fault rules in front, in order. After the step that makes the program act
// at the call, it adds the other steps of a disturbance; of two after one step, the first one's
// come first.
func (c *composer) disturbCalls() {
	var rules []*yaml.Node
	var at []int
	var then [][]*yaml.Node
	for i, d := range c.play {
		if d.At.Action != "" {
			rules = append(rules, c.fault(faultNames[i], d))
			at, then = append(at, c.lastActingStep(d.At)+1), append(then, c.after(faultNames[i], d))
		}
	}
	for i, before := range slices.Backward(at) {
		if i > 0 {
			before = max(before, at[i-1])
		}
		c.steps = slices.Insert(c.steps, before, then[i]...)
	}
	c.steps = append(rules, c.steps...)
}

// disturbScript adds the fault rules before a script's steps, and makes it try again.
func (c *composer) disturbScript() {
	if c.judged {
		for _, step := range c.steps {
			c.retry(step)
		}
	}
	var rules []*yaml.Node
	for i, d := range c.play {
		if d.Kind == conditionKind {
			c.conditionBefore(d)
			continue
		}
		rules = append(rules, c.fault(faultNames[i], d))
	}
	c.steps = append(rules, c.steps...)
}

// retry makes the calls in a step again when they fail, which a step that waits does anyway.
func (c *composer) retry(step *yaml.Node) {
	if repeat := child(step, "repeat"); repeat != nil {
		for _, inner := range child(repeat, "steps").Content {
			c.retry(inner)
		}
		return
	}
	if call := child(step, "call"); call != nil && child(call, "tries") == nil {
		put(call, "tries", scalar(fmt.Sprint(c.subject.Tries)))
	}
}

// conditionBefore switches a condition on before the step that makes a call. If the call
// then fails, the step is there twice, and the condition is off before the second.
func (c *composer) conditionBefore(d Disturbance) {
	at := c.stepOf(d.At)
	on, off := c.switches(faultNames[0], d)
	first := copied(c.steps[at])
	if call := child(first, "call"); call != nil && d.refused != "" {
		remove(call, "tries")
		remove(call, "save")
		put(call, "expect", snippet("{code: %q}", d.refused))
		c.steps = slices.Insert(c.steps, at, append(append(on, first), off...)...)
		return
	}
	c.steps = slices.Insert(c.steps, at+1, off...)
	c.steps = slices.Insert(c.steps, at, on...)
}

// switches returns the steps that switch a condition on, and off again. A time in which
// calls are refused begins with the rule of the disturbance, which stands before a
// program's steps already.
func (c *composer) switches(name string, d Disturbance) (on, off []*yaml.Node) {
	condition := c.condition(d.What)
	switch {
	case condition.Interface:
		gone, back := fmt.Sprintf(interfaceGone, d.At.address), fmt.Sprintf(interfaceBack, d.At.address)
		if c.base.attached(d.At.address) {
			gone, back = fmt.Sprintf(interfaceDetached, d.At.address), interfaceAttached
		}
		return snippet("%s", gone).Content, snippet("%s", back).Content
	case condition.Refuses == nil:
		return []*yaml.Node{settings(condition.On)}, []*yaml.Node{settings(condition.Off)}
	case !c.subject.program:
		on = []*yaml.Node{snippet("{fault: {name: %s, match: {action: %s, userAgent: %s}, effect: %s}}", name, d.At.Action, scenarios.ClientAgent, refusing(condition.Refuses[d.At.Action]))}
	}
	return on, []*yaml.Node{snippet("{clear: %s}", name)}
}

// refusing returns the effect of a fault rule that answers an error.
func refusing(text string) string { return "{error: " + text + "}" }

// The steps that take the network interface of an address away, and bring it back. One that
// is attached can't be deleted, and clients look for attached ones.
const (
	interfaceDetached = `- call: {product: Ecs, action: DescribeNetworkInterfaces, params: {"PrivateIpAddress.1": %q}, save: {handInterface: NetworkInterfaceSets.NetworkInterfaceSet.0.NetworkInterfaceId, handInstance: NetworkInterfaceSets.NetworkInterfaceSet.0.InstanceId}}
- call: {product: Ecs, action: DetachNetworkInterface, params: {NetworkInterfaceId: "{{handInterface}}", InstanceId: "{{handInstance}}"}}
`
	interfaceAttached = `- call: {product: Ecs, action: AttachNetworkInterface, params: {NetworkInterfaceId: "{{handInterface}}", InstanceId: "{{handInstance}}"}}
`
	interfaceGone = `- call: {product: Ecs, action: DescribeNetworkInterfaces, params: {"PrivateIpAddress.1": %q}, save: {handInterface: NetworkInterfaceSets.NetworkInterfaceSet.0.NetworkInterfaceId, handVSwitch: NetworkInterfaceSets.NetworkInterfaceSet.0.VSwitchId, handSecurityGroup: NetworkInterfaceSets.NetworkInterfaceSet.0.SecurityGroupIds.SecurityGroupId.0}}
- call: {product: Ecs, action: DeleteNetworkInterface, params: {NetworkInterfaceId: "{{handInterface}}"}}
`
	interfaceBack = `- call: {product: Ecs, action: CreateNetworkInterface, params: {VSwitchId: "{{handVSwitch}}", SecurityGroupId: "{{handSecurityGroup}}", PrimaryIpAddress: %q}}
`
)

// stepOf returns the step during which the undisturbed play made a call.
func (c *composer) stepOf(call Call) int {
	if c.base == nil {
		return 0
	}
	sequence := call.sequence
	for _, is := range c.base.calls {
		if is.Action == call.Action && is.N == call.N {
			sequence = is.sequence
		}
	}
	for i, mark := range c.base.steps {
		if sequence <= mark {
			return min(i, max(len(c.steps)-1, 0))
		}
	}
	return max(len(c.steps)-1, 0)
}

// start begins the program, unless a step of the scenario does.
func (c *composer) start() {
	if c.Part != scenarios.ProgramPart || slices.ContainsFunc(c.steps, func(s *yaml.Node) bool { return child(s, "start") != nil }) {
		return
	}
	c.steps = append(c.steps, snippet("{start: true}"))
}

// begin starts the program again at rest: one that has ended, or one killed first.
func (c *composer) begin() []*yaml.Node {
	if c.subject.ends {
		return []*yaml.Node{snippet("{start: true}")}
	}
	return []*yaml.Node{snippet("{stop: true}"), snippet("{start: true}")}
}

// quietTime returns the time without a call after which a program is at rest. A call that hangs
// does not count until the client gives up, and a program that polls does what it owes in its next
// round.
func (c *composer) quietTime() time.Duration {
	quiet := max(time.Duration(c.subject.Quiet), roundsOfRest*c.subject.every)
	if c.play.hangs() {
		quiet += time.Duration(c.subject.Timeout)
	}
	return quiet
}

// settle returns how long to wait until changes of a program show.
func (c *composer) settle() time.Duration { return min(settleProgram, time.Duration(c.subject.Within)) }

func (c *composer) rest(quiet time.Duration) *yaml.Node {
	return snippet("{rest: {quiet: %s, within: %s}}", quiet, time.Duration(c.subject.Within)+quiet)
}

// underCondition waits while a condition is on.
func (c *composer) underCondition() *yaml.Node {
	wait := c.rest(min(c.quietTime(), 2*time.Second))
	put(wait, "name", scalar(conditionKind))
	c.during[wait] = true
	return wait
}

// after returns the steps of a disturbance of a program beside its rule.
func (c *composer) after(name string, d Disturbance) (then []*yaml.Node) {
	switch d.Kind {
	case killKind:
		then = []*yaml.Node{snippet("{struck: {fault: %s}}", name), snippet("{stop: true}"), snippet("{start: true}")}
	case unseenKind:
		then = []*yaml.Node{snippet("{struck: {fault: %s}}", name),
			snippet("{fault: {name: %s, match: {action: %q}, when: {times: 2}, effect: {stale: {calls: 1}}}}", unseenReads, "Describe*,List*,Get*")}
	case conditionKind:
		on, off := c.switches(name, d)
		then = append([]*yaml.Node{snippet("{struck: {fault: %s}}", name)}, on...)
		then = append(append(then, c.underCondition()), off...)
		if c.subject.ends {
			then = append(then, snippet("{start: true}"))
		}
	}
	return then
}

// lastActingStep returns the last step that makes the program act at or before a call, or -1 if the
// call is the start of the program.
func (c *composer) lastActingStep(call Call) int {
	for at := c.stepOf(call); at >= 0; at-- {
		if child(c.steps[at], "kubectl") != nil || child(c.steps[at], "start") != nil {
			return at
		}
	}
	return -1
}

// addManualChange adds a manual change at rest, or another start of a controller.
func (c *composer) addManualChange(d Disturbance) {
	state, at := c.base.last(), len(c.steps)
	switch {
	case d.Kind == againKind && c.Part == scenarios.ProgramPart:
		return // which starts again anyway
	case c.Part == scenarios.ProgramPart:
		c.steps = append(c.steps, c.rest(c.quietTime()))
		at++
	default:
		state, at = c.base.states[d.Rest], c.afterRest(d.Rest)
	}
	if d.Kind == againKind {
		rest := c.rest(c.quietTime())
		c.again[rest] = d.Rest
		steps := []*yaml.Node{snippet("{stop: true}"), snippet("{start: true}"), rest}
		if c.judged && (!c.off(ruleBackends) || !c.off(ruleOutage)) {
			steps = append([]*yaml.Node{snippet("{mark: %s}", againMark)}, steps...)
		}
		c.steps = slices.Insert(c.steps, at, steps...)
		return
	}
	for _, h := range manualChanges {
		for _, line := range state {
			if d.Kind != h.name || !strings.HasPrefix(line, h.kind+" ") || nameIn(strings.TrimPrefix(line, h.kind+" ")) != d.What {
				continue
			}
			if steps := h.steps(d.What, line); steps != "" {
				c.steps = slices.Insert(c.steps, at, snippet("%s", steps).Content...)
				return
			}
		}
	}
}

// afterRest returns where the steps after a rest of the client begin.
func (c *composer) afterRest(rest int) int {
	rests := -1
	for i, step := range c.steps {
		if child(step, "rest") != nil && !c.during[step] {
			rests++
		}
		if rests == rest {
			return i + 1
		}
	}
	return len(c.steps)
}

// fault returns the step that adds the rule of a disturbance.
func (c *composer) fault(name string, d Disturbance) *yaml.Node {
	effect, at := "{delay: {fixed: 500ms}}", "" // holds the call while a condition is on
	always := false
	if d.Kind == conditionKind && c.condition(d.What).Refuses != nil {
		effect, always = refusing(c.condition(d.What).Refuses[d.At.Action]), true
	}
	if k := kindOf(d.Kind); k.effect != nil {
		effect, at = k.effect(d, c.subject.program)
	}
	match := "action: " + d.At.Action
	if !c.subject.program {
		match += ", userAgent: " + scenarios.ClientAgent
	}
	var when []string
	if d.Skip > 0 {
		when = append(when, fmt.Sprintf("skip: %d", d.Skip))
	}
	if !always {
		when = append(when, "times: 1")
	}
	text := fmt.Sprintf("{name: %s, match: {%s}, when: {%s}, effect: %s", name, match, strings.Join(when, ", "), effect)
	if at != "" {
		text += ", at: " + at
	}
	return snippet("{fault: %s}}", text)
}

// The times that the emulated cloud may take to come to its end state.
const (
	settleScript  = time.Minute
	settleProgram = 10 * time.Second
)

func (c *composer) off(rule string) bool { return slices.Contains(c.subject.Off, rule) }

// settings returns a step that changes conditions of the world.
func settings(values map[string]string) *yaml.Node {
	set := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range sorted(values) {
		put(set, name, scalar(values[name]))
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("set"), set}}
}
