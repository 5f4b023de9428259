package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/state/engine"
)

// pair is a leader and a follower of a state in etcd, each as in a process of its own.
type pair struct {
	leader, follower *etcd.Engine
	branch           engine.Engine
}

// startPair leads and follows, and has written a row, a large commit and a branch.
func startPair(t *testing.T, members []*member, prefix string) *pair {
	t.Helper()
	p := &pair{leader: open(t, members, prefix), follower: open(t, members, prefix)}
	for _, e := range []*etcd.Engine{p.leader, p.follower} {
		t.Cleanup(func() { e.Close() })
		reading, err := e.Follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept(t, reading)
		if e == p.follower {
			go keepUp(t.Context(), e, reading)
		}
	}
	lead(t, p.leader)
	mustCommit(t, p.leader, engine.ChangeSet{put("a", "1", "x"), put("a", "2", "x")})
	mustCommit(t, p.leader, large(1000, "before"))
	mustCommit(t, p.leader, large(1000, strings.Repeat("v", 3000)))
	var err error
	if p.branch, err = p.leader.NewBranch(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := p.leader.KeepBranch(t.Context(), "b", []byte("about")); err != nil {
		t.Fatal(err)
	}
	kept(t, p.branch) // as a store that opens it
	mustCommit(t, p.branch, engine.ChangeSet{put("a", "1", "x")}, large(500, "x"))
	return p
}

// keepUp follows as a store does: where the feed breaks, it loads all again.
func keepUp(ctx context.Context, e *etcd.Engine, reading engine.Reading) {
	for ctx.Err() == nil {
		for _, err := range reading.Commits(ctx) {
			if err != nil {
				break
			}
		}
		if again, err := e.Follow(ctx); err == nil {
			if reading = again; reading.Load(ctx, func(string, string, []byte) error { return nil }) == nil {
				continue
			}
		}
		runtime.Gosched()
	}
}

// foreign returns what an engine has noticed of another program.
func foreign(t *testing.T, e *etcd.Engine) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := e.Changed(ctx)
	if ctx.Err() != nil {
		t.Fatal("no change of another program is noticed")
	}
	return err
}

// Whatever another program changes below the prefix, the leader and those who follow notice,
// and nothing that they did themselves before. Nothing is committed from then on.
func TestChangedByAnother(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	prefixOf := func(n int) string { return fmt.Sprintf("/foreign-%d/", n) }
	for n, test := range []struct {
		name string
		do   clientv3.Op
		key  string
	}{
		{"a row is added", clientv3.OpPut(prefixOf(0)+"state/rows/a/9", "x"), "state/rows/a/9"},
		{"a value is changed", clientv3.OpPut(prefixOf(1)+"state/rows/a/1", "y"), "state/rows/a/1"},
		{"a value is put again", clientv3.OpPut(prefixOf(2)+"state/rows/a/1", "x"), "state/rows/a/1"},
		{"a row is deleted", clientv3.OpDelete(prefixOf(3) + "state/rows/a/1"), "state/rows/a/1"},
		{"all rows are deleted", clientv3.OpDelete(prefixOf(4)+"state/rows/", clientv3.WithPrefix()), "state/rows/a/1"},
		{"everything is deleted", clientv3.OpDelete(prefixOf(5), clientv3.WithPrefix()), "branch/b"},
		{"the revision is changed", clientv3.OpPut(prefixOf(6)+"state/revision", "99"), "state/revision"},
		{"the time is changed", clientv3.OpPut(prefixOf(7)+"state/clock", "99"), "state/clock"},
		{"a large commit is shown", clientv3.OpPut(prefixOf(8)+"state/staged", `{"commit":"x","parts":1}`), "state/staged"},
		{"a part is written", clientv3.OpPut(prefixOf(9)+"parts/x/00000000", "x"), "parts/x/00000000"},
		{"the format is changed", clientv3.OpPut(prefixOf(10)+"format", `{"version":9,"schema":9}`), "format"},
		{"the stamp is changed", clientv3.OpPut(prefixOf(11)+"hand", "1"), "hand"},
		{"the stamp is deleted", clientv3.OpDelete(prefixOf(12) + "hand"), "hand"},
		{"a row of a branch is deleted", clientv3.OpDelete(prefixOf(13) + "branches/b/state/rows/a/1"), "branches/b/state/rows/a/1"},
		{"a branch is forgotten", clientv3.OpDelete(prefixOf(14) + "branch/b"), "branch/b"},
		{"a key that clbemu does not know", clientv3.OpPut(prefixOf(15)+"notes", "x"), "notes"},
		{"a candidate without a lease", clientv3.OpPut(prefixOf(16)+"leader/x", "x"), "leader/x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startPair(t, members, prefixOf(n))
			done, err := client.Do(t.Context(), test.do)
			if err != nil {
				t.Fatal(err)
			}
			var at int64
			if deleted := done.Del(); deleted != nil {
				at = deleted.Header.Revision
			} else {
				at = done.Put().Header.Revision
			}
			want := fmt.Sprintf("changed %q in etcd, at its revision %d:", prefixOf(n)+test.key, at)
			for name, e := range map[string]*etcd.Engine{"leader": p.leader, "follower": p.follower} {
				if err := foreign(t, e); !strings.Contains(err.Error(), want) {
					t.Errorf("the %s noticed %q, want %q", name, err, want)
				}
			}
			for name, e := range map[string]engine.Engine{"state": p.leader, "branch": p.branch} {
				if err := e.Commit(t.Context(), []engine.ChangeSet{{put("a", "3", "x")}}); !errors.Is(err, engine.ErrNotMade) || !strings.Contains(err.Error(), want) {
					t.Errorf("a commit to the %s: %v, want %q", name, err, want)
				}
			}
			if err := p.leader.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a recovery: %v, want %q", err, want)
			}
		})
	}
}

