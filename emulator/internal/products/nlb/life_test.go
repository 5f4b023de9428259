package nlb_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// expect compares what the answer of a call has at each path.
func expect(t *testing.T, c *gatewaytest.Client, action string, p gatewaytest.Params, want ...string) gatewaytest.Reply {
	t.Helper()
	reply := c.Do(action, p)
	for i := 0; i < len(want); i += 2 {
		if got := reply.Text(want[i]); got != want[i+1] {
			t.Errorf("%s(%v): %s = %q, want %q in %v", action, p, want[i], got, want[i+1], reply.Body)
		}
	}
	return reply
}

func expectRefusal(t *testing.T, c *gatewaytest.Client, action string, p gatewaytest.Params, code string) {
	t.Helper()
	if reply := c.Call(action, p); reply.Code != code {
		t.Errorf("%s(%v) = %d %q, want %q", action, p, reply.Status, reply.Code, code)
	}
}

// Without a profile everything is as it will be at once; with the realistic one,
// statuses come and go in the order of the cloud, and refuse changes meanwhile. Changes of
// what runs don't interrupt it.
func TestLife(t *testing.T) {
	c, store, clock := newClient(t, set("life.profile", "realistic"))
	id := c.Do("CreateLoadBalancer", create).Text("LoadbalancerId")
	of := params("LoadBalancerId", id)
	expect(t, c, "GetLoadBalancerAttribute", of, "LoadBalancerStatus", "Provisioning")
	expectRefusal(t, c, "DeleteLoadBalancer", of, "ResourceInCreating.loadbalancer")
	clock.Advance(3 * time.Second)
	expect(t, c, "GetLoadBalancerAttribute", of, "LoadBalancerStatus", "Active")

	created := c.Do("CreateListener", with(listen, "LoadBalancerId", id))
	lsn, job := params("ListenerId", created.Text("ListenerId")), params("JobId", created.Text("JobId"))
	expect(t, c, "GetListenerAttribute", lsn, "ListenerStatus", "Provisioning")
	expect(t, c, "GetJobStatus", job, "Status", "Processing")
	expectRefusal(t, c, "DeleteListener", lsn, "Conflict.Lock")
	clock.Advance(20 * time.Millisecond)
	expectRefusal(t, c, "DeleteListener", lsn, "IncorrectStatus.listener")
	clock.Advance(time.Second)
	expect(t, c, "GetListenerAttribute", lsn, "ListenerStatus", "Running")
	expect(t, c, "GetJobStatus", job, "Status", "Succeeded")

	forwards := func(want bool) {
		t.Helper()
		v := store.View(state.Owner{})
		lb, _ := topology.FindLoadBalancer(v, id)
		for f := range lb.Frontends {
			if got := lb.Active && f.Running; got != want {
				t.Errorf("the listener, which is %s, of the load balancer, which is %s, forwards: %v", f.Status, lb.Status, got)
			}
		}
	}
	for _, step := range []struct {
		action, during, after string
		forwards              bool // during it
	}{
		{"UpdateListenerAttribute", "Configuring", "Running", true},
		{"StopListener", "Stopping", "Stopped", false},
		{"UpdateListenerAttribute", "Configuring", "Stopped", false},
		{"StartListener", "Starting", "Running", false},
		{"DeleteListener", "Deleting", "", false},
	} {
		if step.action == "DeleteListener" {
			c.Do("UpdateLoadBalancerAttribute", with(of, "LoadBalancerName", "changed"))
			expect(t, c, "GetLoadBalancerAttribute", of, "LoadBalancerStatus", "Configuring")
			forwards(true)
			clock.Advance(time.Second)
		}
		c.Do(step.action, lsn)
		forwards(step.forwards)
		expect(t, c, "GetListenerAttribute", lsn, "ListenerStatus", step.during)
		clock.Advance(time.Second)
		if step.after == "" {
			expectRefusal(t, c, "GetListenerAttribute", lsn, "ResourceNotFound.listener")
			continue
		}
		expect(t, c, "GetListenerAttribute", lsn, "ListenerStatus", step.after)
	}
	c.Do("UpdateLoadBalancerAttribute", with(of, "LoadBalancerName", "renamed"))
	expect(t, c, "GetLoadBalancerAttribute", of, "LoadBalancerStatus", "Configuring")
	clock.Advance(time.Second)
	expect(t, c, "GetLoadBalancerAttribute", of, "LoadBalancerStatus", "Active", "LoadBalancerName", "renamed")

	sgp := params("ServerGroupId", c.Do("CreateServerGroup", group).Text("ServerGroupId"))
	listed := params("ServerGroupIds.1", sgp["ServerGroupId"])
	expect(t, c, "ListServerGroups", listed, "ServerGroups.0.ServerGroupStatus", "Creating")
	expectRefusal(t, c, "DeleteServerGroup", sgp, "IncorrectStatus.serverGroup")
	clock.Advance(time.Second)
	c.Do("AddServersToServerGroup", with(serve, "ServerGroupId", sgp["ServerGroupId"]))
	expect(t, c, "ListServerGroups", listed, "ServerGroups.0.ServerGroupStatus", "Configuring", "ServerGroups.0.ServerCount", "1")
	clock.Advance(time.Second)
	expect(t, c, "ListServerGroups", listed, "ServerGroups.0.ServerGroupStatus", "Available")
}

