package kinds

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// forwarding reads how the listener treats connections.
func (l *NLBListener) forwarding(v *state.View) topology.Forwarding {
	f := topology.Forwarding{IdleTimeout: seconds(l.IdleTimeout), ProxyProtocol: topology.ProxyProtocol{Enabled: l.ProxyProtocolEnabled}}
	if lb, ok := NLBLoadBalancers.Find(v, l.LoadBalancerID); ok && l.ProxyProtocolV2.VPCID {
		f.ProxyProtocol.VPCID = lb.VPCID
	}
	if l.AlpnEnabled {
		f.ALPN = alpnOf(l.AlpnPolicy)
	}
	return f
}

// alpnOf returns what a policy offers, the preferred protocol first.
func alpnOf(policy string) []string {
	return map[string][]string{
		"HTTP1Only": {"http/1.1", "http/1.0"}, "HTTP2Only": {"h2"},
		"HTTP2Optional": {"http/1.1", "http/1.0", "h2"}, "HTTP2Preferred": {"h2", "http/1.1", "http/1.0"},
	}[policy]
}

// check reads the health check of a group; one without a type uses TCP.
func (g *NLBServerGroup) check() topology.HealthCheck {
	h := &g.HealthCheck
	return topology.HealthCheck{
		Enabled: h.Enabled, Type: cmp.Or(strings.ToLower(h.Type), "tcp"), Port: h.ConnectPort,
		Timeout: seconds(h.ConnectTimeout), Interval: seconds(h.Interval), Healthy: h.HealthyThreshold, Unhealthy: h.UnhealthyThreshold,
		Method: h.HTTPMethod, Host: ownHost(h.Domain), URI: h.URL, Codes: h.HTTPCodes, Request: h.Request, Expect: h.Response,
	}
}

// admission reads who may connect to a port. The rule with the highest priority decides,
// and of rules with the same one that which refuses. Who meets no rule may connect: the
// load balancer's managed group admits all with priority 100, the lowest, before the
// refusal that ends each group of the user's: NLB-0042.
func (lb *NLBLoadBalancer) admission(v *state.View, protocol string, port int) topology.Admission {
	a := topology.Admission{Otherwise: true}
	var permissions []SecurityGroupPermission
	for _, id := range lb.SecurityGroupIDs {
		if g, ok := SecurityGroups.Find(v, id); ok {
			permissions = append(permissions, g.Permissions...)
		}
	}
	slices.SortStableFunc(permissions, func(a, b SecurityGroupPermission) int {
		return cmp.Or(cmp.Compare(a.priority(), b.priority()), strings.Compare(strings.ToLower(b.Policy), strings.ToLower(a.Policy)))
	})
	for i := range permissions {
		p := &permissions[i]
		if from, ok := p.source(); ok && p.Direction == "ingress" && p.covers(protocol, port) {
			a.Rules = append(a.Rules, topology.AdmissionRule{From: from, Admit: strings.EqualFold(p.Policy, "accept")})
		}
	}
	return a
}

func (p *SecurityGroupPermission) priority() int {
	n, err := strconv.Atoi(p.Priority)
	if err != nil {
		return 1
	}
	return n
}

// source returns the block of addresses that the rule is about, and false for rules about other
// groups and prefix lists, whose addresses have no packets here.
func (p *SecurityGroupPermission) source() (netip.Prefix, bool) {
	return blockOf(cmp.Or(p.SourceCIDR, p.IPv6Source))
}

func (p *SecurityGroupPermission) covers(protocol string, port int) bool {
	if !strings.EqualFold(p.IPProtocol, "all") && !strings.EqualFold(p.IPProtocol, protocol) {
		return false
	}
	first, last, ok := strings.Cut(p.PortRange, "/")
	low, err1 := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	return p.PortRange == "-1/-1" || ok && err1 == nil && err2 == nil && low <= port && port <= high
}

// certificateOf finds a certificate of the certificate service, or one that was uploaded
// to CLB, and the names that it is for.
func certificateOf(v *state.View, id string) (c topology.Certificate, domains []string, ok bool) {
	if user, found := FindUserCertificate(v, id); found {
		return topology.Certificate{ID: id, Chain: user.PEM, PrivateKey: user.PrivateKey}, append([]string{user.CommonName}, user.SANs...), true
	}
	uploaded, found := ServerCertificates.Find(v, id)
	if !found {
		return c, nil, false
	}
	return uploaded.forTLS(), append([]string{uploaded.CommonName}, uploaded.SANs...), true
}

// keys reads what a listener of TCPSSL terminates TLS with.
func (l *NLBListener) keys(v *state.View) (keys topology.Keys, err error) {
	for i, id := range slices.Concat(l.CertificateIDs, l.AdditionalCertificateIDs) {
		certificate, domains, ok := certificateOf(v, id)
		if !ok && i == 0 {
			return keys, fmt.Errorf("the certificate %s does not exist", id)
		}
		if !ok {
			continue
		}
		if i > 0 {
			certificate.Domains = domains
		}
		keys.Certificates = append(keys.Certificates, certificate)
	}
	if l.CAEnabled {
		for _, id := range l.CACertificateIDs {
			if c, ok := FindUserCertificate(v, id); ok {
				keys.ClientCAs = append(keys.ClientCAs, c.PEM)
			}
		}
	}
	keys.Versions, keys.Ciphers = tlsPolicy(l.SecurityPolicyID)
	if p, ok := NLBSecurityPolicies.Find(v, l.SecurityPolicyID); ok {
		keys.Versions, keys.Ciphers = p.TLSVersions, p.Ciphers
	}
	return keys, nil
}

var _ = NLBSecurityPolicies.With(part[NLBSecurityPolicy]())
