package forward

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"time"
)

// Protocol is the protocol between a listener and its clients.
type Protocol string

// The protocols of listeners.
const (
	TCP    Protocol = "tcp"
	UDP    Protocol = "udp"
	TCPSSL Protocol = "tcpssl"
	HTTP   Protocol = "http"
	HTTPS  Protocol = "https"
)

// Scheduler is the way a listener chooses members, by the cloud's names.
type Scheduler string

// The schedulers. HTTP and HTTPS have the first two.
const (
	WeightedRoundRobin      Scheduler = "wrr"
	RoundRobin              Scheduler = "rr"
	WeightedLeastConnection Scheduler = "wlc"
	SourceHash              Scheduler = "sch"
	TupleHash               Scheduler = "tch"
	QUICHash                Scheduler = "qch"
)

// A Plan is everything that a Server knows of its listener. The zero value
// describes a TCP listener without members. A Plan must not change after Apply.
type Plan struct {
	Protocol  Protocol
	Scheduler Scheduler
	Group     Group // where no rule matches
	Rules     []Rule
	// Zones maps local addresses to zones, if each address forwards to the members of
	// its zone alone; nil lets all forward to all. TCP, UDP and TCPSSL have it.
	Zones map[netip.Addr]string
	// ClientAddress says that members see the clients' private addresses, so that one that is its
	// own client gets no answer. TCP and UDP have it.
	ClientAddress bool
	// Admit reports whether a client may connect to a port; nil admits all.
	Admit func(client netip.Addr, port uint16) bool

	// Persistence is the time for which a source address keeps its member after its
	// last connection; 0 is off. TCP, UDP and TCPSSL have it.
	Persistence time.Duration
	Sticky      Sticky

	EstablishedTimeout time.Duration // of idle TCP connections; 0 is 900 s
	SessionTimeout     time.Duration // of idle UDP sessions; 0 is 90 s
	IdleTimeout        time.Duration // of idle HTTP connections; 0 is 15 s
	RequestTimeout     time.Duration // of members' replies; 0 is 60 s

	Drain         Drain
	Bandwidth     int // peak in Mbit/s each way; 0 is no limit
	ProxyProtocol ProxyProtocol
	TLS           TLS

	Forwarded Forwarded
	Gzip      bool
	HTTP2     bool
	Redirect  Redirect
}

// A Group is a set of members. ID names it in messages.
type Group struct {
	ID      string
	Members []Member
}

// A Member is a backend server with its port.
type Member struct {
	// Key identifies the member over plans. Counters, connections and sticky
	// cookies follow it.
	Key string
	// Addr is the address of the member. Port 0 stands for the port that the client
	// connected to. The zero address is an unreachable member.
	Addr   netip.AddrPort
	Weight int
	Zone   string // empty is a part of all zones
	Down   bool   // its health check failed
	Reason string // why it is down or has no address
}

// available reports whether the member gets new connections and requests.
func (m *Member) available() bool { return !m.Down && m.Weight > 0 && m.Addr.IsValid() }

// A Rule sends requests for a domain and path to its own group. The rule
// with the most exact domain applies, then the one with the longest path.
type Rule struct {
	ID     string
	Domain string // exact, or with a leading "*."; empty matches all
	Path   string // a prefix; empty matches all
	Group  Group
	// Scheduler and Sticky replace the listener's; empty and nil keep them.
	Scheduler Scheduler
	Sticky    *Sticky
}

// Drain configures when to cut connections of a member that left or went down. Where
// it is off they stay.
type Drain struct {
	On      bool
	Timeout time.Duration
}

// ProxyProtocol configures whether members get a header of the proxy protocol, version
// 2, before a connection's first byte and a UDP session's first packet.
type ProxyProtocol struct {
	On bool
	// The ids that the header carries in the cloud's own field, where set.
	VPCID, EndpointID, EndpointServiceID string
}

// Sticky configures how cookies bind clients to members.
type Sticky struct {
	Mode    StickyMode
	Timeout time.Duration // of an inserted cookie; 0 keeps it valid
	Cookie  string        // the members' cookie that is rewritten
}

// StickyMode says who sets the cookie.
type StickyMode string

// The modes of sticky sessions.
const (
	StickyOff    StickyMode = ""
	StickyInsert StickyMode = "insert" // the listener adds SERVERID
	StickyServer StickyMode = "server" // the listener rewrites the members' cookie
)

// TLS configures how TCPSSL and HTTPS listeners terminate TLS.
type TLS struct {
	Certificate tls.Certificate
	// Domains has certificates by server name, exact or with a leading "*.".
	Domains      map[string]tls.Certificate
	ClientCAs    *x509.CertPool // not nil: clients need a certificate of theirs
	MinVersion   uint16
	MaxVersion   uint16
	CipherSuites []uint16
	ALPN         []string // of TCPSSL
}

// Forwarded says which headers requests get on their way to members.
type Forwarded struct {
	For        bool   // X-Forwarded-For
	Proto      bool   // X-Forwarded-Proto
	ClientPort bool   // X-Forwarded-Client-srcport
	Port       int    // X-Forwarded-Port; 0 is off
	ID         string // SLB-ID; empty is off
	IP         string // SLB-IP; empty is off
	LocalIP    bool   // SLB-IP is the address that the client connected to
}

// Redirect sends clients to HTTPS at another port of the load balancer. Code 0
// is off.
type Redirect struct {
	Port int
	Code int
}

func orDefault(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// withDefaults returns the plan with the cloud's values where it has none.
func (p Plan) withDefaults() Plan {
	if p.Protocol == "" {
		p.Protocol = TCP
	}
	if p.Scheduler == "" {
		p.Scheduler = WeightedRoundRobin
	}
	p.EstablishedTimeout = orDefault(p.EstablishedTimeout, 900*time.Second)
	p.SessionTimeout = orDefault(p.SessionTimeout, 90*time.Second)
	p.IdleTimeout = orDefault(p.IdleTimeout, 15*time.Second)
	p.RequestTimeout = orDefault(p.RequestTimeout, 60*time.Second)
	return p
}
