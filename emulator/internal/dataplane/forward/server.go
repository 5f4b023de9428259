package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// connectTimeout limits how long a member has to accept a connection.
const connectTimeout = 5 * time.Second

// ErrServerClosed is the error that the methods of a closed Server return.
var ErrServerClosed = errors.New("forward: server closed")

// Config configures a Server. The zero value works.
type Config struct {
	// Dial connects to a member on behalf of a client. from is the client's
	// address, or nil where connections are shared between clients. The default
	// is net.Dialer's, with a timeout of 5 s.
	Dial func(ctx context.Context, network string, from net.Addr, to netip.AddrPort) (net.Conn, error)
	// Check, if set, refuses addresses that the server must not connect to.
	Check func(network string, to netip.AddrPort) error
	// Observer sees what passes; the default ignores it.
	Observer Observer
	// Log receives what goes wrong with the listener itself. Failures of clients
	// and members are counted, not logged.
	Log func(error)
	// Clock measures for how long the listener waits; the default is the machine's.
	Clock Clock
	// MaxHeld bounds the connections that wait without a member; further ones are closed. If it is
	// 0, the bound is 1,024.
	MaxHeld int
	// MaxSessions bounds the UDP sessions; packets that would open further ones are dropped. If it
	// is 0, the bound is 16,384.
	MaxSessions int
	// MaxDescriptor is the first descriptor that connections leave to the rest of the
	// process; 0 leaves none.
	MaxDescriptor int
}

// A Server serves one listener. New returns one.
type Server struct {
	config    Config
	ctx       context.Context
	cancel    context.CancelFunc
	table     atomic.Pointer[table]
	total     counters
	refused   atomic.Uint64
	held      atomic.Int64
	flows     flowSet
	sticky    persistence
	web       atomic.Pointer[web] // of HTTP and HTTPS
	tlsBase   *tls.Config
	transport *http.Transport

	apply   sync.Mutex // held by Apply
	mu      sync.Mutex // guards what follows
	closed  bool
	sockets map[socket]struct{}
	records map[string]*record

	sessions atomic.Int64
	running  sync.WaitGroup
}

// A socket has the clients of a server.
type socket interface{ Close() error }

// New returns a server whose plan is the zero Plan.
func New(config Config) *Server {
	s := &Server{config: config.withDefaults(), sockets: make(map[socket]struct{}), records: make(map[string]*record)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.transport = s.newTransport()
	s.tlsBase = &tls.Config{GetConfigForClient: s.tlsConfig}
	empty, _ := s.compile(Plan{}, nil) // the zero plan has no fault
	s.table.Store(empty)
	return s
}

func (c Config) withDefaults() Config {
	if c.Dial == nil {
		// Idle timeouts end what keep-alive would look for.
		dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: -1}
		c.Dial = func(ctx context.Context, network string, _ net.Addr, to netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, network, to.String())
		}
	}
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	if c.Log == nil {
		c.Log = func(error) {}
	}
	if c.Clock == nil {
		c.Clock = MachineClock{}
	}
	if c.MaxHeld == 0 {
		c.MaxHeld = 1024
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = 16384
	}
	return c
}

// Apply makes p the plan of new connections, sessions and requests.
func (s *Server) Apply(p Plan) error {
	s.apply.Lock()
	defer s.apply.Unlock()
	if s.ctx.Err() != nil {
		return ErrServerClosed
	}
	previous := s.table.Load()
	t, err := s.compile(p, previous)
	if err != nil {
		return err
	}
	s.replaceWeb(t, previous)
	s.table.Store(t)
	s.release(t)
	return nil
}

// release releases the members that the table no longer uses.
func (s *Server) release(t *table) {
	members := t.members()
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, r := range s.records {
		m := members[key]
		r.follow(&t.Plan, m)
		if m == nil && r.idle() {
			r.keep()
			delete(s.records, key)
		}
	}
}

// record returns the record of the member, a new one where it has none.
func (s *Server) record(key string) *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.records[key]
	if r == nil {
		r = &record{key: key, clock: s.config.Clock}
		s.records[key] = r
	}
	return r
}

// open registers a socket that Close closes. The caller calls done at its end.
func (s *Server) open(c socket) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return nil, ErrServerClosed
	}
	s.sockets[c] = struct{}{}
	s.running.Add(1)
	return func() {
		c.Close()
		s.mu.Lock()
		delete(s.sockets, c)
		s.mu.Unlock()
		s.running.Done()
	}, nil
}

// Close closes the sockets that the server reads from, cuts what is open, and
// waits until nothing of the server runs.
func (s *Server) Close() error {
	s.apply.Lock()
	defer s.apply.Unlock()
	s.cancel()
	s.mu.Lock()
	s.closed = true
	for c := range s.sockets {
		c.Close()
	}
	for _, r := range s.records {
		r.keep()
	}
	s.mu.Unlock()
	s.flows.close()
	if w := s.web.Swap(nil); w != nil {
		w.retire()
	}
	s.transport.CloseIdleConnections()
	s.running.Wait()
	return nil
}

// Stats returns the server's counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Total:    s.total.snapshot(),
		Members:  make(map[string]Counters, len(s.records)),
		Held:     s.held.Load(),
		Refused:  s.refused.Load(),
		Sessions: s.sessions.Load(),
	}
	for key, r := range s.records {
		st.Members[key] = r.snapshot()
	}
	return st
}

// at returns where the target answers clients that connected to the port.
func (t *target) at(port uint16) netip.AddrPort {
	if t.Addr.Port() == 0 {
		return netip.AddrPortFrom(t.Addr.Addr(), port)
	}
	return t.Addr
}

// dial connects to the member of the record.
func (s *Server) dial(ctx context.Context, network string, from net.Addr, to netip.AddrPort, r *record) (net.Conn, error) {
	c, err := s.connect(ctx, network, from, to)
	if err == nil {
		if err = s.tooMany(c); err != nil {
			c.Close()
		}
	}
	if err != nil {
		s.countFailure(r)
		return nil, &dialError{r.key, to, err}
	}
	return c, nil
}

func (s *Server) connect(ctx context.Context, network string, from net.Addr, to netip.AddrPort) (net.Conn, error) {
	if s.config.Check != nil {
		if err := s.config.Check(network, to); err != nil {
			return nil, err
		}
	}
	return s.config.Dial(ctx, network, from, to)
}

func (s *Server) countFailure(r *record) {
	r.memberFailure.Add(1)
	s.total.memberFailure.Add(1)
}

// pickMember returns the member of a connection or session, by persistence if the plan has it. It
// returns nil if no member is available.
func (s *Server) pickMember(t *table, c client) *target {
	pool := t.at(c.to.Addr())
	if t.Persistence <= 0 {
		return pool.pick(c, nil)
	}
	now, source := s.config.Clock.Now(), c.from.Addr()
	var chosen *target
	if key, ok := s.sticky.get(source, now); ok {
		chosen = pool.target(key)
	}
	if chosen == nil {
		chosen = pool.pick(c, nil)
	}
	if chosen != nil {
		s.sticky.put(source, chosen.Key, now, now.Add(t.Persistence))
	}
	return chosen
}
