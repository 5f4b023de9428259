package nlb_test

import (
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// TestLoadBalancerAttributes proves that reads return every change, and that
// what is not named stays.
func TestLoadBalancerAttributes(t *testing.T) {
	c, _, _ := newClient(t)
	of := params("LoadBalancerId", c.Do("CreateLoadBalancer", create).Text("LoadbalancerId"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "true", "Cps", "")
	c.Do("UpdateLoadBalancerAttribute", with(of, "Cps", "1000", "CrossZoneEnabled", "false"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "false", "Cps", "1000")
	c.Do("UpdateLoadBalancerAttribute", with(of, "LoadBalancerName", "renamed"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "false", "Cps", "1000", "LoadBalancerName", "renamed")
}

// TestALPNOff proves that turning ALPN off takes its policy away.
func TestALPNOff(t *testing.T) {
	c, _, _ := newClient(t)
	id := c.Do("CreateListener", with(listenTLS, "AlpnEnabled", "true", "AlpnPolicy", "HTTP2Optional")).Text("ListenerId")
	of := params("ListenerId", id)
	expect(t, c, "GetListenerAttribute", of, "AlpnEnabled", "true", "AlpnPolicy", "HTTP2Optional")
	c.Do("UpdateListenerAttribute", with(of, "AlpnEnabled", "false"))
	expect(t, c, "GetListenerAttribute", of, "AlpnEnabled", "false", "AlpnPolicy", "")
}

// TestZeros proves that a 0 shows as 0, and that a load balancer of IPv4 has a
// type of IPv6 addresses: clients read them without asking.
func TestZeros(t *testing.T) {
	c, _, _ := newClient(t)
	id := c.Do("CreateListener", with(listen, "Mss", "0", "Cps", "0")).Text("ListenerId")
	expect(t, c, "GetListenerAttribute", params("ListenerId", id), "Mss", "0", "Cps", "0")
	expect(t, c, "ListListeners", params("ListenerIds.1", id), "Listeners.0.Mss", "0", "Listeners.0.Cps", "0")
	lb := c.Do("CreateLoadBalancer", create).Text("LoadbalancerId")
	for _, of := range []string{lb, lb1} { // lb1 has none in its row, as load balancers of older states
		expect(t, c, "GetLoadBalancerAttribute", params("LoadBalancerId", of), "Ipv6AddressType", "Intranet")
		expect(t, c, "ListLoadBalancers", params("LoadBalancerIds.1", of, "Ipv6AddressType", "Intranet"), "LoadBalancers.0.Ipv6AddressType", "Intranet")
		expect(t, c, "ListLoadBalancers", params("LoadBalancerIds.1", of, "Ipv6AddressType", "Internet"), "TotalCount", "0")
	}
}

// TestDrainTimeout proves that a group which is to drain has a timeout: the one given,
// the one it had, or the default.
func TestDrainTimeout(t *testing.T) {
	c, _, _ := newClient(t)
	of := params("ServerGroupId", c.Do("CreateServerGroup", group).Text("ServerGroupId"))
	listed := params("ServerGroupIds.1", of["ServerGroupId"])
	for _, change := range []struct{ enabled, timeout, want string }{
		{"false", "", "0"}, {"true", "", "10"}, {"true", "60", "60"}, {"false", "", "60"}, {"true", "", "60"}, {"true", "0", "0"},
	} {
		c.Do("UpdateServerGroupAttribute", with(of, "ConnectionDrainEnabled", change.enabled, "ConnectionDrainTimeout", change.timeout))
		expect(t, c, "ListServerGroups", listed, "ServerGroups.0.ConnectionDrainEnabled", change.enabled, "ServerGroups.0.ConnectionDrainTimeout", change.want)
	}
}

// TestHealthCheckTimeout proves that a timeout above the interval is refused of checks
// by UDP alone, whatever the protocol of the group.
func TestHealthCheckTimeout(t *testing.T) {
	c, _, _ := newClient(t)
	for _, check := range []struct{ protocol, kind, timeout, code string }{
		{"UDP", "TCP", "12", ""}, {"UDP", "HTTP", "12", ""}, {"TCPSSL", "TCP", "12", ""}, {"TCPSSL", "HTTP", "12", ""}, {"TCP", "TCP", "12", ""},
		{"UDP", "UDP", "5", ""}, {"TCPSSL", "UDP", "5", ""}, {"TCP_UDP", "UDP", "5", ""},
		{"UDP", "UDP", "12", "IllegalParam"}, {"TCPSSL", "UDP", "12", "IllegalParam"}, {"TCP_UDP", "UDP", "12", "IllegalParam"},
	} {
		expectRefusal(t, c, "CreateServerGroup", with(group, "Protocol", check.protocol, "HealthCheckConfig.HealthCheckType", check.kind,
			"HealthCheckConfig.HealthCheckInterval", "5", "HealthCheckConfig.HealthCheckConnectTimeout", check.timeout), check.code)
	}
}

// TestRegionOfResource proves that a call which names a resource and no region is about
// the region that the resource is in.
func TestRegionOfResource(t *testing.T) {
	c, _, _ := newClient(t, func(tx *state.Tx) error {
		for id, account := range map[string]string{"vpc-far": account, "vpc-foreign": "1"} {
			owner := state.Owner{AccountID: account, RegionID: "cn-shanghai"}
			kinds.VPCs.Put(tx.In(owner), &kinds.VPC{Owner: owner, ID: id, CIDRBlock: "10.0.0.0/8"})
		}
		return nil
	})
	anywhere := func(pairs ...string) gatewaytest.Params { return with(params(pairs...), "RegionId", "") }
	far := c.Do("CreateServerGroup", anywhere("ServerGroupName", "far", "VpcId", "vpc-far"))
	id, job := far.Text("ServerGroupId"), far.Text("JobId")
	expect(t, c, "ListServerGroups", anywhere("ServerGroupIds.1", id), "ServerGroups.0.RegionId", "cn-shanghai")
	expect(t, c, "GetJobStatus", anywhere("JobId", job), "Status", "Succeeded")
	expect(t, c, "ListAsynJobs", anywhere("JobIds.1", job), "TotalCount", "1")
	expectRefusal(t, c, "GetJobStatus", params("JobId", job), "ResourceNotFound.Job")
	expect(t, c, "ListServerGroups", anywhere(), "ServerGroups.0.RegionId", owner.RegionID)
	removed := c.Do("DeleteServerGroup", anywhere("ServerGroupId", id)).Text("JobId")
	expect(t, c, "GetJobStatus", anywhere("JobId", removed), "Status", "Succeeded")
	expectRefusal(t, c, "GetJobStatus", anywhere("JobId", "none"), "ResourceNotFound.Job")
	expectRefusal(t, c, "CreateServerGroup", anywhere("ServerGroupName", "far", "VpcId", "vpc-foreign"), "ResourceNotFound.Vpc")
}

// TestCertificateGone proves that a listener keeps a certificate that was deleted, and
// that no other can have it.
func TestCertificateGone(t *testing.T) {
	c, store, _ := newClient(t)
	uploaded := &kinds.UserCertificate{AccountID: account, ID: 11111111, Name: "gone"}
	edit := func(fn func(*state.Tx)) {
		if err := store.Update(state.Owner{}, func(tx *state.Tx) error { fn(tx); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(tx *state.Tx) { kinds.UserCertificates.Put(tx, uploaded) })
	named := with(listenTLS, "CertificateIds.1", uploaded.Identifier())
	of := params("ListenerId", c.Do("CreateListener", named).Text("ListenerId"))
	edit(func(tx *state.Tx) { kinds.UserCertificates.Remove(tx, kinds.UserCertificates.ID(uploaded)) })
	c.Do("UpdateListenerAttribute", with(of, "IdleTimeout", "60", "CertificateIds.1", uploaded.Identifier()))
	expect(t, c, "GetListenerAttribute", of, "CertificateIds.0", uploaded.Identifier(), "IdleTimeout", "60")
	expectRefusal(t, c, "CreateListener", with(named, "ListenerPort", "9443"), "ResourceNotFound.Certificate")
	c.Do("UpdateListenerAttribute", with(of, "CertificateIds.1", cert1))
	expectRefusal(t, c, "UpdateListenerAttribute", with(of, "CertificateIds.1", uploaded.Identifier()), "ResourceNotFound.Certificate")
}

// A reason alone is the new one of a protection that is on, and nothing of one that is off:
// NLB-0046.
func TestProtectionReasons(t *testing.T) {
	c, _, clock := newClient(t)
	of := params("LoadBalancerId", lb1)
	const deletion, modification = "DeletionProtectionConfig", "ModificationProtectionConfig"
	c.Do("UpdateLoadBalancerProtection", with(of, "DeletionProtectionReason", "early", "ModificationProtectionReason", "early"))
	expect(t, c, "GetLoadBalancerAttribute", of, deletion+".Reason", "", modification+".Reason", "")
	c.Do("UpdateLoadBalancerProtection", with(of, "DeletionProtectionEnabled", "true", "DeletionProtectionReason", "old",
		"ModificationProtectionStatus", "ConsoleProtection", "ModificationProtectionReason", "older"))
	since := c.Do("GetLoadBalancerAttribute", of).Text(deletion + ".EnabledTime")
	clock.Advance(time.Minute)
	c.Do("UpdateLoadBalancerProtection", with(of, "DeletionProtectionReason", "new"))
	expect(t, c, "GetLoadBalancerAttribute", of, deletion+".Reason", "new", deletion+".EnabledTime", since, modification+".Reason", "older")
	c.Do("UpdateLoadBalancerProtection", with(of, "ModificationProtectionReason", "newer"))
	expect(t, c, "GetLoadBalancerAttribute", of, deletion+".Reason", "new", modification+".Reason", "newer")
	c.Do("UpdateLoadBalancerProtection", with(of, "DeletionProtectionEnabled", "false"))
	expect(t, c, "GetLoadBalancerAttribute", of, deletion+".Reason", "", modification+".Reason", "newer")
}
