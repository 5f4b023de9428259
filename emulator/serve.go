package emulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// Start listens on its addresses and serves until Close.
func (e *Emulator) Start() error {
	if err := errors.Join(e.guardControl(), e.guardUnsigned()); err != nil {
		return err
	}
	apiHandler, controlHandler := e.Handler(), e.ControlHandler()
	if e.cfg.Around != nil {
		apiHandler = e.cfg.Around(apiHandler)
	}
	cfg := e.serverConfig("API", e.cfg.Listen, listen.NewCallPlaces())
	cfg.TLS, cfg.Proxy = e.cfg.TLS, e.cfg.Proxy
	api, err := listen.NewServer(e.first.Life(), cfg)
	if err != nil {
		return err
	}
	control, err := listen.NewServer(e.first.Life(), e.serverConfig("control", e.cfg.ControlListen, listen.NewControlPlaces()))
	if err != nil {
		return errors.Join(err, api.Close())
	}
	if e.cfg.Replica != nil {
		e.replica = e.newReplica(api, control)
		e.first.Metrics().Add(e.replica)
		apiHandler, controlHandler = e.replica.API(apiHandler), e.replica.Control(controlHandler)
	}
	if err := e.first.StartDNS(func(err error) { e.failed <- fmt.Errorf("listener: %w", err) }); err != nil {
		return errors.Join(err, api.Close(), control.Close())
	}
	if e.replica == nil {
		e.StartPackets()
	}
	e.servers = []*listen.Server{api, control}
	if err := e.clouds.Start(e.first.Life()); err != nil {
		return err
	}
	e.serve(api, apiHandler)
	e.serve(control, controlHandler)
	e.startReplica()
	return nil
}

func (e *Emulator) serve(s *listen.Server, handler http.Handler) {
	go func() {
		if err := s.Serve(handler); err != nil {
			e.failed <- err
		}
	}()
}

// guardControl refuses to give other machines a control API without a token.
func (e *Emulator) guardControl() error {
	host := listen.HostOf(e.cfg.ControlListen)
	if e.cfg.ControlToken != "" || listen.IsLoopback(host) {
		return nil
	}
	return fmt.Errorf("the control listener %s can be reached from other machines and needs a token: "+
		"set --control-token, have one made by --control-token-file, or listen on 127.0.0.1", e.cfg.ControlListen)
}

// guardUnsigned refuses to let other machines change the cloud without a key,
// unless that is wanted.
func (e *Emulator) guardUnsigned() error {
	if e.cfg.StrictAuth || e.cfg.UnsignedRemote || listen.IsLoopback(listen.HostOf(e.cfg.Listen)) {
		return nil
	}
	return fmt.Errorf("without signatures, whoever reaches %s can change the cloud: verify them with --auth strict, "+
		"listen on 127.0.0.1, or say --unsigned-remote (CLBEMU_UNSIGNED_REMOTE) if that is what you want", e.cfg.Listen)
}

// Wait returns when a listener fails, when a replica loses its term, or with nil when ctx
// ends.
func (e *Emulator) Wait(ctx context.Context) error {
	select {
	case err := <-e.failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// Addr returns the address of the API, "" before Start.
func (e *Emulator) Addr() string { return e.addr(0) }

// ControlAddr returns the address of the control API, "" before Start.
func (e *Emulator) ControlAddr() string { return e.addr(1) }

// DNSAddr returns the address of the DNS server, or "" if there is none, and before Start.
func (e *Emulator) DNSAddr() string { return e.first.DNSAddr() }

func (e *Emulator) addr(n int) string {
	if len(e.servers) == 0 {
		return ""
	}
	return e.servers[n].Addr()
}
