package dataplane

import (
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// A binder assigns local addresses to listeners. The plane's worker alone uses it.
type binder interface {
	// bindAddrs returns where to bind a listener, the same each time. omitted says which part of
	// the listener can't have a place at all, and err which has none for now. There may be places
	// with both.
	bindAddrs(lb *topology.LoadBalancer, f *topology.Frontend) (places []netip.AddrPort, omitted string, err error)
	// keepsPorts reports whether listeners answer at their own ports.
	keepsPorts() bool
	// release gives back what a listener has.
	release(frontendID string)
	// prune gives back what listeners have that do not exist.
	prune(exists func(frontendID string) bool)
	// flush ends a round of changes.
	flush() error
	// lost returns the listeners that lost their addresses.
	lost() []string
	// close gives everything back.
	close() error
}

// loopback is the address of listeners that have their own ports on this machine.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// ports implements binder.

func (p *ports) bindAddrs(_ *topology.LoadBalancer, f *topology.Frontend) ([]netip.AddrPort, string, error) {
	return []netip.AddrPort{netip.AddrPortFrom(loopback, p.of(f.ID))}, "", nil
}

func (p *ports) keepsPorts() bool { return false }

func (p *ports) lost() []string { return nil }

func (p *ports) close() error { return nil }
