// Package dns resolves the names of load balancers to their current addresses in the
// store. It owns the names in the domains that it is given, such as nlb.aliyuncs.com,
// and refuses queries for others; it must not know the APIs.
package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/netutil"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// ttl is the number of seconds for which clients may keep an answer, also a negative
// one: NLB-0029.
const ttl = 60

// The bounds of what clients can make the server hold. What comes over them by UDP
// is dropped, as a network does.
const (
	maxQueries     = 64
	maxConnections = 64
	maxTCPQueries  = 128
	timeout        = 5 * time.Second
)

// Server answers by UDP and TCP at one address.
type Server struct {
	store    *state.Store
	apexes   []string // with a dot at the end
	udp, tcp *dns.Server
	slots    chan struct{}
	forget   func() // the socket for UDP
}

var _ dns.Handler = (*Server)(nil)

// Start answers at an address, host:port, until Close, for the names under some domains.
// The default host is the loopback address. It calls failed when one of its two
// listeners fails later.
func Start(address string, store *state.Store, domains []string, failed func(error)) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("DNS listener: %w: give host:port", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	listener, packets, err := open(host, port)
	if err != nil {
		return nil, fmt.Errorf("DNS listener: %w: choose another address", err)
	}
	s := &Server{store: store, apexes: fqdns(domains), slots: make(chan struct{}, maxQueries),
		forget: (&listen.Service{Name: dnsListener}).Add(packets.LocalAddr())}
	s.tcp = &dns.Server{Listener: netutil.LimitListener(listener, max(min(maxConnections, listen.Descriptors()/32), 1)), Handler: s, MaxTCPQueries: maxTCPQueries,
		ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: func() time.Duration { return timeout }}
	s.udp = &dns.Server{PacketConn: packets, Handler: s, ReadTimeout: timeout, WriteTimeout: timeout}
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() {
			if err := server.ActivateAndServe(); err != nil {
				failed(fmt.Errorf("DNS: %w", err))
			}
		}()
		<-started
	}
	return s, nil
}

// dnsListener names its sockets in errors.
const dnsListener = "DNS listener"

// attempts limits the tries to find a port that is free for both TCP and UDP.
const attempts = 10

// open takes the same port for both; any for 0.
func open(host, port string) (l net.Listener, p net.PacketConn, err error) {
	for range attempts {
		if l, err = listen.TCP(dnsListener, net.JoinHostPort(host, port)); err != nil {
			return nil, nil, err
		}
		if p, err = net.ListenPacket("udp", l.Addr().String()); err == nil {
			return l, p, nil
		}
		err = errors.Join(err, l.Close())
		if port != "0" {
			break
		}
	}
	return nil, nil, err
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return s.udp.PacketConn.LocalAddr().String() }

// Close stops answering.
func (s *Server) Close(ctx context.Context) error {
	defer s.forget()
	var errs []error
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		errs = append(errs, server.ShutdownContext(ctx))
	}
	return errors.Join(errs...)
}

// ServeDNS implements dns.Handler.
func (s *Server) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return
	}
	reply := s.answer(question)
	size := dns.MinMsgSize
	if w.LocalAddr().Network() == "tcp" {
		size = dns.MaxMsgSize
	}
	if edns := question.IsEdns0(); edns != nil {
		reply.SetEdns0(dns.DefaultMsgSize, false)
		size = max(size, min(int(edns.UDPSize()), dns.DefaultMsgSize))
	}
	reply.Truncate(size)
	_ = w.WriteMsg(reply) // who asked may be gone
}

// answer returns the store's answer to the one question of a query.
func (s *Server) answer(question *dns.Msg) *dns.Msg {
	reply := new(dns.Msg).SetReply(question)
	q := question.Question[0]
	name := strings.ToLower(q.Name)
	apex := s.apexOf(name)
	if q.Qclass != dns.ClassINET || apex == "" {
		reply.Rcode = dns.RcodeRefused
		return reply
	}
	reply.Authoritative = true
	addresses, there := s.lookUp(apex, name)
	if !there {
		reply.Rcode = dns.RcodeNameError
	}
	for _, address := range addresses {
		header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: ttl}
		switch {
		case q.Qtype == dns.TypeA && address.Is4():
			reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: address.AsSlice()})
		case q.Qtype == dns.TypeAAAA && address.Is6():
			header.Rrtype = dns.TypeAAAA
			reply.Answer = append(reply.Answer, &dns.AAAA{Hdr: header, AAAA: address.AsSlice()})
		}
	}
	switch {
	case name == apex && q.Qtype == dns.TypeSOA:
		reply.Answer = []dns.RR{authority(apex)}
	case len(reply.Answer) == 0:
		reply.Ns = []dns.RR{authority(apex)}
	}
	return reply
}

// authority returns the SOA record, which limits how long clients keep a negative
// answer.
func authority(apex string) dns.RR {
	return &dns.SOA{Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: ttl},
		Ns: "ns." + apex, Mbox: "hostmaster." + apex, Serial: 1, Refresh: ttl, Retry: ttl, Expire: ttl, Minttl: ttl}
}

func fqdns(domains []string) []string {
	list := make([]string, len(domains))
	for i, d := range domains {
		list[i] = dns.Fqdn(d)
	}
	return list
}

// apexOf returns the apex that a name ends in, or "" if it ends in none.
func (s *Server) apexOf(name string) string {
	for _, apex := range s.apexes {
		if dns.IsSubDomain(apex, name) {
			return apex
		}
	}
	return ""
}

// lookUp finds the addresses under a name. It reports whether the name exists: a load
// balancer's, or one that such names end in.
func (s *Server) lookUp(apex, name string) (addresses []netip.Addr, exists bool) {
	labels := strings.Split(strings.TrimSuffix(strings.TrimSuffix(name, apex), "."), ".")
	v := s.store.View(state.Owner{})
	switch len(labels) {
	case 1:
		_, exists = kinds.Regions.Find(v, labels[0])
		exists = exists || labels[0] == ""
	case 2:
		if lb, ok := topology.FindLoadBalancer(v, labels[0]); ok && lb.DNSName+"." == name {
			addresses, exists = lb.Reachable, true
		}
	}
	return addresses, exists
}
