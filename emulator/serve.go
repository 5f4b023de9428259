package emulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// Limits of the listeners. A call's parameters may all be in its URL, so headers
// and request line get more room than a browser would need.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 5 * time.Minute
	idleTimeout       = 2 * time.Minute
	// A client has this long for each piece of an answer. Then the server closes the
	// connection and frees what it holds.
	writeTimeout = 30 * time.Second
	// An answer of one piece that is made so fast has its time from when its call was
	// read.
	soon           = time.Second
	piece          = 256 << 10
	maxHeaderBytes = 1 << 20
	// So many connections are open at a time; others wait until one is closed. Those of
	// the API leave descriptors to the control API, and both to the state.
	maxConnections        = 1024
	maxControlConnections = 256
)

// Listen opens a TCP socket to which no load balancer of this process connects, whatever
// its members say. Errors name it, such as "debug listener".
func Listen(name, address string) (net.Listener, error) { return listen.TCP(name, address) }

// server is one of the two listeners with what serves it.
type server struct {
	listener net.Listener
	http     *http.Server
}

// Start listens on its addresses and serves until Close.
func (e *Emulator) Start() error {
	if err := errors.Join(e.guardControl(), e.guardUnsigned()); err != nil {
		return err
	}
	files := descriptors()
	// Which handlers they have is known once their addresses are.
	apiHandler, controlHandler := e.api, e.ControlHandler()
	api, err := e.listen("API", e.cfg.Listen, make(chan struct{}, min(maxConnections, files/2)), forward(&apiHandler), e.cfg.TLS)
	if err != nil {
		return err
	}
	control, err := e.listen("control", e.cfg.ControlListen, make(chan struct{}, min(maxControlConnections, files/8)), forward(&controlHandler), nil)
	if err != nil {
		return errors.Join(err, api.listener.Close())
	}
	if e.base.Replica != nil {
		e.replica = e.newReplica(api.listener.Addr().String(), control.listener.Addr().String())
		e.metrics.Add(e.replica)
		apiHandler, controlHandler = e.replica.API(e.api), e.replica.Control(e.ControlHandler())
	}
	if e.cfg.DNSListen != "" {
		e.dns, err = dns.Start(e.cfg.DNSListen, e.store, dnsApexes(e.products), func(err error) { e.failed <- fmt.Errorf("listener: %w", err) })
		if err != nil {
			return errors.Join(err, api.listener.Close(), control.listener.Close())
		}
	}
	if e.replica == nil {
		e.StartPackets()
	}
	e.servers = []*server{api, control}
	if err := e.clouds.start(); err != nil {
		return err
	}
	for _, s := range e.servers {
		go func() {
			if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				e.failed <- fmt.Errorf("listener: %w", err)
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
	host := hostOf(e.cfg.ControlListen)
	if e.cfg.ControlToken != "" || isLoopback(host) {
		return nil
	}
	return fmt.Errorf("the control listener %s can be reached from other machines and needs a token: "+
		"set --control-token, have one made by --control-token-file, or listen on 127.0.0.1", e.cfg.ControlListen)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func (e *Emulator) listen(name, address string, connections chan struct{}, handler http.Handler, config *tls.Config) (*server, error) {
	l, err := Listen(name+" listener", address)
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w: choose another address", name, err)
	}
	l = newLimited(l, connections)
	if config != nil {
		l = tls.NewListener(l, config)
	}
	return &server{l, newServer(e.life, &e.cfg, handler)}, nil
}

// newServer serves a handler until life, which every request sees the end of.
func newServer(life context.Context, cfg *Config, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handler.ServeHTTP(&inPieces{w, time.Now()}, r)
		}),
		BaseContext:       func(net.Listener) context.Context { return life },
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout + soon,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(serverLog{cfg.Log}, "", 0),
	}
}

// inPieces writes an answer in pieces. The client's time for each starts with the
// piece: producing it may have taken longer.
type inPieces struct {
	http.ResponseWriter
	read time.Time // when the call was
}

// Unwrap is for http.ResponseController.
func (w *inPieces) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *inPieces) extend() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTimeout))
}

// WriteHeader implements http.ResponseWriter: it may be all of the answer.
func (w *inPieces) WriteHeader(status int) {
	if time.Since(w.read) >= soon {
		w.extend()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *inPieces) Write(p []byte) (written int, err error) {
	if len(p) <= piece && time.Since(w.read) < soon {
		return w.ResponseWriter.Write(p)
	}
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[written:min(written+piece, len(p))])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// serverLog takes what net/http has to say, such as that a client did not trust
// the certificate.
type serverLog struct{ zerolog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	l.Info().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}

// Wait returns when a listener fails, when a replica is deposed, or with nil when ctx
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
func (e *Emulator) DNSAddr() string {
	if e.dns == nil {
		return ""
	}
	return e.dns.Addr()
}

func (e *Emulator) addr(n int) string {
	if len(e.servers) == 0 {
		return ""
	}
	return e.servers[n].listener.Addr().String()
}

// Close stops accepting calls, finishes those in flight until ctx ends, and closes
// all clouds.
func (e *Emulator) Close(ctx context.Context) error {
	e.stop()
	var errs []error
	if e.dns != nil {
		errs = append(errs, e.dns.Close(ctx))
	}
	for i, s := range e.servers {
		if i > 0 {
			// All calls are in the journal. Its streams have no end of their own.
			errs = append(errs, e.journal.Close())
		}
		if err := s.http.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("calls were cut off: %w", err), s.http.Close())
		}
	}
	return errors.Join(append(errs, e.clouds.close(ctx), e.close())...)
}
