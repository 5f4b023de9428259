package main_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the crash test (0: a random one)")
	rounds = flag.Int("rounds", 5, "number of crashes")
)

// promises are what the server acknowledged: the name that each load balancer
// got last, "" for one that was deleted, and what was on its way when the server
// died.
type promises struct {
	mu        sync.Mutex
	names     map[string]string
	attempted map[string]string
	acks      int
}

// call sends one change of a load balancer and notes its acknowledgement. It
// reports false when the server has died.
func (p *promises) call(c *emulatortest.Client, action, id, name string, crash func(acks int)) (string, bool, error) {
	p.mu.Lock()
	p.attempted[id] = name
	p.mu.Unlock()
	reply, err := c.Call(emulatortest.Slb, action, map[string]string{
		"LoadBalancerId": id, "LoadBalancerName": name, "LoadBalancerSpec": "slb.s1.small"})
	if err != nil {
		return "", false, nil
	}
	if reply.Status != http.StatusOK {
		return "", false, fmt.Errorf("%s(%s, %s) = %v", action, id, name, reply)
	}
	if id == "" {
		id = reply.Text("LoadBalancerId")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[id] = name
	p.acks++
	crash(p.acks)
	return id, true, nil
}

// write makes, renames and deletes load balancers until the server dies. crash
// sees to that at its acknowledgement.
func (p *promises) write(c *emulatortest.Client, worker int, crash func(acks int)) error {
	for n := 0; ; n++ {
		id, ok, err := p.call(c, "CreateLoadBalancer", "", fmt.Sprintf("w%d-%d", worker, n), crash)
		for rename := 0; ok && rename < 5; rename++ {
			_, ok, err = p.call(c, "SetLoadBalancerName", id, fmt.Sprintf("w%d-%d-%d", worker, n, rename), crash)
		}
		if ok {
			_, ok, err = p.call(c, "DeleteLoadBalancer", id, "", crash)
		}
		if !ok {
			return err
		}
	}
}

// TestCrash proves that no acknowledged write is lost, and no invariant broken,
// when the server is killed at a random moment of concurrent writes.
func TestCrash(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("replay with -run TestCrash -seed %d -rounds %d", *seed, *rounds)
	chance := rand.New(rand.NewPCG(*seed, 0))
	dir := t.TempDir()
	for range *rounds {
		p := &promises{names: make(map[string]string), attempted: make(map[string]string)}
		crashAmongWrites(t, dir, p, 1+chance.IntN(500))
		mustBeKept(t, dir, p)
	}
}

// crashAmongWrites kills a server when it has acknowledged so many writes.
func crashAmongWrites(t *testing.T, dir string, p *promises, at int) {
	t.Helper()
	s := binary.Serve(t, "--data-dir", dir)
	var once sync.Once
	crash := func(acks int) {
		if acks >= at {
			once.Do(func() { s.Cmd.Process.Signal(syscall.SIGKILL) })
		}
	}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			if err := p.write(s.Client(), worker, crash); err != nil {
				t.Errorf("before the crash: %v", err)
				crash(at)
			}
		})
	}
	workers.Wait()
	s.Cmd.Wait()
}

// mustBeKept checks every promise, and then makes room under the quota.
func mustBeKept(t *testing.T, dir string, p *promises) {
	t.Helper()
	if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 0 {
		t.Fatalf("state check after the crash = %+v", r)
	}
	s := binary.Serve(t, "--data-dir", dir)
	for id, want := range p.names {
		reply, err := s.Client().Call(emulatortest.Slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
		if err != nil {
			t.Fatal(err)
		}
		got := reply.Text("LoadBalancerName")
		if inFlight, ok := p.attempted[id]; got != want && (!ok || got != inFlight) {
			t.Errorf("name of %s = %q, want %q or what was on its way, %q", id, got, want, inFlight)
		}
	}
	deleteAll(t, s.Client())
	if code := s.End(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code after the crash = %d, want 0", code)
	}
}

// deleteAll also finds what was made without an acknowledgement.
func deleteAll(t *testing.T, c *emulatortest.Client) {
	t.Helper()
	reply, err := c.Call(emulatortest.Slb, "DescribeLoadBalancers", map[string]string{"PageSize": "100"})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := reply.Body["LoadBalancers"].(map[string]any)
	loadBalancers, _ := list["LoadBalancer"].([]any)
	for _, lb := range loadBalancers {
		id, _ := lb.(map[string]any)["LoadBalancerId"].(string)
		if reply, err := c.Call(emulatortest.Slb, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id}); err != nil || reply.Status != http.StatusOK {
			t.Errorf("DeleteLoadBalancer(%s) = %v, %v", id, reply, err)
		}
	}
}
