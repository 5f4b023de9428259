package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The protocols of NLB's listeners and server groups.
const (
	NLBTCP    = "TCP"
	NLBUDP    = "UDP"
	NLBTCPSSL = "TCPSSL"
	NLBTCPUDP = "TCP_UDP" // of server groups alone
)

// The states of a listener of NLB.
const (
	NLBListenerProvisioning = "Provisioning"
	NLBListenerRunning      = "Running"
	NLBListenerConfiguring  = "Configuring"
	NLBListenerStarting     = "Starting"
	NLBListenerStopping     = "Stopping"
	NLBListenerStopped      = "Stopped"
	NLBListenerDeleting     = "Deleting"
)

// The states of an additional certificate.
const (
	NLBCertificateAssociating  = "Associating"
	NLBCertificateAssociated   = "Associated"
	NLBCertificateDissociating = "Diassociating"
)

// NLBListener is a port, or a range of ports, of a Network Load Balancer. Its Port
// is 0 where it has a range.
type NLBListener struct {
	state.Owner
	// CreateTime orders lists; rows of older states have none.
	CreateTime               time.Time `json:",omitzero"`
	ID                       string
	LoadBalancerID           string
	Protocol                 string
	Port                     int
	StartPort                int `json:",omitempty"`
	EndPort                  int `json:",omitempty"`
	Status                   string
	Description              string `json:",omitempty"`
	ServerGroupID            string
	IdleTimeout              int
	Cps                      int `json:",omitempty"`
	Mss                      int `json:",omitempty"`
	ProxyProtocolEnabled     bool
	ProxyProtocolV2          NLBProxyProtocolV2
	SecSensorEnabled         bool     `json:",omitempty"`
	SecurityPolicyID         string   `json:",omitempty"`
	CertificateIDs           []string `json:",omitempty"`
	AdditionalCertificateIDs []string `json:",omitempty"`
	CAEnabled                bool     `json:",omitempty"`
	CACertificateIDs         []string `json:",omitempty"`
	AlpnEnabled              bool     `json:",omitempty"`
	AlpnPolicy               string   `json:",omitempty"`
}

// NLBProxyProtocolV2 selects the contents of the proxy protocol's header besides addresses.
type NLBProxyProtocolV2 struct {
	VPCID            bool `json:",omitempty"`
	PrivateLinkEPID  bool `json:",omitempty"`
	PrivateLinkEPSID bool `json:",omitempty"`
}

// Ports returns the first and the last port on which the listener answers.
func (l *NLBListener) Ports() (first, last int) {
	if l.Port != 0 {
		return l.Port, l.Port
	}
	return l.StartPort, l.EndPort
}

// Overlaps reports whether the two can't be on one load balancer: TCP and UDP may
// share a port.
func (l *NLBListener) Overlaps(other *NLBListener) bool {
	first, last := l.Ports()
	otherFirst, otherLast := other.Ports()
	return (l.Protocol == NLBUDP) == (other.Protocol == NLBUDP) && first <= otherLast && otherFirst <= last
}

// TagNLBListener is the type of the tags of NLBListeners.
const TagNLBListener state.TagResourceType = "nlb:listener"

// NLBListeners by id. Certificates are the certificate service's, and no
// reference: NLB-0012.
var NLBListeners = state.NewTable(Schema, "NLBListener", func(l *NLBListener) string { return l.ID },
	state.IDForm("lsn-", 15), state.Tagged(TagNLBListener, ProductNLB, "listener"),
	state.Belongs(NLBServerGroups, func(l *NLBListener) string { return l.ServerGroupID }),
	state.Life(func(l *NLBListener) *string { return &l.Status }))

// NLBListenersByLoadBalancer finds listeners by load balancer.
var NLBListenersByLoadBalancer = NLBListeners.Index("loadbalancer", func(l *NLBListener) [][]string {
	return state.Key(l.LoadBalancerID)
})

// NLBListenersByRegion finds listeners by account and region.
var NLBListenersByRegion = NLBListeners.Index("region", func(l *NLBListener) [][]string {
	return state.Key(l.AccountID, l.RegionID)
})

// NLBListenersByServerGroup finds the listeners that forward to a group.
var NLBListenersByServerGroup = NLBListeners.Index("servergroup", func(l *NLBListener) [][]string {
	return state.Key(l.ServerGroupID)
})

