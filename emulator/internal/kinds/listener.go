package kinds

import (
	"strconv"
	"time"

	"github.com/clbemu/clbemu/state"
)

// Protocol is the protocol of a listener.
type Protocol string

// The listener protocols.
const (
	TCP   Protocol = "tcp"
	UDP   Protocol = "udp"
	HTTP  Protocol = "http"
	HTTPS Protocol = "https"
)

// ListenerStatus is the status of a listener.
type ListenerStatus string

// The states of a listener.
const (
	ListenerStarting    ListenerStatus = "starting"
	ListenerRunning     ListenerStatus = "running"
	ListenerConfiguring ListenerStatus = "configuring"
	ListenerStopping    ListenerStatus = "stopping"
	ListenerStopped     ListenerStatus = "stopped"
)

// Listener is a port of a load balancer. Fields that its protocol does not have
// are zero.
type Listener struct {
	state.Owner
	LoadBalancerID    string
	Port              int
	Protocol          Protocol
	Status            ListenerStatus
	Description       string `json:",omitempty"`
	Scheduler         string
	Bandwidth         int
	BackendServerPort int      `json:",omitempty"`
	VServerGroupID    string   `json:",omitempty"`
	AclIDs            []string `json:",omitempty"`
	AclStatus         string
	AclType           string `json:",omitempty"`
	HealthCheck       HealthCheck
	// WhiteList is the older form of access control: on or off, and addresses.
	WhiteListStatus string   `json:",omitempty"`
	WhiteList       []string `json:",omitempty"`

	// Layer 4.
	MasterSlaveServerGroupID string `json:",omitempty"`
	PersistenceTimeout       int    `json:",omitempty"`
	EstablishedTimeout       int    `json:",omitempty"`
	ConnectionDrain          string `json:",omitempty"`
	ConnectionDrainTimeout   int    `json:",omitempty"`
	ProxyProtocolV2Enabled   bool   `json:",omitempty"`
	// FullNATEnabled hides the addresses of clients from servers, which never see them here.
	FullNATEnabled bool   `json:",omitempty"`
	SynProxy       string `json:",omitempty"`

	// Layer 7.
	StickySession              string `json:",omitempty"`
	StickySessionType          string `json:",omitempty"`
	CookieTimeout              int    `json:",omitempty"`
	Cookie                     string `json:",omitempty"`
	XForwardedFor              string `json:",omitempty"`
	XForwardedForSLBIP         string `json:",omitempty"`
	XForwardedForSLBID         string `json:",omitempty"`
	XForwardedForProto         string `json:",omitempty"`
	XForwardedForSLBPort       string `json:",omitempty"`
	XForwardedForClientSrcPort string `json:",omitempty"`
	Gzip                       string `json:",omitempty"`
	IdleTimeout                int    `json:",omitempty"`
	RequestTimeout             int    `json:",omitempty"`
	ListenerForward            string `json:",omitempty"`
	ForwardPort                int    `json:",omitempty"`
	ForwardCode                int    `json:",omitempty"`

	// HTTPS.
	ServerCertificateID string `json:",omitempty"`
	CACertificateID     string `json:",omitempty"`
	EnableHTTP2         string `json:",omitempty"`
	TLSCipherPolicy     string `json:",omitempty"`

	CreateTime time.Time
}

// HealthCheck configures a listener's health checks. Intervals and timeouts are in
// seconds; ConnectPort 0 is the backend's own port.
type HealthCheck struct {
	Switch             string
	Type               string `json:",omitempty"`
	Domain             string `json:",omitempty"`
	URI                string `json:",omitempty"`
	Method             string `json:",omitempty"`
	HTTPCode           string `json:",omitempty"`
	HealthyThreshold   int    `json:",omitempty"`
	UnhealthyThreshold int    `json:",omitempty"`
	Timeout            int    `json:",omitempty"`
	Interval           int    `json:",omitempty"`
	ConnectPort        int    `json:",omitempty"`
	Request            string `json:",omitempty"`
	Expect             string `json:",omitempty"`
}

// ListenerID returns the id of a Listener, and the resource id of its tags: <load
// balancer>_<protocol>_<port>.
func ListenerID(loadBalancerID string, protocol Protocol, port int) string {
	return loadBalancerID + "_" + string(protocol) + "_" + strconv.Itoa(port)
}

// ID returns the listener's ListenerID.
func (l *Listener) ID() string { return ListenerID(l.LoadBalancerID, l.Protocol, l.Port) }

// TagListener is the type of the tags of Listeners.
const TagListener state.TagResourceType = "listener"

// Listeners by ListenerID.
var Listeners = state.NewTable(Schema, "Listener", (*Listener).ID,
	state.Tagged(TagListener, ProductCLB, "listener"),
	state.Refers(ServerCertificates, func(l *Listener) string { return l.ServerCertificateID }),
	state.Refers(CACertificates, func(l *Listener) string { return l.CACertificateID }),
	state.Refers(VServerGroups, func(l *Listener) string { return l.VServerGroupID }),
	state.Refers(MasterSlaveServerGroups, func(l *Listener) string { return l.MasterSlaveServerGroupID }),
	state.RefersAll(AccessControlLists, func(l *Listener) []string { return l.AclIDs }),
	state.Life(func(l *Listener) *ListenerStatus { return &l.Status }))

