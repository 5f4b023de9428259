package emulator

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// So many connections are open at a time; others wait until one is closed. Those of
// the API leave descriptors to the control API, and both to the state.
const (
	maxConnections        = 1024
	maxControlConnections = 256
)

// Listen opens a TCP socket to which no load balancer of this process connects, whatever
// its members say. Errors name it, such as "debug listener".
func Listen(name, address string) (net.Listener, error) { return listen.TCP(name, address) }

// CAFile is the file with the certificate of the authority of GenerateTLS.
const CAFile = listen.CAFile

// GenerateTLS returns a server certificate for the hosts, names or addresses.
// It is kept in dir, with the certificate of its authority in CAFile for
// clients to trust. The authority's key is thrown away, so that trusting it is
// trusting this one certificate.
func GenerateTLS(dir string, hosts []string) (*tls.Config, error) {
	return listen.GenerateTLS(dir, hosts)
}

// LoadTLS returns a configuration with the certificate of the two PEM files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) { return listen.LoadTLS(certFile, keyFile) }

// Start listens on its addresses and serves until Close.
func (e *Emulator) Start() error {
	if err := errors.Join(e.guardControl(), e.guardUnsigned()); err != nil {
		return err
	}
	files := listen.Descriptors()
	// The handlers depend on the addresses.
	apiHandler, controlHandler := e.Handler(), e.ControlHandler()
	api, err := e.listen("API", e.cfg.Listen, make(chan struct{}, min(maxConnections, files/2)), forward(&apiHandler), e.cfg.TLS, e.cfg.Proxy)
	if err != nil {
		return err
	}
	control, err := e.listen("control", e.cfg.ControlListen, make(chan struct{}, min(maxControlConnections, files/8)), forward(&controlHandler), nil, nil)
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
	for _, s := range e.servers {
		go func() {
			if err := s.Serve(); err != nil {
				e.failed <- err
			}
		}()
	}
	e.startReplica()
	return nil
}

// forward serves by the handler that is there when a request comes.
func forward(h *http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*h).ServeHTTP(w, r) })
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
// unless that is what is wanted.
func (e *Emulator) guardUnsigned() error {
	if e.cfg.StrictAuth || e.cfg.UnsignedRemote || listen.IsLoopback(listen.HostOf(e.cfg.Listen)) {
		return nil
	}
	return fmt.Errorf("without signatures, whoever reaches %s can change the cloud: verify them with --auth strict, "+
		"listen on 127.0.0.1, or say --unsigned-remote (CLBEMU_UNSIGNED_REMOTE) if that is what you want", e.cfg.Listen)
}

func (e *Emulator) listen(name, address string, connections chan struct{}, handler http.Handler, config, proxy *tls.Config) (*listen.Server, error) {
	return listen.NewServer(e.first.Life(), listen.ServerConfig{Name: name, Address: address, Connections: connections, TLS: config, Proxy: proxy, Log: e.cfg.Log}, handler)
}

// process is the emulator as its clouds know it.
type process struct{ e *Emulator }

// Listen implements clouds.Process.
func (p process) Listen(name, port string, connections chan struct{}, handler http.Handler) (*listen.Server, error) {
	address := net.JoinHostPort(cmp.Or(listen.HostOf(p.e.cfg.Listen), "127.0.0.1"), port)
	return p.e.listen(name, address, connections, handler, p.e.cfg.TLS, p.e.cfg.Proxy)
}

// APIURL implements clouds.Process.
func (p process) APIURL() string {
	if len(p.e.servers) == 0 {
		return ""
	}
	return p.e.servers[0].URL()
}

// Describe implements clouds.Process.
func (p process) Describe(described *controlapi.Server) {
	described.Auth = controlapi.AuthOff
	if p.e.cfg.StrictAuth {
		described.Auth = controlapi.AuthStrict
	}
	if p.e.cfg.TLS != nil && described.API != "" {
		described.Certificate = listen.CertificateOf(p.e.cfg.TLS)
	}
	if described.API != "" {
		described.CAFile, described.Proxy = p.e.cfg.CAFile, p.e.cfg.Proxy != nil
	}
	if p.e.replica != nil {
		described.Replicas = p.e.replica.Status()
	}
}

// Ready implements clouds.Process.
func (p process) Ready() error {
	if p.e.replica != nil {
		return p.e.replica.Ready()
	}
	return nil
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

// DNSAddr returns the address of the DNS server, "" if there is none, and before
// Start.
func (e *Emulator) DNSAddr() string { return e.first.DNSAddr() }

func (e *Emulator) addr(n int) string {
	if len(e.servers) == 0 {
		return ""
	}
	return e.servers[n].Addr()
}

// Close stops accepting calls, finishes those in flight until ctx ends, and closes
// all clouds.
func (e *Emulator) Close(ctx context.Context) error {
	e.first.Stop()
	var errs []error
	for i, s := range e.servers {
		if i > 0 {
			// All calls are in the journal. Its streams have no end of their own.
			errs = append(errs, e.first.Journal().Close())
		}
		errs = append(errs, s.Shutdown(ctx))
	}
	return errors.Join(append(errs, e.clouds.Close(ctx), e.first.Close(ctx))...)
}
