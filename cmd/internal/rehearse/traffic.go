package rehearse

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// Break counts the failures of a listener's clients in a phase.
type Break struct {
	Services     string `json:"services,omitempty"`
	LoadBalancer string `json:"loadBalancer"`
	Listener     string `json:"listener"`
	// Cut counts held connections that ended, HTTP and HTTPS left out; Refused counts connections that were not
	// taken, Failed requests without an answer of a server.
	Cut     int `json:"cut,omitempty"`
	Refused int `json:"refused,omitempty"`
	Failed  int `json:"failed,omitempty"`
	// Seconds counts the seconds without an answer to a new client. Still reports whether they go
	// on after the phase.
	Seconds float64 `json:"seconds"`
	Still   bool    `json:"still,omitempty"`
	// Why is the first failure.
	Why string `json:"why"`
	Verdict
}

func (b *Break) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{b.Cut, "held connections cut"}, {b.Refused, "connections refused"}, {b.Failed, "requests failed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	text := fmt.Sprintf("listener %s: %s, %.3g s without an answer", b.Listener, strings.Join(parts, ", "), b.Seconds)
	if b.Still {
		text += " and no end"
	}
	return fmt.Sprintf("%s (%s)", text, b.Why)
}

// traffic has a client of each listener that answers, and one server in place of all servers.
type traffic struct {
	server  *server
	clients map[string]*client // by listener
	silent  map[string]bool    // listeners without an answer before any client asked
	set     map[string]bool    // servers that the server stands for
}

func newTraffic() (*traffic, error) {
	s, err := startServer()
	for tries := 0; err != nil && tries < 10; tries++ { // another program has UDP's port of this number
		s, err = startServer()
	}
	if err != nil {
		return nil, err
	}
	return &traffic{server: s, clients: make(map[string]*client), silent: make(map[string]bool), set: make(map[string]bool)}, nil
}

// client knows a listener by the address that the load balancer had at first. It holds a connection. While it
// asks, the fields that follow asked are its own.
type client struct {
	id, loadBalancer, address, listener string

	view     atomic.Pointer[view] // the newest
	waits    atomic.Bool          // whether it is to ask once more
	asked    chan struct{}        // closed when it asks no more
	held     net.Conn
	replies  *bufio.Reader
	answered bool      // ever
	since    time.Time // without an answer
	met      *Break
}

// reach returns the settings by which the server stands for more servers of a view.
func (t *traffic) reach(v *view) (settings []controlapi.Setting) {
	if t == nil {
		return nil
	}
	for _, group := range v.servers {
		for key := range group {
			id := key[:strings.LastIndex(key, ":")]
			if !t.set[id] {
				t.set[id] = true
				settings = append(settings, controlapi.Setting{Name: "instance." + id + ".reachAt", Value: t.server.address})
			}
		}
	}
	return settings
}

// addressIn returns the name or address by which clients reach a load balancer.
func addressIn(b *controlapi.Resource) string {
	return cmp.Or(b.Fields["dnsName"], b.Fields["address"])
}

// begin gives each listener that answers a client, and lets all ask. A client that got no answer when a phase
// ended asks no more: begin returns a note of each.
func (t *traffic) begin(ctx context.Context, v *view) (notes []string, asking []<-chan struct{}) {
	if t == nil {
		return nil, nil
	}
	for id, c := range t.clients {
		switch {
		case c.asks(): // since the last phase, which went on
		case v.listeners[id] == nil:
			t.drop(c)
		case !c.since.IsZero():
			t.drop(c)
			notes = append(notes, fmt.Sprintf("%s: no client asks listener %s any more, which does not answer since an earlier step", c.loadBalancer, c.listener))
		}
	}
	for id, l := range v.listeners {
		if b := v.balancers[l.LoadBalancer]; t.clients[id] == nil && !t.silent[id] && forwards(l) && b != nil {
			c := &client{id: id, loadBalancer: b.ID, address: addressIn(b), listener: called(l), asked: make(chan struct{})}
			close(c.asked)
			t.clients[id] = c
		}
	}
	return notes, t.ask(ctx, v, nil, true)
}

