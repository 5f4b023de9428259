package dataplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// listener answers for one frontend. The plane's worker alone changes it.
type listener struct {
	id, loadBalancer string
	port             uint16 // of this machine
	network          string // tcp or udp
	protocol         string
	log              func(error)
	serving          sync.WaitGroup
	plan             *planned // what the server follows

	mu      sync.RWMutex
	server  *forward.Server // nil while it rests
	at      netip.AddrPort
	problem string // why it does not answer
}

func newListener(loadBalancerID string, f *topology.Frontend, port uint16, log func(error)) *listener {
	l := &listener{id: f.ID, loadBalancer: loadBalancerID, port: port, network: "tcp", protocol: f.Protocol, log: log}
	if f.Protocol == string(forward.UDP) {
		l.network = "udp"
	}
	return l
}

// show keeps what the listener does, for readers.
func (l *listener) show(server *forward.Server, at netip.AddrPort, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server, l.at, l.problem = server, at, problem
}

// shown returns what the listener does.
func (l *listener) shown() (server *forward.Server, at netip.AddrPort, problem string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.server, l.at, l.problem
}

// follow applies a plan, unless the server follows it already. A listener that rests
// starts.
func (l *listener) follow(plan *planned) error {
	server, at, _ := l.shown()
	switch {
	case server == nil:
		return l.start(plan)
	case reflect.DeepEqual(l.plan, plan):
		return nil
	}
	if err := server.Apply(plan.forward()); err != nil {
		return errors.Join(err, l.rest(err.Error()))
	}
	l.plan = plan
	l.show(server, at, "")
	return nil
}

// start binds the port and serves.
func (l *listener) start(plan *planned) error {
	server := forward.New(forward.Config{Log: l.log})
	at := netip.AddrPortFrom(loopback, l.port)
	err := server.Apply(plan.forward())
	if err == nil {
		at, err = l.bind(server, at)
	}
	if err != nil {
		l.show(nil, netip.AddrPort{}, err.Error())
		return errors.Join(err, server.Close())
	}
	l.plan = plan
	l.show(server, at, "")
	return nil
}

// loopback is where listeners answer.
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// bind lets the server serve at an address.
func (l *listener) bind(server *forward.Server, at netip.AddrPort) (netip.AddrPort, error) {
	if l.network == "udp" {
		socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
		if err != nil {
			return at, notBound(err)
		}
		l.run(func() error { return server.ServeUDP(socket) })
		return socket.LocalAddr().(*net.UDPAddr).AddrPort(), nil
	}
	socket, err := listenTCP(at)
	if err != nil {
		return at, notBound(err)
	}
	l.run(func() error { return server.ServeTCP(socket) })
	return socket.Addr().(*net.TCPAddr).AddrPort(), nil
}

// listenTCP listens without keep-alive probes, which would cost each connection four
// system calls: idle connections have their own timeout.
func listenTCP(at netip.AddrPort) (net.Listener, error) {
	return (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", at.String())
}

func notBound(err error) error { return fmt.Errorf("the port can't be bound: %w", err) }

func (l *listener) run(serve func() error) {
	l.serving.Go(func() {
		if err := serve(); !errors.Is(err, forward.ErrServerClosed) {
			l.log(err)
		}
	})
}

// rest ends the server and keeps the reason. The listener can start again.
func (l *listener) rest(why string) error {
	server, _, _ := l.shown()
	l.plan = nil
	l.show(nil, netip.AddrPort{}, why)
	if server == nil {
		return nil
	}
	err := server.Close()
	l.serving.Wait()
	return err
}