// A condition makes a job fail or never end; one that fails has done nothing.
func TestJobs(t *testing.T) {
	c, store, clock := newClient(t, set("life.nlb.job", "1000h"))
	endless := c.Do("CreateListener", listen)
	clock.Advance(999 * time.Hour)
	expect(t, c, "GetJobStatus", params("JobId", endless.Text("JobId")), "Status", "Processing")

	if err := store.Update(state.Owner{}, all(set("life.nlb.job", "default"), set("life.nlb.job.failing", "2s"))); err != nil {
		t.Fatal(err)
	}
	before := resources(t, store)
	for _, call := range []struct {
		action string
		params gatewaytest.Params
	}{
		{"CreateListener", with(listen, "ListenerPort", "82")},
		{"DeleteListener", params("ListenerId", lsnTCP)},
		{"CreateServerGroup", group},
		{"AddServersToServerGroup", serve},
		{"UpdateLoadBalancerAttribute", with(anLB, "LoadBalancerName", "renamed")},
		{"UpdateLoadBalancerZones", with(zones, "ZoneMappings.2.ZoneId", zoneJ, "ZoneMappings.2.VSwitchId", vSwitchJ)},
		{"LoadBalancerJoinSecurityGroup", join},
		{"DeleteLoadBalancer", anLB},
	} {
		job := c.Do(call.action, call.params).Text("JobId")
		expect(t, c, "GetJobStatus", params("JobId", job), "Status", "Processing")
		clock.Advance(2 * time.Second)
		expect(t, c, "ListAsynJobs", params("JobIds.1", job, "JobIds.2", "none"), "TotalCount", "1", "Jobs.0.Status", "Failed",
			"Jobs.0.ApiName", call.action, "Jobs.0.ErrorCode", "SystemBusy")
		if after := resources(t, store); after != before {
			t.Errorf("%s, whose job failed, changed the cloud from\n%s\nto\n%s", call.action, before, after)
		}
	}
	if err := store.Update(state.Owner{}, set("life.nlb.job.failing", "default")); err != nil {
		t.Fatal(err)
	}
	job := c.Do("DeleteLoadBalancer", params("LoadBalancerId", lbPlain)).Text("JobId")
	expect(t, c, "GetJobStatus", params("JobId", job), "Status", "Succeeded")
}

// resources returns the rows of NLB and the addresses, but for jobs.
func resources(t *testing.T, store *state.Store) string {
	t.Helper()
	export, err := store.Export()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, kind := range []state.Kind{kinds.NLBLoadBalancers.Kind(), kinds.NLBListeners.Kind(), kinds.NLBServerGroups.Kind(), kinds.Addresses.Kind()} {
		for row := range export.Tables[kind].All() {
			fmt.Fprintf(&text, "%s\n", row)
		}
	}
	return text.String()
}

// A repetition with the same ClientToken gets the first call's job and resource.
func TestClientTokens(t *testing.T) {
	c, _, _ := newClient(t)
	for action, p := range map[string]gatewaytest.Params{"CreateLoadBalancer": create, "CreateListener": listen, "CreateServerGroup": group} {
		p = with(p, "ClientToken", "once")
		first, second := c.Do(action, p), c.Do(action, p)
		for _, id := range []string{"LoadbalancerId", "ListenerId", "ServerGroupId", "JobId"} {
			if first.Text(id) != second.Text(id) {
				t.Errorf("%s: %s = %q, then %q", action, id, first.Text(id), second.Text(id))
			}
		}
		expectRefusal(t, c, action, with(p, "Tag.1.Key", "other"), "IdempotenceSignatureMismatch")
	}
}

