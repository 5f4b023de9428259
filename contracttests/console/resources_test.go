package console

import (
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestResources proves that every kind of resource has a table that follows what calls
// create, change and delete, and that one is shown with all its fields.
func TestResources(t *testing.T) {
	b := open(t)
	b.visit("/resources")
	b.shows("#resources tbody tr", "250") // free addresses
	if kinds := value[int](b, "document.querySelector('#kind').options.length"); kinds < 15 {
		t.Errorf("%d kinds to choose from, want all", kinds)
	}
	b.balancer("other")
	inner := b.call(emulatortest.Slb, "CreateLoadBalancer", "LoadBalancerId", "VSwitchId", "vsw-bp1clbemu000000000001")
	b.shows("#resources tbody tr", "249")
	for kind, want := range map[string]string{
		"instance": node1, "eni": "eni-bp1clbemu000000001", "sg": "sg-bp1clbemu0000000001", "vpc": "192.168.0.0/16", "zone": "cn-hangzhou-h", "lb": inner,
	} {
		b.do("choose "+kind, choose("#kind", kind))
		b.shows("#resources tbody tr", want)
	}
	b.visit("/resources?kind=acl")
	b.shows("#none", "There are no access control lists.")
	acl := b.call(emulatortest.Slb, "CreateAccessControlList", "AclId", "AclName", "offices")
	b.shows("#resources tbody tr", "offices")
	b.call(emulatortest.Slb, "AddAccessControlListEntry", "RequestId", "AclId", acl, "AclEntrys", `[{"entry":"10.0.0.0/8","comment":"here"}]`)
	b.click("a.row")
	b.shows("#detail dd", "10.0.0.0/8")
	b.shows("#detail", "clbemu get acl "+acl)
	b.call(emulatortest.Slb, "DeleteAccessControlList", "RequestId", "AclId", acl)
	b.shows("#detail", "There is no acl "+acl)
	b.visit("/resources?kind=group")
	_, group := b.fast("fast")
	b.shows("#resources tbody tr", group)
	b.visit("/resources?kind=job&q=" + group)
	b.shows("#resources tbody tr", "AddServersToServerGroup")
	b.shows("#resources tbody tr .badge[data-mood=good]", "Succeeded")
	b.call(emulator.Version("Nlb"), "UpdateServerGroupAttribute", "RequestId", "ServerGroupId", group, "ServerGroupName", "renamed")
	b.shows("#resources tbody tr", "UpdateServerGroupAttribute")
	b.visit("/resources?kind=instance&q=node-2")
	b.shows("#count", "1 of 4")
	b.call(emulator.Version("Ecs"), "StopInstance", "RequestId", "InstanceId", node2, "ForceStop", "true")
	b.shows("#resources tbody tr", "Stopped")
}