// ListenersByLoadBalancer finds listeners by load balancer, port (five digits,
// see PortKey).
var ListenersByLoadBalancer = Listeners.Index("loadbalancer", func(l *Listener) [][]string {
	return state.Key(l.LoadBalancerID, PortKey(l.Port))
})

// ListenersByVServerGroup finds the listeners that forward to a group.
var ListenersByVServerGroup = Listeners.Index("vservergroup", func(l *Listener) [][]string {
	return state.Key(l.VServerGroupID)
})

// ListenersByMasterSlaveServerGroup finds the listeners that forward to a
// master/slave group.
var ListenersByMasterSlaveServerGroup = Listeners.Index("masterslaveservergroup", func(l *Listener) [][]string {
	return state.Key(l.MasterSlaveServerGroupID)
})

// ListenersByAccessControlList finds listeners by an ACL bound to them.
var ListenersByAccessControlList = Listeners.Index("acl", func(l *Listener) [][]string {
	keys := make([][]string, len(l.AclIDs))
	for i, id := range l.AclIDs {
		keys[i] = []string{id}
	}
	return keys
})

// ListenersByCertificate finds listeners by their server or CA certificate.
var ListenersByCertificate = Listeners.Index("certificate", func(l *Listener) [][]string {
	return append(state.Key(l.ServerCertificateID), state.Key(l.CACertificateID)...)
})

// PortKey spells a port so that text order is number order.
func PortKey(port int) string {
	text := strconv.Itoa(port)
	return "00000"[min(len(text), 5):] + text
}

var _ = LoadBalancers.With(state.OwnedBy(ListenersByLoadBalancer, LoadBalancers))

var _ = Listeners.With(state.Checks(checkListener))

func checkListener(c *state.Checker, l *Listener) {
	checkGroup(c, Listeners.Kind(), l.ID(), l.LoadBalancerID, l.VServerGroupID)
	if g, ok := MasterSlaveServerGroups.Find(c.View(), l.MasterSlaveServerGroupID); ok && g.LoadBalancerID != l.LoadBalancerID {
		c.Fail("Listener %s forwards to MasterSlaveServerGroup %s of another load balancer", l.ID(), g.ID)
	}
	state.Among(c, Listeners, l, "protocol", l.Protocol, TCP, UDP, HTTP, HTTPS)
	state.Among(c, Listeners, l, "status", l.Status, ListenerStarting, ListenerRunning, ListenerConfiguring, ListenerStopping, ListenerStopped)
	state.Between(c, Listeners, l, "port", l.Port, 1, 65535)
	for other := range ListenersByLoadBalancer.List(c.View(), l.LoadBalancerID, PortKey(l.Port)) {
		if other != l && (other.Protocol == UDP) == (l.Protocol == UDP) {
			c.Fail("Listener %s shares its port with %s", l.ID(), other.ID())
		}
	}
}

// checkGroup checks that what forwards to a group forwards to one of its load
// balancer.
func checkGroup(c *state.Checker, from state.Kind, fromID, loadBalancerID, groupID string) {
	if g, ok := VServerGroups.Find(c.View(), groupID); ok && g.LoadBalancerID != loadBalancerID {
		c.Fail("%s %s forwards to VServerGroup %s of another load balancer", from, fromID, g.ID)
	}
}

// forwards reports whether a listener takes connections: a change of one that runs does
// not interrupt it.
func (l *Listener) forwards(v *state.View) bool {
	return l.Status == ListenerRunning ||
		l.Status == ListenerConfiguring && state.Next(v, Listeners.Kind(), l.ID(), string(l.Status)) == string(ListenerRunning)
}

// The stages of a listener. How long they take is not published: CLB-0500.
var (
	StageListenerStarting    = Listeners.Stage("listener.starting", string(ListenerStarting), string(ListenerRunning), 2*time.Second)
	StageListenerStopping    = Listeners.Stage("listener.stopping", string(ListenerStopping), string(ListenerStopped), 2*time.Second)
	StageListenerConfiguring = Listeners.Stage("listener.configuring", string(ListenerConfiguring), "", time.Second)
)

// The quotas of a load balancer, an access control list and a listener. CLB-0170.
var (
	QuotaListeners = state.NewQuota(Schema, "slb_quota_listeners_num", 50,
		state.Of(Listeners, func(l *Listener, add func(string, int)) { add(l.LoadBalancerID, 1) }))
	QuotaACLAttached = state.NewQuota(Schema, "slb_quota_acl_attached_num", 50,
		state.Of(Listeners, func(l *Listener, add func(string, int)) {
			for _, id := range l.AclIDs {
				add(id, 1)
			}
		}))
	QuotaListenerACLs = state.NewQuota(Schema, "slb_quota_listener_acls_num", 3,
		state.Within(Listeners, func(l *Listener) int { return len(l.AclIDs) }))
	QuotaWhiteList = state.NewQuota(Schema, "slb_quota_white_list_items_num", 300,
		state.Within(Listeners, func(l *Listener) int { return len(l.WhiteList) }))
)
