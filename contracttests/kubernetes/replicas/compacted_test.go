package replicas_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/state/engine"
)

// wire leads to an etcd, and can be cut: connections end, and others wait until it is healed.
type wire struct {
	url, to string

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	healed chan struct{} // closed while it is not cut
}

func newWire(t *testing.T, m *member) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(m.url)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{url: "http://" + listener.Addr().String(), to: target.Host, open: make(map[net.Conn]struct{}), healed: make(chan struct{})}
	close(w.healed)
	t.Cleanup(func() {
		listener.Close()
		w.cut()
		w.heal()
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go w.pass(c)
		}
	}()
	return w
}

func (w *wire) pass(from net.Conn) {
	defer from.Close()
	var to net.Conn
	for to == nil {
		w.mu.Lock()
		healed := w.healed
		w.mu.Unlock()
		<-healed
		dialled, err := net.Dial("tcp", w.to)
		if err != nil {
			return
		}
		defer dialled.Close()
		w.mu.Lock()
		if healed == w.healed { // it was not cut meanwhile
			to = dialled
			w.open[from], w.open[to] = struct{}{}, struct{}{}
		}
		w.mu.Unlock()
	}
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.healed = make(chan struct{})
	for c := range w.open {
		c.Close()
	}
	clear(w.open)
}

func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.healed)
}

// compact makes changes that no watch gets which is cut off now.
func compact(t *testing.T, client *clientv3.Client) {
	t.Helper()
	done, err := client.Put(t.Context(), "/another", "x")
	if err == nil {
		_, err = client.Compact(t.Context(), done.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What another program changes while the leader and a follower are cut off, and etcd is compacted
// before they are back, they notice by the rows.
func TestChangedBeforeCompaction(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	for n, test := range []struct{ name, gone, key, value, want string }{
		{"a row is added", "", "state/rows/a/9", "x", "state/rows/a/9"},
		{"a value is changed", "", "state/rows/a/1", "y", "state/rows/a/1"},
		{"a row is deleted", "state/rows/a/2", "", "", "state/rows/"},
		{"a row is deleted, and another one added", "state/rows/a/2", "state/rows/b/2", "x", "state/rows/b/2"},
		{"a row of a large commit is changed", "", "state/rows/big/00500", "x", "state/rows/big/00500"},
		{"a row of a branch is changed", "", "branches/b/state/rows/a/1", "y", "branches/b/state/rows/a/1"},
		{"a row of a branch is deleted", "branches/b/state/rows/a/1", "", "", "branches/b/state/rows/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			prefix := fmt.Sprintf("/unseen-%d/", n)
			w := newWire(t, members[0])
			p := startPair(t, []*member{{url: w.url}}, prefix)
			w.cut()
			for key, op := range map[string]clientv3.Op{test.gone: clientv3.OpDelete(prefix + test.gone), test.key: clientv3.OpPut(prefix+test.key, test.value)} {
				if key == "" {
					continue
				}
				if _, err := client.Do(t.Context(), op); err != nil {
					t.Fatal(err)
				}
			}
			compact(t, client)
			w.heal()
			want := fmt.Sprintf("changed %q in etcd, by its revision", prefix+test.want)
			if err := foreign(t, p.leader); !strings.Contains(err.Error(), want) {
				t.Errorf("the leader noticed %q, want %q", err, want)
			}
			if err := p.leader.Commit(t.Context(), []engine.ChangeSet{{put("a", "4", "x")}}); !errors.Is(err, engine.ErrNotMade) {
				t.Errorf("a commit: %v, want that it is not made", err)
			}
			if strings.HasPrefix(test.want, "branches/") {
				return // of which followers know nothing
			}
			if err := foreign(t, p.follower); !strings.Contains(err.Error(), want) {
				t.Errorf("the follower noticed %q, want %q", err, want)
			}
		})
	}
}

// A compaction alone, and what the leader commits next to it, is no change of another program. What
// one changes later is noticed as before.
func TestCompactedAlone(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	w := newWire(t, members[0])
	p := startPair(t, []*member{{url: w.url}}, "/alone/")
	for round := range 3 {
		w.cut()
		compact(t, client)
		w.heal()
		change := engine.ChangeSet{put("a", "1", fmt.Sprint(round)), {Table: "a", ID: "2"}, put("big", "00007", fmt.Sprint(round))}
		eventually(t, "a commit", func() error {
			err := p.leader.Commit(t.Context(), []engine.ChangeSet{change})
			switch {
			case errors.Is(err, engine.ErrFenced): // on a busy machine the lease is over
				lead(t, p.leader)
			case err != nil:
				if p.leader.Recover(t.Context()) == nil {
					kept(t, p.leader)
				}
			}
			return err
		})
		mustCommit(t, p.leader, large(1000, strings.Repeat("w", 3000+round)))
	}
	done, err := client.Put(t.Context(), "/alone/state/rows/a/7", "x")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("changed %q in etcd, ", "/alone/state/rows/a/7")
	watched, compared := fmt.Sprintf("%sat its revision %d:", want, done.Header.Revision), want+"by its revision "
	for name, e := range map[string]*etcd.Engine{"leader": p.leader, "follower": p.follower} { // on a busy machine one may still compare
		if err := foreign(t, e); !strings.Contains(err.Error(), watched) && !strings.Contains(err.Error(), compared) {
			t.Errorf("the %s noticed %q, want %q or %q", name, err, watched, compared)
		}
	}
}

// A leader watches its own key again whenever a compaction has ended its watch.
func TestTermAfterCompaction(t *testing.T) {
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	w := newWire(t, members[0])
	e := open(t, []*member{{url: w.url}}, "/term/")
	defer e.Close()
	term := lead(t, e)
	over := func() bool {
		select {
		case <-term.Over():
			return true
		default:
			return false
		}
	}
	watchers := func(want string) func() error {
		return func() error {
			total, late, err := members[0].watchers()
			if err == nil && (total != want || late != "0") && !over() {
				err = fmt.Errorf("etcd has %s watchers, of which %s are late, want %s", total, late, want)
			}
			return err
		}
	}
	for rounds := 0; rounds < 2; rounds++ {
		if over() { // on a busy machine its lease ends
			term, rounds = lead(t, e), 0
		}
		eventually(t, "the leader watches its key", watchers("1"))
		w.cut()
		eventually(t, "its watch has ended", watchers("0"))
		compact(t, client)
		w.heal()
	}
	eventually(t, "the leader watches its key again", watchers("1"))
	if _, err := client.Delete(t.Context(), "/term/leader/", clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	<-term.Over()
}

// watchers returns how many watches a member of etcd has, and how many of them have not seen all.
func (m *member) watchers() (total, late string, err error) {
	answer, err := http.Get(m.url + "/metrics")
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), " "); name {
		case "etcd_debugging_mvcc_watcher_total":
			total = value
		case "etcd_debugging_mvcc_slow_watcher_total":
			late = value
		}
	}
	return total, late, lines.Err()
}

