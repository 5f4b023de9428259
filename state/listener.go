package state

import (
	"fmt"
	"strconv"
	"time"
)

// Protocol is what a listener speaks.
type Protocol string

// The listener protocols.
const (
	TCP   Protocol = "tcp"
	UDP   Protocol = "udp"
	HTTP  Protocol = "http"
	HTTPS Protocol = "https"
)

// ListenerStatus is where a listener is in its life.
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
	Owner
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

	// Layer 4.
	PersistenceTimeout     int    `json:",omitempty"`
	EstablishedTimeout     int    `json:",omitempty"`
	ConnectionDrain        string `json:",omitempty"`
	ConnectionDrainTimeout int    `json:",omitempty"`
	ProxyProtocolV2Enabled bool   `json:",omitempty"`
	SynProxy               string `json:",omitempty"`

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

// HealthCheck is how a listener finds out which backends are well. Intervals
// and timeouts are in seconds; ConnectPort 0 is the backend's own port.
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

// ListenerID is the id of a Listener, and the resource id of its tags:
// <load balancer>_<protocol>_<port>.
func ListenerID(loadBalancerID string, protocol Protocol, port int) string {
	return fmt.Sprintf("%s_%s_%d", loadBalancerID, protocol, port)
}

// ID is the listener's ListenerID.
func (l *Listener) ID() string { return ListenerID(l.LoadBalancerID, l.Protocol, l.Port) }

// Listeners by ListenerID.
var Listeners = newTable("Listener", (*Listener).ID)

// ListenersByLoadBalancer finds listeners by load balancer, port (five digits,
// see PortKey).
var ListenersByLoadBalancer = Listeners.index("loadbalancer", func(l *Listener) [][]string {
	return one(l.LoadBalancerID, PortKey(l.Port))
})

// ListenersByVServerGroup finds the listeners that forward to a group.
var ListenersByVServerGroup = Listeners.index("vservergroup", func(l *Listener) [][]string {
	return one(l.VServerGroupID)
})

// ListenersByAccessControlList finds listeners by an ACL bound to them.
var ListenersByAccessControlList = Listeners.index("acl", func(l *Listener) [][]string {
	keys := make([][]string, len(l.AclIDs))
	for i, id := range l.AclIDs {
		keys[i] = []string{id}
	}
	return keys
})

// ListenersByCertificate finds listeners by their server or CA certificate.
var ListenersByCertificate = Listeners.index("certificate", func(l *Listener) [][]string {
	return append(one(l.ServerCertificateID), one(l.CACertificateID)...)
})

// PortKey spells a port so that text order is number order.
func PortKey(port int) string {
	text := strconv.Itoa(port)
	return "00000"[min(len(text), 5):] + text
}
