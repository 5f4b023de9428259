package forward

import (
	"net"
	"net/netip"
)

// admits reports whether a client at the address may connect to a port.
func (p *Plan) admits(addr netip.Addr, port uint16) bool {
	return p.Admit == nil || p.Admit(addr, port)
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