// A token whose resource was deleted since creates another one, and is not kept for its
// day; the token of the deletion itself is answered as the first time.
func TestClientTokensOfWhatIsGone(t *testing.T) {
	c, store, _ := newClient(t)
	tokens := func() (n int) {
		v := store.View(state.Owner{})
		n = state.ClientTokens.Len(v)
		return n
	}
	for _, made := range []struct {
		action, remove, id string
		p                  gatewaytest.Params
	}{
		{"CreateServerGroup", "DeleteServerGroup", "ServerGroupId", group},
		{"CreateListener", "DeleteListener", "ListenerId", listen},
		{"CreateSecurityPolicy", "DeleteSecurityPolicy", "SecurityPolicyId", params("SecurityPolicyName", "p", "TlsVersions.1", "TLSv1.2", "Ciphers.1", "ECDHE-RSA-AES128-GCM-SHA256")},
	} {
		t.Run(made.action, func(t *testing.T) {
			before := tokens()
			once, gone := with(made.p, "ClientToken", "once"), func(id string) gatewaytest.Params { return params(made.id, id, "ClientToken", "gone") }
			first := c.Do(made.action, once).Text(made.id)
			deletion := c.Do(made.remove, gone(first)).Text("JobId")
			if again := c.Do(made.remove, gone(first)).Text("JobId"); again != deletion { // a policy's has no job
				t.Errorf("the deletion again is job %s, want %s", again, deletion)
			}
			if n := tokens(); n != before+1 {
				t.Errorf("%d tokens are kept, want %d", n, before+1)
			}
			if second := c.Do(made.action, once).Text(made.id); second == first {
				t.Errorf("the token of the deleted %s is answered with it", first)
			}
		})
	}
}

