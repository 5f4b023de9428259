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
	"slices"
	"strings"
	"sync"
	"time"
)

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

// answers holds what the clients of a step got.
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

// traffic sends requests to a listener and compares what comes back.
func (p *play) traffic(ctx context.Context, t *Traffic) error {
	address, problem, err := p.Target.Reach(ctx, t.LoadBalancer, t.Port)
	if err != nil {
		return err
	}
	got := &answers{statuses: make(map[string]int), servers: make(map[string]int)}
	if address == "" {
		got.failures, got.failure = t.requests(), "the listener does not answer: "+problem
	} else if err := p.send(ctx, t, address, got); err != nil {
		return err
	}
	if d := t.Expect.compare(t, got); d != nil {
		return d
	}
	return nil
}

// send lets the clients of a step make its requests.
func (p *play) send(ctx context.Context, t *Traffic, address string, got *answers) error {
	clients, err := p.clientsOf(t)
	if err != nil {
		return err
	}
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
func (p *play) clientsOf(t *Traffic) ([]*http.Client, error) {
	if kept := p.clients[t.Clients]; t.Clients != "" && kept != nil {
		return kept, nil
	}
	dialer := &net.Dialer{}
	if t.Source != "" {
		source := net.ParseIP(t.Source)
		if source == nil || !source.IsLoopback() {
			return nil, fmt.Errorf("the source %s is not a loopback address, such as 127.0.0.9", t.Source)
		}
		dialer.LocalAddr = &net.TCPAddr{IP: source}
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
	return clients, nil
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

// compare returns what is not as expected. Without expectations all requests must be
// answered with 200.
func (e *Answers) compare(t *Traffic, got *answers) *difference {
	if e == nil {
		e = &Answers{}
	}
	statuses := e.Statuses
	if statuses == nil && e.Failures == 0 {
		statuses = map[string]int{"200": t.requests()}
	}
	switch {
	case statuses != nil && !maps.Equal(statuses, got.statuses), got.failures != e.Failures:
		return &difference{expected: outcome(statuses, e.Failures), seen: outcome(got.statuses, got.failures) + because(got)}
	case e.Latency > 0 && got.slowest > time.Duration(e.Latency):
		return &difference{expected: "each answer within " + e.Latency.String(), seen: "one after " + got.slowest.Round(time.Millisecond).String()}
	}
	return e.shares(got)
}

func because(got *answers) string {
	if got.failure == "" {
		return ""
	}
	return " (" + got.failure + ")"
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
func (e *Answers) shares(got *answers) *difference {
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
	return &difference{expected: fmt.Sprintf("%s, give or take %.0f", strings.Join(want, ", "), e.Tolerance), seen: strings.Join(saw, ", ")}
}
