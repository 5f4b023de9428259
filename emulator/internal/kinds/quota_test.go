package kinds_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// A quota is the documented one until the account gets another; the change
// that reaches it is allowed, the next one refused.
func TestQuota(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		check := func(v *state.View, used int) state.Fact {
			return factOf(v.Use(kinds.QuotaListeners, "lb-1", used))
		}
		if limit := tx.Limit(kinds.QuotaListeners); limit != 50 || check(tx.View, 50) != "" || check(tx.View, 51) != state.QuotaExceeded {
			t.Errorf("limit %d; 50: %q, 51: %q", limit, check(tx.View, 50), check(tx.View, 51))
		}
		state.Quotas.Put(tx, &state.Quota{AccountID: hangzhou.AccountID, Name: kinds.QuotaListeners, Limit: 2})
		if tx.Limit(kinds.QuotaListeners) != 2 || check(tx.View, 2) != "" || check(tx.View, 3) != state.QuotaExceeded {
			t.Errorf("after the change: limit %d", tx.Limit(kinds.QuotaListeners))
		}
		other := tx.In(stranger).View
		if other.Limit(kinds.QuotaListeners) != 50 || check(other, 3) != "" {
			t.Error("one account's quota holds for another")
		}
	})
}

// Each quota counts resources by holder, the greatest first.
func TestQuotaUses(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		if err := plantHealthy(tx); err != nil {
			t.Fatal(err)
		}
		edit(kinds.VServerGroups, "rsp-1", func(g *kinds.VServerGroup) {
			g.BackendServers = []kinds.BackendServer{{ServerID: "i-1", Port: 80}, {ServerID: "i-1", Port: 81}}
		})(tx)
		edit(kinds.LoadBalancers, "lb-1", func(lb *kinds.LoadBalancer) {
			lb.BackendServers = []kinds.BackendServer{{ServerID: "i-1"}}
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
			kinds.QuotaLoadBalancers:            {ID: hangzhou.AccountID, Used: 2},
			kinds.QuotaBackendServers:           {ID: "lb-1", Used: 4},
			kinds.QuotaServerAttached:           {ID: "i-1", Used: 4},
			kinds.QuotaListeners:                {ID: "lb-1", Used: 2},
			kinds.QuotaRules:                    {ID: "lb-1_https_443", Used: 2},
			kinds.QuotaDomainExtensions:         {ID: "lb-1_https_443", Used: 1},
			kinds.QuotaCertificates:             {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaCACertificates:           {ID: "cn-shanghai", Used: 1},
			kinds.QuotaACLs:                     {ID: hangzhou.AccountID, Used: 2},
			kinds.QuotaACLEntries:               {ID: "acl-1", Used: 3},
			kinds.QuotaACLAttached:              {ID: "acl-1", Used: 2},
			kinds.QuotaListenerACLs:             {ID: "lb-1_https_443", Used: 2},
			kinds.QuotaTags:                     {ID: "lb-1", Used: 1},
			kinds.QuotaLegacyTags:               {ID: "lb-1", Used: 1},
			kinds.QuotaWhiteList:                {ID: "lb-1_https_443", Used: 2},
			kinds.QuotaTLSCipherPolicies:        {ID: "cn-hangzhou", Used: 2},
			kinds.QuotaTLSCipherPolicyListeners: {ID: "tls-1", Used: 1},
			kinds.QuotaVSwitches:                {ID: vpcID, Used: 1},
			kinds.QuotaRouteEntries:             {ID: routeTableID, Used: 2},
			kinds.QuotaRouteTables:              {ID: vpcID, Used: 1},
			kinds.QuotaEIPs:                     {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaNATGateways:              {ID: vpcID, Used: 1},
			kinds.QuotaBandwidthPackages:        {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaPackageEIPs:              {ID: "cbwp-1", Used: 2},
			kinds.QuotaNLBLoadBalancers:         {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaNLBServerGroups:          {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaNLBSecurityPolicies:      {ID: "cn-hangzhou", Used: 1},
			kinds.QuotaNLBServers:               {ID: "sgp-1", Used: 2},
			kinds.QuotaNLBListeners:             {ID: "net-1", Used: 1},
			kinds.QuotaNLBGroupListeners:        {ID: "sgp-1", Used: 1},
			kinds.QuotaNLBGroups:                {ID: "net-1", Used: 3},
			kinds.QuotaNLBCertificates:          {ID: "net-1", Used: 4},
			kinds.QuotaNLBECIs:                  {ID: "sgp-1", Used: 1},
			kinds.QuotaNLBServerAdded:           {ID: "eci-1", Used: 1},
			kinds.QuotaNLBServersBehind:         {ID: "net-1", Used: 1},
			kinds.QuotaNLBECIsBehind:            {ID: "net-1", Used: 1},
		}
		for _, name := range kinds.Schema.QuotaNames() {
			if len(used[name]) == 0 || used[name][0] != wanted[name] {
				t.Errorf("%s: %v, want %v first", name, used[name], wanted[name])
			}
		}
	})
}

// plantCounted adds what quotas count and a healthy state has none of, and the same
// of another account.
func plantCounted(tx *state.Tx) {
	listener(func(l *kinds.Listener) {
		l.AclIDs, l.WhiteList, l.TLSCipherPolicy = []string{"acl-1", "acl-2"}, []string{"10.0.0.1", "10.0.0.2"}, "tls-1"
	})(tx)
	for _, id := range []string{"tls-1", "tls-2"} {
		kinds.TLSCipherPolicies.Put(tx, &kinds.TLSCipherPolicy{Owner: hangzhou, ID: id})
	}
	kinds.MasterSlaveServerGroups.Put(tx, &kinds.MasterSlaveServerGroup{Owner: hangzhou, ID: "rsp-2", LoadBalancerID: "lb-1",
		BackendServers: []kinds.MasterSlaveBackendServer{{BackendServer: kinds.BackendServer{ServerID: "i-1", Port: 81}, ServerType: kinds.ServerMaster}}})
	edit(kinds.Listeners, "lb-1_udp_443", func(l *kinds.Listener) { l.AclIDs = []string{"acl-1"} })(tx)
	for _, id := range []string{"rule-1", "rule-2"} {
		kinds.Rules.Put(tx, &kinds.Rule{Owner: hangzhou, ID: id, LoadBalancerID: "lb-1", ListenerID: "lb-1_https_443", VServerGroupID: "rsp-1"})
	}
	kinds.CACertificates.Put(tx, &kinds.CACertificate{Owner: shanghai, ID: "ca"})
	kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: hangzhou, ID: "acl-1", Entries: make([]kinds.AccessControlListEntry, 3)})
	kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: shanghai, ID: "acl-2", Entries: make([]kinds.AccessControlListEntry, 2)})
	kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: stranger, ID: "acl-3", Entries: make([]kinds.AccessControlListEntry, 9)})
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: hangzhou, ID: "vtb-2", VPCID: vpcID, Type: kinds.RouteTableCustom})
	for id, kind := range map[string]kinds.RouteTableType{"rte-1": kinds.RouteTableSystem, "rte-2": kinds.RouteTableCustom, "rte-3": kinds.RouteTableCustom} {
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: hangzhou, ID: id, RouteTableID: routeTableID, VPCID: vpcID, Type: kind})
	}
	plantNLB(tx)
	kinds.NATGateways.Put(tx, &kinds.NATGateway{Owner: hangzhou, ID: "ngw-1", VPCID: vpcID, VSwitchID: vSwitchID})
	kinds.CommonBandwidthPackages.Put(tx, &kinds.CommonBandwidthPackage{Owner: hangzhou, ID: "cbwp-1"})
	edit(kinds.EIPs, "eip-1", func(e *kinds.EIP) { e.BandwidthPackageID = "cbwp-1" })(tx)
	edit(kinds.NLBLoadBalancers, "net-1", func(lb *kinds.NLBLoadBalancer) {
		lb.SecurityGroupIDs, lb.BandwidthPackageID = make([]string, 3), "cbwp-1"
	})(tx)
	edit(kinds.NLBListeners, "lsn-1", func(l *kinds.NLBListener) { l.AdditionalCertificateIDs = make([]string, 4) })(tx)
	edit(kinds.NLBServerGroups, "sgp-1", func(g *kinds.NLBServerGroup) {
		g.Servers = append(g.Servers[:2:2], kinds.NLBServer{Type: kinds.NLBServerECI, ID: "eci-1", Port: 80})
	})(tx)
	kinds.NLBSecurityPolicies.Put(tx, &kinds.NLBSecurityPolicy{Owner: hangzhou, ID: "tls-1"})
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

