package pull

import (
	"strconv"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

const (
	payOnDemand = "PayOnDemand"
	whiteListOn = "open_white_list"
	mostOfSlb   = 100
)

// clbKinds are Classic Load Balancers and what belongs to them.
func clbKinds() []*kind {
	return []*kind{
		loadBalancers(), vServerGroups(), masterSlaveServerGroups(), listeners(), rules(),
		of(cloud.DomainExtensions, kind{
			of:   cloud.Listeners.Kind(),
			when: func(r row) bool { return r.text("ListenerProtocol") == "https" },
			lists: []read{{product: "Slb", action: "DescribeDomainExtensions", list: "DomainExtensions.DomainExtension",
				params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort")}},
			id: "DomainExtensionId",
		}, nil),
		of(cloud.HighDefinitionMonitors, kind{
			lists:  []read{{product: "Slb", action: "DescribeHighDefinationMonitor"}},
			idOf:   func(r row) string { return r.text("LogProject") },
			chosen: func(_ *Puller, r row) bool { return r.text("LogProject") != "" },
		}, nil),
	}
}

func loadBalancers() *kind {
	return of(cloud.LoadBalancers, kind{
		lists: []read{{product: "Slb", action: "DescribeLoadBalancers", list: "LoadBalancers.LoadBalancer", pages: numbered.of(mostOfSlb)}},
		id:    "LoadBalancerId", tags: "Tags.Tag", tag: cloud.TagLoadBalancer, chosen: (*Puller).wants,
		details: []detail{{read: read{product: "Slb", action: "DescribeLoadBalancerAttribute", params: each("LoadBalancerId", "=LoadBalancerId")}, needed: true}},
		joined: []detail{{read: read{product: "Slb", action: "DescribeAccessLogsDownloadAttribute", params: each("LogType", "layer7"),
			list: "LogsDownloadAttributes.LogsDownloadAttribute", pages: numbered}, as: "AccessLog"}},
	}, func(b *builder, lb *cloud.LoadBalancer, r row) error {
		lb.Idle = lb.Status == cloud.LoadBalancerInactive && len(r.list("ListenerPortsAndProtocol.ListenerPortAndProtocol")) == 0
		for i := range lb.BackendServers {
			b.dropShownAddress(&lb.BackendServers[i])
		}
		if lb.PayType == payOnDemand {
			lb.EndTime = time.Time{} // the answer has a day in the year 2999
		}
		if lb.Ineffective != nil {
			cloud.OrderInternetSpec(b.tx, lb, lb.Ineffective)
		}
		return nil
	})
}

func vServerGroups() *kind {
	return of(cloud.VServerGroups, kind{
		of:    cloud.LoadBalancers.Kind(),
		lists: []read{{product: "Slb", action: "DescribeVServerGroups", params: each("LoadBalancerId", "=LoadBalancerId"), list: "VServerGroups.VServerGroup"}},
		id:    "VServerGroupId", tags: "Tags.Tag", tag: cloud.TagVServerGroup,
		details: []detail{{read: read{product: "Slb", action: "DescribeVServerGroupAttribute", params: each("VServerGroupId", "=VServerGroupId")}, needed: true}},
	}, func(b *builder, g *cloud.VServerGroup, _ row) error {
		for i := range g.BackendServers {
			b.dropShownAddress(&g.BackendServers[i])
		}
		return nil
	})
}

// dropShownAddress takes the address off a server that is an instance, where it is the one that
// answers show for every instance.
func (b *builder) dropShownAddress(s *cloud.BackendServer) {
	shown := cloud.BackendServer{ServerID: s.ServerID, Type: s.Type}
	if s.Type == cloud.BackendServerECS && s.ServerIP == shown.Address(b.tx.View) {
		s.ServerIP = ""
	}
}

func masterSlaveServerGroups() *kind {
	return of(cloud.MasterSlaveServerGroups, kind{
		of: cloud.LoadBalancers.Kind(),
		lists: []read{{product: "Slb", action: "DescribeMasterSlaveServerGroups", params: each("LoadBalancerId", "=LoadBalancerId"),
			list: "MasterSlaveServerGroups.MasterSlaveServerGroup"}},
		id: "MasterSlaveServerGroupId", tags: "Tags.Tag", tag: cloud.TagMasterSlaveServerGroup,
		details: []detail{{read: read{product: "Slb", action: "DescribeMasterSlaveServerGroupAttribute",
			params: each("MasterSlaveServerGroupId", "=MasterSlaveServerGroupId")}, needed: true}},
	}, func(b *builder, g *cloud.MasterSlaveServerGroup, _ row) error {
		for i := range g.BackendServers {
			b.dropShownAddress(&g.BackendServers[i].BackendServer)
		}
		return nil
	})
}

// attributeOf is the read about a listener of a protocol.
func attributeOf(protocol cloud.Protocol, name string) detail {
	return detail{read: read{product: "Slb", action: "DescribeLoadBalancer" + name + "ListenerAttribute",
		params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort")},
		when: func(r row) bool { return r.text("ListenerProtocol") == string(protocol) }}
}

func listeners() *kind {
	k := kind{
		lists: []read{{product: "Slb", action: "DescribeLoadBalancerListeners", list: "Listeners", pages: byToken}},
		tags:  "Tags.Tag", tag: cloud.TagListener, spread: []string{"TCPListenerConfig", "UDPListenerConfig", "HTTPListenerConfig", "HTTPSListenerConfig"},
		idOf: func(r row) string {
			port, _ := strconv.Atoi(r.text("ListenerPort")) // no port is no listener
			return cloud.ListenerID(r.text("LoadBalancerId"), cloud.Protocol(r.text("ListenerProtocol")), port)
		},
		chosen: func(p *Puller, r row) bool { return p.has(cloud.LoadBalancers.Kind(), r.text("LoadBalancerId")) },
		details: []detail{attributeOf(cloud.TCP, "TCP"), attributeOf(cloud.UDP, "UDP"), attributeOf(cloud.HTTP, "HTTP"), attributeOf(cloud.HTTPS, "HTTPS"),
			{read: read{product: "Slb", action: "DescribeListenerAccessControlAttribute",
				params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort", "ListenerProtocol", "=ListenerProtocol")}}},
	}
	return of(cloud.Listeners, k, func(_ *builder, l *cloud.Listener, _ row) error {
		switch {
		case l.WhiteListStatus == whiteListOn:
			l.WhiteListStatus = cloud.On
		case len(l.WhiteList) > 0:
			l.WhiteListStatus = cloud.Off
		default:
			l.WhiteListStatus = ""
		}
		if l.Protocol == cloud.TCP && l.HealthCheck.Method == "head" {
			l.HealthCheck.Method = "" // which answers say of a listener that has none
		}
		return nil
	})
}

func rules() *kind {
	return of(cloud.Rules, kind{
		of:   cloud.Listeners.Kind(),
		when: func(r row) bool { return r.text("ListenerProtocol") == "http" || r.text("ListenerProtocol") == "https" },
		lists: []read{{product: "Slb", action: "DescribeRules", list: "Rules.Rule",
			params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort", "ListenerProtocol", "=ListenerProtocol")}},
		id: "RuleId",
	}, func(_ *builder, r *cloud.Rule, from row) error {
		port, err := strconv.Atoi(from.text("^.ListenerPort"))
		r.ListenerID = cloud.ListenerID(r.LoadBalancerID, cloud.Protocol(from.text("^.ListenerProtocol")), port)
		if r.ListenerSync == cloud.On { // the answer shows the listener's
			r.Scheduler, r.StickySession, r.StickySessionType, r.Cookie, r.CookieTimeout = "", "", "", "", 0
			r.HealthCheck = cloud.HealthCheck{}
		}
		return err
	})
}
