package replicas_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// While etcd is full, writes are refused with the reason and reads go on; once it has
// room again, so do writes.
func TestFullEtcd(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1, "--quota-backend-bytes=16000000")
	all := fleet(t, members)
	leader, others := leaderOf(t, all)
	if _, err := leader.create(t.Context(), "before", "before"); err != nil {
		t.Fatal(err)
	}
	client := etcdClient(t, members)
	fill(t, client)
	for _, r := range []*replica{leader, others[0]} {
		_, err := r.create(t.Context(), "full", "full")
		if err == nil || !strings.HasPrefix(err.Error(), "500 ") || !strings.Contains(err.Error(), "etcd is full") || strings.Contains(err.Error(), "not known") {
			t.Errorf("%s: a write while etcd is full: %v", r.name, err)
		}
		if got := r.loadBalancers(); got["before"] == "" || got["full"] != "" {
			t.Errorf("%s: while etcd is full it lists %v", r.name, got)
		}
	}
	gone, err := client.Delete(t.Context(), "/filler/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), gone.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Defragment(t.Context(), members[0].url); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writes are taken again", func() error {
		_, err := others[0].create(t.Context(), "after", "after")
		return err
	})
}

// fill leaves no room in an etcd.
func fill(t *testing.T, client *clientv3.Client) {
	t.Helper()
	filler := strings.Repeat("x", 1<<20)
	for n := range 100 {
		if _, err := client.Put(t.Context(), fmt.Sprintf("/filler/%d", n), filler); err != nil {
			return
		}
	}
	t.Fatal("etcd takes more than its quota")
}

// While etcd is full no replica can lead. Followers that may read locally answer reads all the
// same, and say why writes are refused.
func TestFullEtcdWithoutLeader(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1, "--quota-backend-bytes=16000000")
	all := fleet(t, members, "--read", "local")
	leader, others := leaderOf(t, all)
	id, err := leader.create(t.Context(), "before", "before")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range others {
		eventually(t, r.name+" knows the load balancer", func() error {
			if got := r.loadBalancers(); got["before"] != id {
				return fmt.Errorf("it lists %v", got)
			}
			return nil
		})
	}
	fill(t, etcdClient(t, members))
	leader.running.Kill()
	for _, r := range others {
		// Until the leader's lease is over, another reason may be given.
		eventually(t, r.name+" says why it refuses a write while etcd is full and no replica leads", func() error {
			_, err := r.create(t.Context(), "full", "full")
			if err != nil && strings.HasPrefix(err.Error(), "503 ") && strings.Contains(err.Error(), "etcd is full") {
				return nil
			}
			return fmt.Errorf("the write gets: %v", err)
		})
		if got := r.loadBalancers(); got["before"] != id || len(got) != 1 {
			t.Errorf("%s: while etcd is full and no replica leads it lists %v", r.name, got)
		}
	}
}

// However long etcd is away, no replica ends: each keeps its listeners, says why no replica leads,
// and takes calls again once etcd does.
func TestEtcdAway(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	all := fleet(t, members)
	leader, _ := leaderOf(t, all)
	_ = members[0].running.Stop() // which it reports as an end by the signal
	eventually(t, "the leader gives up its lease, and tries to reach etcd again", func() error {
		if said := leader.running.Tail(20); !strings.Contains(said, "etcd can't be opened, and is tried again") {
			return fmt.Errorf("it says %s", said)
		}
		return nil
	})
	for _, r := range all {
		if _, err := r.create(t.Context(), "away", "away"); err == nil || strings.Contains(err.Error(), "connection refused") && !strings.Contains(err.Error(), "etcd") {
			t.Errorf("%s: a call while etcd is away: %v, want the reason", r.name, err)
		}
		if err := r.control.Ready(t.Context()); err == nil {
			t.Errorf("%s: it is ready while etcd is away", r.name)
		}
	}
	if err := leader.control.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "its lease") {
		t.Errorf("the deposed leader is not ready because of %v, want the end of its lease", err)
	}
	members[0].start()
	members[0].await()
	for _, r := range all {
		eventually(t, r.name+" takes calls again", func() error {
			_, err := r.create(t.Context(), "after", "after")
			return err
		})
		select {
		case <-r.running.Done():
			t.Errorf("%s ended: %s", r.name, r.running.Tail(3))
		default:
		}
	}
}

