// Package replicas_test proves what clbemu promises of several emulators that share a
// state in etcd, with real processes of both.
package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// Calls of each replica reach the one that leads. When it is killed another leads, with
// all that was acknowledged. While a replica leads, no signed call is executed again,
// whichever replica it is sent to; afterwards, a ClientToken keeps it from that.
func TestTakeover(t *testing.T) {
	t.Parallel()
	all := fleet(t, startEtcd(t, 1))
	leader, others := leaderOf(t, all)
	want := make(map[string]string)
	for _, r := range all {
		id, err := r.create(t.Context(), r.name, r.name)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		want[r.name] = id
	}
	signed := leader.api.Sign(slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": "signed-once", "InstanceChargeType": "PayByCLCU", "ClientToken": "signed-once"})
	if status, body := post(t, leader, signed); status != http.StatusOK {
		t.Fatalf("the signed call = %d %s", status, body)
	}
	for _, r := range all {
		if status, body := post(t, r, signed); status != http.StatusBadRequest || !strings.Contains(body, "SignatureNonceUsed") {
			t.Errorf("%s: the signed call again = %d %s", r.name, status, body)
		}
	}
	before := leader.replicas().Term
	leader.running.Kill()
	begun := time.Now()
	// Where the follower has not noticed yet that its connection to the leader is closed, the
	// call gets 503: it is not known whether it was executed.
	id, _, err := createAgain(t.Context(), others[:1], rand.New(rand.NewPCG(1, 1)), "after")
	if err != nil {
		t.Fatalf("after the leader was killed: %v", err)
	}
	t.Logf("a call that was waiting for the takeover took %s", time.Since(begun))
	want["after"] = id
	next, _ := leaderOf(t, others)
	if after := next.replicas().Term; after <= before {
		t.Errorf("the term is %d after %d", after, before)
	}
	if status, body := post(t, others[0], signed); status != http.StatusOK {
		t.Errorf("the signed call after the takeover = %d %s", status, body)
	}
	for _, r := range others {
		got := r.loadBalancers()
		delete(got, "signed-once")
		if !maps.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", r.name, got, want)
		}
	}
	// A token is kept with what it made.
	if again, err := others[1].create(t.Context(), "after", "after"); err != nil || again != id {
		t.Errorf("the same token makes %s, %v, want %s", again, err, id)
	}
}

func post(t *testing.T, r *replica, query string) (status int, body string) {
	t.Helper()
	reply, err := r.api.HTTP.Post(r.api.URL+"/?"+query, "application/x-www-form-urlencoded", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	return reply.StatusCode, readAll(reply.Body)
}

// A leader paused for longer than its lease can't write or answer when it is
// woken: it follows.
func TestPausedLeader(t *testing.T) {
	t.Parallel()
	all := fleet(t, startEtcd(t, 1))
	leader, others := leaderOf(t, all)
	leader.signal(syscall.SIGSTOP)
	// The call that the paused leader got is answered once another leads: whether it was
	// executed is not known, and the token lets it be sent again.
	id, _, err := createAgain(t.Context(), others, rand.New(rand.NewPCG(1, 1)), "while-paused")
	if err != nil {
		t.Fatal(err)
	}
	late := make(chan apiclient.Reply)
	go func() {
		reply, _ := leader.api.Call(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
		late <- reply // or nothing, as it ends what it was
	}()
	leader.signal(syscall.SIGCONT)
	if got := <-late; got.Status == http.StatusNotFound || got.Text("Code") == "InvalidLoadBalancerId.NotFound" {
		t.Errorf("the woken leader does not know what was made meanwhile: %v", got)
	}
	leader.await()
	// It may be ready for a moment yet as what it was, and cuts its calls off when it learns
	// of the other. A client sends such a call again.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if again, _, err := createAgain(ctx, []*replica{leader}, rand.New(rand.NewPCG(1, 1)), "woken"); err != nil || again == "" {
		t.Errorf("a write by way of the woken replica: %v", err)
	}
	if leader.replicas().Leads { // which it may again, if no other does by now
		for _, r := range others {
			if r.replicas().Leads {
				t.Errorf("the woken replica leads, beside %s", r.name)
			}
		}
	}
}

// An upgrade stops and starts one replica after the other. A client that tries again at
// another replica loses no call, and makes nothing twice.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	all := fleet(t, startEtcd(t, 1))
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var mu sync.Mutex
	made := make(map[string]string)
	tries, longest := 0, time.Duration(0)
	for c := range 4 {
		clients.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(c), 1))
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("c%d-%d", c, n)
				begun := time.Now()
				id, tried, err := createAgain(t.Context(), all, chance, name)
				mu.Lock()
				tries, longest = tries+tried, max(longest, time.Since(begun))
				made[name] = id
				mu.Unlock()
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				select {
				case <-time.After(20 * time.Millisecond): // less than a bucket of calls
				case <-ctx.Done():
				}
			}
		})
	}
	for _, r := range all {
		if err := r.running.Stop(); err != nil {
			t.Error(err)
		}
		r.start()
		r.await()
	}
	stop()
	clients.Wait()
	for _, r := range all {
		if got := r.loadBalancers(); !maps.Equal(got, made) {
			t.Errorf("%s lists %d load balancers, and %d were made", r.name, len(got), len(made))
		}
	}
	t.Logf("%d calls in %d tries; the longest took %s", len(made), tries, longest)
}

