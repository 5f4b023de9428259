package pull

import (
	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

// nlbKinds are Network Load Balancers and what belongs to them.
func nlbKinds() []*kind {
	return []*kind{nlbSecurityPolicies(), nlbLoadBalancers(), nlbServerGroups(), nlbListeners(), nlbMonitors()}
}

func nlbSecurityPolicies() *kind {
	return of(cloud.NLBSecurityPolicies, kind{
		lists: []read{{product: "Nlb", action: "ListSecurityPolicy", list: "SecurityPolicies", pages: byToken}},
		id:    "SecurityPolicyId", tags: "Tags", tag: cloud.TagNLBSecurityPolicy,
		fields: `
			TLSVersions TlsVersion`,
		unread: map[string]string{"CreateTime": whyNoTime},
	}, nil)
}

const nlbFields = `
			ZoneMappings[].ENIID               LoadBalancerAddresses.0.EniId
			ZoneMappings[].PrivateIPv4Address  LoadBalancerAddresses.0.PrivateIPv4Address
			ZoneMappings[].IPv6Address         LoadBalancerAddresses.0.Ipv6Address
			ZoneMappings[].AllocationID        LoadBalancerAddresses.0.AllocationId
			ZoneMappings[].PublicIPv4Address   LoadBalancerAddresses.0.PublicIPv4Address
			ZoneMappings[].OwnEIP              -
			ZoneMappings[].IPv4Local           LoadBalancerAddresses.0.Ipv4LocalAddresses
			ZoneMappings[].IPv6Local           LoadBalancerAddresses.0.Ipv6LocalAddresses
			DeletionProtection.Enabled         DeletionProtectionConfig.Enabled
			DeletionProtection.Reason          DeletionProtectionConfig.Reason
			DeletionProtection.EnabledTime     DeletionProtectionConfig.EnabledTime
			ModificationProtection.Enabled     ModificationProtectionConfig.Status =ConsoleProtection
			ModificationProtection.Reason      ModificationProtectionConfig.Reason
			ModificationProtection.EnabledTime ModificationProtectionConfig.EnabledTime
			FinancialLocked                    OperationLocks.0.LockType =FinancialLocked
			OtherLock                          OperationLocks.0.LockType`

func nlbLoadBalancers() *kind {
	return of(cloud.NLBLoadBalancers, kind{
		lists: []read{{product: "Nlb", action: "ListLoadBalancers", list: "LoadBalancers", pages: byToken}},
		id:    "LoadBalancerId", tags: "Tags", tag: cloud.TagNLBLoadBalancer, chosen: (*Puller).wants,
		details: []detail{{read: read{product: "Nlb", action: "GetLoadBalancerAttribute", params: each("LoadBalancerId", "=LoadBalancerId")}}},
		fields:  nlbFields,
		unread:  map[string]string{"OrderID": "no answer says the number of the order"},
	}, func(b *builder, lb *cloud.NLBLoadBalancer, _ row) error {
		if lb.OtherLock == cloud.NLBFinancialLocked {
			lb.OtherLock = ""
		}
		if lb.LockedBy() != "" && lb.Status == "Inactive" {
			lb.Status = cloud.NLBActive // which a locked one is shown as
		}
		for i := range lb.ZoneMappings {
			z := &lb.ZoneMappings[i]
			z.OwnEIP = z.PublicIPv4Address != "" && !b.has(cloud.EIPs.Kind(), z.AllocationID)
		}
		return nil
	})
}

func nlbServerGroups() *kind {
	return of(cloud.NLBServerGroups, kind{
		lists: []read{{product: "Nlb", action: "ListServerGroups", list: "ServerGroups", pages: byToken}},
		id:    "ServerGroupId", tags: "Tags", tag: cloud.TagNLBServerGroup, chosen: (*Puller).inVPC,
		details: []detail{{read: read{product: "Nlb", action: "ListServerGroupServers", params: each("ServerGroupId", "=ServerGroupId"),
			list: "Servers", pages: byToken}, as: "Servers", needed: true}},
		fields: `
			HealthCheck.HTTPMethod HealthCheck.HttpCheckMethod
			HealthCheck.HTTPCodes  HealthCheck.HealthCheckHttpCode
			HealthCheck.Request    HealthCheck.HealthCheckReq
			HealthCheck.Response   HealthCheck.HealthCheckExp`,
		unread: map[string]string{"CreateTime": whyNoTime},
	}, nil)
}

func nlbListeners() *kind {
	return of(cloud.NLBListeners, kind{
		lists: []read{{product: "Nlb", action: "ListListeners", list: "Listeners", pages: byToken}},
		id:    "ListenerId", tags: "Tags", tag: cloud.TagNLBListener,
		chosen: func(p *Puller, r row) bool { return p.has(cloud.NLBLoadBalancers.Kind(), r.text("LoadBalancerId")) },
		details: []detail{{read: read{product: "Nlb", action: "ListListenerCertificates", params: each("ListenerId", "=ListenerId", "CertType", "Server"),
			list: "Certificates", pages: byToken.of(50)}, as: "Certificates", when: func(r row) bool { return r.text("ListenerProtocol") == cloud.NLBTCPSSL }}},
		fields: `
			ProxyProtocolV2.VPCID            ProxyProtocolV2Config.Ppv2VpcIdEnabled
			ProxyProtocolV2.PrivateLinkEPID  ProxyProtocolV2Config.Ppv2PrivateLinkEpIdEnabled
			ProxyProtocolV2.PrivateLinkEPSID ProxyProtocolV2Config.Ppv2PrivateLinkEpsIdEnabled
			AdditionalCertificateIDs         -`,
		unread: map[string]string{"CreateTime": whyNoTime},
	}, func(_ *builder, l *cloud.NLBListener, from row) error {
		for _, c := range from.list("Certificates") {
			if c.text("IsDefault") == "false" {
				l.AdditionalCertificateIDs = append(l.AdditionalCertificateIDs, c.text("CertificateId"))
			}
		}
		return nil
	})
}

func nlbMonitors() *kind {
	return of(cloud.NLBHdMonitorConfigs, kind{
		lists:  []read{{product: "Nlb", action: "DescribeHdMonitorRegionConfig"}},
		idOf:   func(r row) string { return r.text("LogProject") },
		chosen: func(_ *Puller, r row) bool { return r.text("LogProject") != "" },
	}, nil)
}
