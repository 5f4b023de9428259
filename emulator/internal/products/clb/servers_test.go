package clb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// join makes one JSON list of several.
func join(lists ...string) string { return strings.ReplaceAll(strings.Join(lists, ""), "][", ",") }

func group(id string) gatewaytest.Params { return params("VServerGroupId", id) }

// members returns the servers of a group as id:port:weight.
func members(t *testing.T, client *gatewaytest.Client, id string) []string {
	t.Helper()
	got := client.Do("DescribeVServerGroupAttribute", group(id))
	var list []string
	for i, server := range texts(got, "BackendServers.BackendServer", "ServerId") {
		list = append(list, server+":"+texts(got, "BackendServers.BackendServer", "Port")[i]+":"+texts(got, "BackendServers.BackendServer", "Weight")[i])
	}
	return list
}

// The JSON text may be as the documentation writes it and as a CCM does: in
// either case, with numbers or strings, with keys that mean nothing here.
func TestBackendServersSpelling(t *testing.T) {
	for name, text := range map[string]string{
		"Documented": `[{"ServerId":"` + instance1 + `","Port":"8000","Weight":"50","Type":"ecs","Description":"d"}]`,
		"CCM": `[{"IsUserManaged":false,"NodeName":null,"description":"d","serverId":"` + instance1 + `","serverIp":"","weight":50,` +
			`"port":8000,"type":"ecs","TargetRef":null,"Invalid":false}]`,
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := newClient(t)
			made := client.Do("AddVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", text))
			expect(t, made, "BackendServers.BackendServer.0.ServerId", instance1, "BackendServers.BackendServer.0.Port", "8000",
				"BackendServers.BackendServer.0.Weight", "50", "BackendServers.BackendServer.0.Description", "d",
				"BackendServers.BackendServer.0.ServerIp", "192.168.0.11", "BackendServers.BackendServer.0.VpcId", vpc1)
		})
	}
}

// Clients add, reweight, exchange and remove members by server and port.
func TestVServerGroupMembers(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateVServerGroup", params("LoadBalancerId", lbInternet, "VServerGroupName", "k8s/80/web/default/c1", "Tag.1.Key", "k",
		"BackendServers", join(server(instance1, ""), server(instance2, `,"Weight":0`))))
	id := made.Text("VServerGroupId")
	if !strings.HasPrefix(id, "rsp-bp1") {
		t.Errorf("VServerGroupId = %s, want rsp-bp1…", id)
	}
	step := func(action string, want []string, pairs ...string) {
		t.Helper()
		client.Do(action, with(group(id), pairs...))
		if got := members(t, client, id); !slices.Equal(got, want) {
			t.Errorf("after %s the members are %q, want %q", action, got, want)
		}
	}
	step("SetVServerGroupAttribute", []string{instance1 + ":8000:7", instance2 + ":8000:0"},
		"BackendServers", join(server(instance1, `,"Weight":7`), server("i-none", "")))
	step("AddVServerGroupBackendServers", []string{instance1 + ":8000:7", instance2 + ":8000:0"}, "BackendServers", server(instance1, ""))
	step("ModifyVServerGroupBackendServers", []string{instance2 + ":8000:0", instance1 + ":9000:100"},
		"OldBackendServers", server(instance1, ""), "NewBackendServers", `[{"ServerId":"`+instance1+`","Port":9000}]`)
	step("RemoveVServerGroupBackendServers", []string{instance1 + ":9000:100"}, "BackendServers", join(server(instance2, ""), server(instance1, "")))
	step("SetVServerGroupAttribute", []string{instance1 + ":9000:100"}, "VServerGroupName", "new name")
	got := client.Do("DescribeVServerGroupAttribute", group(id))
	expect(t, got, "VServerGroupName", "new name", "LoadBalancerId", lbInternet, "Tags.Tag.0.TagKey", "k", "CreateTime", "2026-01-02T03:04:05Z")
	client.Do("DeleteVServerGroup", group(id))
}

// The list of groups filters and, if asked, shows who uses a group.
func TestDescribeVServerGroups(t *testing.T) {
	client, _ := newClient(t)
	got := client.Do("DescribeVServerGroups", params("LoadBalancerId", lbInternet, "IncludeListener", "true", "Description", "used"))
	expect(t, got, "VServerGroups.VServerGroup.0.VServerGroupId", "rsp-used", "VServerGroups.VServerGroup.0.ServerCount", "1",
		"VServerGroups.VServerGroup.0.AssociatedObjects.Listeners.Listener.0.Port", "80",
		"VServerGroups.VServerGroup.0.AssociatedObjects.Listeners.Listener.0.Protocol", "tcp")
	if all := client.Do("DescribeVServerGroups", params("LoadBalancerId", lbInternet)); all.Len("VServerGroups.VServerGroup") != 3 {
		t.Errorf("groups = %v, want three", all.Body)
	}
}

