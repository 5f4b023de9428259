// Package upgradecheck finds what a new version of a client would change: by the
// changes in a journal, or by the report of a Cloud Controller Manager's dry run. It owns
// the words of the check that ACK runs before an upgrade, and the comparison with the
// stored values; it must not know where a journal, a state or a report comes from.
package upgradecheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/journal"
)

// Describe asks CLB, as it was before the client's calls, for the caller's account and
// region. It returns nil when the resource did not exist.
type Describe func(caller *journal.Entry, action string, params map[string]string) map[string]any

// LoadBalancer lists the changes that a client tried to make to one load balancer. ID
// is empty for changes to no existing load balancer, such as a creation.
type LoadBalancer struct {
	ID      string   `json:"id,omitempty"`
	Name    string   `json:"name,omitempty"`
	Changes []Change `json:"changes"`
}

// Change is one call that would have changed something.
type Change struct {
	// Change is ACK's name of the change, or the action where ACK has no words.
	Change string `json:"change"`
	Action string `json:"action"`
	// Port is a listener's.
	Port string `json:"port,omitempty"`
	// Sequence is the call's in the journal.
	Sequence uint64 `json:"sequence"`
	// Code is a refusal's.
	Code string `json:"code,omitempty"`
	// Differences are the parameters whose values are not the stored ones.
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is a parameter that is not as stored. Stored is empty when nothing is.
type Difference struct {
	Parameter string `json:"parameter"`
	Stored    string `json:"stored,omitempty"`
	Sent      string `json:"sent"`
}

// words are ACK's, by action.
var words = map[string]string{
	"CreateLoadBalancer":                   "create a new load balancer",
	"DeleteLoadBalancer":                   "delete the load balancer",
	"ModifyLoadBalancerInstanceSpec":       "modify the slb instance spec",
	"ModifyLoadBalancerInternetSpec":       "modify the slb internet spec",
	"ModifyLoadBalancerInstanceChargeType": "modify loadbalancer instance charge type",
	"AddBackendServers":                    "add backend servers",
	"RemoveBackendServers":                 "remove backend servers",
	"CreateVServerGroup":                   "create VServerGroup",
	"DeleteVServerGroup":                   "delete VServerGroup",
	"AddVServerGroupBackendServers":        "add VServerGroup backends",
	"RemoveVServerGroupBackendServers":     "remove VServerGroup backends",
	"SetVServerGroupAttribute":             "update VServerGroup",
	"ModifyVServerGroupBackendServers":     "replace VServerGroup backends",
	// The page has no words for these.
	"UpdateLoadBalancerAttribute":       "update the load balancer",
	"CreateServerGroup":                 "create server group",
	"DeleteServerGroup":                 "delete server group",
	"UpdateServerGroupAttribute":        "update server group",
	"AddServersToServerGroup":           "add servers to server group",
	"RemoveServersFromServerGroup":      "remove servers from server group",
	"UpdateServerGroupServersAttribute": "update servers of server group",
	"CreateRouteEntry":                  "create route",
	"CreateRouteEntries":                "create route",
	"DeleteRouteEntry":                  "delete route",
	"DeleteRouteEntries":                "delete route",
}

var (
	listenerAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(Create|Delete|Set|Update|Start|Stop)(?:LoadBalancer((?:TCP|UDP|HTTP|HTTPS)?))?Listener(?:Attribute)?$`)
	})
	listenerVerbs = map[string]string{
		"Create": "create listener", "Delete": "delete listener", "Set": "update listener", "Update": "update listener",
		"Start": "start listener", "Stop": "stop listener",
	}
)

func wordsOf(action string) string {
	if m := listenerAction().FindStringSubmatch(action); m != nil {
		return listenerVerbs[m[1]]
	}
	return cmp.Or(words[action], action)
}

// Of returns what one call would have changed.
func Of(call *journal.Entry, before Describe) Change {
	return Change{
		Change: wordsOf(call.Action), Action: call.Action, Port: call.Parameters.Get("ListenerPort"), Sequence: call.Sequence, Code: call.Code,
		Differences: differences(call, before),
	}
}

// Check finds the changes among calls of CLB, in their order: the calls whose action can
// make one, as changes reports, also when they were refused. A
// VServerGroup that was not there before belongs to the load balancer that
// groups names for it.
func Check(calls []*journal.Entry, changes func(action string) bool, before Describe, groups map[string]string) []LoadBalancer {
	var found []LoadBalancer
	at := make(map[string]int)
	for _, call := range calls {
		if call.Kind != journal.KindCall || !changes(call.Action) {
			continue
		}
		id := loadBalancerOf(call, before, groups)
		n, known := at[id]
		if !known {
			n = len(found)
			at[id] = n
			found = append(found, LoadBalancer{ID: id, Name: nameOf(call, id, before)})
		}
		found[n].Changes = append(found[n].Changes, Of(call, before))
	}
	return found
}

// loadBalancerOf returns the load balancer of a call, or "" if the call is about none.
func loadBalancerOf(call *journal.Entry, before Describe, groups map[string]string) string {
	if id := call.Parameters.Get("LoadBalancerId"); id != "" {
		return id
	}
	if id := call.Parameters.Get("VServerGroupId"); id != "" {
		group := before(call, "DescribeVServerGroupAttribute", map[string]string{"VServerGroupId": id})
		return cmp.Or(text(group["LoadBalancerId"]), groups[id])
	}
	if id := call.Parameters.Get("ResourceId.1"); strings.HasPrefix(id, "lb-") {
		return id
	}
	return ""
}

func nameOf(call *journal.Entry, id string, before Describe) string {
	if id == "" {
		return ""
	}
	return text(before(call, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})["LoadBalancerName"])
}

// addressing lists the parameters that name the subject of a call rather than its new values.
var addressing = []string{"RegionId", "LoadBalancerId", "ListenerPort", "ListenerProtocol", "ClientToken", "ResourceType", "ResourceId.1", "ListenerId", "ServerGroupId", "OwnerId", "ResourceOwnerAccount", "ResourceOwnerId"}

// differences returns the parameters whose values differ from what is stored of the resource that
// they change.
func differences(call *journal.Entry, before Describe) (found []Difference) {
	stored := storedOf(call, before)
	for _, p := range call.Parameters {
		name, was, sent := p.Name, text(stored[p.Name]), p.Value
		about := slices.Contains(addressing, name) || name == "VServerGroupId" && !listenerAction().MatchString(call.Action)
		if !about && !strings.EqualFold(was, sent) {
			found = append(found, Difference{name, was, sent})
		}
	}
	return found
}

// storedOf returns what the cloud stores of the call's resource, or nil if the call creates it.
func storedOf(call *journal.Entry, before Describe) map[string]any {
	only := func(action string, names ...string) map[string]any {
		params := make(map[string]string, len(names))
		for _, name := range names {
			params[name] = call.Parameters.Get(name)
		}
		return before(call, action, params)
	}
	m := listenerAction().FindStringSubmatch(call.Action)
	switch {
	case m != nil && m[1] == "Set":
		listener := only("DescribeLoadBalancer"+m[2]+"ListenerAttribute", "LoadBalancerId", "ListenerPort")
		// The answer has the group that the switch of a change turns on and off.
		if group, ok := listener["VServerGroupId"]; ok && text(group) != "" {
			listener["VServerGroup"] = "on"
		} else if listener != nil {
			listener["VServerGroup"] = "off"
		}
		return listener
	case m != nil && m[1] != "Update" || strings.HasPrefix(call.Action, "Create"):
		return nil
	case call.Product == "Nlb" && call.Parameters.Get("ListenerId") != "":
		return flat(only("GetListenerAttribute", "ListenerId"))
	case call.Product == "Nlb" && call.Parameters.Get("ServerGroupId") != "":
		groups, _ := before(call, "ListServerGroups", map[string]string{"ServerGroupIds.1": call.Parameters.Get("ServerGroupId")})["ServerGroups"].([]any)
		if len(groups) != 1 {
			return nil
		}
		group, _ := groups[0].(map[string]any)
		return flat(group)
	case call.Product == "Nlb" && call.Parameters.Get("LoadBalancerId") != "":
		return flat(only("GetLoadBalancerAttribute", "LoadBalancerId"))
	case call.Product != "" && call.Product != "Slb":
		return nil
	case call.Parameters.Get("VServerGroupId") != "":
		return only("DescribeVServerGroupAttribute", "VServerGroupId")
	case call.Parameters.Get("LoadBalancerId") != "":
		return only("DescribeLoadBalancerAttribute", "LoadBalancerId")
	default:
		return nil
	}
}

// flat returns an answer with the names that parameters have: Check.Enabled, Ids.1.
func flat(answer map[string]any) map[string]any {
	found := make(map[string]any)
	var put func(name string, value any)
	put = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for part, value := range v {
				put(strings.TrimPrefix(name+"."+part, "."), value)
			}
		case []any:
			for i, value := range v {
				put(fmt.Sprintf("%s.%d", name, i+1), value)
			}
		default:
			found[name] = value
		}
	}
	put("", answer)
	return found
}

// text returns a value of an answer as a parameter spells it, or "" if it is absent.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		spelt, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(spelt)
	}
}
