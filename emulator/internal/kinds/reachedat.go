package kinds

import (
	"fmt"
	"net/netip"

	"github.com/clbemu/clbemu/state"
)

// ReachedAt holds the address at which this machine finds a server of the emulated
// cloud.
type ReachedAt struct {
	state.Owner
	// ServerID is the server's id, or its address if it has none.
	ServerID string
	// At has port 0 for the ports of the server's own.
	At netip.AddrPort
}

// ReachedAts by server.
var ReachedAts = state.NewTable(Schema, "ReachedAt", func(r *ReachedAt) string { return r.ServerID }, state.Setting(),
	state.Checks(func(c *state.Checker, r *ReachedAt) {
		if !r.At.Addr().IsValid() {
			c.Fail("ReachedAt %s has no address", r.ServerID)
		}
	}))

// reachAt finds where this machine finds a server, by its id or address.
func reachAt(v *state.View, id, address string) netip.AddrPort {
	for _, name := range []string{id, address} {
		if r, ok := ReachedAts.Find(v, name); ok && name != "" {
			return r.At
		}
	}
	return netip.AddrPort{}
}

// ParseReachAt reads an address with or without a port.
func ParseReachAt(text string) (netip.AddrPort, error) {
	if at, err := netip.ParseAddrPort(text); err == nil && at.Port() != 0 {
		return at, nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address: want one such as 127.0.0.1 or 127.0.0.1:8080", text)
	}
	return netip.AddrPortFrom(address, 0), nil
}