// An ENI backend is one of its interface's addresses, the first unless said.
func TestENIBackend(t *testing.T) {
	client, _ := newClient(t)
	client.Do("AddVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", server(eni1, `,"Type":"eni"`)))
	got := client.Do("DescribeVServerGroupAttribute", group("rsp-free"))
	expect(t, got, "BackendServers.BackendServer.0.ServerIp", "192.168.0.11", "BackendServers.BackendServer.0.Type", "eni")
	client.Do("RemoveVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", server(eni1, `,"Type":"eni","ServerIp":"192.168.0.99"`)))
	if n := len(members(t, client, "rsp-free")); n != 1 {
		t.Errorf("removing another address leaves %d members, want 1", n)
	}
	client.Do("RemoveVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", server(eni1, `,"Type":"eni","ServerIp":"192.168.0.11"`)))
	if n := len(members(t, client, "rsp-free")); n != 0 {
		t.Errorf("removing the address leaves %d members, want none", n)
	}
}

// The default group has servers without ports; naming one twice adds it once.
func TestDefaultGroup(t *testing.T) {
	client, _ := newClient(t)
	lb := params("LoadBalancerId", lbInternet)
	added := client.Do("AddBackendServers", with(lb, "BackendServers", join(server(instance1, ""), server(instance1, ""), server(instance2, `,"Weight":5`))))
	if n := added.Len("BackendServers.BackendServer"); n != 2 {
		t.Errorf("added %d servers, want 2", n)
	}
	if ip := added.Text("BackendServers.BackendServer.0.ServerIp"); ip != "" {
		t.Errorf("an instance shows the address %s, want none: CLB-0204", ip)
	}
	expect(t, client.Do("SetBackendServers", with(lb, "BackendServers", server(instance1, `,"Weight":1`))), "BackendServers.BackendServer.0.Weight", "1")
	expect(t, client.Do("DescribeLoadBalancerAttribute", lb), "BackendServers.BackendServer.1.ServerId", instance2, "BackendServers.BackendServer.1.Weight", "5",
		"ListenerPorts.ListenerPort.0", "80", "ListenerPortsAndProtocal.ListenerPortAndProtocal.0.ListenerProtocal", "tcp",
		"ListenerPortsAndProtocol.ListenerPortAndProtocol.4.ForwardPort", "443")
	left := client.Do("RemoveBackendServers", with(lb, "BackendServers", server(instance1, "")))
	if n := left.Len("BackendServers.BackendServer"); n != 1 {
		t.Errorf("%d servers are left, want 1", n)
	}
}

// Health follows the server and the listener, and is unknown without a check.
func TestDescribeHealthStatus(t *testing.T) {
	client, store := newClient(t)
	client.Do("SetLoadBalancerTCPListenerAttribute", with(setTCP, "HealthCheckSwitch", "on"))
	query := params("LoadBalancerId", lbInternet, "ListenerPort", "80", "ListenerProtocol", "tcp")
	status := func() string {
		t.Helper()
		return client.Do("DescribeHealthStatus", query).Text("BackendServers.BackendServer.0.ServerHealthStatus")
	}
	if got := status(); got != "unavailable" {
		t.Errorf("behind a stopped listener = %s, want unavailable", got)
	}
	client.Do("StartLoadBalancerListener", query)
	if got := status(); got != "normal" {
		t.Errorf("a running server = %s, want normal", got)
	}
	if err := store.Update(owner, stopInstance1); err != nil {
		t.Fatal(err)
	}
	if got := status(); got != "abnormal" {
		t.Errorf("a stopped server = %s, want abnormal", got)
	}
	client.Do("SetLoadBalancerTCPListenerAttribute", with(setTCP, "HealthCheckSwitch", "off"))
	if got := status(); got != "unavailable" {
		t.Errorf("without a check = %s, want unavailable", got)
	}
}

