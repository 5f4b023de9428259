package scenarios

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var trafficKind = kind[Traffic](Kind{Name: "traffic", About: "Send HTTP requests to a listener.", judges: true, needs: packets})

// Traffic is a number of HTTP requests to a listener, also to one of TCP.
type Traffic struct {
	LoadBalancer string   `yaml:"loadBalancer" required:"true" doc:"The id of the load balancer."`
	Port         int      `yaml:"port" required:"true" doc:"The port of the listener."`
	Requests     int      `yaml:"requests" doc:"The number of requests of all clients together; one for each client if absent."`
	Connections  int      `yaml:"connections" counted:"true" doc:"The number of clients, each with one connection at a time; 1 if absent."`
	KeepAlive    bool     `yaml:"keepAlive" doc:"true: each client makes all its requests on one connection."`
	Clients      string   `yaml:"clients" doc:"A name under which the clients keep their connections for a later step."`
	Path         string   `yaml:"path" doc:"The path of the requests."`
	Host         string   `yaml:"host" doc:"The host that the requests name."`
	Source       string   `yaml:"source" doc:"The address of the clients, such as 127.0.0.9."`
	TLS          bool     `yaml:"tls" doc:"true: by HTTPS; any certificate will do."`
	Timeout      Duration `yaml:"timeout" doc:"How long a client waits for an answer, in real time; 10s if absent."`
	Expect       *Answers `yaml:"expect" doc:"What the clients get; 200 for each request if absent."`

	place
}

// Answers describes what the clients of a traffic step must get.
type Answers struct {
	Statuses  map[string]int     `yaml:"statuses" doc:"The number of answers, not a percentage, by status, such as {200: 38, 503: 2}."`
	Failures  int                `yaml:"failures" doc:"The number of requests without an answer."`
	Shares    map[string]float64 `yaml:"shares" doc:"The share of the answers by server, in percent, such as {i-1: 75, i-2: 25}."`
	Tolerance float64            `yaml:"tolerance" doc:"How many percentage points a share may differ."`
	Latency   Duration           `yaml:"latency" doc:"How long the slowest answer may take."`
}

func (t *Traffic) Validate() error {
	if t.Expect != nil {
		requests := t.requests()
		if t.counted() {
			requests = maxRequests // some number, as far as can be told before it is played
		}
		if err := t.Expect.valid(requests); err != nil {
			return fmt.Errorf("expect.%w", err)
		}
	}
	timeout := cmp.Or(time.Duration(t.Timeout), trafficTimeout)
	switch {
	case t.Expect != nil && time.Duration(t.Expect.Latency) >= timeout:
		return fmt.Errorf("expect.latency: no answer takes longer than the timeout, which is %s", Duration(timeout))
	case t.Requests < 0 || t.Requests > maxRequests:
		return fmt.Errorf("requests is 0 to %d", maxRequests)
	case t.Connections < 0 || t.Connections > maxClients:
		return fmt.Errorf("connections is 0 to %d", maxClients)
	case t.Port < 1 || t.Port > 65535:
		return errors.New("port is 1 to 65535")
	}
	return nil
}

// counted reports whether a template says how many requests or answers there are.
func (t *Traffic) counted() bool {
	for _, field := range []string{"requests", "connections", "expect"} {
		if part := yamlfile.Child(t.node, field); part != t.node && len(usedIn(part)) > 0 {
			return true
		}
	}
	return false
}

// valid rejects answers that no number of requests can have.
func (a *Answers) valid(requests int) error {
	if err := a.validStatuses(requests); err != nil {
		return err
	}
	sum := 0.0
	for _, server := range sortedKeys(a.Shares) {
		share := a.Shares[server]
		if sum += share; share < 0 || share > 100 {
			return fmt.Errorf("shares: %s has %v, but a share is 0 to 100 percent", server, share)
		}
	}
	switch {
	case sum > 0 && sum <= 1:
		return errors.New("shares: they are in percent: write 75, not 0.75")
	case sum > 100+a.Tolerance*float64(len(a.Shares)):
		return fmt.Errorf("shares: together they are %v percent", sum)
	case a.Failures < 0 || a.Failures > requests:
		return fmt.Errorf("failures: %d of %d requests can't fail", a.Failures, requests)
	case a.Tolerance < 0 || a.Tolerance > 100:
		return errors.New("tolerance: it is 0 to 100 percentage points")
	case a.Tolerance > 0 && len(a.Shares) == 0:
		return errors.New("tolerance: there are no shares that may differ")
	}
	return nil
}

