package dataplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// boundSocket is a socket at which a listener answers.
type boundSocket struct {
	socket
	forget   func()         // that this process answers there
	at       netip.AddrPort // with the port that the system chose, if the place has none
	filtered bool           // a fault rule lets it take no packet
	lost     time.Time      // since when its zone is gone
}

type socket interface {
	io.Closer
	syscall.Conn
}

// bind lets the server serve at some places, and at no others.
func (l *listener) bind(server *forward.Server, places []netip.AddrPort) (err error) {
	wanted := make(map[netip.AddrPort]bool, len(places))
	for _, place := range places {
		wanted[place] = true
	}
	for place, socket := range l.bound {
		if !wanted[place] {
			err = errors.Join(err, socket.Close())
			socket.forget()
			delete(l.bound, place)
		}
	}
	return errors.Join(err, l.bindMore(server, places))
}

// bindMore binds the places that are not bound yet. Of several errors it returns the first.
func (l *listener) bindMore(server *forward.Server, places []netip.AddrPort) error {
	var first error
	failed := 0
	for _, place := range places {
		if l.bound[place] != nil {
			continue
		}
		socket, err := l.open(server, place)
		if errors.Is(err, syscall.EADDRINUSE) && l.omitted {
			socket, err = l.open(server, netip.AddrPortFrom(place.Addr(), 0))
		}
		if err == nil {
			l.bound[place] = socket
			continue
		}
		failed++
		first = cmp.Or(first, err)
	}
	switch failed {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the port can't be bound: %w", first)
	}
	return fmt.Errorf("%d of %d ports can't be bound, the first by this: %w", failed, len(places), first)
}

// open lets the server serve at one place.
func (l *listener) open(server *forward.Server, place netip.AddrPort) (*boundSocket, error) {
	if l.network == "udp" {
		socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(place))
		if err != nil {
			return nil, err
		}
		if err := leaves(socket); err != nil {
			return nil, err
		}
		bound := l.boundTo(socket, socket.LocalAddr())
		l.run(func() error { return server.ServeUDP(socket) })
		return bound, nil
	}
	socket, err := listenTCP(place)
	if err != nil {
		return nil, err
	}
	if err := leaves(socket); err != nil {
		return nil, err
	}
	bound := l.boundTo(socket, socket.Addr())
	l.run(func() error { return server.ServeTCP(socket) })
	return bound, nil
}

// leaves closes a socket whose descriptor is left to the APIs and the state.
func leaves(s socket) error {
	if !listen.Beyond(s, listen.PacketsMark()) {
		return nil
	}
	return errors.Join(fmt.Errorf("listeners have half of the %d files that this process may open: raise the limit (ulimit -n)", listen.Descriptors()), s.Close())
}

// boundTo lists the socket before it serves, so that no member leads to it unseen.
func (l *listener) boundTo(s socket, at net.Addr) *boundSocket {
	return &boundSocket{socket: s, at: netip.MustParseAddrPort(at.String()), forget: l.service.Add(at)}
}

// run serves until the server ends or the socket closes.
func (l *listener) run(serve func() error) {
	l.serving.Go(func() {
		if err := serve(); !errors.Is(err, forward.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			l.config.Log(err)
		}
	})
}

// answersAt returns the listener's addresses.
func (l *listener) answersAt() []netip.AddrPort {
	list := make([]netip.AddrPort, 0, len(l.bound))
	for _, socket := range l.bound {
		list = append(list, socket.at)
	}
	slices.SortFunc(list, netip.AddrPort.Compare)
	return list
}

// shownAt names places in few words: ports of an address that follow each other as a range.
func shownAt(sorted []netip.AddrPort) string {
	var names []string
	for first := 0; first < len(sorted); {
		last := first
		for last+1 < len(sorted) && sorted[last+1] == netip.AddrPortFrom(sorted[first].Addr(), sorted[last].Port()+1) {
			last++
		}
		name := sorted[first].String()
		if last > first {
			name += fmt.Sprint("-", sorted[last].Port())
		}
		names = append(names, name)
		first = last + 1
	}
	return strings.Join(names, ", ")
}

// listenTCP listens without keep-alive probes, which would cost each connection four
// system calls: idle connections have their own timeout.
func listenTCP(at netip.AddrPort) (*net.TCPListener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	config.SetMultipathTCP(false) // such a socket takes no filter, which makes it deaf
	l, err := config.Listen(context.Background(), "tcp", at.String())
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}
