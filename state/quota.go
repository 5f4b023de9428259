package state

import (
	"cmp"
	"slices"
)

// QuotaExceeded: the change would go over a quota. The error's Kind is the
// quota's name, its ID the holder.
const QuotaExceeded Fact = "QuotaExceeded"

// QuotaName names a quota as the cloud's quota centre does.
type QuotaName string

// The quotas, by whose count they limit.
const (
	QuotaLoadBalancers    QuotaName = "slb_quota_instances_num"              // of an account
	QuotaBackendServers   QuotaName = "slb_quota_backendservers_num"         // of a load balancer
	QuotaServerAttached   QuotaName = "slb_quota_backendserver_attached_num" // of a server
	QuotaListeners        QuotaName = "slb_quota_listeners_num"              // of a load balancer
	QuotaRules            QuotaName = "slb_quota_rules_num"                  // of a listener
	QuotaDomainExtensions QuotaName = "slb_quota_domain_extensions_num"      // of a listener
	QuotaCertificates     QuotaName = "slb_quota_certs_num"                  // of a region
	QuotaCACertificates   QuotaName = "slb_quota_ca_certs_num"               // of a region
	QuotaACLs             QuotaName = "slb_quota_acls_num"                   // of an account
	QuotaACLEntries       QuotaName = "slb_quota_acl_entries_num"            // of an ACL
	QuotaACLAttached      QuotaName = "slb_quota_acl_attached_num"           // of an ACL
	QuotaListenerACLs     QuotaName = "slb_quota_listener_acls_num"          // of a listener
	QuotaTags             QuotaName = "slb_quota_tags_num"                   // of a resource
	QuotaVSwitches        QuotaName = "vpc_quota_vswitches_num"              // of a VPC
	QuotaRouteEntries     QuotaName = "vpc_quota_route_entrys_num"           // of a route table
	QuotaRouteTables      QuotaName = "vpc_quota_route_tables_num"           // of a VPC
	QuotaEIPs             QuotaName = "vpc_quota_eips_num"                   // of a region
)

// quota is a row of the table: what an account may have unless it was told
// otherwise, and how what it has is counted, by holder.
type quota struct {
	name  QuotaName
	limit int
	uses  func(v *View, count func(holder string))
}

// quotas are the documented limits. Those of ACLs of a listener, EIPs and custom
// route tables are not published with certainty: CLB-0170.
var quotas = []quota{
	{QuotaLoadBalancers, 60, func(v *View, count func(string)) {
		for lb := range LoadBalancers.All(v) {
			count(lb.AccountID)
		}
	}},
	{QuotaBackendServers, 200, func(v *View, count func(string)) {
		for lb := range LoadBalancers.All(v) {
			for range BackendCount(v, lb) {
				count(lb.ID)
			}
		}
	}},
	{QuotaServerAttached, 50, func(v *View, count func(string)) {
		eachBackend(v, func(b BackendServer) { count(b.ServerID) })
	}},
	{QuotaListeners, 50, func(v *View, count func(string)) {
		for l := range Listeners.All(v) {
			count(l.LoadBalancerID)
		}
	}},
	{QuotaRules, 40, func(v *View, count func(string)) {
		for r := range Rules.All(v) {
			count(r.ListenerID)
		}
	}},
	{QuotaDomainExtensions, 3, func(v *View, count func(string)) {
		for d := range DomainExtensions.All(v) {
			count(ListenerID(d.LoadBalancerID, HTTPS, d.ListenerPort))
		}
	}},
	{QuotaCertificates, 100, func(v *View, count func(string)) {
		for c := range ServerCertificates.All(v) {
			count(c.RegionID)
		}
	}},
	{QuotaCACertificates, 100, func(v *View, count func(string)) {
		for c := range CACertificates.All(v) {
			count(c.RegionID)
		}
	}},
	{QuotaACLs, 200, func(v *View, count func(string)) {
		for a := range AccessControlLists.All(v) {
			count(a.AccountID)
		}
	}},
	{QuotaACLEntries, 300, func(v *View, count func(string)) {
		for a := range AccessControlLists.All(v) {
			for range a.Entries {
				count(a.ID)
			}
		}
	}},
	{QuotaACLAttached, 50, func(v *View, count func(string)) {
		for l := range Listeners.All(v) {
			for _, id := range l.AclIDs {
				count(id)
			}
		}
	}},
	{QuotaListenerACLs, 5, func(v *View, count func(string)) {
		for l := range Listeners.All(v) {
			for range l.AclIDs {
				count(l.ID())
			}
		}
	}},
	{QuotaTags, 20, func(v *View, count func(string)) {
		for t := range Tags.All(v) {
			count(t.ResourceID)
		}
	}},
	{QuotaVSwitches, 150, func(v *View, count func(string)) {
		for s := range VSwitches.All(v) {
			count(s.VPCID)
		}
	}},
	{QuotaRouteEntries, 200, func(v *View, count func(string)) {
		for e := range RouteEntries.All(v) {
			if e.Type == RouteTableCustom {
				count(e.RouteTableID)
			}
		}
	}},
	{QuotaRouteTables, 9, func(v *View, count func(string)) {
		for t := range RouteTables.All(v) {
			if t.Type == RouteTableCustom {
				count(t.VPCID)
			}
		}
	}},
	{QuotaEIPs, 20, func(v *View, count func(string)) {
		for e := range EIPs.All(v) {
			count(e.RegionID)
		}
	}},
}