// validStatuses rejects invalid statuses, and a number of answers other than that of requests.
func (a *Answers) validStatuses(requests int) error {
	for _, status := range sortedKeys(a.Statuses) {
		if code, err := strconv.Atoi(status); (err != nil || code < 100 || code > 599) && !template().MatchString(status) {
			return fmt.Errorf("statuses: %q is no status: want one from 100 to 599 with the number of its answers", status)
		}
		if n := a.Statuses[status]; n < 0 || n > requests {
			return fmt.Errorf("statuses: %d answers of %s, but there are %d requests", n, status, requests)
		}
	}
	if a.Statuses != nil && requests < maxRequests {
		total := a.Failures
		for _, n := range a.Statuses {
			total += n
		}
		if total != requests {
			return fmt.Errorf("statuses: with the failures they are %d answers, but there are %d requests", total, requests)
		}
	}
	return nil
}

func (t *Traffic) title() string { return fmt.Sprintf("traffic to port %d", t.Port) }

func (t *Traffic) check(c *checker, at spot, in scope) {
	c.balancerID(t.LoadBalancer, at.in("loadBalancer"))
	c.id("LoadBalancerId", t.LoadBalancer, at.in("loadBalancer"), in)
	c.loopback(t.Source, at.in("source"))
	if requests := at.in("requests"); requests.node != at.node && requests.node.Value == "0" {
		c.refuse(requests, "no request gets no answer: leave it out for one of each client")
	}
	if t.Clients != "" {
		name := "the clients " + t.Clients
		if _, known := in.defined[name]; known {
			in.used[name] = true // they keep their connections for this step
		} else {
			in.defined[name] = at.in("clients")
		}
	}
	if t.Expect == nil {
		return
	}
	for _, id := range sortedKeys(t.Expect.Shares) {
		c.server(id, at.in("expect", "shares", id), in)
	}
}

// The bounds of a traffic step.
const (
	maxRequests = 100_000
	maxClients  = 256
)

// trafficTimeout limits requests that set no timeout.
const trafficTimeout = 10 * time.Second

// serverHeader names the header in which a server of a scenario returns its name.
const serverHeader = "X-Clbemu-Server"

// maxBody bounds what a client reads of an answer.
const maxBody = 1 << 20

// answers holds the answers that the clients of a step got.
type answers struct {
	mu       sync.Mutex
	statuses map[string]int
	servers  map[string]int
	failures int
	failure  string // the first one
	slowest  time.Duration
}

func (a *answers) add(status int, server string, took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		if a.failures++; a.failure == "" {
			a.failure = err.Error()
		}
		return
	}
	a.statuses[fmt.Sprint(status)]++
	if server != "" {
		a.servers[server]++
	}
	a.slowest = max(a.slowest, took)
}

func (t *Traffic) do(ctx context.Context, p *play, _ *Step) error {
	address, problem, err := p.Target.Reach(ctx, t.LoadBalancer, t.Port)
	if err != nil {
		return err
	}
	got := &answers{statuses: make(map[string]int), servers: make(map[string]int)}
	if address == "" {
		got.failures, got.failure = t.requests(), "the listener does not answer: "+problem
	} else if err := t.send(ctx, p, address, got); err != nil {
		return err
	}
	return t.Expect.compare(t, got)
}

// send lets the clients of a step make its requests.
func (t *Traffic) send(ctx context.Context, p *play, address string, got *answers) error {
	clients := p.clientsOf(t)
	var sending sync.WaitGroup
	for i, client := range clients {
		own := t.requests() / len(clients)
		if i < t.requests()%len(clients) {
			own++
		}
		sending.Go(func() {
			for range own {
				t.ask(ctx, client, address, got)
			}
		})
	}
	sending.Wait()
	if t.Clients == "" {
		closeAll(clients)
	}
	return ctx.Err()
}

