package durability_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

// subject is something that clients share, with what they did about it and saw.
type subject struct {
	name string
	// start is its first state: a text, as reads show it.
	start string
	// apply returns the state after a call. It reports false for a refusal.
	apply func(state string, do doing) (next string, ok bool)
	// next chooses a call that writes.
	next func(*rand.Rand) doing
	// call makes a call and returns the code of its refusal, or what it read.
	call func(client *apiclient.Client, do doing) (seen, error)

	mu      sync.Mutex
	history []porcupine.Operation
	lost    int
}

// doing is a call: an action, and what for. The zero one reads.
type doing struct{ action, value string }

// seen is the answer to a call: the code of a refusal, or what was read. Of a call
// that is lost there was none.
type seen struct {
	code, read string
	lost       bool
}

// model returns the subject for porcupine. Of a lost call it is unknown whether it was executed.
func (s *subject) model() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{s.start} },
		Step: func(state, input, output any) []any { return s.step(state.(string), input.(doing), output.(seen)) },
	}
	return model.ToModel()
}

// step returns the states that may follow, none when the answer can't be.
func (s *subject) step(state string, do doing, saw seen) []any {
	next, ok := state, true
	if do != (doing{}) {
		next, ok = s.apply(state, do)
	}
	switch {
	case saw.lost:
		return []any{state, next}
	case ok != (saw.code == ""), do == doing{} && saw.read != state:
		return nil
	}
	return []any{next}
}

// makeSubjects makes load balancers, whose names and tags are subjects, and a small
// quota.
func makeSubjects(t *testing.T, s *binary.Server) []*subject {
	t.Helper()
	limit := fmt.Sprintf("quota.slb_quota_acls_num=%d", aclQuota)
	if r := binary.Run(t, "world", "set", limit, "--server", s.Control); r.Code != 0 {
		t.Fatalf("world set = %+v", r)
	}
	subjects := []*subject{quota()}
	for i := range 3 {
		name := fmt.Sprintf("lb%d", i)
		reply, err := s.Client().Call(slbVersion, "CreateLoadBalancer", map[string]string{
			"LoadBalancerName": name, "VSwitchId": vSwitchID})
		if err != nil || reply.Status != http.StatusOK {
			t.Fatalf("CreateLoadBalancer = %v, %v", reply, err)
		}
		id := reply.Text("LoadBalancerId")
		subjects = append(subjects, nameOf(id, name), tagsOf(id))
	}
	return subjects
}

// ask makes a call; read finds in the answer what it is about.
func ask(client *apiclient.Client, action string, params map[string]string, read func(apiclient.Reply) string) (seen, error) {
	reply, err := client.Call(slbVersion, action, params)
	if err != nil || reply.Status != http.StatusOK {
		return seen{code: reply.Text("Code")}, err
	}
	return seen{read: read(reply)}, nil
}

func unread(apiclient.Reply) string { return "" }

// nameOf returns the subject of a load balancer's name: one value.
func nameOf(id, name string) *subject {
	return &subject{
		name: "name of " + id, start: name,
		apply: func(_ string, do doing) (string, bool) { return do.value, true },
		next: func(chance *rand.Rand) doing {
			return doing{"SetLoadBalancerName", fmt.Sprintf("n%d", chance.Uint32())}
		},
		call: func(client *apiclient.Client, do doing) (seen, error) {
			if do.action != "" {
				return ask(client, do.action, map[string]string{"LoadBalancerId": id, "LoadBalancerName": do.value}, unread)
			}
			return ask(client, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id},
				func(r apiclient.Reply) string { return r.Text("LoadBalancerName") })
		},
	}
}

