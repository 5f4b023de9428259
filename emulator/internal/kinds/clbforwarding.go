package kinds

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// forwarding reads how the listener treats connections and requests.
func (l *Listener) forwarding() topology.Forwarding {
	f := topology.Forwarding{
		Persistence:   seconds(l.PersistenceTimeout),
		IdleTimeout:   seconds(cmp.Or(l.EstablishedTimeout, l.IdleTimeout)),
		ProxyProtocol: topology.ProxyProtocol{Enabled: l.ProxyProtocolV2Enabled},
		Sticky:        sticky(l.StickySession, l.StickySessionType, l.CookieTimeout, l.Cookie),
		Headers: topology.Headers{For: l.XForwardedFor == On, Proto: l.XForwardedForProto == On, ID: l.XForwardedForSLBID == On,
			IP: l.XForwardedForSLBIP == On, Port: l.XForwardedForSLBPort == On, ClientPort: l.XForwardedForClientSrcPort == On},
		RequestTimeout: seconds(l.RequestTimeout),
		Gzip:           l.Gzip == On,
		HTTP2:          l.EnableHTTP2 == On,
		ClientAddress:  l.Protocol == TCP || l.Protocol == UDP,
	}
	if l.ConnectionDrain == On {
		f.Drain = seconds(l.ConnectionDrainTimeout)
	}
	if l.ListenerForward == On {
		f.Redirect = topology.Redirect{Port: l.ForwardPort, Code: cmp.Or(l.ForwardCode, 301)}
	}
	return f
}

func sticky(session, kind string, timeout int, cookie string) topology.Sticky {
	if session != On {
		return topology.Sticky{}
	}
	return topology.Sticky{Type: kind, Timeout: seconds(timeout), Cookie: cookie}
}

// check reads a health check. Domains such as $_ip, which stands for the member's own
// address, are the member's.
func (h *HealthCheck) check(protocol Protocol) topology.HealthCheck {
	return topology.HealthCheck{
		Enabled: h.Switch == On, Type: cmp.Or(h.Type, string(protocol)), Port: h.ConnectPort,
		Timeout: seconds(h.Timeout), Interval: seconds(h.Interval), Healthy: h.HealthyThreshold, Unhealthy: h.UnhealthyThreshold,
		Method: h.Method, Host: ownHost(h.Domain), URI: h.URI, Codes: strings.Split(h.HTTPCode, ","), Request: h.Request, Expect: h.Expect,
	}
}

func ownHost(domain string) string {
	if domain == "$_ip" || domain == "$SERVER_IP" {
		return ""
	}
	return domain
}

// own reads the settings of a rule that has its own.
func (r *Rule) own() *topology.RuleSettings {
	if r.ListenerSync != Off {
		return nil
	}
	return &topology.RuleSettings{Scheduler: r.Scheduler, Sticky: sticky(r.StickySession, r.StickySessionType, r.CookieTimeout, r.Cookie),
		Check: r.HealthCheck.check(HTTP)}
}

// admission reads who may connect to the listener. An empty white list admits all, as the
// API's own pages say; an older page says that it admits no client: CLB-0570.
func (l *Listener) admission(v *state.View) topology.Admission {
	items, white := l.WhiteList, l.WhiteListStatus == On
	if l.AclStatus == On {
		items, white = aclEntries(v, l.AclIDs), l.AclType == "white"
	} else if !white {
		return topology.Admission{Otherwise: true}
	}
	return admissionOf(items, white)
}

func aclEntries(v *state.View, ids []string) (entries []string) {
	for _, id := range ids {
		if list, ok := AccessControlLists.Find(v, id); ok {
			for _, e := range list.Entries {
				entries = append(entries, e.Entry)
			}
		}
	}
	return entries
}

func admissionOf(items []string, white bool) topology.Admission {
	a := topology.Admission{Otherwise: !white || len(items) == 0}
	for _, item := range items {
		if block, ok := blockOf(item); ok {
			a.Rules = append(a.Rules, topology.AdmissionRule{From: block, Admit: white})
		}
	}
	return a
}

// blockOf reads an address or a block.
func blockOf(text string) (netip.Prefix, bool) {
	if block, err := netip.ParsePrefix(text); err == nil {
		return block.Masked(), true
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(address, address.BitLen()), true
}

// keys reads what an HTTPS listener terminates TLS with.
func (l *Listener) keys(v *state.View) (topology.Keys, error) {
	certificate, err := ServerCertificates.Get(v, l.ServerCertificateID)
	if err != nil {
		return topology.Keys{}, err
	}
	keys := topology.Keys{Certificates: []topology.Certificate{certificate.forTLS()}}
	for extension := range DomainExtensionsByListener.List(v, l.ID()) {
		if c, ok := ServerCertificates.Find(v, extension.ServerCertificateID); ok {
			named := c.forTLS()
			named.Domains = []string{extension.Domain}
			keys.Certificates = append(keys.Certificates, named)
		}
	}
	if c, ok := CACertificates.Find(v, l.CACertificateID); ok {
		keys.ClientCAs = []string{c.PEM}
	}
	keys.Versions, keys.Ciphers = tlsPolicy(l.TLSCipherPolicy)
	if p, ok := TLSCipherPolicies.Find(v, l.TLSCipherPolicy); ok {
		keys.Versions, keys.Ciphers = p.TLSVersions, p.Ciphers
	}
	return keys, nil
}

func (c *ServerCertificate) forTLS() topology.Certificate {
	return topology.Certificate{ID: c.ID, Chain: c.PEM, PrivateKey: c.PrivateKey}
}

// tlsVersions are the versions of TLS from the oldest one.
var tlsVersions = []string{"TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// tlsPolicy returns the versions and ciphers of a policy of the cloud's own; the strict
// ones take ciphers with forward secrecy alone.
func tlsPolicy(name string) (versions, ciphers []string) {
	oldest := map[string]int{"tls_cipher_policy_1_1": 1, "tls_cipher_policy_1_2": 2, "tls_cipher_policy_1_2_strict": 2,
		"tls_cipher_policy_1_2_strict_with_1_3": 2}[name]
	newest := 3
	if name == "tls_cipher_policy_1_2_strict_with_1_3" {
		newest = 4
	}
	if oldest == 2 && name != "tls_cipher_policy_1_2" {
		ciphers = []string{"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
			"ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA"}
	}
	return slices.Clone(tlsVersions[oldest:newest]), ciphers
}

// Rows of these kinds change what load balancers do.
var (
	_ = AccessControlLists.With(part[AccessControlList]())
	_ = ServerCertificates.With(part[ServerCertificate]())
	_ = CACertificates.With(part[CACertificate]())
	_ = UserCertificates.With(part[UserCertificate]())
	_ = DomainExtensions.With(part[DomainExtension]())
	_ = TLSCipherPolicies.With(part[TLSCipherPolicy]())
	_ = SecurityGroups.With(part[SecurityGroup]())
	_ = Instances.With(part[Instance]())
	_ = NetworkInterfaces.With(part[NetworkInterface]())
	_ = EIPs.With(part[EIP]())
	_ = StagedHealths.With(part[StagedHealth]())
	_ = ReachedAts.With(part[ReachedAt]())
)

func part[T any]() state.Option {
	return state.Shows(func(*state.View, *T) (topology.Dependency, bool) { return topology.Dependency{}, true })
}
