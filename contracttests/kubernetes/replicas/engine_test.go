package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/enginetest"
)

// The engine on a real etcd keeps the contract of all engines.
func TestEngine(t *testing.T) {
	members := startEtcd(t, 1)
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		e := open(t, members, "/"+strings.ReplaceAll(t.Name(), "/", "-")+"/")
		lead(t, e)
		return e
	})
}

// So does its feed.
func TestFollow(t *testing.T) {
	e := open(t, startEtcd(t, 1), "/follow/")
	lead(t, e)
	enginetest.Follow(t, e)
}

func put(table, id, value string) engine.Change {
	return engine.Change{Table: table, ID: id, Value: []byte(value)}
}

// kept returns the rows of an engine, by TABLE/ID.
func kept(t *testing.T, load interface {
	Load(context.Context, func(string, string, []byte) error) error
}) map[string]string {
	t.Helper()
	all := make(map[string]string)
	if err := load.Load(t.Context(), func(table, id string, value []byte) error {
		all[table+"/"+id] = string(value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func mustCommit(t *testing.T, e engine.Engine, sets ...engine.ChangeSet) {
	t.Helper()
	if err := e.Commit(t.Context(), sets); err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// Whoever lost the lead can't commit, whether another leads or not; and what it tried
// is not there.
func TestFencing(t *testing.T) {
	members := startEtcd(t, 1)
	first, second := open(t, members, "/fenced/"), open(t, members, "/fenced/")
	defer first.Close()
	defer second.Close()
	if err := second.Commit(t.Context(), []engine.ChangeSet{{put("a", "0", "x")}}); !errors.Is(err, engine.ErrFenced) || !errors.Is(err, engine.ErrNotMade) {
		t.Errorf("a commit without a term: %v", err)
	}
	lead(t, first)
	mustCommit(t, first, engine.ChangeSet{put("a", "1", "x")})
	client := etcdClient(t, members)
	leaders, err := client.Get(t.Context(), "/fenced/leader/", clientv3.WithPrefix())
	if err != nil || len(leaders.Kvs) != 1 {
		t.Fatalf("%d leaders, %v", len(leaders.Kvs), err)
	}
	if _, err := client.Revoke(t.Context(), clientv3.LeaseID(leaders.Kvs[0].Lease)); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"nobody leads", "another leads"} {
		err := first.Commit(t.Context(), []engine.ChangeSet{{put("a", "2", "x")}})
		if !errors.Is(err, engine.ErrFenced) || !errors.Is(err, engine.ErrNotMade) {
			t.Errorf("a commit while %s: %v", when, err)
		}
		if err := first.Recover(t.Context()); !errors.Is(err, engine.ErrFenced) {
			t.Errorf("a recovery while %s: %v", when, err)
		}
		if when == "nobody leads" {
			lead(t, second)
			mustCommit(t, second, engine.ChangeSet{put("a", "3", "y")})
		}
	}
	if got := kept(t, second); len(got) != 2 || got["a/1"] != "x" || got["a/3"] != "y" {
		t.Errorf("kept: %v", got)
	}
}

// TestRevoked proves that a leader whose lease is revoked, or whose key is deleted, learns it
// before it renews the lease the next time: until then it would answer, next to another one.
func TestRevoked(t *testing.T) {
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	var took []time.Duration
	for n := range 9 {
		prefix := fmt.Sprintf("/revoked-%d/", n)
		e := open(t, members, prefix)
		term := lead(t, e)
		leader, err := client.Get(t.Context(), prefix+"leader/", clientv3.WithPrefix())
		if err != nil || len(leader.Kvs) != 1 {
			t.Fatalf("%v, %v", leader, err)
		}
		others := client.Watch(t.Context(), string(leader.Kvs[0].Key), clientv3.WithRev(leader.Header.Revision+1))
		if n%2 == 0 {
			_, err = client.Revoke(t.Context(), clientv3.LeaseID(leader.Kvs[0].Lease))
		} else {
			_, err = client.Delete(t.Context(), string(leader.Kvs[0].Key))
		}
		if err != nil {
			t.Fatal(err)
		}
		<-others // a busy machine tells everybody late
		begun := time.Now()
		<-term.Over()
		took = append(took, time.Since(begun))
		if term.Leads() {
			t.Error("it leads though its term is over")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(took)
	if most := 100 * time.Millisecond; took[len(took)/2] > most { // a renewal comes after half a second
		t.Errorf("a leader learns that it is deposed %s after others do, want half of them within %s", took, most)
	}
}

func etcdClient(t testing.TB, members []*member) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints(members), DialTimeout: 5 * time.Second}) // it dials again
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// large returns a change set that etcd does not take at once, by its count and by its bytes.
func large(n int, value string) engine.ChangeSet {
	var set engine.ChangeSet
	for i := range n {
		set = append(set, put("big", fmt.Sprintf("%05d", i), value))
	}
	return set
}

// A commit above etcd's bounds is there as a whole or not at all, for who loads, who
// follows, and who leads next after a leader that was cut off half-way.
func TestLargeCommits(t *testing.T) {
	members := startEtcd(t, 1)
	e := open(t, members, "/large/")
	defer e.Close()
	lead(t, e)
	follower := open(t, members, "/large/")
	defer follower.Close()
	reading, err := follower.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, e, large(1000, "before"), engine.ChangeSet{put("a", "1", "x")})
	value := strings.Repeat("v", 3000)
	mustCommit(t, e, large(1000, value))
	mustCommit(t, e, engine.ChangeSet{{Table: "big", ID: "00000"}})
	seen, revisions := make(map[string]string), []uint64{}
	for c, err := range reading.Commits(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range c.Changes {
			delete(seen, change.Table+"/"+change.ID)
			if change.Value != nil {
				seen[change.Table+"/"+change.ID] = string(change.Value)
			}
		}
		revisions = append(revisions, c.Revision)
		if n := len(seen); n != 1000 && n != 1001 {
			t.Errorf("a follower sees %d of the values at revision %d", n, c.Revision)
		}
		if c.Revision == 4 {
			break
		}
	}
	want := kept(t, e)
	if len(want) != 1000 || len(seen) != len(want) || want["big/00500"] != value {
		t.Errorf("%d values are kept, and a follower has %d", len(want), len(seen))
	}
	for key, value := range want {
		if seen[key] != value {
			t.Errorf("a follower has %.20q of %s, want %.20q", seen[key], key, value)
		}
	}
	if got, err := etcdClient(t, members).Get(t.Context(), "/large/parts/", clientv3.WithPrefix()); err != nil || len(got.Kvs) != 0 {
		t.Errorf("%d parts are left, %v", len(got.Kvs), err)
	}
	t.Logf("revisions: %v", revisions)
}

// A leader killed while it moved a large commit leaves it to the next one; one
// that was killed before it showed it leaves nothing.
func TestLargeCommitIsFinished(t *testing.T) {
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	for _, shown := range []bool{true, false} {
		prefix := fmt.Sprintf("/shown-%v/", shown)
		e := open(t, members, prefix)
		lead(t, e)
		mustCommit(t, e, engine.ChangeSet{put("big", "00001", "old"), put("big", "00005", "old")})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		// What a leader leaves that is killed: one part, with a new value and a deletion.
		part := []byte("\x03big\x0500001\x01\x03new\x03big\x0500003\x01\x03new\x03big\x0500005\x00")
		if _, err := client.Put(t.Context(), prefix+"parts/dead/00000000", string(part)); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"big/00001": "old", "big/00005": "old"}
		if shown {
			if _, err := client.Txn(t.Context()).Then(clientv3.OpPut(prefix+"state/staged", `{"commit":"dead","parts":1}`),
				clientv3.OpPut(prefix+"state/revision", "2"), clientv3.OpPut(prefix+"state/rows/big/00003", "half")).Commit(); err != nil {
				t.Fatal(err)
			}
			want = map[string]string{"big/00001": "new", "big/00003": "new"}
		}
		next := open(t, members, prefix)
		if got := kept(t, next); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("shown %v: a follower loads %v, want %v", shown, got, want)
		}
		lead(t, next)
		if got := kept(t, next); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("shown %v: the next leader has %v, want %v", shown, got, want)
		}
		for _, left := range []string{"parts/", "state/staged"} {
			if got, err := client.Get(t.Context(), prefix+left, clientv3.WithPrefix()); err != nil || len(got.Kvs) != 0 {
				t.Errorf("shown %v: %d keys of %s are left, %v", shown, len(got.Kvs), left, err)
			}
		}
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A change that no transaction of etcd can take is refused, and the next one is made.
func TestTooLarge(t *testing.T) {
	members := startEtcd(t, 1)
	e := open(t, members, "/too-large/")
	defer e.Close()
	lead(t, e)
	err := e.Commit(t.Context(), []engine.ChangeSet{{put("a", "1", strings.Repeat("v", 2<<20))}})
	if !errors.Is(err, engine.ErrTooLarge) || !errors.Is(err, engine.ErrNotMade) || !strings.Contains(err.Error(), "a 1 has 2097152 bytes") {
		t.Errorf("Commit = %v", err)
	}
	mustCommit(t, e, engine.ChangeSet{put("a", "2", "x")})
	if got := kept(t, e); len(got) != 1 {
		t.Errorf("kept: %v", got)
	}
}

// What is kept under a prefix may be of others, or of a newer clbemu.
func TestRefusedPrefixes(t *testing.T) {
	members := startEtcd(t, 1)
	client := etcdClient(t, members)
	for key, value := range map[string]string{
		"/others/registry/pods": "x", "/newer/format": `{"version":1,"schema":99}`, "/newest/format": `{"version":2,"schema":1}`, "/broken/format": "x",
	} {
		if _, err := client.Put(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{
		"/others/": "keys such as \"/others/registry/pods\" that clbemu did not write", "/newer/": "a newer clbemu wrote it", "/newest/": "a newer clbemu wrote it",
		"/broken/": "is not clbemu's", "": "begins and ends with a slash", "/": "begins and ends with a slash", "clbemu": "begins and ends with a slash", "//": "begins and ends with a slash",
	} {
		e, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints(members), Prefix: prefix})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("prefix %q: %v, want %q", prefix, err, want)
		}
		if e != nil {
			e.Close()
		}
	}
}

// A follower's feed ends where etcd was compacted, rather than leave out a commit.
func TestCompacted(t *testing.T) {
	members := startEtcd(t, 1)
	e := open(t, members, "/compacted/")
	defer e.Close()
	lead(t, e)
	mustCommit(t, e, engine.ChangeSet{put("a", "1", "x")})
	reading, err := e.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		mustCommit(t, e, engine.ChangeSet{put("a", "1", fmt.Sprint(i))})
	}
	client := etcdClient(t, members)
	now, err := client.Get(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), now.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	for _, err := range reading.Commits(t.Context()) {
		if !errors.Is(err, engine.ErrBehind) || !strings.Contains(err.Error(), "compacted") {
			t.Errorf("the feed yields %v, want that it is behind", err)
		}
	}
	if err := reading.Load(t.Context(), func(string, string, []byte) error { return nil }); err == nil {
		t.Error("what was compacted can be loaded")
	}
}

// A follower knows up to which time it has seen everything.
func TestConfirmed(t *testing.T) {
	members := startEtcd(t, 1)
	e := open(t, members, "/confirmed/")
	defer e.Close()
	reading, err := e.Follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range reading.Commits(ctx) {
		}
	}()
	first := reading.Confirmed()
	eventually(t, "the follower is confirmed again and again", func() error {
		if reading.Confirmed().Sub(first) < time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	members[0].running.Kill()
	last := reading.Confirmed()
	if lag := time.Since(last); lag > time.Minute {
		t.Errorf("while etcd ran, the follower was behind by %s", lag)
	}
	stop()
	<-done
}
