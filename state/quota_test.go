package state_test

import (
	"testing"

	"github.com/clbemu/clbemu/state"
)

// A quota is the documented one until the account is given another; the change
// that reaches it is allowed, the next one refused.
func TestQuota(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		check := func(v *state.View, used int) state.Fact {
			return factOf(state.CheckQuota(v, state.QuotaListeners, "lb-1", used))
		}
		if limit := tx.Limit(state.QuotaListeners); limit != 50 || check(tx.View, 50) != "" || check(tx.View, 51) != state.QuotaExceeded {
			t.Errorf("limit %d; 50: %q, 51: %q", limit, check(tx.View, 50), check(tx.View, 51))
		}
		state.Quotas.Put(tx, &state.Quota{AccountID: hangzhou.AccountID, Name: state.QuotaListeners, Limit: 2})
		if tx.Limit(state.QuotaListeners) != 2 || check(tx.View, 2) != "" || check(tx.View, 3) != state.QuotaExceeded {
			t.Errorf("after the change: limit %d", tx.Limit(state.QuotaListeners))
		}
		other := tx.In(stranger).View
		if other.Limit(state.QuotaListeners) != 50 || check(other, 3) != "" {
			t.Error("one account's quota holds for another")
		}
	})
}

// Each quota counts what is there, by holder, the greatest first.
func TestQuotaUses(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		if err := plantHealthy(tx); err != nil {
			t.Fatal(err)
		}
		edit(state.VServerGroups, "rsp-1", func(g *state.VServerGroup) {
			g.BackendServers = []state.BackendServer{{ServerID: "i-1", Port: 80}, {ServerID: "i-1", Port: 81}}
		})(tx)
		edit(state.LoadBalancers, "lb-1", func(lb *state.LoadBalancer) {
			lb.BackendServers = []state.BackendServer{{ServerID: "i-1"}}
		})(tx)
		plantCounted(tx)
		used := make(map[state.QuotaName][]state.QuotaHolder)
		for _, use := range state.QuotaUses(tx.View) {
			if use.Limit != use.Default || use.Limit != tx.Limit(use.Name) {
				t.Errorf("%s: limit %d, default %d", use.Name, use.Limit, use.Default)
			}
			used[use.Name] = use.Holders
		}
		wanted := map[state.QuotaName]state.QuotaHolder{
			state.QuotaLoadBalancers:    {ID: hangzhou.AccountID, Used: 2},
			state.QuotaBackendServers:   {ID: "lb-1", Used: 3},
			state.QuotaServerAttached:   {ID: "i-1", Used: 3},
			state.QuotaListeners:        {ID: "lb-1", Used: 2},
			state.QuotaRules:            {ID: "lb-1_https_443", Used: 2},
			state.QuotaDomainExtensions: {ID: "lb-1_https_443", Used: 1},
			state.QuotaCertificates:     {ID: "cn-hangzhou", Used: 1},
			state.QuotaCACertificates:   {ID: "cn-shanghai", Used: 1},
			state.QuotaACLs:             {ID: hangzhou.AccountID, Used: 2},
			state.QuotaACLEntries:       {ID: "acl-1", Used: 3},
			state.QuotaACLAttached:      {ID: "acl-1", Used: 2},
			state.QuotaListenerACLs:     {ID: "lb-1_https_443", Used: 2},
			state.QuotaTags:             {ID: "lb-1", Used: 1},
			state.QuotaVSwitches:        {ID: vpcID, Used: 1},
			state.QuotaRouteEntries:     {ID: routeTableID, Used: 2},
			state.QuotaRouteTables:      {ID: vpcID, Used: 1},
			state.QuotaEIPs:             {ID: "cn-hangzhou", Used: 1},
		}
		for _, name := range state.QuotaNames() {
			if len(used[name]) == 0 || used[name][0] != wanted[name] {
				t.Errorf("%s: %v, want %v first", name, used[name], wanted[name])
			}
		}
	})
}

// plantCounted adds what quotas count and a healthy state has none of, and the same
// of another account.
func plantCounted(tx *state.Tx) {
	listener(func(l *state.Listener) { l.AclIDs = []string{"acl-1", "acl-2"} })(tx)
	edit(state.Listeners, "lb-1_udp_443", func(l *state.Listener) { l.AclIDs = []string{"acl-1"} })(tx)
	for _, id := range []string{"rule-1", "rule-2"} {
		state.Rules.Put(tx, &state.Rule{Owner: hangzhou, ID: id, LoadBalancerID: "lb-1", ListenerID: "lb-1_https_443", VServerGroupID: "rsp-1"})
	}
	state.CACertificates.Put(tx, &state.CACertificate{Owner: shanghai, ID: "ca"})
	state.AccessControlLists.Put(tx, &state.AccessControlList{Owner: hangzhou, ID: "acl-1", Entries: make([]state.AccessControlListEntry, 3)})
	state.AccessControlLists.Put(tx, &state.AccessControlList{Owner: shanghai, ID: "acl-2", Entries: make([]state.AccessControlListEntry, 2)})
	state.AccessControlLists.Put(tx, &state.AccessControlList{Owner: stranger, ID: "acl-3", Entries: make([]state.AccessControlListEntry, 9)})
	state.RouteTables.Put(tx, &state.RouteTable{Owner: hangzhou, ID: "vtb-2", VPCID: vpcID, Type: state.RouteTableCustom})
	for id, kind := range map[string]state.RouteTableType{"rte-1": state.RouteTableSystem, "rte-2": state.RouteTableCustom, "rte-3": state.RouteTableCustom} {
		state.RouteEntries.Put(tx, &state.RouteEntry{Owner: hangzhou, ID: id, RouteTableID: routeTableID, VPCID: vpcID, Type: kind})
	}
	for _, id := range []string{"lb-8", "lb-9", "lb-10"} {
		putLoadBalancer(tx, stranger, id, "")
	}
}

// A name that is no quota is a programming error.
func TestUnknownQuota(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		defer func() {
			if p := recover(); p != "state: no quota rockets" {
				t.Errorf("Limit panicked with %v", p)
			}
		}()
		t.Errorf("Limit = %d, want a panic", tx.Limit("rockets"))
	})
}

// A vSwitch can be left with just so many free addresses, and freed again.
func TestSetFreeAddresses(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		vSwitch, _ := state.VSwitches.Find(tx.View, vSwitchID)
		allocate := func() state.Fact {
			_, err := state.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", state.LoadBalancers.Kind(), "lb-1")
			return factOf(err)
		}
		for _, free := range []int{1, 0, 3, 12} {
			if err := state.SetFreeAddresses(tx, vSwitch, free); err != nil || state.AvailableAddresses(tx.View, vSwitch) != free {
				t.Errorf("SetFreeAddresses(%d) = %v and leaves %d", free, err, state.AvailableAddresses(tx.View, vSwitch))
			}
		}
		for _, impossible := range []int{-1, 13} {
			if err := state.SetFreeAddresses(tx, vSwitch, impossible); factOf(err) != state.NoFreeAddress {
				t.Errorf("SetFreeAddresses(%d) = %v, want NoFreeAddress", impossible, err)
			}
		}
		if err := state.SetFreeAddresses(tx, vSwitch, 1); err != nil || allocate() != "" || allocate() != state.NoFreeAddress {
			t.Errorf("with one address free: %v", err)
		}
		state.FreeAllAddresses(tx, vSwitch)
		if free := state.AvailableAddresses(tx.View, vSwitch); free != 11 {
			t.Errorf("%d are free again, want 11", free)
		}
	})
}