// clientsOf returns the clients of a step: the ones of an earlier step with the same name,
// with their connections, or new ones.
func (p *play) clientsOf(t *Traffic) []*http.Client {
	if kept := p.clients[t.Clients]; t.Clients != "" && kept != nil {
		return kept
	}
	dialer := &net.Dialer{}
	if t.Source != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(t.Source)}
	}
	clients := make([]*http.Client, max(t.Connections, 1))
	for i := range clients {
		clients[i] = &http.Client{
			Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: !t.KeepAlive && t.Clients == "", MaxConnsPerHost: 1,
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: t.Host}}, // the certificate is the scenario's own
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       cmp.Or(time.Duration(t.Timeout), trafficTimeout),
		}
	}
	if t.Clients != "" {
		p.clients[t.Clients] = clients
	}
	return clients
}

func closeAll(clients []*http.Client) {
	for _, client := range clients {
		client.CloseIdleConnections()
	}
}

// ask makes one request.
func (t *Traffic) ask(ctx context.Context, client *http.Client, address string, got *answers) {
	scheme := "http"
	if t.TLS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/"+strings.TrimPrefix(t.Path, "/"), nil)
	if err != nil {
		got.add(0, "", 0, err)
		return
	}
	request.Host = t.Host
	begin := time.Now()
	response, err := client.Do(request)
	if err != nil {
		got.add(0, "", 0, err)
		return
	}
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody))
	err = errors.Join(err, response.Body.Close())
	got.add(response.StatusCode, response.Header.Get(serverHeader), time.Since(begin), err)
}

func (t *Traffic) requests() int { return max(t.Requests, t.Connections, 1) }

// compare returns what differs from the expectations. Without expectations all requests must get a
// 200.
func (e *Answers) compare(t *Traffic, got *answers) error {
	if e == nil {
		e = &Answers{}
	}
	statuses := e.Statuses
	if statuses == nil && e.Failures == 0 {
		statuses = map[string]int{"200": t.requests()}
	}
	switch {
	case statuses != nil && !maps.Equal(statuses, got.statuses), got.failures != e.Failures:
		u := &Unmet{Expected: outcome(statuses, e.Failures), Seen: outcome(got.statuses, got.failures)}
		if got.failure != "" {
			u.Seen += " (" + got.failure + ")"
		}
		return u
	case e.Latency > 0 && got.slowest > time.Duration(e.Latency):
		return &Unmet{Expected: "each answer within " + e.Latency.String(), Seen: "one after " + got.slowest.Round(time.Millisecond).String()}
	}
	return e.shares(got)
}

// outcome says in words what clients got.
func outcome(statuses map[string]int, failures int) string {
	var parts []string
	for _, status := range sortedKeys(statuses) {
		parts = append(parts, fmt.Sprintf("%d × %s", statuses[status], status))
	}
	if failures > 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d without an answer", failures))
	}
	return strings.Join(parts, ", ")
}

// shares compares the servers' shares of the answers, in percent.
func (e *Answers) shares(got *answers) error {
	if e.Shares == nil {
		return nil
	}
	total := 0
	for _, n := range got.servers {
		total += n
	}
	names := slices.Concat(sortedKeys(e.Shares), sortedKeys(got.servers))
	slices.Sort(names)
	var want, saw []string
	differs := false
	for _, name := range slices.Compact(names) {
		share := 100 * float64(got.servers[name]) / float64(max(total, 1))
		differs = differs || math.Abs(share-e.Shares[name]) > e.Tolerance
		want, saw = append(want, fmt.Sprintf("%s %.0f %%", name, e.Shares[name])), append(saw, fmt.Sprintf("%s %.0f %%", name, share))
	}
	if !differs {
		return nil
	}
	return &Unmet{Expected: fmt.Sprintf("%s, give or take %.0f", strings.Join(want, ", "), e.Tolerance), Seen: strings.Join(saw, ", ")}
}

// loopback refuses an address of another machine.
func (c *checker) loopback(address string, at spot) {
	if ip, err := netip.ParseAddr(address); address != "" && (err != nil || !ip.IsLoopback()) {
		c.refuse(at, "%q is not a loopback address, such as 127.0.0.9", address)
	}
}

// balancerID finds the id of a load balancer, or the template of a saved one.
var balancerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(n?lb-[a-z0-9]+|\{\{\w+\}\})$`) })

// balancerID refuses what can't be the id of a load balancer.
func (c *checker) balancerID(id string, at spot) {
	if !balancerID().MatchString(id) {
		c.refuse(at, "%q is not the id of a load balancer: want one that was saved, such as {{lb}}", id)
	}
}
