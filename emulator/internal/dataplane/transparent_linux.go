package dataplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// connectTimeout limits how long a member has to accept a connection.
const connectTimeout = 5 * time.Second

// transparent returns a dialer that connects from the addresses of clients in the blocks,
// if this process may.
func transparent(clients []netip.Prefix) (dialer, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := freeBind(fd, false); err != nil {
		return nil, fmt.Errorf("--data-plane-source needs the right NET_ADMIN, to send with clients' addresses: start clbemu as root, give a container --cap-add NET_ADMIN, or leave it out: %w", err)
	}
	return func(ctx context.Context, network string, from net.Addr, to netip.AddrPort) (net.Conn, error) {
		client := addressOf(from)
		if !slices.ContainsFunc(clients, func(b netip.Prefix) bool { return b.Contains(client) }) {
			client = netip.Addr{}
		}
		return dialAs(ctx, network, client, to)
	}, nil
}

// freeBind lets a socket have an address that is not this machine's, and share the port
// that it gets with sockets connected to others.
func freeBind(fd int, ip6 bool) error {
	var err error
	if ip6 {
		err = unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_TRANSPARENT, 1)
	} else {
		err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1)
	}
	return errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1))
}

// dialAs connects to a member from the address of a client, with another port. It
// uses this machine's address for the zero client, and where the client's
// can't reach the member: it belongs to the other family, or is loopback.
func dialAs(ctx context.Context, network string, client netip.Addr, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: connectTimeout, KeepAlive: -1}
	if client.Is4() == to.Addr().Is4() && client.IsValid() && (!client.IsLoopback() || to.Addr().IsLoopback()) {
		d.LocalAddr = &net.TCPAddr{IP: client.AsSlice()}
		if network == "udp" {
			d.LocalAddr = &net.UDPAddr{IP: client.AsSlice()}
		}
		d.Control = func(_, _ string, c syscall.RawConn) (err error) {
			failed := c.Control(func(fd uintptr) { err = freeBind(int(fd), client.Is6()) })
			return errors.Join(failed, err)
		}
	}
	return d.DialContext(ctx, network, to.String())
}

// addressOf returns the address of a client, the zero Addr for none.
func addressOf(a net.Addr) netip.Addr {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.AddrPort().Addr().Unmap().WithZone("")
	case *net.UDPAddr:
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
