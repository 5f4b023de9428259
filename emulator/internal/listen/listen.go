// Package listen opens the sockets at which this process answers, and keeps a list of
// them. Clients of the emulated cloud decide where load balancers send packets, but they
// must not make clbemu connect to itself: the control API trusts what comes from loopback,
// and a listener that leads to itself would call itself without end. The list is the
// process's, as a member may name a socket of any emulator or cloud in it. The package
// knows no API and no packet.
package listen

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// A Service answers at sockets of this process.
type Service struct {
	Name string // such as "control listener"
	// Members returns the addresses to which the service connects on behalf of its clients. If nil,
	// the service answers itself, and no load balancer may connect to it.
	Members func() []netip.AddrPort
}

// entry is one socket of a service.
type entry struct {
	*Service
	at netip.AddrPort
}

// place holds the common parts of sockets at different addresses.
type place struct {
	network string // tcp or udp
	port    uint16
}

var sockets = struct {
	sync.RWMutex
	at map[place][]*entry
}{at: make(map[place][]*entry)}

// Add keeps a socket of the service, at which it answers until forget.
func (s *Service) Add(at net.Addr) (forget func()) {
	of := netip.MustParseAddrPort(at.String()) // of TCP or UDP
	e := &entry{s, netip.AddrPortFrom(plain(of.Addr()), of.Port())}
	p := place{at.Network(), e.at.Port()}
	sockets.Lock()
	defer sockets.Unlock()
	sockets.at[p] = append(sockets.at[p], e)
	return func() {
		sockets.Lock()
		defer sockets.Unlock()
		sockets.at[p] = slices.DeleteFunc(sockets.at[p], func(other *entry) bool { return other == e })
		if len(sockets.at[p]) == 0 {
			delete(sockets.at, p)
		}
	}
}

// plain returns the address as it is compared.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// TCP listens for a service until the listener is closed.
func TCP(name, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &listener{l, sync.OnceFunc((&Service{Name: name}).Add(l.Addr()))}, nil
}

type listener struct {
	net.Listener
	forget func()
}

func (l *listener) Close() error {
	defer l.forget()
	return l.Listener.Close()
}

// Answers reports whether this process answers at an address.
func Answers(network string, at netip.AddrPort) bool {
	sockets.RLock()
	defer sockets.RUnlock()
	return slices.ContainsFunc(sockets.at[place{network, at.Port()}], func(e *entry) bool { return e.answers(plain(at.Addr())) })
}

// Check returns an error if the service, or nil for a health check, must not connect to an
// address: clbemu itself answers there, or it leads back to the service.
func (s *Service) Check(network string, to netip.AddrPort) error {
	sockets.RLock()
	defer sockets.RUnlock()
	return s.check(network, to, make(map[*Service]bool))
}

// check follows the services on the way, each once.
func (s *Service) check(network string, to netip.AddrPort, passed map[*Service]bool) error {
	for _, e := range sockets.at[place{network, to.Port()}] {
		first := len(passed) == 0
		switch {
		case !e.answers(plain(to.Addr())) || passed[e.Service]:
			continue
		case e.Members == nil && first:
			return fmt.Errorf("%s is clbemu's %s, to which load balancers never connect", to, e.Name)
		case e.Members == nil: // the one before refuses it
			continue
		case e.Service == s && first:
			return fmt.Errorf("%s is the listener itself: requests would come back without end", to)
		case e.Service == s:
			return fmt.Errorf("%s leads back to the listener itself: requests would come back without end", to)
		}
		passed[e.Service] = true
		for _, member := range e.Members() {
			if member.Port() == 0 {
				member = netip.AddrPortFrom(member.Addr(), to.Port())
			}
			if err := s.check(network, member, passed); err != nil {
				return err
			}
		}
	}
	return nil
}

// answers reports whether packets to an address come to the socket. Those to the
// unspecified address go to this machine.
func (e *entry) answers(to netip.Addr) bool {
	if !e.at.Addr().IsUnspecified() {
		return e.at.Addr() == to || to.IsUnspecified()
	}
	return to.IsUnspecified() || to.IsLoopback() || hasAddress(to)
}

// hasAddress reports whether an interface of this machine has an address. A loopback interface
// has all of its blocks.
func hasAddress(a netip.Addr) bool {
	interfaces, err := net.Interfaces()
	return err != nil || slices.ContainsFunc(interfaces, func(i net.Interface) bool {
		addresses, err := i.Addrs()
		return err != nil || slices.ContainsFunc(addresses, func(of net.Addr) bool {
			block, ok := of.(*net.IPNet)
			return ok && (block.IP.Equal(a.AsSlice()) || i.Flags&net.FlagLoopback != 0 && block.Contains(a.AsSlice()))
		})
	})
}
