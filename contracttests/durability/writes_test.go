package durability_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/apiclient"
)

// What the default world has for load balancers and their servers.
const (
	vSwitchID  = "vsw-bp1clbemu000000000001"
	instanceID = "i-bp1clbemu0000000001"
)

const listenerPort = "80"

// The contents are, for a load balancer with one server group and one listener, of an
// access control list and of an EIP, as much as was made.
const (
	lb           = "lb"
	lbName       = "lb/name"
	lbReadOnly   = "lb/readonly"
	lbSpec       = "lb/spec"
	lbProtection = "lb/protection"
	lbTag        = "lb/tag/" // and the key
	group        = "lb/group"
	groupServer  = "lb/group/" // and the port
	listener     = "lb/listener"
	scheduler    = "lb/listener/scheduler"
	status       = "lb/listener/status"
	acl          = "acl"
	aclEntry     = "acl/" // and the block
	eip          = "eip"
)

// fresh returns a name that nothing had.
func (w *writer) fresh() string {
	w.made++
	return fmt.Sprintf("%s.%d", w.name, w.made)
}

func (w *writer) pick(values ...string) string { return values[w.chance.IntN(len(values))] }

// some returns the value of a fact that a call needs. That nothing has the value where there is no
// such fact makes the call one that must be refused.
func (e contents) some(name string) string {
	if value := e[name]; value != "" {
		return value
	}
	return "none"
}

// id returns the first word of a fact about a resource.
func (e contents) id(name string) string {
	id, _, _ := strings.Cut(e.some(name), " ")
	return id
}

// set returns the change that one fact gets a value.
func set(name, value string) func(contents, apiclient.Reply) contents {
	return func(e contents, _ apiclient.Reply) contents { return e.with(name, value) }
}

// created returns the change that creates a resource with the fields of its reply.
func created(name string, fields []string, more contents) func(contents, apiclient.Reply) contents {
	return func(e contents, reply apiclient.Reply) contents {
		told := make([]string, len(fields))
		for i, field := range fields {
			told[i] = reply.Text(field)
		}
		next := e.with(name, strings.Join(told, " "))
		if reply.Status != http.StatusOK {
			next = e.with(name, anything)
		}
		maps.Copy(next, more)
		return next
	}
}

// writes are the kinds of calls by their actions.
var writes = map[string]func(w *writer, e contents) call{
	"CreateLoadBalancer": func(w *writer, e contents) call {
		name := w.fresh()
		return call{
			params: map[string]string{"LoadBalancerName": name, "VSwitchId": vSwitchID, "LoadBalancerSpec": "slb.s1.small", "ClientToken": name},
			once:   lb,
			change: created(lb, []string{"LoadBalancerId", "Address"}, contents{lbName: name, lbReadOnly: "NonProtection", lbSpec: "slb.s1.small"}),
		}
	},
	"SetLoadBalancerName":                   ofLoadBalancer(lbName, "LoadBalancerName", (*writer).fresh),
	"SetLoadBalancerModificationProtection": ofLoadBalancer(lbReadOnly, "ModificationProtectionStatus", oneOf("NonProtection", "ConsoleProtection")),
	"SetLoadBalancerDeleteProtection":       protectLoadBalancer,
	"ModifyLoadBalancerInstanceSpec":        ofLoadBalancer(lbSpec, "LoadBalancerSpec", oneOf("slb.s1.small", "slb.s2.small", "slb.s3.large")),
	"DeleteLoadBalancer": func(_ *writer, e contents) call {
		return call{
			params: map[string]string{"LoadBalancerId": e.id(lb)},
			needs:  contents{lb: e.some(lb), lbProtection: ""},
			change: set(lb, ""),
		}
	},
	"TagResources": func(w *writer, e contents) call {
		key, value := w.pick("a", "b"), w.fresh()
		return call{
			params: map[string]string{"ResourceType": "instance", "ResourceId.1": e.id(lb), "Tag.1.Key": key, "Tag.1.Value": value},
			needs:  contents{lb: e.some(lb)},
			change: set(lbTag+key, value),
		}
	},
	"UntagResources": func(w *writer, e contents) call {
		key := w.pick("a", "b")
		return call{
			params: map[string]string{"ResourceType": "instance", "ResourceId.1": e.id(lb), "TagKey.1": key},
			needs:  contents{lb: e.some(lb)},
			change: set(lbTag+key, ""),
		}
	},
	"CreateVServerGroup": func(w *writer, e contents) call {
		return call{
			params: map[string]string{"LoadBalancerId": e.id(lb), "VServerGroupName": w.fresh()},
			needs:  contents{lb: e.some(lb)},
			once:   group,
			change: created(group, []string{"VServerGroupId"}, nil),
		}
	},
	"AddVServerGroupBackendServers": func(w *writer, e contents) call {
		port, weight := w.pick("80", "81"), w.pick("0", "50", "100")
		return call{
			params: map[string]string{"VServerGroupId": e.id(group), "BackendServers": server(port, weight)},
			needs:  contents{group: e.some(group)},
			change: func(e contents, _ apiclient.Reply) contents {
				if e[groupServer+port] != "" {
					return e // a member stays as it is
				}
				return e.with(groupServer+port, weight)
			},
		}
	},
	"RemoveVServerGroupBackendServers": func(w *writer, e contents) call {
		port := w.pick("80", "81")
		return call{
			params: map[string]string{"VServerGroupId": e.id(group), "BackendServers": server(port, "0")},
			needs:  contents{group: e.some(group)},
			change: set(groupServer+port, ""),
		}
	},
	"DeleteVServerGroup": func(_ *writer, e contents) call {
		return call{
			params: map[string]string{"VServerGroupId": e.id(group)},
			needs:  contents{group: e.some(group), listener: ""},
			change: set(group, ""),
		}
	},
	"CreateLoadBalancerTCPListener": func(_ *writer, e contents) call {
		return call{
			params: map[string]string{"LoadBalancerId": e.id(lb), "ListenerPort": listenerPort, "Bandwidth": "-1", "VServerGroupId": e.id(group)},
			needs:  contents{lb: e.some(lb), group: e.some(group), listener: ""},
			change: func(e contents, _ apiclient.Reply) contents {
				return e.with(listener, listenerPort).with(scheduler, "wrr").with(status, "stopped")
			},
		}
	},
	"SetLoadBalancerTCPListenerAttribute": func(w *writer, e contents) call {
		value := w.pick("wrr", "rr", "sch")
		c := ofListener(e, set(scheduler, value))
		c.params["Scheduler"] = value
		return c
	},
	"StartLoadBalancerListener":  func(_ *writer, e contents) call { return ofListener(e, set(status, "running")) },
	"StopLoadBalancerListener":   func(_ *writer, e contents) call { return ofListener(e, set(status, "stopped")) },
	"DeleteLoadBalancerListener": func(_ *writer, e contents) call { return ofListener(e, set(listener, "")) },
	"CreateAccessControlList": func(w *writer, e contents) call {
		return call{
			params: map[string]string{"AclName": w.fresh()},
			once:   acl,
			change: created(acl, []string{"AclId"}, nil),
		}
	},
	"AddAccessControlListEntry": func(w *writer, e contents) call {
		entry := w.pick("10.0.0.0/8", "10.1.0.0/16")
		return ofAccessControlList(e, entry, "", w.fresh())
	},
	"RemoveAccessControlListEntry": func(w *writer, e contents) call {
		entry := w.pick("10.0.0.0/8", "10.1.0.0/16")
		return ofAccessControlList(e, entry, anything, "")
	},
	"DeleteAccessControlList": func(_ *writer, e contents) call {
		return call{
			params: map[string]string{"AclId": e.id(acl)},
			needs:  contents{acl: e.some(acl)},
			change: set(acl, ""),
		}
	},
	"AllocateEipAddress": func(w *writer, e contents) call {
		return call{
			version: vpcVersion,
			params:  map[string]string{"Name": w.fresh()},
			once:    eip,
			change:  created(eip, []string{"AllocationId", "EipAddress"}, nil),
		}
	},
	"ReleaseEipAddress": func(_ *writer, e contents) call {
		return call{
			version: vpcVersion,
			params:  map[string]string{"AllocationId": e.id(eip)},
			needs:   contents{eip: e.some(eip)},
			change:  set(eip, ""),
		}
	},
}

