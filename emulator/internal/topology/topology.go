// Package topology holds the common form of the load balancers of all products: a load balancer has
// frontends, which forward to the members of groups, by rules or not. A product declares, by
// options of its kinds, how to read them in this form. The package knows no product, and what it
// returns is read only.
package topology

import (
	"iter"
	"net/netip"
	"time"

	"github.com/clbemu/clbemu/state"
)

// LoadBalancer has frontends at its addresses.
type LoadBalancer struct {
	state.Owner
	// Product is the name of the product in its API, such as Slb.
	Product, ID, Name string
	// Status is the product's own word. A load balancer that is not Active forwards nothing.
	Status    string
	Active    bool
	Type      string // internet or intranet
	Addresses []Address
	DNSName   string
	// Reachable are the addresses under DNSName.
	Reachable []netip.Addr
	VPCID     string
	VSwitches []string
	Zones     []string
	// ZonesApart lets an address forward only to members of its zone; evidence NLB-0092.
	ZonesApart bool
	// Standby is the zone that serves the addresses while theirs is gone, or "" if none does.
	Standby string
	Spec    string
	// SecurityGroups admit packets, if there are any.
	SecurityGroups []string
	CreateTime     time.Time
	// TagsOf is the resource type under which it has tags.
	TagsOf state.TagResourceType
	// Frontends are in order of port or id.
	Frontends iter.Seq[Frontend]
	// Groups are its own, whether or not it forwards to them.
	Groups iter.Seq[Group]
}

// Address is an address at which clients reach a load balancer.
type Address struct {
	IP   string
	IPv6 string // in addition to IP, where it has both
	Type string // internet or intranet
	Zone string
	// EIP is the id of the elastic IP address that it is.
	EIP string
}

// Frontend is a listener: ports at which a load balancer answers.
type Frontend struct {
	state.Owner
	Product, ID, Name string
	LoadBalancerID    string
	Protocol          string // tcp, udp, tcpssl, http or https
	FirstPort         int
	LastPort          int // FirstPort unless it has a range
	// Status is the product's own word. Only a Running frontend forwards, which it also is
	// while it is changed.
	Status    string
	Running   bool
	Scheduler string
	// Bandwidth is the limit in Mbit/s, or 0 for none.
	Bandwidth  int
	Check      HealthCheck
	TLS        TLS
	Access     AccessControl
	Forwarding Forwarding
	// Admission returns who may connect at a port, by its access control and by the
	// security groups of the load balancer.
	Admission func(port int) Admission
	// GroupID names the group that it forwards to unless a rule says otherwise.
	GroupID string
	// MemberPort is the port of members without one. 0 stands for the port that the client used.
	MemberPort int
	// Group returns that group, or false while it does not exist.
	Group func() (Group, bool)
	Rules iter.Seq[Rule]
}

// TLS holds what a frontend needs to terminate TLS. With the zero TLS it does not.
type TLS struct {
	Certificates   []string
	CACertificates []string
	Policy         string
	// Load reads what these name. It is nil if the frontend does not terminate TLS.
	Load func() (Keys, error)
}

// AccessControl admits clients by address. The zero AccessControl admits all.
type AccessControl struct {
	// Type is white, which admits the addresses of the lists alone, or black, which
	// refuses them.
	Type  string
	Lists []string
}

// Rule forwards the requests for a domain, a URL or both to its own group.
type Rule struct {
	state.Owner
	Product, ID, Name string
	LoadBalancerID    string
	FrontendID        string
	Domain, URL       string
	GroupID           string
	Group             func() (Group, bool)
	CreateTime        time.Time
	// Own holds the rule's settings, or is nil if the frontend's apply.
	Own *RuleSettings
}

// Job is the asynchronous part of a call.
type Job struct {
	state.Owner
	Product, ID, Status      string
	Action                   string
	ResourceType, ResourceID string
	CreateTime               time.Time
}

// Jobs yields the jobs that the scope sees.
func Jobs(v *state.View) iter.Seq[Job] { return state.Shown[Job](v) }

// RuleSettings replace the frontend's settings for the requests of a rule.
type RuleSettings struct {
	Scheduler string
	Sticky    Sticky
	Check     HealthCheck
}

// Group is a group of servers.
type Group struct {
	state.Owner
	Product, ID, Name string
	Type              string // the product's own word
	Status            string
	// LoadBalancerID is empty where load balancers may share the group.
	LoadBalancerID string
	VPCID          string
	Protocol       string
	// Scheduler and Drain, where set, win over the frontend's.
	Scheduler string
	Drains    bool
	Drain     time.Duration
	// ClientAddress lets members see the clients' addresses.
	ClientAddress bool
	// BestEffort lets all members serve while the checks of all fail.
	BestEffort bool
	Check      HealthCheck
	Members    []Member
	// Frontends forward to it, on their own or by a rule.
	Frontends iter.Seq[Frontend]
}

// Member is a server of a group.
type Member struct {
	ServerID string
	Type     string // ecs, eni, eci or ip
	// Address is empty when the server is gone.
	Address string
	// Zone is empty if it is unknown.
	Zone string
	// Port is 0 if the frontend says it.
	Port        int
	Weight      int
	Description string
	Presence    Presence
	// ReachAt is the address at which this machine finds the server, if the user gave
	// one, with port 0 for the member's own.
	ReachAt netip.AddrPort
	// Slave serves only while no other member is well.
	Slave bool
}

// Presence says what the state knows of a server.
type Presence int

// The presences. Nothing is known of an address that belongs to no server.
const (
	Unknown Presence = iota
	Absent
	Present
)

// LoadBalancers yields the load balancers that the scope sees.
func LoadBalancers(v *state.View) iter.Seq[LoadBalancer] { return state.Shown[LoadBalancer](v) }

// Frontends yields the frontends that the scope sees.
func Frontends(v *state.View) iter.Seq[Frontend] { return state.Shown[Frontend](v) }

// Rules yields the rules that the scope sees.
func Rules(v *state.View) iter.Seq[Rule] { return state.Shown[Rule](v) }

// Groups yields the groups that the scope sees.
func Groups(v *state.View) iter.Seq[Group] { return state.Shown[Group](v) }

// FindLoadBalancer finds a load balancer of any product.
func FindLoadBalancer(v *state.View, id string) (LoadBalancer, bool) {
	return state.FindShown[LoadBalancer](v, id)
}

// By returns the frontend as the requests of a rule find it: with the rule's settings
// (CLB-0630).
func (f *Frontend) By(r *Rule) *Frontend {
	if r.Own == nil {
		return f
	}
	by := *f
	by.Scheduler, by.Forwarding.Sticky, by.Check = r.Own.Scheduler, r.Own.Sticky, r.Own.Check
	return &by
}

// For returns the frontend as the requests for a group find it: on its own where it
// forwards to the group, or else by the first rule that does.
func (f *Frontend) For(g *Group) *Frontend {
	if f.GroupID != g.ID {
		for r := range f.Rules {
			if r.GroupID == g.ID {
				return f.By(&r)
			}
		}
	}
	return f
}

// PortOf returns the port at which a frontend reaches a member, or 0 if the client chooses it.
func (f *Frontend) PortOf(m *Member) int {
	if m.Port != 0 {
		return m.Port
	}
	return f.MemberPort
}
