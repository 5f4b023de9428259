package explore

import (
	"fmt"
	"slices"
	"strings"
)

// Condition is a setting of the world that is switched on, and off again.
type Condition struct {
	Name    string
	On, Off map[string]string
	// Refuses has the errors that actions return meanwhile, as fault rules have
	// them, where it is no setting but such a time.
	Refuses map[string]string
	// Interface takes a pod's network interface away instead, for calls that look for it.
	Interface bool
}

// kind is a kind of disturbance at a call.
type kind struct {
	name, about string
	// reads and writes say at which calls to try it.
	reads, writes bool
	// effect returns the effect of the fault rule, and its point at, if that is not the effect's
	// own.
	effect func(d Disturbance, program bool) (effect, at string)
	// point is the effect's own, "" is before the call.
	point string
	// program says that only a program can have it.
	program bool
	// again says that a client must call again before it is at rest.
	again bool
	// late says that a client at rest is watched for what its queue repeats late.
	late bool
	// what lists the variants.
	what func(e *explorer, c Call) []string
}

// The names of kinds that are more than a fault rule.
const (
	killKind      = "killed"
	conditionKind = "condition"
	againKind     = "again"
	hangKind      = "hang"
	staleKind     = "stale"
	unseenKind    = "unseen"
)

// kinds lists the disturbances at a call.
var kinds = []kind{
	{name: "throttled", again: true, about: "The call is refused with Throttling.User.", reads: true, writes: true, late: true, effect: is("{error: {code: Throttling.User}}")},
	{name: "unavailable", again: true, about: "The call is refused with ServiceUnavailable, status 503.", reads: true, writes: true, effect: is("{error: {code: ServiceUnavailable}}")},
	{name: "refused", again: true, about: "The call is refused with each code that the state can lead to.", reads: true, writes: true, what: refusals,
		effect: func(d Disturbance, _ bool) (string, string) { return "{error: {code: " + d.What + "}}", "" }},
	{name: "lost", again: true, about: "The change is made, and the answer gets lost.", writes: true, late: true, point: atLoss, effect: is("{afterCommit: reset}")},
	{name: unseenKind, program: true, again: true, about: "The change is made, the answer gets lost, and the next two reads do not show it.", writes: true, late: true, point: atLoss, effect: is("{afterCommit: reset}")},
	{name: "reset", again: true, about: "The connection breaks before the answer.", reads: true, point: "reply", effect: is("{reset: true}")},
	{name: hangKind, again: true, about: "No answer comes before the client's own timeout.", reads: true, writes: true, late: true, point: "accept", effect: func(_ Disturbance, program bool) (string, string) {
		if program {
			return "{hang: true}", ""
		}
		// For a script the connection breaks: with a timeout in real time, it would give up
		// calls on a busy machine that had no disturbance.
		return "{reset: true}", atCall
	}},
	{name: "slow", about: "The answer comes late.", writes: true, effect: func(_ Disturbance, program bool) (string, string) {
		if program {
			return "{delay: {fixed: 1s}}", ""
		}
		return "{delay: {fixed: 10ms}}", ""
	}},
	{name: staleKind, about: "A read shows the state before the client's last change.", reads: true, effect: is("{stale: {calls: 1}}")},
	{name: killKind, program: true, again: true, about: "The client is killed before, during or after the call, and starts again.", reads: true, writes: true,
		what: func(_ *explorer, c Call) []string {
			if !c.Write {
				return []string{"before"} // a read leaves nothing that a later moment would show
			}
			return []string{"before", "during", "after"}
		},
		effect: func(d Disturbance, _ bool) (string, string) {
			return "{hang: true}", map[string]string{"before": atCall, "during": atCommit, "after": atLoss}[d.What]
		}},
	{name: conditionKind, about: "A condition of the world is switched on before the call, and off later.", reads: true, writes: true, what: conditionNames},
}

func is(effect string) func(Disturbance, bool) (string, string) {
	return func(Disturbance, bool) (string, string) { return effect, "" }
}

func (k *kind) applies(c Call) bool { return c.Write && k.writes || !c.Write && k.reads }

func (k *kind) whats(e *explorer, c Call) []string {
	if k.what == nil {
		return []string{""}
	}
	return k.what(e, c)
}

