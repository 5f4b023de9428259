package dataplane

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"
	"sync"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// closed is where nothing listens. A port that a test had and gave back may be another's.
const closed = "127.0.0.1:1"

// key returns the key of a check of an address by the cloud's defaults.
func key(kind, at string) checkKey {
	return newCheckKey(topology.HealthCheck{Type: kind, Timeout: 5 * time.Second, Interval: 2 * time.Second, Healthy: 3, Unhealthy: 3}, &topology.Member{}, netip.MustParseAddrPort(at))
}

// A status changes after the threshold of results in a row that speak against it, and not
// before.
func TestThresholds(t *testing.T) {
	c := newChecks(t.Context(), &sync.WaitGroup{}, forward.MachineClock{}, func(string) {})
	running := &check{users: map[string]string{"l": "lb"}}
	k := key("tcp", "127.0.0.1:1")
	c.running[k] = running
	for i, step := range []struct {
		fails, abnormal bool
	}{{true, false}, {true, false}, {false, false}, {true, false}, {true, false}, {true, true}, {false, true}, {false, true}, {true, true}, {false, true}, {false, true}, {false, false}} {
		var err error
		if step.fails {
			err = errors.New("refused")
		}
		_, _, before := c.status(k)
		c.count(k, running, err)
		status, why, _ := c.status(k)
		if abnormal := status == topology.Abnormal; abnormal != step.abnormal || abnormal && why.Error() != "refused" || !before {
			t.Errorf("step %d: %s because of %v, want abnormal %v", i, status, why, step.abnormal)
		}
	}
}

// A check that fails says how, by the words of NLB's API: NLB-0035.
func TestCauses(t *testing.T) {
	answering := func(answer string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				if answer == "" {
					continue // until the test ends
				}
				_, _ = c.Read(make([]byte, 512))
				_, _ = c.Write([]byte(answer))
				_ = c.Close()
			}
		}()
		return l.Addr().String()
	}
	for name, c := range map[string]struct {
		kind, at string
		want     topology.Cause
	}{
		"refused":        {"tcp", closed, topology.ConnectFailed},
		"refused, HTTP":  {"http", closed, topology.ConnectFailed},
		"refused, UDP":   {"udp", closed, topology.ConnectFailed},
		"silent":         {"http", answering(""), topology.ResponseTimeout},
		"another code":   {"http", answering("HTTP/1.0 500 Internal Server Error\r\n\r\n"), topology.OtherCode},
		"cut":            {"http", answering("HTTP/1.0 200 OK\r\n"), topology.ConnectInterrupted},
		"no header":      {"http", answering("SSH-2.0-OpenSSH_9.9\r\n"), topology.InvalidHeader},
		"late to listen": {"tcp", "192.0.2.1:80", topology.ConnectTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			limit := await.Patience
			if c.want == topology.ResponseTimeout {
				limit = leastTimeout
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			if c.want == topology.ConnectTimeout { // whatever this machine's network does with the address
				ctx, cancel = context.WithDeadline(t.Context(), time.Now())
				defer cancel()
			}
			k := key(c.kind, c.at)
			var failed *probeError
			if err := probe(ctx, &k); !errors.As(err, &failed) || failed.cause != c.want {
				t.Errorf("the check fails with %v, want %s", err, c.want)
			}
		})
	}
}

// A silent server is abnormal after 19 s, by the cloud's defaults of three tries of 5 s
// with 2 s between them.
func TestTimeToUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var tasks sync.WaitGroup
		changed := make(chan string, 1)
		c := newChecks(ctx, &tasks, forward.MachineClock{}, func(id string) { changed <- id })
		c.try = func(ctx context.Context, _ *checkKey) error {
			<-ctx.Done()
			return ctx.Err()
		}
		start := time.Now()
		c.keep("listener", "lb", []checkKey{key("tcp", "127.0.0.1:1")})
		if id := <-changed; id != "lb" || time.Since(start) != 19*time.Second {
			t.Errorf("%s changed after %s, want lb after 19 s", id, time.Since(start))
		}
		c.keep("listener", "lb", nil)
		if _, _, ok := c.status(key("tcp", "127.0.0.1:1")); ok {
			t.Error("a check that nobody needs goes on")
		}
		cancel()
		tasks.Wait()
	})
}

// A check of TCP connects, one of HTTP looks at the status, as the cloud asks, and one of
// UDP takes silence for health unless it expects an answer.
func TestProbes(t *testing.T) {
	var asked string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = fmt.Sprintf("%s %s %s %s %s", r.Method, r.URL, r.Proto, r.Host, r.UserAgent())
		if r.URL.Path == "/sick" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer web.Close()
	at := strings.TrimPrefix(web.URL, "http://")
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, c := range map[string]struct {
		kind, at string
		change   func(*checkKey)
		want     string
	}{
		"tcp":               {"tcp", at, nil, ""},
		"tcp, closed":       {"tcp", closed, nil, "connection refused"},
		"http":              {"http", at, nil, ""},
		"http, closed":      {"http", closed, nil, "connection refused"},
		"http, sick":        {"http", at, func(k *checkKey) { k.uri = "/sick" }, "answers the check of /sick with 503"},
		"http, 5xx is well": {"http", at, func(k *checkKey) { k.uri, k.codes = "/sick", "http_2xx,http_5xx" }, ""},
		"http, a range":     {"http", at, func(k *checkKey) { k.uri, k.codes = "/sick", "500-504" }, ""},
		"udp, closed":       {"udp", closed, nil, "refuses the check's packet"},
		"udp, silent":       {"udp", silent.LocalAddr().String(), nil, ""},
		"udp, no answer":    {"udp", silent.LocalAddr().String(), func(k *checkKey) { k.request, k.expect = "ping", "pong" }, "does not answer the check"},
	} {
		t.Run(name, func(t *testing.T) {
			k := key(c.kind, c.at)
			if c.change != nil {
				c.change(&k)
			}
			limit := time.Minute
			if c.at == silent.LocalAddr().String() { // it waits that long for what does not come
				limit = 100 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			switch err := probe(ctx, &k); {
			case err == nil && c.want != "":
				t.Errorf("the check passes, want %q", c.want)
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the check fails: %v, want %q", err, c.want)
			}
		})
	}
	k := key("http", at)
	if err := probe(t.Context(), &k); err != nil {
		t.Fatal(err)
	}
	if want := "HEAD / HTTP/1.0 127.0.0.1 KeepAliveClient"; asked != want {
		t.Errorf("the check asks %q, want %q", asked, want)
	}
}