// A leader that is killed and started again at once makes no call through a follower fail: what
// comes to it is not executed, and waits for the next leader, as long as a takeover takes.
func TestLeaderRestartedAtOnce(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	all := fleet(t, members)
	waited := false
	for round := range 4 {
		leader, others := leaderOf(t, all)
		leader.running.Kill()
		leader.start()
		name := fmt.Sprintf("round-%d", round)
		begun := time.Now()
		_, err := others[0].create(t.Context(), name, name)
		waited = waited || err == nil
		gaveUp := time.Since(begun) >= 10*time.Second // as no replica led until then
		if err != nil && (!gaveUp || !strings.HasPrefix(err.Error(), "503 ") || strings.Contains(err.Error(), "not known whether")) {
			t.Errorf("round %d: a call through %s: %v", round, others[0].name, err)
		}
		leader.await()
	}
	if !waited { // a busy machine may take too long to elect, but not each time
		t.Error("no call waited until another replica led")
	}
}

// An etcd restored from an older copy lacks what was acknowledged: replicas that
// have seen more end, and say why. What they make after a start on purpose has other ids.
func TestOlderEtcd(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	all := fleet(t, members)
	etcd := members[0]
	_ = etcd.running.Stop() // which it reports as an end by the signal
	older := t.TempDir()
	if err := os.CopyFS(older, os.DirFS(filepath.Join(etcd.dir, "etcd"))); err != nil {
		t.Fatal(err)
	}
	etcd.start()
	etcd.await()
	var lost string
	eventually(t, "a write after etcd's restart", func() (err error) {
		lost, err = all[0].create(t.Context(), "newer", "newer")
		return err
	})
	written := time.Now()
	for _, r := range all {
		eventually(t, r.name+" has seen the write", func() error {
			if s := r.replicas(); !s.Leads && (s.Self == "" || s.LagSeconds >= time.Since(written).Seconds()) {
				return fmt.Errorf("its lag is %v s", s.LagSeconds)
			}
			return nil
		})
	}
	etcd.running.Kill()
	if err := os.RemoveAll(filepath.Join(etcd.dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(etcd.dir, "etcd"), os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	etcd.start()
	etcd.await()
	for _, r := range all {
		select {
		case <-r.running.Done():
			if said := r.running.Tail(3); !strings.Contains(said, "etcd lacks what clbemu has read before") {
				t.Errorf("%s ended with %s", r.name, said)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s goes on", r.name)
		}
	}
	// Started again on purpose, they serve what etcd has.
	all[0].start()
	all[0].await()
	if got := all[0].loadBalancers(); got["newer"] != "" {
		t.Errorf("after the restart it lists %v", got)
	}
	again, err := all[0].create(t.Context(), "again", "again")
	if err != nil || again == lost {
		t.Errorf("the next load balancer is %s, %v, and so was the one that etcd lost", again, err)
	}
}

// Who has no right to the keys, no password, or the address of something else, learns it at
// the start.
func TestRefusedByEtcd(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	ctx := t.Context()
	_, err := client.RoleAdd(ctx, "root")
	for _, step := range []func() error{
		func() error { _, err := client.UserAdd(ctx, "root", "secret"); return err },
		func() error { _, err := client.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := client.RoleAdd(ctx, "reader"); return err },
		func() error {
			_, err := client.RoleGrantPermission(ctx, "reader", "/clbemu/", clientv3.GetPrefixRangeEnd("/clbemu/"), clientv3.PermissionType(clientv3.PermRead))
			return err
		},
		func() error { _, err := client.UserAdd(ctx, "reader", "secret"); return err },
		func() error { _, err := client.UserGrantRole(ctx, "reader", "reader"); return err },
		func() error { _, err := client.AuthEnable(ctx); return err },
	} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "password")
	wrong := filepath.Join(t.TempDir(), "wrong")
	for name, text := range map[string]string{file: "secret\n", wrong: "guess\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no user", nil, "check --etcd-user"},
		{"wrong password", []string{"--etcd-user", "root", "--etcd-password-file", wrong}, "check --etcd-user"},
		{"may only read", []string{"--etcd-user", "reader", "--etcd-password-file", file}, "no right to read and write the keys"},
		{"nobody there", []string{"--etcd-endpoints", "http://127.0.0.1:1"}, "check --etcd-endpoints"},
		{"another prefix's form", []string{"--etcd-prefix", "clbemu", "--etcd-user", "root", "--etcd-password-file", file}, "begins and ends with a slash"},
	} {
		args := append([]string{"serve", "--engine", "etcd", "--etcd-endpoints", members[0].url, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, test.args...)
		ran := binary.Finish(t, exec.CommandContext(t.Context(), binary.Replica(t), args...))
		if ran.Code != 3 || !strings.Contains(ran.Stderr, test.want) {
			t.Errorf("%s: exit %d, %s; want 3 and %q", test.name, ran.Code, ran.Stderr, test.want)
		}
	}
}