// A staged health wins over the state where a check runs, for all groups of a
// server, or for one group, or one port of it.
func TestStagedHealth(t *testing.T) {
	client, store := newClient(t)
	client.Do("SetLoadBalancerTCPListenerAttribute", with(setTCP, "HealthCheckSwitch", "on"))
	query := params("LoadBalancerId", lbInternet, "ListenerPort", "80", "ListenerProtocol", "tcp")
	client.Do("StartLoadBalancerListener", query)
	answer := client.Do("DescribeHealthStatus", query)
	port := answer.Text("BackendServers.BackendServer.0.Port")
	stage := func(name, value string) {
		t.Helper()
		if err := store.Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: "server." + name + ".health", Value: value}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(status string) {
		t.Helper()
		if got := client.Do("DescribeHealthStatus", query).Text("BackendServers.BackendServer.0.ServerHealthStatus"); got != status {
			t.Errorf("the server is %s, want %s", got, status)
		}
	}
	var group string
	v := store.View(owner)
	f, _ := state.FindShown[topology.Frontend](v, kinds.ListenerID(lbInternet, kinds.TCP, 80))
	group = f.GroupID
	want("normal")
	stage(instance1, "abnormal")
	want("abnormal")
	stage(instance1+"/"+group, "unavailable")
	want("unavailable")
	stage(instance1+"/"+group+":"+port, "normal")
	want("normal")
	stage(instance1+"/"+group+":"+port, "default")
	stage(instance1+"/"+group, "default")
	want("abnormal")
	client.Do("SetLoadBalancerTCPListenerAttribute", with(setTCP, "HealthCheckSwitch", "off"))
	want("unavailable")
	for name, says := range map[string]string{
		"i-none": "there is no server", instance1 + "/rsp-none": "there is no server group", instance1 + "/": "want server.<id>.health",
		instance1 + "/" + group + ":0": "is not a port", instance1 + "/" + group + ":http": "is not a port",
	} {
		err := store.Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: "server." + name + ".health", Value: "abnormal"}})
		})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("server.%s.health=abnormal: %v, want %q", name, err, says)
		}
	}
}

// At the quota of a load balancer, adding before removing fails and removing
// before adding succeeds; an exchange in one call does too.
func TestBackendQuota(t *testing.T) {
	client, _ := newClient(t, fillBackends(200))
	added := server(instance2, "")
	full := []string{"BackendServers", `[{"ServerId":"` + instance1 + `","Port":10000}]`}
	if got := client.Call("AddVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", added)); got.Code != "InstanceBackendServerNumberOverLimit" {
		t.Errorf("adding the 201st = %s, want InstanceBackendServerNumberOverLimit", got.Code)
	}
	client.Do("ModifyVServerGroupBackendServers", with(group("rsp-full"), "OldBackendServers", full[1], "NewBackendServers", added))
	client.Do("RemoveVServerGroupBackendServers", with(group("rsp-full"), "BackendServers", added))
	client.Do("AddVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", added))
	if got := client.Call("AddBackendServers", params("LoadBalancerId", lbInternet, "BackendServers", server(instance2, ""))); got.Code != "InstanceBackendServerNumberOverLimit" {
		t.Errorf("adding to the default group = %s, want InstanceBackendServerNumberOverLimit", got.Code)
	}
}

// Entries come and go by what they mean, not by their spelling; the list
// pages only when asked to.
func TestAccessControlList(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateAccessControlList", params("AclName", "office", "Tag.1.Key", "k"))
	acl := params("AclId", made.Text("AclId"))
	client.Do("AddAccessControlListEntry", with(acl, "AclEntrys", entries(30)))
	client.Do("RemoveAccessControlListEntry", with(acl, "AclEntrys", `[{"entry":"1.2.0.7/24"},{"entry":"9.9.9.9"}]`))
	client.Do("SetAccessControlListAttribute", with(acl, "AclName", "home office"))
	got := client.Do("DescribeAccessControlListAttribute", acl)
	expect(t, got, "AclName", "home office", "TotalAclEntry", "29", "AclEntrys.AclEntry.0.AclEntryIP", "1.2.1.0/24", "AddressIPVersion", "ipv4")
	if n := got.Len("AclEntrys.AclEntry"); n != 29 {
		t.Errorf("entries = %d, want all 29", n)
	}
	if n := client.Do("DescribeAccessControlListAttribute", with(acl, "Page", "3")).Len("AclEntrys.AclEntry"); n != 9 {
		t.Errorf("entries of the third page = %d, want 9", n)
	}
	expect(t, client.Do("DescribeAccessControlListAttribute", params("AclId", "acl-used")), "RelatedListeners.RelatedListener.0.ListenerPort", "80")
	expect(t, client.Do("DescribeAccessControlLists", params("AclName", "offic")), "TotalCount", "1", "Acls.Acl.0.Tags.Tag.0.TagKey", "k")
	expect(t, client.Do("DescribeAccessControlLists", params("AclName", "offices")), "TotalCount", "0")
	client.Do("DeleteAccessControlList", acl)
}