// A condition leaves a vSwitch a few free addresses, and frees it again.
func TestSetFreeAddresses(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		vSwitch, _ := kinds.VSwitches.Find(tx.View, vSwitchID)
		allocate := func() state.Fact {
			_, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", kinds.LoadBalancers.Kind(), "lb-1")
			return factOf(err)
		}
		for _, free := range []int{1, 0, 3, 12} {
			if err := kinds.SetFreeAddresses(tx, vSwitch, free); err != nil || kinds.AvailableAddresses(tx.View, vSwitch) != free {
				t.Errorf("SetFreeAddresses(%d) = %v and leaves %d", free, err, kinds.AvailableAddresses(tx.View, vSwitch))
			}
		}
		for _, impossible := range []int{-1, 13} {
			if err := kinds.SetFreeAddresses(tx, vSwitch, impossible); factOf(err) != kinds.NoFreeAddress {
				t.Errorf("SetFreeAddresses(%d) = %v, want NoFreeAddress", impossible, err)
			}
		}
		if err := kinds.SetFreeAddresses(tx, vSwitch, 1); err != nil || allocate() != "" || allocate() != kinds.NoFreeAddress {
			t.Errorf("with one address free: %v", err)
		}
		kinds.FreeAllAddresses(tx, vSwitch)
		if free := kinds.AvailableAddresses(tx.View, vSwitch); free != 11 {
			t.Errorf("%d are free again, want 11", free)
		}
	})
}