// A process that has noticed a change of another program never leads: what it knows is not what
// etcd keeps. One that starts afterwards does.
func TestSpoiltNeverLeads(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	p := startPair(t, members, "/spoilt/")
	waiting := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := p.follower.Campaign(ctx, "follower")
		waiting <- err
	}()
	client := etcdClient(t, members)
	campaigns := func(want int) func() error {
		return func() error {
			kept, err := client.Get(t.Context(), "/spoilt/leader/", clientv3.WithPrefix())
			if err == nil && len(kept.Kvs) != want {
				err = fmt.Errorf("%d take part in the election, want %d", len(kept.Kvs), want)
			}
			return err
		}
	}
	eventually(t, "the follower takes part in the election", campaigns(2))
	if _, err := client.Delete(t.Context(), "/spoilt/state/rows/a/1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the follower leaves the election", campaigns(1))
	select {
	case err := <-waiting:
		t.Errorf("the follower's campaign ended with %v before its time", err)
	default:
	}
	if err := p.leader.Close(); err != nil {
		t.Error(err)
	}
	next := open(t, members, "/spoilt/")
	defer next.Close()
	lead(t, next)
	mustCommit(t, next, engine.ChangeSet{put("a", "3", "x")})
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("the follower's campaign ended with %v, want the end of its context", err)
	}
}

// An older clbemu that leads does not stamp what it changes, which is not taken for another
// program's. Once a newer one leads again, changes of others are noticed.
func TestOlderLeader(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	p := startPair(t, members, "/older/")
	client := etcdClient(t, members)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	election := concurrency.NewElection(session, "/older/leader")
	elected := make(chan error, 1)
	go func() { elected <- election.Campaign(t.Context(), "older") }()
	eventually(t, "the older one takes part in the election", func() error {
		kept, err := client.Get(t.Context(), "/older/leader/", clientv3.WithPrefix())
		if err == nil && len(kept.Kvs) != 2 {
			err = errors.New("not yet")
		}
		return err
	})
	if err := p.leader.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-elected; err != nil {
		t.Fatal(err)
	}
	for _, ops := range [][]clientv3.Op{ // as it begins a term, commits, and shows its clock
		{clientv3.OpPut("/older/state/revision", "4")},
		{clientv3.OpPut("/older/state/rows/a/5", "x"), clientv3.OpPut("/older/state/revision", "5")},
		{clientv3.OpPut("/older/state/clock", "1700000000000000000")},
		{clientv3.OpPut("/older/parts/x/00000000", "x")},
	} {
		if _, err := client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	newer := open(t, members, "/older/")
	defer newer.Close()
	lead(t, newer)
	mustCommit(t, newer, engine.ChangeSet{put("a", "6", "x")})
	if _, err := client.Put(t.Context(), "/older/state/rows/a/7", "x"); err != nil {
		t.Fatal(err)
	}
	if err := foreign(t, p.follower); !strings.Contains(err.Error(), `"/older/state/rows/a/7"`) {
		t.Errorf("the follower noticed %v, want the row after the older one's", err)
	}
}

// While another program's change is unresolved, every replica says so, reads go on, and writes
// get 500 with the key. A restart of all takes what etcd keeps.
func TestForeignChange(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	all := fleet(t, members, "--read", "local")
	leader, others := leaderOf(t, all)
	kept, err := leader.create(t.Context(), "kept", "kept")
	if err != nil {
		t.Fatal(err)
	}
	client := etcdClient(t, members)
	key := "/clbemu/state/rows/LoadBalancer/" + kept
	gone, err := client.Delete(t.Context(), key)
	if err != nil || gone.Deleted != 1 {
		t.Fatalf("%s: %v, %v", key, gone, err)
	}
	want := fmt.Sprintf("another program changed %q in etcd, at its revision %d", key, gone.Header.Revision)
	for _, r := range all {
		eventually(t, r.name+" is not ready", func() error { return notReady(r) })
		if err := r.control.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not ready as %v, want %q", r.name, err, want)
		}
		if ran := binary.Run(t, "doctor", "--server", r.control.URL, "--control-token", token); !strings.Contains(strings.Join(strings.Fields(ran.Stdout), " "), want) {
			t.Errorf("%s: doctor says %s, want %q", r.name, ran.Stdout, want)
		}
		if reply, err := r.api.Call(slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": kept, "LoadBalancerName": "x"}); err != nil ||
			reply.Status != http.StatusInternalServerError || !strings.Contains(reply.Text("Message"), want) {
			t.Errorf("%s: a write gets %v, %v, want 500 with %q", r.name, reply, err, want)
		}
		if got := r.loadBalancers(); got["kept"] != kept {
			t.Errorf("%s lists %v, want what was acknowledged", r.name, got)
		}
		if n := strings.Count(r.running.Tail(1000), "another program changed the state in etcd"); n != 1 {
			t.Errorf("%s says it %d times, want once: %s", r.name, n, r.running.Tail(1000))
		}
	}
	for _, r := range append(others, leader) { // a rolling restart
		if err := r.running.Stop(); err != nil {
			t.Error(err)
		}
		r.start()
		r.await()
	}
	for _, r := range all {
		eventually(t, r.name+" is ready", func() error { return r.control.Ready(t.Context()) })
		if got := r.loadBalancers(); got["kept"] != "" {
			t.Errorf("%s lists %v, want what etcd keeps", r.name, got)
		}
		if _, err := r.create(t.Context(), "after-"+r.name, "after-"+r.name); err != nil {
			t.Errorf("%s: a write after the restart: %v", r.name, err)
		}
	}
}
