package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// localServer is a server of this machine that stands for one of the emulated cloud.
type localServer struct {
	address string
	http    *http.Server // nil while it is down
	serving sync.WaitGroup

	mu       sync.Mutex
	behaves  Server
	released chan struct{} // closed at the end, for answers that are delayed
}

// serve starts a server, or changes how it behaves, and says where it is.
func (p *play) serve(ctx context.Context, s *Server) error {
	local := p.servers[s.ID]
	if local == nil {
		local = &localServer{address: net.JoinHostPort(cmp.Or(s.Address, "127.0.0.1"), "0"), released: make(chan struct{})}
		if err := local.start(); err != nil {
			return err
		}
		p.servers[s.ID] = local
		if err := p.Target.Set(ctx, []Setting{{Name: "instance." + s.ID + ".reachAt", Value: local.address}}); err != nil {
			return err
		}
	}
	local.mu.Lock()
	local.behaves = *s
	local.mu.Unlock()
	switch {
	case s.Down:
		return local.stop()
	case local.http == nil:
		return local.start()
	}
	return nil
}

func (l *localServer) start() error {
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		return fmt.Errorf("a server of the scenario: %w", err)
	}
	l.address = listener.Addr().String()
	server := &http.Server{Handler: l, ReadHeaderTimeout: trafficTimeout}
	l.http = server
	l.serving.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	return nil
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