// With --read local, a follower answers reads on its own and says how old they may be;
// what it can't answer goes to the leader.
func TestReadLocally(t *testing.T) {
	t.Parallel()
	all := fleet(t, startEtcd(t, 1), "--read", "local")
	leader, others := leaderOf(t, all)
	id, err := others[0].create(t.Context(), "web", "web")
	if err != nil {
		t.Fatal(err)
	}
	lag := func(r *replica) string {
		t.Helper()
		reply, err := r.api.HTTP.Post(r.api.URL+"/?"+r.api.Sign(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id}), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		return reply.Header.Get("X-Clbemu-Lag")
	}
	eventually(t, "the follower knows the load balancer", func() error {
		if others[0].loadBalancers()["web"] != id {
			return errors.New("not yet")
		}
		return nil
	})
	eventually(t, "the follower answers by itself", func() error {
		got, err := time.ParseDuration(lag(others[0]))
		if err == nil && (got <= 0 || got > 10*time.Second) {
			err = fmt.Errorf("its lag is %s", got)
		}
		return err
	})
	if got := lag(leader); got != "" {
		t.Errorf("the leader has a lag of %s", got)
	}
	// A rule counts the calls that it sees, which only the leader does.
	if _, err := others[1].control.AddFaults(t.Context(), "rules.yaml", []byte("name: once\nmatch: {action: DescribeLoadBalancerAttribute}\nwhen: {times: 1}\neffect: {error: {code: ServiceUnavailable, httpStatus: 503}}\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the follower knows the rule", func() error {
		if lag(others[0]) != "" {
			return errors.New("it answers by itself")
		}
		return nil
	})
}

// A counter of a fault rule goes on at the next leader where it was.
func TestFaultCountersSurviveTakeover(t *testing.T) {
	t.Parallel()
	all := fleet(t, startEtcd(t, 1))
	leader, others := leaderOf(t, all)
	if _, err := leader.control.AddFaults(t.Context(), "rules.yaml", []byte("name: five\nmatch: {action: SetLoadBalancerName}\nwhen: {times: 5}\neffect: {error: {code: InternalError, httpStatus: 500}}\n")); err != nil {
		t.Fatal(err)
	}
	var again func(r *replica) apiclient.Reply
	call := func(r *replica) apiclient.Reply {
		t.Helper()
		reply, err := r.api.Call(slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": "lb-none", "LoadBalancerName": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Status == http.StatusServiceUnavailable { // the leader was gone when it was sent
			return again(r)
		}
		return reply
	}
	again = call
	for range 3 {
		if reply := call(others[0]); reply.Text("Code") != "InternalError" {
			t.Fatalf("the rule lets a call pass: %v", reply)
		}
	}
	leader.running.Kill()
	for n := range 3 {
		reply := call(others[0])
		if struck := reply.Text("Code") == "InternalError"; struck != (n < 2) {
			t.Errorf("call %d after the takeover: %v", n, reply)
		}
	}
}
