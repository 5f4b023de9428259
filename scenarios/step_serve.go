package scenarios

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/spelling"
)

var serveKind = kind[Server](Kind{Name: "serve", About: "Change how a server of given.servers behaves.", needs: packets})

// Server is a server of this machine that answers HTTP with its id.
type Server struct {
	ID      string   `yaml:"id" required:"true" doc:"The instance, network interface or address that it stands for."`
	Address string   `yaml:"address" doc:"Its loopback address, such as 127.0.0.9, with which it can be its own client; 127.0.0.1 if absent."`
	Status  int      `yaml:"status" counted:"true" doc:"The status of its answers, 200 if absent."`
	Delay   Duration `yaml:"delay" doc:"How long it waits before each answer, in real time."`
	TLS     bool     `yaml:"tls" doc:"true: it speaks HTTPS, and answers 400 to plain HTTP."`
	Down    bool     `yaml:"down" doc:"true: it does not answer."`
}

// Validate rejects a status that no answer ends with.
func (s *Server) Validate() error {
	if s.Status != 0 && (s.Status < 200 || s.Status > 599) {
		return errors.New("status is 200 to 599")
	}
	return nil
}

func (s *Server) title() string { return "serve " + s.ID }

func (s *Server) check(c *checker, at spot, in scope) {
	c.server(s.ID, at.in("id"), in)
	c.loopback(s.Address, at.in("address"))
}

// localServer is a server of this machine that stands for one of the emulated cloud.
type localServer struct {
	address string
	http    *http.Server // nil while it is down
	serving sync.WaitGroup

	mu       sync.Mutex
	behaves  Server
	released chan struct{} // closed at the end, for delayed answers
}

// do starts a server, or changes how it behaves, and says where it is.
func (s *Server) do(ctx context.Context, p *play, _ *Step) error {
	local := p.servers[s.ID]
	if local == nil {
		local = &localServer{address: net.JoinHostPort(cmp.Or(s.Address, "127.0.0.1"), "0"), behaves: *s, released: make(chan struct{})}
		if err := local.start(s.TLS); err != nil {
			return err
		}
		p.servers[s.ID] = local
		if err := p.Target.Set(ctx, []Setting{{Name: "instance." + s.ID + ".reachAt", Value: local.address}}); err != nil {
			return err
		}
	}
	local.mu.Lock()
	restart := local.behaves.TLS != s.TLS
	local.behaves = *s
	local.mu.Unlock()
	if s.Down || restart {
		if err := local.stop(); err != nil {
			return err
		}
	}
	if !s.Down && local.http == nil {
		return local.start(s.TLS)
	}
	return nil
}

// start lets the server answer at its address, by HTTPS or by HTTP.
func (l *localServer) start(overTLS bool) error {
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		return fmt.Errorf("a server of the scenario: %w", err)
	}
	l.address = listener.Addr().String()
	server := &http.Server{Handler: l, ReadHeaderTimeout: trafficTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	serve := server.Serve
	if overTLS {
		certificate, err := selfSigned()
		if err != nil {
			return errors.Join(fmt.Errorf("a server of the scenario: %w", err), listener.Close())
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	l.http = server
	l.serving.Go(func() { _ = serve(listener) }) // it ends when closed
	return nil
}

// selfSigned returns a certificate that no client has to trust.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// stop closes the server at once, with its connections.
func (l *localServer) stop() error {
	if l.http == nil {
		return nil
	}
	err := l.http.Close()
	l.serving.Wait()
	l.http = nil
	return err
}

// ServeHTTP answers with the server's id, as the scenario says.
func (l *localServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	s := l.behaves
	l.mu.Unlock()
	if s.Delay > 0 {
		select {
		case <-time.After(time.Duration(s.Delay)):
		case <-r.Context().Done():
		case <-l.released:
		}
	}
	w.Header().Set(serverHeader, s.ID)
	if s.Status != 0 {
		w.WriteHeader(s.Status)
	}
	fmt.Fprintln(w, s.ID)
}

// endTraffic closes the servers and the connections of the scenario.
func (p *play) endTraffic() error {
	for _, clients := range p.clients {
		closeAll(clients)
	}
	var errs []error
	for _, local := range p.servers {
		close(local.released)
		errs = append(errs, local.stop())
	}
	return errors.Join(errs...)
}

// server refuses the id of a server that the scenario does not start.
func (c *checker) server(id string, at spot, in scope) {
	if in.servers[id] || template().MatchString(id) {
		return
	}
	c.refuse(at, "given.servers has no server %s%s", id, spelling.DidYouMean(id, sortedKeys(in.servers), ""))
}
