package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
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
)

// ServerConfig configures a Server.
type ServerConfig struct {
	Name, Address string
	// Connections limits how many are open at a time; others wait until one is closed.
	// Servers may share it.
	Connections *Places
	// Mark is the first descriptor that the socket leaves to the rest of the process, or 0 for no
	// mark.
	Mark int
	// TLS serves by HTTPS. If nil, the server speaks HTTP.
	TLS *tls.Config
	// Proxy lets clients use the server as their HTTP proxy for the cloud's hosts, which
	// answer with this certificate; nil does not.
	Proxy *tls.Config
	Log   zerolog.Logger
}

// Server is an HTTP server with its socket.
type Server struct {
	listener net.Listener
	http     *http.Server
	scheme   string
	proxy    *proxy // nil if it is none
}

// ErrFewDescriptors is the error of a server whose socket would have a descriptor from the
// mark on.
var ErrFewDescriptors = errors.New("the descriptors that are left are for the APIs and the state")

// NewServer listens. Every request that Serve answers sees the end of life.
func NewServer(life context.Context, cfg ServerConfig) (*Server, error) {
	l, err := TCP(cfg.Name+" listener", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w: choose another address", cfg.Name, err)
	}
	if Beyond(l.(*listener).Listener, cfg.Mark) {
		return nil, errors.Join(fmt.Errorf("%w: raise the limit of open files (ulimit -n), which is %d", ErrFewDescriptors, Descriptors()), l.Close())
	}
	s := &Server{listener: newLimited(l, cfg.Connections), scheme: "http", http: newHTTP(life, cfg.Log)}
	if cfg.Proxy != nil {
		s.proxy = newProxy(life, cfg, l.Addr())
	}
	if cfg.TLS != nil {
		s.listener, s.scheme = tls.NewListener(s.listener, cfg.TLS), "https"
	}
	return s, nil
}

// Serve answers by a handler until Close or Shutdown.
func (s *Server) Serve(handler http.Handler) error {
	if s.proxy != nil {
		s.proxy.handler, s.proxy.server.Handler = handler, inTime(handler)
		handler = s.proxy
		go func() { _ = s.proxy.server.Serve(s.proxy.tunnels) }() // which ends with Shutdown
	}
	s.http.Handler = inTime(handler)
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("listener: %w", err)
	}
	return nil
}

// Addr returns host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL returns where the server is.
func (s *Server) URL() string { return (&url.URL{Scheme: s.scheme, Host: s.Addr()}).String() }

// Close closes the socket of a server that does not serve yet.
func (s *Server) Close() error { return s.listener.Close() }

// Shutdown stops accepting calls, and finishes those in flight until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	servers := []*http.Server{s.http}
	if s.proxy != nil {
		s.proxy.tunnels.close()
		servers = append(servers, s.proxy.server)
	}
	var errs []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("calls were cut off: %w", err), server.Close())
		}
	}
	return errors.Join(errs...)
}

// inTime answers by a handler, whose client has time for each piece of the answer.
func inTime(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer serving(r)()
		handler.ServeHTTP(&inPieces{w, time.Now()}, r)
	})
}

// newHTTP returns a server without a handler. Every request sees the end of life.
func newHTTP(life context.Context, to zerolog.Logger) *http.Server {
	return &http.Server{
		BaseContext:       func(net.Listener) context.Context { return life },
		ConnContext:       withConn,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout + soon,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// OPTIONS * is a call as any other, which the API refuses.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(serverLog{to}, "", 0),
	}
}

// inPieces writes an answer in pieces. The client's time for each starts with the
// piece: producing it may have taken longer.
type inPieces struct {
	http.ResponseWriter
	read time.Time // when the call was
}

var _ http.ResponseWriter = (*inPieces)(nil)

// Unwrap returns the wrapped writer, for http.ResponseController.
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

// HostOf returns the host of host:port, or of an address without a port.
func HostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// IsLoopback reports whether a host is this machine's loopback address.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
