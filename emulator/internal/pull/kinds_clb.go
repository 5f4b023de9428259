package pull

import (
	"strconv"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

const (
	payOnDemand = "PayOnDemand"
	whiteListOn = "open_white_list"
	mostOfSlb   = 100
)

// clbKinds returns the kinds of Classic Load Balancers and their parts.
func clbKinds() []*kind {
	return []*kind{
		loadBalancers(), vServerGroups(), masterSlaveServerGroups(), listeners(), rules(),
		of(kinds.DomainExtensions, kind{
			of:   kinds.Listeners.Kind(),
			when: func(r row) bool { return r.text("ListenerProtocol") == "https" },
			lists: []read{{product: "Slb", action: "DescribeDomainExtensions", list: "DomainExtensions.DomainExtension",
				params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort")}},
			id: "DomainExtensionId",
		}, nil),
		of(kinds.HighDefinitionMonitors, kind{
			lists:  []read{{product: "Slb", action: "DescribeHighDefinationMonitor"}},
			idOf:   func(r row) string { return r.text("LogProject") },
			chosen: func(_ *Puller, r row) bool { return r.text("LogProject") != "" },
		}, nil),
	}
}

func loadBalancers() *kind {
	return of(kinds.LoadBalancers, kind{
		lists: []read{{product: "Slb", action: "DescribeLoadBalancers", list: "LoadBalancers.LoadBalancer", pages: numbered.of(mostOfSlb)}},
		id:    "LoadBalancerId", tags: "Tags.Tag", tag: kinds.TagLoadBalancer, chosen: (*Puller).wants,
		details: []detail{{read: read{product: "Slb", action: "DescribeLoadBalancerAttribute", params: each("LoadBalancerId", "=LoadBalancerId")}, needed: true}},
		joined: []detail{{read: read{product: "Slb", action: "DescribeAccessLogsDownloadAttribute", params: each("LogType", "layer7"),
			list: "LogsDownloadAttributes.LogsDownloadAttribute", pages: numbered}, as: "AccessLog"}},
	}, func(b *builder, lb *kinds.LoadBalancer, r row) error {
		lb.Idle = lb.Status == kinds.LoadBalancerInactive && len(r.list("ListenerPortsAndProtocol.ListenerPortAndProtocol")) == 0
		for i := range lb.BackendServers {
			b.dropShownAddress(&lb.BackendServers[i])
		}
		if lb.PayType == payOnDemand {
			lb.EndTime = time.Time{} // the answer has a day in the year 2999
		}
		if lb.Ineffective != nil {
			kinds.OrderInternetSpec(b.tx, lb, lb.Ineffective)
		}
		return nil
	})
}

func vServerGroups() *kind {
	return of(kinds.VServerGroups, kind{
		of:    kinds.LoadBalancers.Kind(),
		lists: []read{{product: "Slb", action: "DescribeVServerGroups", params: each("LoadBalancerId", "=LoadBalancerId"), list: "VServerGroups.VServerGroup"}},
		id:    "VServerGroupId", tags: "Tags.Tag", tag: kinds.TagVServerGroup,
		details: []detail{{read: read{product: "Slb", action: "DescribeVServerGroupAttribute", params: each("VServerGroupId", "=VServerGroupId")}, needed: true}},
	}, func(b *builder, g *kinds.VServerGroup, _ row) error {
		for i := range g.BackendServers {
			b.dropShownAddress(&g.BackendServers[i])
		}
		return nil
	})
}

// dropShownAddress takes the address off a server that is an instance, where it is the one that
// answers show for every instance.
func (b *builder) dropShownAddress(s *kinds.BackendServer) {
	shown := kinds.BackendServer{ServerID: s.ServerID, Type: s.Type}
	if s.Type == kinds.BackendServerECS && s.ServerIP == shown.Address(b.tx.View) {
		s.ServerIP = ""
	}
}

func masterSlaveServerGroups() *kind {
	return of(kinds.MasterSlaveServerGroups, kind{
		of: kinds.LoadBalancers.Kind(),
		lists: []read{{product: "Slb", action: "DescribeMasterSlaveServerGroups", params: each("LoadBalancerId", "=LoadBalancerId"),
			list: "MasterSlaveServerGroups.MasterSlaveServerGroup"}},
		id: "MasterSlaveServerGroupId", tags: "Tags.Tag", tag: kinds.TagMasterSlaveServerGroup,
		details: []detail{{read: read{product: "Slb", action: "DescribeMasterSlaveServerGroupAttribute",
			params: each("MasterSlaveServerGroupId", "=MasterSlaveServerGroupId")}, needed: true}},
	}, func(b *builder, g *kinds.MasterSlaveServerGroup, _ row) error {
		for i := range g.BackendServers {
			b.dropShownAddress(&g.BackendServers[i].BackendServer)
		}
		return nil
	})
}

// attributeOf returns the read about a listener of a protocol.
func attributeOf(protocol kinds.Protocol, name string) detail {
	return detail{read: read{product: "Slb", action: "DescribeLoadBalancer" + name + "ListenerAttribute",
		params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort")},
		when: func(r row) bool { return r.text("ListenerProtocol") == string(protocol) }}
}

func listeners() *kind {
	k := kind{
		lists: []read{{product: "Slb", action: "DescribeLoadBalancerListeners", list: "Listeners", pages: byToken}},
		tags:  "Tags.Tag", tag: kinds.TagListener, spread: []string{"TCPListenerConfig", "UDPListenerConfig", "HTTPListenerConfig", "HTTPSListenerConfig"},
		idOf: func(r row) string {
			port, _ := strconv.Atoi(r.text("ListenerPort")) // no port is no listener
			return kinds.ListenerID(r.text("LoadBalancerId"), kinds.Protocol(r.text("ListenerProtocol")), port)
		},
		chosen: func(p *Puller, r row) bool { return p.has(kinds.LoadBalancers.Kind(), r.text("LoadBalancerId")) },
		details: []detail{attributeOf(kinds.TCP, "TCP"), attributeOf(kinds.UDP, "UDP"), attributeOf(kinds.HTTP, "HTTP"), attributeOf(kinds.HTTPS, "HTTPS"),
			{read: read{product: "Slb", action: "DescribeListenerAccessControlAttribute",
				params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort", "ListenerProtocol", "=ListenerProtocol")}}},
	}
	return of(kinds.Listeners, k, func(_ *builder, l *kinds.Listener, _ row) error {
		switch {
		case l.WhiteListStatus == whiteListOn:
			l.WhiteListStatus = kinds.On
		case len(l.WhiteList) > 0:
			l.WhiteListStatus = kinds.Off
		default:
			l.WhiteListStatus = ""
		}
		if l.Protocol == kinds.TCP && l.HealthCheck.Method == "head" {
			l.HealthCheck.Method = "" // which answers say of a listener that has none
		}
		return nil
	})
}

func rules() *kind {
	return of(kinds.Rules, kind{
		of:   kinds.Listeners.Kind(),
		when: func(r row) bool { return r.text("ListenerProtocol") == "http" || r.text("ListenerProtocol") == "https" },
		lists: []read{{product: "Slb", action: "DescribeRules", list: "Rules.Rule",
			params: each("LoadBalancerId", "=LoadBalancerId", "ListenerPort", "=ListenerPort", "ListenerProtocol", "=ListenerProtocol")}},
		id: "RuleId",
	}, func(_ *builder, r *kinds.Rule, from row) error {
		port, err := strconv.Atoi(from.text("^.ListenerPort"))
		r.ListenerID = kinds.ListenerID(r.LoadBalancerID, kinds.Protocol(from.text("^.ListenerProtocol")), port)
		if r.ListenerSync == kinds.On { // the answer shows the listener's
			r.Scheduler, r.StickySession, r.StickySessionType, r.Cookie, r.CookieTimeout = "", "", "", "", 0
			r.HealthCheck = kinds.HealthCheck{}
		}
		return err
	})
}
