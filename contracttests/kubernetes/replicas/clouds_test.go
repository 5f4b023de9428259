package replicas_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/enginetest"
)

// A branch keeps the contract of all engines, and it is no part of the state next to it.
func TestBranch(t *testing.T) {
	members := startEtcd(t, 1)
	e := open(t, members, "/branched/")
	lead(t, e)
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
		b, err := e.NewBranch(t.Context(), name)
		if errors.Is(err, fs.ErrExist) { // as the test opened it before
			b, err = e.Branch(t.Context(), name)
		}
		if err == nil {
			err = e.KeepBranch(t.Context(), name, []byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	if got := kept(t, e); len(got) != 0 {
		t.Errorf("the state beside the branches has %v", got)
	}
	if all, err := e.Branches(t.Context()); err != nil || len(all) < 9 {
		t.Errorf("%d branches are kept, %v", len(all), err)
	}
}

// Only who leads has branches. One that was not kept, for whatever reason, leaves nothing;
// one that was is there for the next leader, also with a large commit that was on its way.
func TestBranchesOfTheNextLeader(t *testing.T) {
	members := startEtcd(t, 1)
	first, second := open(t, members, "/branched/"), open(t, members, "/branched/")
	defer second.Close()
	lead(t, first)
	begin := func(name string) engine.Engine {
		t.Helper()
		b, err := first.NewBranch(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		mustCommit(t, b, engine.ChangeSet{put("a", "1", name)}, large(500, name))
		return b
	}
	old := begin("kept")
	begin("half")
	if err := first.KeepBranch(t.Context(), "kept", []byte("about it")); err != nil {
		t.Fatal(err)
	}
	if _, err := first.NewBranch(t.Context(), "kept"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a branch in place of another: %v", err)
	}
	begin("half") // who failed half-way tries again, on nothing
	for what, do := range map[string]func() error{
		"Branch":     func() error { _, err := second.Branch(t.Context(), "kept"); return err },
		"NewBranch":  func() error { _, err := second.NewBranch(t.Context(), "other"); return err },
		"KeepBranch": func() error { return second.KeepBranch(t.Context(), "kept", nil) },
		"DropBranch": func() error { return second.DropBranch(t.Context(), "kept") },
	} {
		if err := do(); !errors.Is(err, engine.ErrFenced) {
			t.Errorf("%s of one that does not lead: %v", what, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	lead(t, second)
	if err := old.Commit(t.Context(), []engine.ChangeSet{{put("a", "2", "late")}}); err == nil {
		t.Error("who led before can write a branch")
	}
	all, err := second.Branches(t.Context())
	if err != nil || len(all) != 1 || string(all["kept"]) != "about it" {
		t.Errorf("the next leader has the branches %q, %v", all, err)
	}
	next, err := second.Branch(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	if got := kept(t, next); len(got) != 501 || got["a/1"] != "kept" {
		t.Errorf("the branch has %d values, and %q", len(got), got["a/1"])
	}
	if err := second.DropBranch(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	left, err := etcdClient(t, members).Get(t.Context(), "/branched/branch", clientv3.WithPrefix())
	if err != nil || len(left.Kvs) != 0 {
		t.Errorf("%d keys of branches are left, %v", len(left.Kvs), err)
	}
}

// A durable cloud is there after a takeover, with its state, its conditions and its
// expiry; one in memory is not. The same client reaches it by any replica.
func TestDurableClouds(t *testing.T) {
	t.Parallel()
	members := startEtcd(t, 1)
	all := fleet(t, members)
	leader, others := leaderOf(t, all)
	create := func(name string, args ...string) {
		t.Helper()
		if ran := binary.Run(t, append([]string{"cloud", "create", name, "--server", others[0].control.URL, "--control-token", token}, args...)...); ran.Code != 0 {
			t.Fatalf("cloud create %s = %+v", name, ran)
		}
	}
	create("kept", "--durable", "--expires", "2h")
	create("lost")
	create("gone", "--durable")
	for _, r := range others {
		// The replica that is asked is the one to call: it is there when the leader is not.
		ran := binary.Run(t, "env", "--cloud", "kept", "--server", r.control.URL, "--control-token", token)
		if at, err := url.Parse(r.api.URL); err != nil || ran.Code != 0 || !strings.Contains(ran.Stdout, at.Host) || strings.Contains(ran.Stdout, leader.api.URL) {
			t.Errorf("env --cloud kept = %+v, want the address %s", ran, r.api.URL)
		}
	}
	if ran := binary.Run(t, "world", "set", "account.arrears=true", "--cloud", "kept", "--server", others[0].control.URL, "--control-token", token); ran.Code != 0 {
		t.Fatalf("world set in the cloud = %+v", ran)
	}
	clients := make([]*replica, len(all))
	for i, r := range all {
		clients[i] = r.ofCloud("kept")
	}
	reply, err := clients[0].api.Call(slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": "web", "InstanceChargeType": "PayByCLCU"})
	if err != nil || reply.Status == http.StatusOK || !strings.Contains(fmt.Sprint(reply.Body), "rrear") {
		t.Errorf("a call in the cloud of an account in arrears = %v, %v", reply, err)
	}
	if _, err := all[0].create(t.Context(), "beside", "beside"); err != nil {
		t.Errorf("a call in the cloud beside it: %v", err)
	}
	if ran := binary.Run(t, "world", "set", "account.arrears=false", "--cloud", "kept", "--server", others[0].control.URL, "--control-token", token); ran.Code != 0 {
		t.Fatalf("world set in the cloud = %+v", ran)
	}
	id, err := clients[1].create(t.Context(), "web", "web")
	if err != nil {
		t.Fatal(err)
	}
	if err := others[0].control.DeleteCloud(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	leader.signal(syscall.SIGKILL)
	for i, r := range all {
		if r == leader {
			continue
		}
		again, _, err := createAgain(t.Context(), clients[i:i+1], rand.New(rand.NewPCG(1, 1)), "web")
		if err != nil || again != id {
			t.Errorf("%s: the same token makes %s, %v, want %s", r.name, again, err, id)
		}
		if got := clients[i].loadBalancers(); len(got) != 1 || got["web"] != id {
			t.Errorf("%s: the cloud has %v", r.name, got)
		}
		list, err := r.control.Clouds(t.Context())
		if err != nil || len(list) != 2 || !list[0].Durable || list[1].Name != "kept" || !list[1].Durable ||
			list[1].Expires == nil || time.Until(*list[1].Expires).Round(time.Hour) != 2*time.Hour {
			t.Errorf("%s: the clouds are %+v, %v", r.name, list, err)
		}
	}
	if _, err := others[0].control.CreateCloud(t.Context(), "kept", controlapi.NewCloud{}); err == nil {
		t.Error("there are two clouds of a name")
	}
	if err := others[0].control.DeleteCloud(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	left, err := etcdClient(t, members).Get(t.Context(), "/clbemu/branch", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil || len(left.Kvs) != 0 {
		t.Errorf("%d keys of deleted clouds are left, %v", len(left.Kvs), err)
	}
}