// A certificate shows what is in it; an unknown id is an empty list; times are
// in milliseconds.
func TestCertificates(t *testing.T) {
	client, _ := newClient(t)
	own := newPair(t)
	made := client.Do("UploadServerCertificate", params("ServerCertificate", own.certificate, "PrivateKey", own.key, "ServerCertificateName", "www", "Tag.1.Key", "k"))
	id := made.Text("ServerCertificateId")
	expect(t, made, "CommonName", "www.example.com", "ExpireTimeStamp", "1798859045000", "IsAliCloudCertificate", "0")
	if !strings.HasPrefix(id, account+"_") {
		t.Errorf("ServerCertificateId = %s, want %s_…", id, account)
	}
	expect(t, client.Do("DescribeServerCertificates", params("ServerCertificateId", id)), "ServerCertificates.ServerCertificate.0.EncryptionAlgorithm", "ECC",
		"ServerCertificates.ServerCertificate.0.ServerCertificateName", "www", "ServerCertificates.ServerCertificate.0.Tags.Tag.0.TagKey", "k")
	if n := client.Do("DescribeServerCertificates", params("ServerCertificateId", "none")).Len("ServerCertificates.ServerCertificate"); n != 0 {
		t.Errorf("an unknown id gives %d certificates, want none", n)
	}
	client.Do("SetServerCertificateName", params("ServerCertificateId", id, "ServerCertificateName", "renamed"))
	expect(t, client.Do("DescribeServerCertificates", params("ServerCertificateId", id)), "ServerCertificates.ServerCertificate.0.ServerCertificateName", "renamed")
	client.Do("DeleteServerCertificate", params("ServerCertificateId", id))

	ca := client.Do("UploadCACertificate", params("CACertificate", own.certificate, "CACertificateName", "root", "Tag.1.Key", "k"))
	expect(t, client.Do("DescribeCACertificates", params("CACertificateId", ca.Text("CACertificateId"), "Tag.1.Key", "k")),
		"CACertificates.CACertificate.0.CACertificateName", "root", "CACertificates.CACertificate.0.Fingerprint", ca.Text("Fingerprint"))
	client.Do("SetCACertificateName", params("CACertificateId", ca.Text("CACertificateId"), "CACertificateName", "renamed"))
	expect(t, client.Do("DescribeCACertificates", params("CACertificateId", ca.Text("CACertificateId"))),
		"CACertificates.CACertificate.0.CACertificateName", "renamed")
	client.Do("DeleteCACertificate", params("CACertificateId", ca.Text("CACertificateId")))
}

// Tags are set over, listed by resource and by tag, paged, and taken off.
func TestTags(t *testing.T) {
	client, _ := newClient(t)
	client.Do("TagResources", with(tagging, "ResourceId.2", lbShared))
	client.Do("TagResources", with(tagging, "Tag.1.Value", "v2", "Tag.2.Key", "other"))
	got := client.Do("ListTagResources", params("ResourceType", "instance", "ResourceId.1", lbInternet))
	expect(t, got, "TagResources.TagResource.0.TagKey", "k", "TagResources.TagResource.0.TagValue", "v2", "TagResources.TagResource.0.ResourceType", "instance",
		"TagResources.TagResource.0.ResourceId", lbInternet, "TagResources.TagResource.1.TagKey", "other", "NextToken", "")
	byTag := client.Do("ListTagResources", params("ResourceType", "instance", "Tag.1.Key", "k", "Tag.1.Value", "v"))
	if ids := texts(byTag, "TagResources.TagResource", "ResourceId"); !slices.Equal(ids, []string{lbShared}) {
		t.Errorf("resources with k=v = %q, want %s", ids, lbShared)
	}
	client.Do("UntagResources", params("ResourceType", "instance", "ResourceId.1", lbInternet, "TagKey.1", "other", "TagKey.2", "none"))
	client.Do("UntagResources", params("ResourceType", "instance", "ResourceId.1", lbShared))
	left := client.Do("ListTagResources", params("ResourceType", "instance", "ResourceId.1", lbInternet, "ResourceId.2", lbShared))
	if keys := texts(left, "TagResources.TagResource", "TagKey"); !slices.Equal(keys, []string{"k"}) {
		t.Errorf("tags left = %q, want k", keys)
	}
}

// More tags than a page come by token, each once.
func TestListTagResourcesPages(t *testing.T) {
	client, _ := newClient(t)
	for _, id := range []string{lbInternet, lbIntranet, lbShared} {
		client.Do("TagResources", with(manyTags(20), "ResourceType", "instance", "ResourceId.1", id))
	}
	query := params("ResourceType", "instance", "ResourceId.1", lbInternet, "ResourceId.2", lbIntranet, "ResourceId.3", lbShared)
	first := client.Do("ListTagResources", query)
	second := client.Do("ListTagResources", with(query, "NextToken", first.Text("NextToken")))
	if a, b := first.Len("TagResources.TagResource"), second.Len("TagResources.TagResource"); a != 50 || b != 10 {
		t.Errorf("pages of %d and %d tags, want 50 and 10", a, b)
	}
	expect(t, second, "NextToken", "")
}