// The cloud forgets ended jobs after a day, and others never.
func TestJobsAreForgotten(t *testing.T) {
	c, store, clock := newClient(t, set("life.nlb.job", "1000h"))
	endless := c.Do("CreateServerGroup", group).Text("JobId")
	if err := store.Update(state.Owner{}, set("life.nlb.job", "default")); err != nil {
		t.Fatal(err)
	}
	ended := c.Do("CreateServerGroup", group).Text("JobId")
	elsewhere := &kinds.Job{Action: "CreateServerGroup"}
	if err := store.Update(state.Owner{AccountID: account, RegionID: "cn-shanghai"}, func(tx *state.Tx) error {
		kinds.NLBJobs.Begin(tx, elsewhere)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	isThere := func() (there bool) {
		v := store.View(state.Owner{})
		_, there = kinds.NLBJobs.Find(v, elsewhere.ID)
		return there
	}
	clock.Advance(24*time.Hour - time.Second)
	c.Do("CreateServerGroup", group)
	expect(t, c, "GetJobStatus", params("JobId", ended), "Status", "Succeeded")
	expect(t, c, "ListAsynJobs", nil, "TotalCount", "3", "Jobs.0.Id", endless, "Jobs.1.Id", ended)
	if !isThere() {
		t.Error("the job of another region was forgotten too early")
	}
	clock.Advance(time.Second)
	c.Do("CreateServerGroup", group)
	expectRefusal(t, c, "GetJobStatus", params("JobId", ended), "ResourceNotFound.Job")
	expect(t, c, "GetJobStatus", params("JobId", endless), "Status", "Processing")
	if isThere() {
		t.Error("the job of another region was not forgotten")
	}
}

// However many jobs there are in a day, the cloud keeps no more than a number.
func TestJobsAreBounded(t *testing.T) {
	_, store, _ := newClient(t)
	const most = 100_000
	undo := errors.New("seen")
	if err := store.Update(owner, func(tx *state.Tx) error {
		job := func(i int) string { return fmt.Sprintf("%08x-0000-0000-0000-000000000000", i) }
		for i := range most {
			kinds.NLBJobs.Put(tx, &kinds.Job{Owner: owner, ID: job(i), Status: kinds.JobSucceeded, CreateTime: tx.Now()})
		}
		newest := &kinds.Job{Action: "CreateServerGroup"}
		kinds.NLBJobs.Begin(tx, newest)
		if _, there := kinds.NLBJobs.Find(tx.View, job(0)); there || kinds.NLBJobs.Len(tx.View) != most {
			t.Errorf("of %d jobs and one more there are %d, the oldest among them: %t", most, kinds.NLBJobs.Len(tx.View), there)
		}
		for _, id := range []string{job(1), newest.ID} {
			if _, there := kinds.NLBJobs.Find(tx.View, id); !there {
				t.Errorf("%s was forgotten", id)
			}
		}
		return undo
	}); !errors.Is(err, undo) {
		t.Fatal(err)
	}
}

// Addresses come out of the vSwitches and go back: with the load balancer, with a
// zone, with the address type; a named EIP is free again.
func TestAddresses(t *testing.T) {
	c, store, _ := newClient(t)
	free := func() (text string) {
		v := store.View(owner)
		for _, id := range []string{vSwitch1, vSwitch2, vSwitchJ} {
			s, err := kinds.VSwitches.Get(v, id)
			if err != nil {
				t.Fatal(err)
			}
			text += strconv.Itoa(kinds.AvailableAddresses(v, s)) + " "
		}
		eip, err := kinds.EIPs.Get(v, eip1)
		if err == nil {
			text += strconv.Itoa(kinds.AddressesByPool.Count(v, kinds.PublicPool(owner.RegionID))) + " " + string(eip.Status)
		}
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := free()
	reply := c.Do("CreateLoadBalancer", with(create, "ZoneMappings.1.AllocationId", eip1, "ZoneMappings.1.PrivateIPv4Address", gatewaytest.Empty, "ZoneMappings.2.PrivateIPv4Address", "192.168.1.99"))
	of := params("LoadBalancerId", reply.Text("LoadbalancerId"))
	show := expect(t, c, "GetLoadBalancerAttribute", of, "ZoneMappings.0.LoadBalancerAddresses.0.AllocationId", eip1,
		"ZoneMappings.1.LoadBalancerAddresses.0.PrivateIPv4Address", "192.168.1.99")
	if ip := show.Text("ZoneMappings.1.LoadBalancerAddresses.0.PublicIPv4Address"); !strings.HasPrefix(ip, "198.18.") {
		t.Errorf("a zone without an EIP has the public address %q", ip)
	}
	if free() == before {
		t.Error("a load balancer took no address")
	}
	private := show.Text("ZoneMappings.0.LoadBalancerAddresses.0.PrivateIPv4Address")
	c.Do("UpdateLoadBalancerZones", with(of, "ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1,
		"ZoneMappings.2.ZoneId", zoneJ, "ZoneMappings.2.VSwitchId", vSwitchJ))
	expect(t, c, "GetLoadBalancerAttribute", of, "ZoneMappings.0.LoadBalancerAddresses.0.PrivateIPv4Address", private, "ZoneMappings.1.ZoneId", zoneJ)
	c.Do("UpdateLoadBalancerAddressTypeConfig", with(of, "AddressType", "Intranet"))
	expect(t, c, "GetLoadBalancerAttribute", of, "ZoneMappings.0.LoadBalancerAddresses.0.PublicIPv4Address", "")
	c.Do("UpdateLoadBalancerAddressTypeConfig", with(of, "AddressType", "Internet", "ZoneMappings.1.ZoneId", zoneJ, "ZoneMappings.1.VSwitchId", vSwitchJ,
		"ZoneMappings.1.AllocationId", eip1))
	expect(t, c, "GetLoadBalancerAttribute", of, "ZoneMappings.1.LoadBalancerAddresses.0.AllocationId", eip1)
	c.Do("DeleteLoadBalancer", of)
	if after := free(); after != before {
		t.Errorf("free addresses are %s, were %s before the load balancer", after, before)
	}
}

// An account that does not pay loses its load balancers as in CLB, and keeps
// them when it pays in time.
func TestArrears(t *testing.T) {
	c, store, clock := newClient(t, all(set("account.graceDays", "1"), set("account.arrears", "true")))
	clock.Advance(24 * time.Hour * 2)
	expect(t, c, "GetLoadBalancerAttribute", anLB, "LoadBalancerBusinessStatus", "Abnormal", "OperationLocks.0.LockType", "FinancialLocked")
	expectRefusal(t, c, "CreateListener", listen, "OperationDenied.FinancialLocked")
	if err := store.Update(state.Owner{}, set("account.arrears", "false")); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "GetLoadBalancerAttribute", anLB, "LoadBalancerBusinessStatus", "Normal")
	if err := store.Update(state.Owner{}, set("account.arrears", "true")); err != nil {
		t.Fatal(err)
	}
	clock.Advance(24 * time.Hour * 30)
	expectRefusal(t, c, "GetLoadBalancerAttribute", anLB, "ResourceNotFound.loadBalancer")
}

// Lists come newest first, page by page, and what is as old as another by id.
func TestNewestFirst(t *testing.T) {
	c, _, clock := newClient(t)
	var want []string
	for _, name := range []string{"one", "two", "three"} {
		clock.Advance(time.Millisecond)
		want = append([]string{c.Do("CreateServerGroup", with(group, "ServerGroupName", name)).Text("ServerGroupId")}, want...)
	}
	token := ""
	for i, id := range want {
		reply := c.Do("ListServerGroups", params("MaxResults", "1", "NextToken", token))
		if got := reply.Text("ServerGroups.0.ServerGroupId"); got != id {
			t.Errorf("page %d has %s, want %s", i, got, id)
		}
		token = reply.Text("NextToken")
	}
}