// A leader that was deposed follows by another engine. What another program changed meanwhile it
// notices by the rows, unless another leader has committed since.
func TestChangedBetweenEngines(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	for n, test := range []struct {
		name               string
		changed, committed bool
		want               string
	}{
		{"changed", true, false, "by its revision"},
		{"changed, and committed to since", true, true, ""},
		{"nothing", false, false, ""},
		{"committed to", false, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := etcd.Config{Endpoints: endpoints(members), Prefix: fmt.Sprintf("/between-%d/", n), Seen: &etcd.Seen{}}
			follow := func() *etcd.Engine {
				e, err := etcd.Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				reading, err := e.Follow(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				kept(t, reading)
				return e
			}
			first := follow()
			lead(t, first)
			mustCommit(t, first, large(1000, strings.Repeat("v", 3000)), engine.ChangeSet{put("a", "1", "x"), {Table: "big", ID: "00001"}})
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			if test.changed {
				if _, err := client.Put(t.Context(), cfg.Prefix+"state/rows/a/1", "y"); err != nil {
					t.Fatal(err)
				}
			}
			if test.committed {
				other := open(t, members, cfg.Prefix)
				lead(t, other)
				mustCommit(t, other, engine.ChangeSet{put("a", "2", "x")})
				if err := other.Close(); err != nil {
					t.Fatal(err)
				}
			}
			next := follow()
			defer next.Close()
			if test.want != "" {
				if err := foreign(t, next); !strings.Contains(err.Error(), test.want) {
					t.Errorf("it noticed %q, want %q", err, test.want)
				}
				return
			}
			lead(t, next) // which it would not otherwise
			mustCommit(t, next, engine.ChangeSet{put("a", "3", "x")})
		})
	}
}
