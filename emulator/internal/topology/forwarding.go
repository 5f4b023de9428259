package topology

import (
	"net/netip"
	"time"
)

// Forwarding configures how a frontend treats connections and requests. A zero value
// stands for the product's default.
type Forwarding struct {
	// Persistence is the time for which a client's address keeps its member.
	Persistence time.Duration
	// IdleTimeout ends connections on which nothing moves, RequestTimeout requests
	// that a member does not answer.
	IdleTimeout, RequestTimeout time.Duration
	// Drain limits how long the connections of a member that left or failed stay;
	// without it they have no limit.
	Drain time.Duration
	// ClientAddress lets members see the clients' addresses.
	ClientAddress bool
	ProxyProtocol ProxyProtocol
	Sticky        Sticky
	Headers       Headers
	Gzip, HTTP2   bool
	Redirect      Redirect
	// ALPN are the protocols that a frontend of TCPSSL offers.
	ALPN []string
}

// ProxyProtocol configures whether members get a header of version 2 before the first
// byte, with the ids that it has.
type ProxyProtocol struct {
	Enabled           bool
	VPCID, EndpointID string
}

// Sticky binds clients to members by a cookie.
type Sticky struct {
	// Type is insert, for a cookie of the load balancer, or server, which rewrites the
	// member's Cookie; "" is neither.
	Type    string
	Timeout time.Duration
	Cookie  string
}

// Headers are the headers that members get of a request's way.
type Headers struct{ For, Proto, ID, IP, Port, ClientPort bool }

// Redirect sends clients to another port by HTTPS. Its zero value does not.
type Redirect struct{ Port, Code int }

// Keys holds the keys that a frontend that terminates TLS loads.
type Keys struct {
	// Certificates begins with the default one.
	Certificates []Certificate
	// ClientCAs are the PEM texts that clients' certificates are verified with.
	ClientCAs []string
	// Versions and Ciphers hold the cloud's names. If empty, the product chooses.
	Versions, Ciphers []string
}

// Certificate is a chain with its private key, in PEM form.
type Certificate struct {
	ID string
	// Domains lists the names for which it is. The default certificate has none.
	Domains           []string
	Chain, PrivateKey string
}

// Admission decides which clients may connect: the first rule with their address.
type Admission struct {
	Rules     []AdmissionRule
	Otherwise bool
}

// AdmissionRule admits the addresses of a block, or refuses them.
type AdmissionRule struct {
	From  netip.Prefix
	Admit bool
}

// Admits reports whether a client may connect.
func (a *Admission) Admits(client netip.Addr) bool {
	client = client.Unmap()
	for _, rule := range a.Rules {
		if rule.From.Contains(client) {
			return rule.Admit
		}
	}
	return a.Otherwise
}

// HealthCheck configures whether and how members are checked: CLB declares it of
// listeners and rules, NLB of groups.
type HealthCheck struct {
	Enabled bool
	Type    string // tcp, http or udp
	// Port is 0 for the member's own.
	Port              int
	Timeout, Interval time.Duration
	// Healthy and Unhealthy count the results in a row that change a member's status.
	Healthy, Unhealthy int
	// Method, Host, URI and Codes (http_2xx) apply to HTTP.
	Method, Host, URI string
	Codes             []string
	// Request and Expect apply to UDP; without them only an ICMP error fails a check.
	Request, Expect string
}

// Dependency marks a kind whose rows change what load balancers do, but have none of the other
// shapes: access control lists, certificates, servers.
type Dependency struct{}