// silence drops clients that never got an answer, and returns a note of each.
func (t *traffic) silence() (notes []string) {
	if t == nil {
		return nil
	}
	for _, c := range t.clients {
		if !c.asks() && !c.answered {
			t.drop(c)
			notes = append(notes, fmt.Sprintf("%s: no traffic goes to listener %s, which answers no client on the copy: %s", c.loadBalancer, c.listener, c.met.Why))
		}
	}
	slices.Sort(notes)
	return notes
}

// drop lets no client ask a listener any more.
func (t *traffic) drop(c *client) {
	c.close()
	delete(t.clients, c.id)
	t.silent[c.id] = true
}

// ask lets the clients of load balancers ask, all for none; the channels that it returns close when they have.
// Where nothing changed, what broke is still broken.
func (t *traffic) ask(ctx context.Context, v *view, of []string, unchanged bool) (asking []<-chan struct{}) {
	if t == nil {
		return nil
	}
	for _, c := range t.clients {
		if unchanged && (c.asks() || !c.since.IsZero()) || len(of) > 0 && !slices.Contains(of, c.loadBalancer) {
			continue
		}
		c.view.Store(v)
		if c.waits.Load() { // and asks by this view, once it has the answer to its last request
			asking = append(asking, c.asked)
			continue
		}
		before, busy, done := c.asked, c.asks(), make(chan struct{})
		c.asked = done
		asking = append(asking, done)
		if busy { // one that begins at once takes no later change for its own
			c.waits.Store(true)
		}
		go func() {
			defer close(done)
			if <-before; busy {
				c.waits.Store(false)
			}
			c.ask(ctx, c.view.Load())
		}()
	}
	return asking
}

// await waits until clients have asked, or for a time.
func await(asking []<-chan struct{}, limit <-chan time.Time) {
	for _, asked := range asking {
		select {
		case <-asked:
		case <-limit:
			return
		}
	}
}

// asks reports whether the client waits for an answer.
func (c *client) asks() bool {
	select {
	case <-c.asked:
		return false
	default:
		return true
	}
}

// end returns what the clients met in a phase, but for those that still ask.
func (t *traffic) end() (list []*Break) {
	if t == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(t.clients)) {
		c := t.clients[id]
		if c.asks() || c.met == nil {
			continue
		}
		if c.met.Still = !c.since.IsZero(); c.met.Still {
			c.met.Seconds += time.Since(c.since).Seconds()
		}
		list = append(list, c.met)
		c.met = nil
	}
	return list
}

func (t *traffic) close() {
	if t == nil {
		return
	}
	for _, c := range t.clients {
		<-c.asked
		c.close()
	}
	t.server.close()
}

func (c *client) close() {
	if c.held != nil {
		_ = c.held.Close()
		c.held = nil
	}
}

// broke notes a failure.
func (c *client) broke(why string) *Break {
	if c.met == nil {
		c.met = &Break{LoadBalancer: c.loadBalancer, Listener: c.listener, Why: why}
	}
	return c.met
}

// at returns where on this machine the listener answers that has the address and port which the client knows.
func (c *client) at(v *view) (address, problem string) {
	b := v.balancers[c.loadBalancer]
	if b == nil || addressIn(b) != c.address {
		b = nil
		for _, other := range v.balancers {
			if addressIn(other) == c.address {
				b = other
			}
		}
	}
	if b == nil {
		return "", "no load balancer has the address " + c.address
	}
	for _, l := range v.listeners {
		if l.LoadBalancer == b.ID && called(l) == c.listener {
			address, _, _ = strings.Cut(l.Fields["answersAt"], ",")
			return address, cmp.Or(l.Fields["problem"], "the listener is "+l.Status)
		}
	}
	return "", "there is no listener"
}