// The limits are the published ones: pages "Limits" of CLB, NLB, VPC and EIP; CLB-0170, NLB-0011.
func TestPublishedQuotas(t *testing.T) {
	published := map[state.QuotaName]int{
		"cbwp_quota_eip_num":                        100,
		"cbwp_quota_num":                            20,
		"natgw_quota_natgws_num":                    5,
		"nlb_quota_loadbalancer_certificates_num":   25,
		"nlb_quota_loadbalancer_eci_servers_num":    1600,
		"nlb_quota_loadbalancer_listeners_num":      50,
		"nlb_quota_loadbalancer_noeci_servers_num":  400,
		"nlb_quota_loadbalancer_securitygroups_num": 4,
		"nlb_quota_loadbalancers_num":               60,
		"nlb_quota_securitypolicies_num":            50,
		"nlb_quota_server_added_num":                200,
		"nlb_quota_servergroup_attached_num":        50,
		"nlb_quota_servergroup_eci_servers_num":     1600,
		"nlb_quota_servergroup_noeci_servers_num":   400,
		"nlb_quota_servergroups_num":                3000,
		"slb_quota_acl_attached_num":                50,
		"slb_quota_acl_entries_num":                 300,
		"slb_quota_acls_num":                        200,
		"slb_quota_add_tags_num":                    10,
		"slb_quota_backendserver_attached_num":      50,
		"slb_quota_backendservers_num":              200,
		"slb_quota_ca_certs_num":                    100,
		"slb_quota_certs_num":                       100,
		"slb_quota_domain_extensions_num":           3,
		"slb_quota_instances_num":                   60,
		"slb_quota_listener_acls_num":               3,
		"slb_quota_listeners_num":                   50,
		"slb_quota_rules_num":                       40,
		"slb_quota_tags_num":                        20,
		"slb_quota_tls_cipher_policies_num":         50,
		"slb_quota_tls_cipher_policy_attached_num":  50,
		"slb_quota_white_list_items_num":            300,
		"vpc_quota_eips_num":                        20,
		"vpc_quota_route_entrys_num":                200,
		"vpc_quota_route_tables_num":                9,
		"vpc_quota_vswitches_num":                   150,
	}
	inTx(t, hangzhou, func(tx *state.Tx) {
		for _, use := range state.QuotaUses(tx.View) {
			if use.Default != published[use.Name] {
				t.Errorf("%s is %d, want %d", use.Name, use.Default, published[use.Name])
			}
			delete(published, use.Name)
		}
	})
	if len(published) > 0 {
		t.Errorf("there are no quotas %v", published)
	}
}
