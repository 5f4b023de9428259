package pull

import (
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// nlbKinds returns the kinds of Network Load Balancers and their parts.
func nlbKinds() []*kind {
	return []*kind{
		of(kinds.NLBSecurityPolicies, kind{
			lists: []read{{product: "Nlb", action: "ListSecurityPolicy", list: "SecurityPolicies", pages: byToken}},
			id:    "SecurityPolicyId", tags: "Tags", tag: kinds.TagNLBSecurityPolicy,
		}, nil),
		nlbLoadBalancers(),
		of(kinds.NLBServerGroups, kind{
			lists: []read{{product: "Nlb", action: "ListServerGroups", list: "ServerGroups", pages: byToken}},
			id:    "ServerGroupId", tags: "Tags", tag: kinds.TagNLBServerGroup, chosen: (*Puller).inVPC,
			details: []detail{{read: read{product: "Nlb", action: "ListServerGroupServers", params: each("ServerGroupId", "=ServerGroupId"),
				list: "Servers", pages: byToken}, as: "Servers", needed: true}},
		}, func(_ *builder, g *kinds.NLBServerGroup, _ row) error {
			for i := range g.Servers {
				if s := &g.Servers[i]; s.Changing == "Available" {
					s.Changing = ""
				}
			}
			return nil
		}),
		nlbListeners(),
		of(kinds.NLBHdMonitorConfigs, kind{
			lists:  []read{{product: "Nlb", action: "DescribeHdMonitorRegionConfig"}},
			idOf:   func(r row) string { return r.text("LogProject") },
			chosen: func(_ *Puller, r row) bool { return r.text("LogProject") != "" },
		}, nil),
	}
}

func nlbLoadBalancers() *kind {
	return of(kinds.NLBLoadBalancers, kind{
		lists: []read{{product: "Nlb", action: "ListLoadBalancers", list: "LoadBalancers", pages: byToken}},
		id:    "LoadBalancerId", tags: "Tags", tag: kinds.TagNLBLoadBalancer, chosen: (*Puller).wants,
		details: []detail{{read: read{product: "Nlb", action: "GetLoadBalancerAttribute", params: each("LoadBalancerId", "=LoadBalancerId")}}},
	}, func(b *builder, lb *kinds.NLBLoadBalancer, _ row) error {
		if lb.OtherLock == kinds.NLBFinancialLocked {
			lb.OtherLock = ""
		}
		if lb.LockedBy() != "" && lb.Status == "Inactive" {
			lb.Status = kinds.NLBActive // which a locked one is shown as
		}
		for i := range lb.ZoneMappings {
			z := &lb.ZoneMappings[i]
			z.OwnEIP = z.PublicIPv4Address != "" && !b.has(kinds.EIPs.Kind(), z.AllocationID)
		}
		return nil
	})
}

func nlbListeners() *kind {
	return of(kinds.NLBListeners, kind{
		lists: []read{{product: "Nlb", action: "ListListeners", list: "Listeners", pages: byToken}},
		id:    "ListenerId", tags: "Tags", tag: kinds.TagNLBListener,
		chosen: func(p *Puller, r row) bool { return p.has(kinds.NLBLoadBalancers.Kind(), r.text("LoadBalancerId")) },
		details: []detail{{read: read{product: "Nlb", action: "ListListenerCertificates", params: each("ListenerId", "=ListenerId", "CertType", "Server"),
			list: "Certificates", pages: byToken.of(50)}, as: "Certificates", when: func(r row) bool { return r.text("ListenerProtocol") == kinds.NLBTCPSSL }}},
	}, func(_ *builder, l *kinds.NLBListener, from row) error {
		for _, c := range from.list("Certificates") {
			if c.text("IsDefault") == "false" {
				l.AdditionalCertificateIDs = append(l.AdditionalCertificateIDs, c.text("CertificateId"))
			}
		}
		return nil
	})
}