// BackendCount is the number of backends of a load balancer: a server counts
// once in the default group, and once for each group and port.
func BackendCount(v *View, lb *LoadBalancer) int {
	n := len(lb.BackendServers)
	for g := range VServerGroupsByLoadBalancer.List(v, lb.ID) {
		n += len(g.BackendServers)
	}
	return n
}

func eachBackend(v *View, do func(BackendServer)) {
	for lb := range LoadBalancers.All(v) {
		for _, b := range lb.BackendServers {
			do(b)
		}
	}
	for g := range VServerGroups.All(v) {
		for _, b := range g.BackendServers {
			do(b)
		}
	}
}

// Quota is a limit that an account was given in place of the usual one.
type Quota struct {
	AccountID string
	Name      QuotaName
	Limit     int
}

// QuotaID is the id of a Quota.
func QuotaID(accountID string, name QuotaName) string { return accountID + "/" + string(name) }

// Quotas by QuotaID.
var Quotas = newTable("Quota", func(q *Quota) string { return QuotaID(q.AccountID, q.Name) })

// Limit is the quota of the scope's account.
func (v *View) Limit(name QuotaName) int {
	if q, ok := Quotas.Find(v, QuotaID(v.scope.AccountID, name)); ok {
		return q.Limit
	}
	for _, q := range quotas {
		if q.name == name {
			return q.limit
		}
	}
	panic("state: no quota " + string(name))
}

// CheckQuota refuses to let a holder have more than its account may: used is
// what it has with the change.
func CheckQuota(v *View, name QuotaName, holder string, used int) error {
	if used > v.Limit(name) {
		return &Error{Fact: QuotaExceeded, Kind: Kind(name), ID: holder}
	}
	return nil
}

// QuotaUse is how much of a quota is used, and by whom.
type QuotaUse struct {
	Name    QuotaName     `json:"name"`
	Default int           `json:"default"`
	Limit   int           `json:"limit"`
	Holders []QuotaHolder `json:"holders,omitempty"`
}

// QuotaHolder is one that uses a quota.
type QuotaHolder struct {
	ID   string `json:"id"`
	Used int    `json:"used"`
}

// QuotaUses lists the quotas of the scope's account, the greatest users first.
func QuotaUses(v *View) []QuotaUse {
	all := v.In(Owner{AccountID: v.scope.AccountID})
	list := make([]QuotaUse, len(quotas))
	for i, q := range quotas {
		used := make(map[string]int)
		q.uses(all, func(holder string) { used[holder]++ })
		list[i] = QuotaUse{Name: q.name, Default: q.limit, Limit: all.Limit(q.name)}
		for id, n := range used {
			list[i].Holders = append(list[i].Holders, QuotaHolder{id, n})
		}
		slices.SortFunc(list[i].Holders, func(a, b QuotaHolder) int {
			return cmp.Or(cmp.Compare(b.Used, a.Used), cmp.Compare(a.ID, b.ID))
		})
	}
	return list
}

// QuotaNames lists the quotas.
func QuotaNames() []QuotaName {
	names := make([]QuotaName, len(quotas))
	for i, q := range quotas {
		names[i] = q.name
	}
	return names
}