// NLBListenersBySecurityPolicy finds listeners by security policy.
var NLBListenersBySecurityPolicy = NLBListeners.Index("securitypolicy", func(l *NLBListener) [][]string {
	return state.Key(l.SecurityPolicyID)
})

var _ = NLBLoadBalancers.With(state.OwnedBy(NLBListenersByLoadBalancer, NLBLoadBalancers))

var _ = NLBListeners.With(
	state.Checks(checkNLBListener),
	state.On(NLBListenerDeleting, func(tx *state.Tx, t *state.Transition) { NLBListeners.Remove(tx, t.ResourceID) }))

func checkNLBListener(c *state.Checker, l *NLBListener) {
	state.Among(c, NLBListeners, l, "protocol", l.Protocol, NLBTCP, NLBUDP, NLBTCPSSL)
	state.Among(c, NLBListeners, l, "status", l.Status, NLBListenerProvisioning, NLBListenerRunning, NLBListenerConfiguring,
		NLBListenerStarting, NLBListenerStopping, NLBListenerStopped, NLBListenerDeleting)
	first, last := l.Ports()
	state.Between(c, NLBListeners, l, "first port", first, 1, last)
	state.Between(c, NLBListeners, l, "last port", last, first, 65535)
	for other := range NLBListenersByLoadBalancer.List(c.View(), l.LoadBalancerID) {
		if other != l && l.Overlaps(other) {
			c.Fail("NLBListener %s shares a port with %s", l.ID, other.ID)
		}
	}
	lb, known := NLBLoadBalancers.Find(c.View(), l.LoadBalancerID)
	if g, ok := NLBServerGroups.Find(c.View(), l.ServerGroupID); ok && known && g.VPCID != lb.VPCID {
		c.Fail("NLBListener %s forwards to NLBServerGroup %s of another VPC", l.ID, g.ID)
	}
	if l.Protocol == NLBTCPSSL && len(l.CertificateIDs) == 0 {
		c.Fail("NLBListener %s has no certificate", l.ID)
	}
}

// forwards reports whether a listener takes connections: a change of one that runs does
// not interrupt it.
func (l *NLBListener) forwards(v *state.View) bool {
	return l.Status == NLBListenerRunning ||
		l.Status == NLBListenerConfiguring && state.Next(v, NLBListeners.Kind(), l.ID, l.Status) == NLBListenerRunning
}

// The stages of a listener: CLB-0500.
var (
	StageNLBListenerProvisioning = NLBListeners.Stage("nlb.listener.provisioning", NLBListenerProvisioning, NLBListenerRunning, time.Second)
	StageNLBListenerConfiguring  = NLBListeners.Stage("nlb.listener.configuring", NLBListenerConfiguring, "", time.Second)
	StageNLBListenerStarting     = NLBListeners.Stage("nlb.listener.starting", NLBListenerStarting, NLBListenerRunning, time.Second)
	StageNLBListenerStopping     = NLBListeners.Stage("nlb.listener.stopping", NLBListenerStopping, NLBListenerStopped, time.Second)
	StageNLBListenerDeleting     = NLBListeners.Stage("nlb.listener.deleting", NLBListenerDeleting, "", time.Second)
)

// The quotas of a load balancer, and of a server group for its listeners: NLB-0011.
var (
	QuotaNLBListeners = state.Renamed(Schema, "nlb_quota_listeners_num", state.NewQuota(Schema, "nlb_quota_loadbalancer_listeners_num", 50,
		state.Of(NLBListeners, func(l *NLBListener, add func(string, int)) { add(l.LoadBalancerID, 1) })))
	QuotaNLBCertificates = state.Renamed(Schema, "nlb_quota_listener_additional_certificates_num", state.NewQuota(Schema, "nlb_quota_loadbalancer_certificates_num", 25,
		state.Of(NLBListeners, func(l *NLBListener, add func(string, int)) { add(l.LoadBalancerID, len(l.AdditionalCertificateIDs)) })))
	QuotaNLBGroupListeners = state.NewQuota(Schema, "nlb_quota_servergroup_attached_num", 50,
		state.Of(NLBListeners, func(l *NLBListener, add func(string, int)) { add(l.ServerGroupID, 1) }))
)
