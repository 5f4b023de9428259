package durability_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

// row is a resource as an answer shows it.
type row map[string]any

func (r row) text(name string) string { return fmt.Sprint(r[name]) }

// rows returns the elements of a list such as LoadBalancers>LoadBalancer.
func rows(in any, path ...string) []row {
	for _, name := range path {
		object, _ := in.(map[string]any)
		in = object[name]
	}
	list, _ := in.([]any)
	found := make([]row, len(list))
	for i, element := range list {
		found[i], _ = element.(map[string]any)
	}
	return found
}

// survey reads the whole cloud through its API, and finds the owner of each resource. A
// resource without an owner is an error.
type survey struct {
	client   *apiclient.Client
	contents map[string]contents // by the name of the writer
	err      error
}

// look surveys a server.
func look(s *binary.Server) (map[string]contents, error) {
	v := &survey{client: s.Client(), contents: make(map[string]contents)}
	v.loadBalancers()
	v.accessControlLists()
	v.eips()
	return v.contents, v.err
}

func (v *survey) call(version, action string, params map[string]string) map[string]any {
	if v.err != nil {
		return nil
	}
	reply, err := v.client.Call(version, action, params)
	if err == nil && reply.Status != http.StatusOK {
		err = fmt.Errorf("%s(%v) = %v", action, params, reply)
	}
	v.err = err
	return reply.Body
}

// list reads a list page by page.
func (v *survey) list(version, action string, path ...string) []row {
	var all []row
	for page := 1; ; page++ {
		body := v.call(version, action, map[string]string{"PageSize": "100", "PageNumber": strconv.Itoa(page)})
		found := rows(body, path...)
		all = append(all, found...)
		if total, _ := body["TotalCount"].(float64); len(found) == 0 || len(all) >= int(total) {
			return all
		}
	}
}

// owner returns the contents of the writer whose name a resource's begins with.
func (v *survey) owner(name string) contents {
	writer, _, ours := strings.Cut(name, ".")
	if !ours && v.err == nil {
		v.err = fmt.Errorf("there is %q, which nobody made", name)
	}
	if v.contents[writer] == nil {
		v.contents[writer] = contents{}
	}
	return v.contents[writer]
}

// note sets a fact that no other resource may have set.
func (v *survey) note(e contents, fact, value string) {
	if old, twice := e[fact]; twice && v.err == nil {
		v.err = fmt.Errorf("%s is there twice: %s and %s", fact, old, value)
	}
	e[fact] = value
}

func (v *survey) loadBalancers() {
	byID := make(map[string]contents)
	for _, r := range v.list(slbVersion, "DescribeLoadBalancers", "LoadBalancers", "LoadBalancer") {
		e := v.owner(r.text("LoadBalancerName"))
		byID[r.text("LoadBalancerId")] = e
		v.note(e, lb, r.text("LoadBalancerId")+" "+r.text("Address"))
		v.note(e, lbName, r.text("LoadBalancerName"))
		v.note(e, lbReadOnly, r.text("ModificationProtectionStatus"))
		v.note(e, lbSpec, r.text("LoadBalancerSpec"))
		if r.text("DeleteProtection") == "on" {
			v.note(e, lbProtection, "on")
		}
		for _, tag := range rows(r["Tags"], "Tag") {
			v.note(e, lbTag+tag.text("TagKey"), tag.text("TagValue"))
		}
		v.groups(e, r.text("LoadBalancerId"))
	}
	listeners := rows(v.call(slbVersion, "DescribeLoadBalancerListeners", map[string]string{"MaxResults": "100"}), "Listeners")
	for _, r := range listeners {
		e := byID[r.text("LoadBalancerId")]
		if e == nil || r.text("VServerGroupId") != e[group] {
			v.err = fmt.Errorf("listener %v has no load balancer, or another than its server group", r)
			return
		}
		v.note(e, listener, r.text("ListenerPort"))
		v.note(e, scheduler, r.text("Scheduler"))
		v.note(e, status, r.text("Status"))
	}
}

func (v *survey) groups(e contents, loadBalancerID string) {
	list := v.call(slbVersion, "DescribeVServerGroups", map[string]string{"LoadBalancerId": loadBalancerID})
	for _, r := range rows(list, "VServerGroups", "VServerGroup") {
		v.note(e, group, r.text("VServerGroupId"))
		attribute := v.call(slbVersion, "DescribeVServerGroupAttribute", map[string]string{"VServerGroupId": r.text("VServerGroupId")})
		for _, server := range rows(attribute, "BackendServers", "BackendServer") {
			v.note(e, groupServer+server.text("Port"), server.text("Weight"))
		}
	}
}

func (v *survey) accessControlLists() {
	for _, r := range v.list(slbVersion, "DescribeAccessControlLists", "Acls", "Acl") {
		e := v.owner(r.text("AclName"))
		v.note(e, acl, r.text("AclId"))
		attribute := v.call(slbVersion, "DescribeAccessControlListAttribute", map[string]string{"AclId": r.text("AclId")})
		for _, entry := range rows(attribute, "AclEntrys", "AclEntry") {
			v.note(e, aclEntry+entry.text("AclEntryIP"), entry.text("AclEntryComment"))
		}
	}
}

func (v *survey) eips() {
	for _, r := range v.list(vpcVersion, "DescribeEipAddresses", "EipAddresses", "EipAddress") {
		v.note(v.owner(r.text("Name")), eip, r.text("AllocationId")+" "+r.text("IpAddress"))
	}
}
