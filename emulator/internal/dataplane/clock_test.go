package dataplane_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// lines returns a TCP server that sends its name, and then what it gets.
func lines(t *testing.T, name string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go func() {
				defer c.Close()
				fmt.Fprintln(c, name)
				io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// What waits in the data plane follows the emulated clock, whether it is advanced or runs
// faster: a connection is drained, and another one idle, after an hour or more of that.
func TestEmulatedWaits(t *testing.T) {
	for name, pass := range map[string]func(*state.Store, time.Duration) error{
		"advanced": func(s *state.Store, d time.Duration) error { return s.AdjustClock(d, 0) },
		"scaled":   func(s *state.Store, d time.Duration) error { return s.AdjustClock(0, d.Seconds()*20) },
	} {
		t.Run(name, func(t *testing.T) {
			f := planed(t, nil)
			if err := f.store.AdjustClock(0, 0); err != nil {
				t.Fatal(err)
			}
			servers := []kinds.BackendServer{f.eni(1, lines(t, "a"))}
			f.listen(kinds.TCP, 80, servers, func(l *kinds.Listener) { l.ConnectionDrain, l.ConnectionDrainTimeout = kinds.On, 900 })
			f.listen(kinds.TCP, 81, servers, func(l *kinds.Listener) { l.EstablishedTimeout = 600 })
			open := func(port int) *bufio.Reader {
				c, err := net.Dial("tcp", f.at(kinds.TCP, port))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				c.SetDeadline(time.Now().Add(await.Patience))
				r := bufio.NewReader(c)
				if _, err := r.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
				return r
			}
			drained, idle := open(80), open(81)
			f.put(func(tx *state.Tx) {
				g, _ := kinds.VServerGroups.Find(tx.View, "rsp-80")
				changed := *g
				changed.BackendServers = nil
				kinds.VServerGroups.Put(tx, &changed)
			})
			if err := pass(f.store, time.Hour); err != nil {
				t.Fatal(err)
			}
			for what, r := range map[string]*bufio.Reader{"drained": drained, "idle": idle} {
				if _, err := r.ReadByte(); err == nil || isTimeout(err) {
					t.Errorf("the %s connection ended with %v, want its end", what, err)
				}
			}
		})
	}
}

// Checks find what they would have found in the time by which the clock is advanced.
func TestChecksAfterAdvance(t *testing.T) {
	f := planed(t, nil)
	var refuses atomic.Bool
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			if !refuses.Load() {
				fmt.Fprint(c, "HTTP/1.0 200 OK\r\n\r\n")
			}
			c.Close()
		}
	}()
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, l.Addr().String())}, func(l *kinds.Listener) {
		l.HealthCheck = kinds.HealthCheck{Switch: kinds.On, Type: "http", Interval: 50, Timeout: 5, UnhealthyThreshold: 3, HealthyThreshold: 3}
	})
	refuses.Store(true)
	await.Until(t, "the server is abnormal, as the clock is advanced", func() bool {
		if err := f.store.AdjustClock(150*time.Second, 1); err != nil { // three intervals
			t.Fatal(err)
		}
		health, _ := f.health(80)
		return health == topology.Abnormal
	})
}

// A clock that runs a hundred thousand times as fast leaves clients and servers the machine's
// time to answer.
func TestFastClock(t *testing.T) {
	f := planed(t, nil)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(50 * time.Millisecond): // longer than a minute of that clock
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "slow")
	}))
	t.Cleanup(slow.Close)
	servers := []kinds.BackendServer{f.eni(1, strings.TrimPrefix(slow.URL, "http://"))}
	f.listen(kinds.HTTP, 80, servers, nil)
	f.listen(kinds.TCP, 81, servers, nil)
	if err := f.store.AdjustClock(0, 100_000); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{f.at(kinds.HTTP, 80), f.at(kinds.TCP, 81)} {
		f.await(func() bool { return get(at) == "slow" }) // a busy machine may take longer than it leaves them
	}
}