// tagsOf returns the subject of a load balancer's tags: two values set together, deleted one by
// one, and read together.
func tagsOf(id string) *subject {
	return &subject{
		name: "tags of " + id,
		apply: func(state string, do doing) (string, bool) {
			tags, _ := url.ParseQuery(state) // it was encoded here
			if do.action == "UntagResources" {
				tags.Del(do.value)
				return tags.Encode(), true
			}
			return url.Values{"a": {do.value}, "b": {do.value}}.Encode(), true
		},
		next: func(chance *rand.Rand) doing {
			if chance.IntN(3) == 0 {
				return doing{"UntagResources", string("ab"[chance.IntN(2)])}
			}
			return doing{"TagResources", fmt.Sprintf("v%d", chance.Uint32())}
		},
		call: func(client *apiclient.Client, do doing) (seen, error) {
			params := map[string]string{"ResourceType": "instance", "ResourceId.1": id}
			switch do.action {
			case "TagResources":
				params["Tag.1.Key"], params["Tag.1.Value"], params["Tag.2.Key"], params["Tag.2.Value"] = "a", do.value, "b", do.value
				return ask(client, do.action, params, unread)
			case "UntagResources":
				params["TagKey.1"] = do.value
				return ask(client, do.action, params, unread)
			}
			return ask(client, "ListTagResources", params, func(r apiclient.Reply) string {
				tags := url.Values{}
				for _, tag := range rows(r.Body, "TagResources", "TagResource") {
					tags.Add(tag.text("TagKey"), tag.text("TagValue"))
				}
				return tags.Encode()
			})
		},
	}
}

// aclQuota is so small that clients are in each other's way.
const aclQuota = 4

// accessControlLists holds the seen access control lists: their ids by name, and the
// latest.
type accessControlLists struct {
	mu     sync.Mutex
	ids    map[string]string
	latest []string
}

func (l *accessControlLists) saw(name, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids[name] == "" {
		l.ids[name] = id
		l.latest = append(l.latest[max(0, len(l.latest)-2*aclQuota):], name)
	}
}

func (l *accessControlLists) id(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids[name]
}

// any returns the name of a list that may be there, or "" if none was seen.
func (l *accessControlLists) any(chance *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.latest) == 0 {
		return ""
	}
	return l.latest[chance.IntN(len(l.latest))]
}

// quota returns a subject whose value is the names of the access control lists, and which their
// quota limits.
func quota() *subject {
	known := &accessControlLists{ids: make(map[string]string)}
	return &subject{
		name: "access control lists",
		apply: func(state string, do doing) (string, bool) {
			names := strings.Fields(state)
			at := slices.Index(names, do.value)
			switch {
			case do.action == "DeleteAccessControlList" && at >= 0:
				return strings.Join(slices.Delete(names, at, at+1), " "), true
			case do.action == "CreateAccessControlList" && len(names) < aclQuota:
				names = append(names, do.value)
				slices.Sort(names)
				return strings.Join(names, " "), true
			}
			return state, false
		},
		next: func(chance *rand.Rand) doing {
			if name := known.any(chance); name != "" && chance.IntN(2) == 0 {
				return doing{"DeleteAccessControlList", name}
			}
			return doing{"CreateAccessControlList", fmt.Sprintf("a%d", chance.Uint32())}
		},
		call: func(client *apiclient.Client, do doing) (seen, error) {
			switch do.action {
			case "CreateAccessControlList":
				return ask(client, do.action, map[string]string{"AclName": do.value}, func(r apiclient.Reply) string {
					known.saw(do.value, r.Text("AclId"))
					return ""
				})
			case "DeleteAccessControlList":
				return ask(client, do.action, map[string]string{"AclId": known.id(do.value)}, unread)
			}
			return ask(client, "DescribeAccessControlLists", map[string]string{"PageSize": "50"}, func(r apiclient.Reply) string {
				var names []string
				for _, acl := range rows(r.Body, "Acls", "Acl") {
					names = append(names, acl.text("AclName"))
					known.saw(acl.text("AclName"), acl.text("AclId"))
				}
				slices.Sort(names)
				return strings.Join(names, " ")
			})
		},
	}
}