// patience limits how long a client waits, and pause how long it lies idle.
const (
	patience = 5 * time.Second
	pause    = time.Second
)

// errServer is the error of an answer that does not come from a server.
type errServer int

func (e errServer) Error() string { return fmt.Sprintf("status %d", int(e)) }

// ask makes a request on the connection that is held, and one on a new one.
func (c *client) ask(ctx context.Context, v *view) {
	if c.held != nil {
		switch err := c.exchange(c.held, c.replies); {
		case errors.As(err, new(errServer)):
			c.broke(err.Error()).Failed++
		case err != nil:
			if !strings.HasPrefix(c.listener, "http") { // whose idle connections end after a time
				c.broke("the connection ended").Cut++
			}
			c.close()
		}
	}
	if err := c.dial(ctx, v); err == nil {
		if !c.since.IsZero() && c.met != nil { // it broke in this phase
			c.met.Seconds += time.Since(c.since).Seconds()
		}
		c.since, c.answered = time.Time{}, true
	} else if c.since.IsZero() {
		c.since = time.Now()
	}
}

// dial makes a request on a new connection, which is held if none is.
func (c *client) dial(ctx context.Context, v *view) error {
	address, problem := c.at(v)
	if address == "" {
		c.broke(problem).Refused++
		return errors.New(problem)
	}
	network := "tcp"
	if strings.HasPrefix(c.listener, "udp ") {
		network = "udp"
	}
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, network, address)
	if err != nil {
		c.broke("the connection is refused").Refused++
		return err
	}
	if strings.HasPrefix(c.listener, "https ") || strings.HasPrefix(c.listener, "tcpssl ") {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // the certificate is a stand-in
	}
	replies := bufio.NewReader(conn)
	switch err = c.exchange(conn, replies); {
	case errors.As(err, new(errServer)):
		c.broke(err.Error()).Failed++
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.broke(fmt.Sprintf("no answer within %s", c.limit())).Failed++
	case err != nil:
		c.broke("the connection ends without an answer").Refused++
	case c.held == nil && network == "tcp": // UDP has no connections
		c.held, c.replies = conn, replies
		return nil
	}
	_ = conn.Close()
	return err
}

// limit returns how long the client waits for an answer: over UDP, none may ever come.
func (c *client) limit() time.Duration {
	if strings.HasPrefix(c.listener, "udp ") {
		return pause
	}
	return patience
}

// exchange sends a request and reads its answer.
func (c *client) exchange(conn net.Conn, replies *bufio.Reader) error {
	_ = conn.SetDeadline(time.Now().Add(c.limit())) // a closed connection fails below
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: rehearsal\r\n\r\n"); err != nil {
		return err
	}
	response, err := http.ReadResponse(replies, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode >= http.StatusInternalServerError {
		return errServer(response.StatusCode)
	}
	return err
}

// server answers in place of all servers of a copy, by HTTP and UDP.
type server struct {
	address string
	http    *http.Server
	packets net.PacketConn
	serving sync.WaitGroup
}

func startServer() (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	plain := &proxyproto.Listener{Listener: listener, ConnPolicy: func(proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) { return proxyproto.USE, nil }}
	s := &server{address: listener.Addr().String(), http: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Hour}}
	if s.packets, err = net.ListenPacket("udp", s.address); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s.serving.Go(func() { _ = s.http.Serve(plain) }) // it ends when it is closed
	s.serving.Go(func() {
		for text, err := make([]byte, 64<<10), error(nil); !errors.Is(err, net.ErrClosed); {
			var from net.Addr
			if _, from, err = s.packets.ReadFrom(text); err == nil {
				_, _ = s.packets.WriteTo([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), from) // who may be gone
			}
		}
	})
	return s, nil
}

func (s *server) close() {
	_, _ = s.http.Close(), s.packets.Close()
	s.serving.Wait()
}
