package forward

import (
	"net"
	"net/netip"
)

// admits reports whether a client at the address may connect to a port.
func (a *Access) admits(addr netip.Addr, port uint16) bool {
	return a.listed(addr) && (a.Admit == nil || a.Admit(addr, port))
}

func (a *Access) listed(addr netip.Addr) bool {
	if a.Mode == AccessAll || len(a.Prefixes) == 0 {
		return true
	}
	for _, p := range a.Prefixes {
		if p.Contains(addr) {
			return a.Mode == AccessWhite
		}
	}
	return a.Mode == AccessBlack
}

// addrPort returns the address of a TCP or UDP peer, IPv4 as such.
func addrPort(a net.Addr) netip.AddrPort {
	var ap netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		ap = a.AddrPort()
	case *net.UDPAddr:
		ap = a.AddrPort()
	}
	return netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
}