func kindOf(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// Kinds lists the kinds of disturbances, each with what it does.
func Kinds() (list [][2]string) {
	for _, k := range kinds {
		list = append(list, [2]string{k.name, k.about})
	}
	list = append(list, [2]string{againKind, "At rest, the client starts again."})
	for _, h := range manualChanges {
		if row := [2]string{h.name, "At rest, something that the client made is " + h.name + " by hand, and then the client gets a nudge."}; !slices.Contains(list, row) {
			list = append(list, row)
		}
	}
	return list
}

// refusals lists the codes that the state can lead to. One about a parameter is not
// the state's, unless what it names no longer exists.
func refusals(e *explorer, c Call) (codes []string) {
	if e.Refusals == nil {
		return nil
	}
	for _, code := range e.Refusals(c.Action) {
		if strings.HasSuffix(code, "NotExist") || strings.HasSuffix(code, "NotFound") || !strings.HasPrefix(code, "Invalid") && !strings.HasPrefix(code, "Missing") && !strings.HasPrefix(code, "IllegalParam") {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func conditionNames(e *explorer, c Call) (names []string) {
	for _, is := range e.Conditions {
		applies := c.Write
		switch {
		case is.Interface:
			applies = e.subject.program && c.address != "" && !e.base.primary(c.address)
		case is.Refuses != nil:
			applies = is.Refuses[c.Action] != ""
		}
		if applies {
			names = append(names, is.Name)
		}
	}
	return names
}

func (e *explorer) condition(name string) Condition {
	i := slices.IndexFunc(e.Conditions, func(c Condition) bool { return c.Name == name })
	return e.Conditions[i]
}

// manualChange is a change made by hand while the client is at rest, to a thing
// that it made.
type manualChange struct {
	name, about string
	// kind is the kind of the changed things, and steps returns the steps that change one.
	kind  string
	steps func(name, line string) string
}

// targets lists the names of the things in a state.
func (h *manualChange) targets(state []string) (names []string) {
	for _, line := range state {
		rest, ok := strings.CutPrefix(line, h.kind+" ")
		if !ok || h.steps(nameIn(rest), line) == "" || h.name == "deleted" && forwardedTo(state, line) {
			continue
		}
		names = append(names, nameIn(rest))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// forwardedTo reports whether another listener forwards to the listener of a line, so that the
// cloud does not delete it.
func forwardedTo(state []string, line string) bool {
	return slices.ContainsFunc(state, func(is string) bool {
		return field(is, "ForwardPort") != "" && field(is, "ForwardPort") == field(line, "Port") && field(is, "LoadBalancerID") == field(line, "LoadBalancerID")
	})
}

// nameIn returns the name in a line without its kind, or the fields that tell a thing from
// others.
func nameIn(rest string) string {
	first, _, _ := strings.Cut(rest, " ")
	if !strings.Contains(first, "=") {
		return first
	}
	return strings.Trim(field(rest, "LoadBalancerID")+":"+field(rest, "Port")+":"+field(rest, "Protocol"), ":")
}

// field returns a field of a line.
func field(line, name string) string {
	_, rest, ok := strings.Cut(" "+line, " "+name+"=")
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, " ")
	return strings.Trim(value, `"`)
}

// The steps that find things of CLB by their names.
const findCLB = `- call: {action: DescribeLoadBalancers, params: {LoadBalancerName: %q}, save: {handLB: LoadBalancers.LoadBalancer.0.LoadBalancerId}}
`

// ofCLB does something to a load balancer of CLB by its id.
func ofCLB(call string) func(name, line string) string {
	return func(name, _ string) string { return fmt.Sprintf(findCLB, name) + "- call: " + call + "\n" }
}

// ofListener does something to a listener of CLB.
func ofListener(call string) func(name, line string) string {
	return func(name, _ string) string {
		parts := strings.Split(name, ":")
		if len(parts) != 3 {
			return ""
		}
		return fmt.Sprintf(findCLB, parts[0]) + "- call: " + strings.NewReplacer("PORT", parts[1], "PROTOCOL", parts[2], "UPPER", strings.ToUpper(parts[2])).Replace(call) + "\n"
	}
}

const protectionOff = `{action: SetLoadBalancerDeleteProtection, params: {LoadBalancerId: "{{handLB}}", DeleteProtection: "off"}}
- call: `

const findNLB = `- call: {product: Nlb, action: ListLoadBalancers, params: {"LoadBalancerNames.1": %q}, save: {handLB: LoadBalancers.0.LoadBalancerId}}
`

// ofNLB does something to a load balancer of NLB by its id.
func ofNLB(call string) func(name, line string) string {
	return func(name, _ string) string { return fmt.Sprintf(findNLB, name) + "- call: " + call + "\n" }
}

// ofNLBListener does something to a listener of NLB.
func ofNLBListener(action string) func(name, line string) string {
	return func(_, line string) string {
		lb := field(line, "LoadBalancerID")
		if lb == "" {
			return ""
		}
		return fmt.Sprintf(findNLB+`- call: {product: Nlb, action: ListListeners, params: {"LoadBalancerIds.1": "{{handLB}}", ListenerProtocol: %s}, save: {handListener: %q}}
- call: {product: Nlb, action: %s, params: {ListenerId: "{{handListener}}"}}
`, lb, field(line, "Protocol"), "Listeners.ListenerPort="+field(line, "Port")+".ListenerId", action)
	}
}

// manualChanges lists the changes made by hand.
var manualChanges = []manualChange{
	{"deleted", "At rest, clbemu deletes the load balancer.", "LoadBalancer",
		ofCLB(protectionOff + `{action: DeleteLoadBalancer, params: {LoadBalancerId: "{{handLB}}"}}`)},
	{"stopped", "At rest, clbemu stops the load balancer.", "LoadBalancer",
		ofCLB(`{action: SetLoadBalancerStatus, params: {LoadBalancerId: "{{handLB}}", LoadBalancerStatus: inactive}}`)},
	{"renamed", "At rest, clbemu renames the load balancer.", "LoadBalancer",
		ofCLB(`{action: SetLoadBalancerModificationProtection, params: {LoadBalancerId: "{{handLB}}", ModificationProtectionStatus: NonProtection}}
- call: {action: SetLoadBalancerName, params: {LoadBalancerId: "{{handLB}}", LoadBalancerName: by-hand}}`)},
	{"stopped", "At rest, clbemu stops a listener.", "Listener",
		ofListener(`{action: StopLoadBalancerListener, params: {LoadBalancerId: "{{handLB}}", ListenerPort: PORT, ListenerProtocol: PROTOCOL}}`)},
	{"deleted", "At rest, clbemu deletes a listener.", "Listener",
		ofListener(`{action: DeleteLoadBalancerListener, params: {LoadBalancerId: "{{handLB}}", ListenerPort: PORT, ListenerProtocol: PROTOCOL}}`)},
	{"untagged", "At rest, clbemu removes the load balancer's tags.", "LoadBalancer",
		ofCLB(`{action: UntagResources, params: {ResourceType: instance, "ResourceId.1": "{{handLB}}", All: true}}`)},
	{"deleted", "At rest, clbemu deletes the load balancer of NLB.", "NLBLoadBalancer",
		ofNLB(`{product: Nlb, action: UpdateLoadBalancerProtection, params: {LoadBalancerId: "{{handLB}}", DeletionProtectionEnabled: false, ModificationProtectionStatus: NonProtection}}
- call: {product: Nlb, action: DeleteLoadBalancer, params: {LoadBalancerId: "{{handLB}}"}}`)},
	{"renamed", "At rest, clbemu renames the load balancer of NLB.", "NLBLoadBalancer",
		ofNLB(`{product: Nlb, action: UpdateLoadBalancerAttribute, params: {LoadBalancerId: "{{handLB}}", LoadBalancerName: by-hand}}`)},
	{"untagged", "At rest, clbemu removes the tags of the load balancer of NLB and renames it.", "NLBLoadBalancer",
		ofNLB(`{product: Nlb, action: UntagResources, params: {ResourceType: loadbalancer, "ResourceId.1": "{{handLB}}", All: true}}
- call: {product: Nlb, action: UpdateLoadBalancerAttribute, params: {LoadBalancerId: "{{handLB}}", LoadBalancerName: by-hand}}`)},
	{"stopped", "At rest, clbemu stops a listener of NLB.", "NLBListener", ofNLBListener("StopListener")},
	{"deleted", "At rest, clbemu deletes a listener of NLB.", "NLBListener", ofNLBListener("DeleteListener")},
	{"emptied", "At rest, clbemu removes a backend from a group.", "VServerGroup",
		func(name, line string) string {
			lb := field(line, "LoadBalancerID")
			if !strings.Contains(line, `"ServerID":`) || lb == "" || strings.Contains(name, "{{") {
				return ""
			}
			group := "VServerGroups.VServerGroup.VServerGroupName=" + strings.ReplaceAll(name, ".", `\.`) + ".VServerGroupId"
			return fmt.Sprintf(findCLB, lb) + fmt.Sprintf(`- call: {action: DescribeVServerGroups, params: {LoadBalancerId: "{{handLB}}"}, save: {handGroup: %q}}
`, group) + `- call: {action: DescribeVServerGroupAttribute, params: {VServerGroupId: "{{handGroup}}"}, save: {handServer: BackendServers.BackendServer.0.ServerId, handPort: BackendServers.BackendServer.0.Port}}
- call: {action: RemoveVServerGroupBackendServers, params: {VServerGroupId: "{{handGroup}}", BackendServers: [{ServerId: "{{handServer}}", Port: "{{handPort}}"}]}}
`
		}},
}
