package clb_test

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

// A pair has its parts and weights, serves a TCP listener, and
// can't be deleted before the listener lets go of it.
func TestMasterSlaveServerGroup(t *testing.T) {
	client, _ := newClient(t)
	made := client.Do("CreateMasterSlaveServerGroup", with(createPair, "MasterSlaveServerGroupName", "pair", "Tag.1.Key", "k"))
	id := made.Text("MasterSlaveServerGroupId")
	expect(t, made, "MasterSlaveBackendServers.MasterSlaveBackendServer.0.ServerType", "Master",
		"MasterSlaveBackendServers.MasterSlaveBackendServer.0.Weight", "60",
		"MasterSlaveBackendServers.MasterSlaveBackendServer.1.ServerId", instance2,
		"MasterSlaveBackendServers.MasterSlaveBackendServer.1.VpcId", vpc1)
	client.Do("CreateLoadBalancerTCPListener", params("LoadBalancerId", lbInternet, "ListenerPort", "1000", "Bandwidth", "-1", "MasterSlaveServerGroupId", id))
	listener := params("LoadBalancerId", lbInternet, "ListenerPort", "1000")
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", listener), "MasterSlaveServerGroupId", id, "VServerGroupId", "")
	expect(t, client.Do("DescribeHealthStatus", listener), "BackendServers.BackendServer.0.ServerId", instance1,
		"BackendServers.BackendServer.1.ServerId", instance2, "BackendServers.BackendServer.1.Port", "80")
	expect(t, client.Do("DescribeMasterSlaveServerGroupAttribute", params("MasterSlaveServerGroupId", id)),
		"MasterSlaveServerGroupName", "pair", "LoadBalancerId", lbInternet, "Tags.Tag.0.TagKey", "k", "CreateTime", "2026-01-02T03:04:05Z")
	listed := client.Do("DescribeMasterSlaveServerGroups", params("LoadBalancerId", lbInternet, "IncludeListener", "true"))
	expect(t, listed, "MasterSlaveServerGroups.MasterSlaveServerGroup.0.AssociatedObjects.Listeners.Listener.0.Port", "1000")
	for filter, want := range map[string]int{"pai": 1, "other": 0} {
		got := client.Do("DescribeMasterSlaveServerGroups", params("LoadBalancerId", lbInternet, "Description", filter))
		if n := got.Len("MasterSlaveServerGroups.MasterSlaveServerGroup"); n != want {
			t.Errorf("%d groups have %q in their name, want %d", n, filter, want)
		}
	}
	client.Do("TagResources", params("ResourceType", "masterslaveservergroup", "ResourceId.1", id, "Tag.1.Key", "more", "Tag.1.Value", "v"))
	client.Do("SetLoadBalancerTCPListenerAttribute", with(listener, "VServerGroup", "on", "VServerGroupId", "rsp-free"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", listener), "MasterSlaveServerGroupId", "", "VServerGroupId", "rsp-free")
	client.Do("DeleteMasterSlaveServerGroup", params("MasterSlaveServerGroupId", id))
}

// Set moves a listener from a vServer group to a pair, and not off it to nowhere.
func TestSwitchToMasterSlave(t *testing.T) {
	client, _ := newClient(t, plantPair)
	client.Do("SetLoadBalancerTCPListenerAttribute", with(setTCP, "MasterSlaveServerGroup", "on", "MasterSlaveServerGroupId", "rsp-pair"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", setTCP), "MasterSlaveServerGroupId", "rsp-pair", "VServerGroupId", "")
	wantCode(t, client, "SetLoadBalancerTCPListenerAttribute", with(setTCP, "MasterSlaveServerGroup", "off"), "OperationFailed.ServerGroupInUse")
}

// A released server leaves its part of the pair empty.
func TestMasterSlaveReleased(t *testing.T) {
	client, store := newClient(t, plantPair)
	ecsClient := gatewaytest.NewClient(t, store, ecs.Product(gateway.Deps{}))
	ecsClient.Do("DeleteInstance", params("InstanceId", instance1, "Force", "true"))
	got := client.Do("DescribeMasterSlaveServerGroupAttribute", params("MasterSlaveServerGroupId", "rsp-pair"))
	expect(t, got, "MasterSlaveBackendServers.MasterSlaveBackendServer.0.ServerId", instance2)
	if n := got.Len("MasterSlaveBackendServers.MasterSlaveBackendServer"); n != 1 {
		t.Errorf("the pair has %d servers after one was released, want 1", n)
	}
}

// An account can make a policy of its own, use it, list it with its listener, change
// and delete it.
func TestTLSCipherPolicy(t *testing.T) {
	client, _, clock := newTimedClient(t, realistic)
	id := client.Do("CreateTLSCipherPolicy", with(createPolicy, "TLSVersions.2", "TLSv1.3", "Ciphers.2", "AES128-SHA", "Ciphers.3", "TLS_AES_128_GCM_SHA256")).Text("TLSCipherPolicyId")
	client.Do("CreateLoadBalancerHTTPSListener", with(createHTTPS, "TLSCipherPolicy", id))
	listed := client.Do("ListTLSCipherPolicies", params("TLSCipherPolicyId", id, "IncludeListener", "true"))
	expect(t, listed, "TLSCipherPolicies.0.Ciphers.0", createPolicy["Ciphers.1"], "TLSCipherPolicies.0.Ciphers.1", "AES128-SHA", "TLSCipherPolicies.0.Name", "own", "TLSCipherPolicies.0.Status", "normal", "TLSCipherPolicies.0.TLSVersions.1", "TLSv1.3",
		"TLSCipherPolicies.0.RelateListeners.0.Port", "1000", "TotalCount", "1", "IsTruncated", "false")
	change := with(createPolicy, "TLSCipherPolicyId", id, "Name", "new")
	client.Do("SetTLSCipherPolicyAttribute", change)
	expect(t, client.Do("ListTLSCipherPolicies", params("Name", "ne")), "TLSCipherPolicies.0.Name", "new", "TLSCipherPolicies.0.Status", "configuring")
	clock.Advance(time.Second)
	expect(t, client.Do("ListTLSCipherPolicies", params()), "TLSCipherPolicies.0.Status", "normal")
	client.Do("DeleteLoadBalancerListener", params("LoadBalancerId", lbInternet, "ListenerPort", "1000"))
	client.Do("DeleteTLSCipherPolicy", params("TLSCipherPolicyId", id))
	if n := client.Do("ListTLSCipherPolicies", params()).Len("TLSCipherPolicies"); n != 0 {
		t.Errorf("%d policies are left, want none", n)
	}
}

// A long list of policies comes in pages.
func TestTLSCipherPolicyPages(t *testing.T) {
	client, _ := newClient(t)
	for range 3 {
		client.Do("CreateTLSCipherPolicy", createPolicy)
	}
	first := client.Do("ListTLSCipherPolicies", params("MaxItems", "2"))
	expect(t, first, "TotalCount", "3", "IsTruncated", "true")
	second := client.Do("ListTLSCipherPolicies", params("MaxItems", "2", "NextToken", first.Text("NextToken")))
	expect(t, second, "IsTruncated", "false", "NextToken", "")
	if a, b := first.Len("TLSCipherPolicies"), second.Len("TLSCipherPolicies"); a != 2 || b != 1 {
		t.Errorf("pages of %d and %d policies, want 2 and 1", a, b)
	}
}

// A white list keeps its items while it is off, and takes none twice.
func TestWhiteList(t *testing.T) {
	client, _ := newClient(t)
	expect(t, client.Do("DescribeListenerAccessControlAttribute", setHTTP), "AccessControlStatus", "close", "SourceItems", "")
	client.Do("AddListenerWhiteListItem", with(setHTTP, "SourceItems", "10.0.0.1, 10.1.0.0/16"))
	client.Do("AddListenerWhiteListItem", with(setHTTP, "SourceItems", "10.0.0.1,10.0.0.2"))
	client.Do("SetListenerAccessControlStatus", with(setHTTP, "AccessControlStatus", "open_white_list"))
	expect(t, client.Do("DescribeListenerAccessControlAttribute", setHTTP),
		"AccessControlStatus", "open_white_list", "SourceItems", "10.0.0.1,10.1.0.0/16,10.0.0.2")
	client.Do("RemoveListenerWhiteListItem", with(setHTTP, "SourceItems", "10.0.0.1,10.9.9.9"))
	client.Do("SetListenerAccessControlStatus", with(setHTTP, "AccessControlStatus", "close"))
	expect(t, client.Do("DescribeListenerAccessControlAttribute", setHTTP), "AccessControlStatus", "close", "SourceItems", "10.1.0.0/16,10.0.0.2")
}

// Describe shows where logs and metrics go.
func TestLogSettings(t *testing.T) {
	client, _ := newClient(t)
	client.Do("SetAccessLogsDownloadAttribute", accessLog(lbInternet))
	client.Do("SetAccessLogsDownloadAttribute", params("LoadBalancerId", lbShared, "LogsDownloadAttributes", `[{"LogProject":"p","LogStore":"s"}]`))
	expect(t, client.Do("DescribeAccessLogsDownloadAttribute", params()), "TotalCount", "2", "Count", "2", "PageSize", "10")
	expect(t, client.Do("DescribeAccessLogsDownloadAttribute", params("LoadBalancerId", lbInternet)), "TotalCount", "1",
		"LogsDownloadAttributes.LogsDownloadAttribute.0.LogProject", "my-project", "LogsDownloadAttributes.LogsDownloadAttribute.0.LogStore", "my-store",
		"LogsDownloadAttributes.LogsDownloadAttribute.0.LogType", "layer7", "LogsDownloadAttributes.LogsDownloadAttribute.0.Region", "cn-hangzhou")
	client.Do("DeleteAccessLogsDownloadAttribute", accessLog(lbInternet))
	expect(t, client.Do("DescribeAccessLogsDownloadAttribute", params()), "TotalCount", "1",
		"LogsDownloadAttributes.LogsDownloadAttribute.0.LoadBalancerId", lbShared)

	expect(t, client.Do("DescribeHighDefinationMonitor", params()), "LogProject", "", "LogStore", "", "Success", "true")
	client.Do("EnableHighDefinationMonitor", params("LogProject", "project", "LogStore", "store"))
	client.Do("ModifyHighDefinationMonitor", params("LogProject", "other-project", "LogStore", "store"))
	expect(t, client.Do("DescribeHighDefinationMonitor", params()), "LogProject", "other-project", "LogStore", "store")
	expect(t, client.Do("DescribeHighDefinationMonitor", params("RegionId", "cn-shanghai")), "LogProject", "")
}

// Load balancers, lists and both kinds of certificates move to another group.
func TestMoveResourceGroup(t *testing.T) {
	client, store := newClient(t, func(tx *state.Tx) error {
		kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: account, ID: "rg-other", Name: "other"})
		return nil
	})
	for id, kind := range map[string]string{lbInternet: "loadbalancer", "acl-free": "acl", "cert-free": "certificate", "ca-free": "certificate"} {
		client.Do("MoveResourceGroup", params("ResourceType", kind, "ResourceId", id, "NewResourceGroupId", "rg-other"))
	}
	v := store.View(owner)
	lb, _ := kinds.LoadBalancers.Find(v, lbInternet)
	acl, _ := kinds.AccessControlLists.Find(v, "acl-free")
	certificate, _ := kinds.ServerCertificates.Find(v, "cert-free")
	ca, _ := kinds.CACertificates.Find(v, "ca-free")
	for _, group := range []string{lb.ResourceGroupID, acl.ResourceGroupID, certificate.ResourceGroupID, ca.ResourceGroupID} {
		if group != "rg-other" {
			t.Errorf("a resource is in group %q, want rg-other", group)
		}
	}
}

// A client orders a subscription, which has an end.
func TestModifyLoadBalancerPayType(t *testing.T) {
	client, _ := newClient(t, inYear(kinds.Year2024))
	got := client.Do("ModifyLoadBalancerPayType", params("LoadBalancerId", lbInternet, "PayType", "PrePay", "PricingCycle", "year", "Duration", "2", "AutoPay", "true"))
	if got.Text("OrderId") == "0" {
		t.Error("OrderId = 0, want the number of an order")
	}
	expect(t, client.Do("DescribeLoadBalancerAttribute", params("LoadBalancerId", lbInternet)), "PayType", "PrePay", "EndTime", "2028-01-02T03:04:05Z")
}

// AddTags, RemoveTags and DescribeTags see the tags that TagResources sets.
func TestLegacyTags(t *testing.T) {
	client, _ := newClient(t)
	client.Do("AddTags", legacyTags("app", "web", "team", "a"))
	client.Do("TagResources", params("ResourceType", "instance", "ResourceId.1", lbShared, "Tag.1.Key", "app", "Tag.1.Value", "web", "Tag.2.Key", "team", "Tag.2.Value", "b"))
	expect(t, client.Do("DescribeTags", params()), "TotalCount", "3", "TagSets.TagSet.0.TagKey", "app", "TagSets.TagSet.0.TagValue", "web",
		"TagSets.TagSet.0.InstanceCount", "2", "TagSets.TagSet.2.TagValue", "b", "TagSets.TagSet.2.InstanceCount", "1")
	expect(t, client.Do("DescribeTags", params("DistinctKey", "true", "PageSize", "1", "PageNumber", "2")), "TotalCount", "2",
		"TagSets.TagSet.0.TagKey", "team", "TagSets.TagSet.0.InstanceCount", "2")
	expect(t, client.Do("DescribeTags", params("Tags", `[{"TagKey":"team","TagValue":"b"}]`)), "TotalCount", "2", "TagSets.TagSet.1.TagValue", "b")
	client.Do("RemoveTags", legacyTags("app", "other", "team", ""))
	expect(t, client.Do("DescribeTags", params("LoadBalancerId", lbInternet)), "TotalCount", "1", "TagSets.TagSet.0.TagKey", "app")
	expect(t, client.Do("ListTagResources", params("ResourceType", "instance", "ResourceId.1", lbInternet)), "TagResources.TagResource.0.TagKey", "app")
}
