package dataplane_test

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/state"
)

// ownService listens as a part of this process does, by TCP and UDP at one port, and counts
// what reaches it.
func ownService(t *testing.T) (at netip.AddrPort, reached *atomic.Int64) {
	t.Helper()
	var l net.Listener
	var packets net.PacketConn
	await.Until(t, "a port is free for TCP and UDP", func() bool {
		var err error
		if l, err = listen.TCP("control listener", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if packets, err = net.ListenPacket("udp", l.Addr().String()); err != nil {
			l.Close()
		}
		return err == nil
	})
	t.Cleanup(func() { l.Close() })
	t.Cleanup((&listen.Service{Name: "control listener"}).Add(packets.LocalAddr()))
	t.Cleanup(func() { packets.Close() })
	reached = new(atomic.Int64)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			reached.Add(1)
			c.Close()
		}
	}()
	go func() {
		for b := make([]byte, 10); ; {
			if _, _, err := packets.ReadFrom(b); err != nil {
				return
			}
			reached.Add(1)
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String()), reached
}

// Whatever a member says, and in whatever way it is reached or checked, the data plane never
// connects to a socket at which this process answers.
func TestNeverConnectsToItself(t *testing.T) {
	own, reached := ownService(t)
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/8")}
	ways := map[string]struct {
		ip      string // of the member
		reachAt string
	}{
		"reached with a port":     {"192.168.0.9", own.String()},
		"reached at its port":     {"192.168.0.9", "127.0.0.1"},
		"reached at this machine": {"192.168.0.9", "0.0.0.0"},
		"mapped":                  {"192.168.0.9", fmt.Sprintf("[::ffff:127.0.0.1]:%d", own.Port())},
		"its own address":         {"127.0.0.1", ""},
		"unspecified":             {"0.0.0.0", ""},
	}
	for name, way := range ways {
		for _, checked := range []string{"", "tcp", "http"} {
			t.Run(name+" "+checked, func(t *testing.T) {
				f := planed(t, func(cfg *dataplane.Config) { cfg.Direct = everywhere })
				eni := f.eni(9, "")
				eni.ServerIP, eni.Port = way.ip, int(own.Port())
				f.put(func(tx *state.Tx) {
					if at, err := kinds.ParseReachAt(way.reachAt); err == nil {
						kinds.ReachedAts.Put(tx, &kinds.ReachedAt{Owner: owner, ServerID: "eni-9", At: at})
						kinds.ReachedAts.Put(tx, &kinds.ReachedAt{Owner: owner, ServerID: way.ip, At: at})
					}
				})
				check := func(l *kinds.Listener) {
					if checked != "" {
						l.HealthCheck = kinds.HealthCheck{Switch: kinds.On, Type: checked, Interval: 1, Timeout: 1, ConnectPort: int(own.Port())}
					}
				}
				f.listen(kinds.HTTP, 80, []kinds.BackendServer{eni}, check)
				f.listen(kinds.TCP, 81, []kinds.BackendServer{eni}, check)
				f.listen(kinds.UDP, 82, []kinds.BackendServer{eni}, check)
				f.nlb(netip.AddrPortFrom(netip.MustParseAddr(way.ip), own.Port()).String(), tcp80())
				if got := get(f.at(kinds.HTTP, 80)); got != "502" && got != "503" {
					t.Errorf("HTTP answers %q", got)
				}
				nlb, problem := f.plane.Reached("lsn-80")
				for _, at := range []string{f.at(kinds.TCP, 81), nlb} {
					if got := within(300*time.Millisecond, at); got != "no answer" { // where a check fails, nothing comes
						t.Errorf("TCP answers %q %s", got, problem)
					}
				}
				udp, err := net.Dial("udp", f.at(kinds.UDP, 82))
				if err != nil {
					t.Fatal(err)
				}
				defer udp.Close()
				fmt.Fprint(udp, "packet")
				get(f.at(kinds.HTTP, 80)) // the packet before it was handled
				if _, trouble := f.health(80); !strings.Contains(trouble, "control listener") {
					t.Errorf("the trouble of the member is %q", trouble)
				}
			})
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d connections and packets reached this process itself", n)
	}
}

// A client of the cloud's API chooses the addresses of members: other programs of this machine
// are reached only where a block of --data-plane-direct is one of this machine's addresses.
func TestReachesThisMachineOnlyByItsBlock(t *testing.T) {
	for name, test := range map[string]struct{ ip, direct, want string }{
		"everywhere":     {"127.0.0.1", "0.0.0.0/0", "502"},
		"half":           {"127.0.0.1", "0.0.0.0/1", "502"},
		"unspecified":    {"0.0.0.0", "0.0.0.0/0", "502"},
		"not even named": {"0.0.0.0", "0.0.0.0/1", "502"},
		"its own block":  {"127.0.0.1", "127.0.0.0/8", "a"},
		"its address":    {"127.0.0.1", "127.0.0.1/32", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			f := planed(t, func(cfg *dataplane.Config) { cfg.Direct = []netip.Prefix{netip.MustParsePrefix(test.direct)} })
			eni := f.eni(9, "")
			eni.ServerIP, eni.Port = test.ip, int(netip.MustParseAddrPort(web(t, "a")).Port())
			f.listen(kinds.HTTP, 80, []kinds.BackendServer{eni}, nil)
			if got := get(f.at(kinds.HTTP, 80)); got != test.want && (test.want == "a" || got != "503") {
				t.Errorf("a member at %s with %s answers %q, want %q", test.ip, test.direct, got, test.want)
			}
		})
	}
}

// A listener whose member is the listener itself, or leads back to it, ends a request at
// once, with the reason; one whose member is another listener passes it on.
func TestLoopsEnd(t *testing.T) {
	f := planed(t, nil)
	first := f.eni(1, web(t, "a"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{first}, nil)
	f.listen(kinds.HTTP, 81, []kinds.BackendServer{f.eni(2, f.at(kinds.HTTP, 80))}, nil)
	if got := get(f.at(kinds.HTTP, 81)); got != "a" {
		t.Fatalf("a listener before a listener answers %q", got)
	}
	for to, reason := range map[int]string{80: "the listener itself", 81: "leads back"} {
		f.eni(1, f.at(kinds.HTTP, to))
		for _, port := range []int{80, 81} {
			if got := get(f.at(kinds.HTTP, port)); got != "502" {
				t.Errorf("%d with a member at %d answers %q", port, to, got)
			}
		}
		if _, trouble := f.health(80); !strings.Contains(trouble, reason) {
			t.Errorf("the trouble of a member at %d is %q", to, trouble)
		}
	}
	for _, protocol := range []kinds.Protocol{kinds.TCP, kinds.UDP} {
		port := map[kinds.Protocol]int{kinds.TCP: 82, kinds.UDP: 83}[protocol]
		loop := f.eni(port, "")
		f.listen(protocol, port, []kinds.BackendServer{loop}, nil)
		f.eni(port, f.at(protocol, port))
		c, err := net.Dial(map[kinds.Protocol]string{kinds.TCP: "tcp", kinds.UDP: "udp"}[protocol], f.at(protocol, port))
		if err != nil {
			continue // it was reset at once
		}
		defer c.Close()
		fmt.Fprint(c, "around")
	}
	get(f.at(kinds.HTTP, 80)) // what came before it was handled
	for _, l := range f.plane.Traffic() {
		for _, s := range l.Servers {
			if l.Protocol != string(kinds.HTTP) && s.Connections > 1 {
				t.Errorf("one packet became %d connections or sessions of %s", s.Connections, l.Listener)
			}
		}
	}
}