func oneOf(values ...string) func(*writer) string {
	return func(w *writer) string { return w.pick(values...) }
}

func server(port, weight string) string {
	return fmt.Sprintf(`[{"ServerId":%q,"Port":%q,"Weight":%q}]`, instanceID, port, weight)
}

// ofLoadBalancer returns the kind of call that sets one attribute.
func ofLoadBalancer(fact, param string, value func(*writer) string) func(*writer, contents) call {
	return func(w *writer, e contents) call {
		value := value(w)
		return call{
			params: map[string]string{"LoadBalancerId": e.id(lb), param: value},
			needs:  contents{lb: e.some(lb)},
			change: set(fact, value),
		}
	}
}

// protectLoadBalancer mostly takes the protection away, so that there is something to
// delete.
func protectLoadBalancer(w *writer, e contents) call {
	c := ofLoadBalancer(lbProtection, "DeleteProtection", oneOf("on", "off", "off"))(w, e)
	if c.params["DeleteProtection"] == "off" {
		c.change = set(lbProtection, "")
	}
	return c
}

func ofListener(e contents, change func(contents, apiclient.Reply) contents) call {
	return call{
		params: map[string]string{"LoadBalancerId": e.id(lb), "ListenerPort": listenerPort},
		needs:  contents{lb: e.some(lb), listener: anything},
		change: change,
	}
}

// ofAccessControlList returns a call that gives an entry a comment, or removes the entry if that is
// "".
func ofAccessControlList(e contents, entry, had, comment string) call {
	return call{
		params: map[string]string{"AclId": e.id(acl), "AclEntrys": fmt.Sprintf(`[{"entry":%q,"comment":%q}]`, entry, comment)},
		needs:  contents{acl: e.some(acl), aclEntry + entry: had},
		change: set(aclEntry+entry, comment),
	}
}

// actions are the kinds of calls in a fixed order, so that a seed finds them
// again.
var actions = slices.Sorted(maps.Keys(writes))

// make makes a call of the kind.
func (w *writer) make(action string) call {
	c := writes[action](w, w.likely)
	c.action = action
	if c.version == "" {
		c.version = slbVersion
	}
	return c
}

// next chooses a call: mostly one that should succeed, now and then one that
// must be refused. Next to some changes of the world there may be none.
func (w *writer) next(beside *worldChange) (call, bool) {
	for range 100 {
		action := actions[w.chance.IntN(len(actions))]
		c := w.make(action)
		if !w.leaves(action) && w.likely[c.once] == "" && beside.spares(w, c) && (c.fits(w.likely) || w.chance.IntN(50) == 0) {
			return c, true
		}
	}
	return call{}, false
}

// leaves reports whether a writer leaves an action to others.
func (w *writer) leaves(action string) bool {
	return action == "CreateLoadBalancer" && !w.ownsLoadBalancer || action == "AllocateEipAddress" && w.ownsLoadBalancer
}
