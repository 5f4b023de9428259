package main_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the crash test (0: a random one)")
	rounds = flag.Int("rounds", 5, "number of crashes")
)

// promises are what the server acknowledged: the name that each load balancer
// got last, and the one that it was to get when the server died.
type promises struct {
	mu        sync.Mutex
	names     map[string]string
	attempted map[string]string
	acks      int
}

func (p *promises) attempt(id, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempted[id] = name
}

// acknowledge reports how many acknowledgements there are.
func (p *promises) acknowledge(id, name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[id] = name
	p.acks++
	return p.acks
}

// write makes load balancers and renames them until the server dies, which it
// does at the given acknowledgement.
func (p *promises) write(c *emulatortest.Client, worker int, crash func(acks int)) error {
	for n := 0; ; n++ {
		name := fmt.Sprintf("w%d-%d", worker, n)
		reply, err := c.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{
			"LoadBalancerName": name, "LoadBalancerSpec": "slb.s1.small"})
		if err != nil {
			return nil // the crash
		}
		id := reply.Text("LoadBalancerId")
		if reply.Status != http.StatusOK || id == "" {
			return fmt.Errorf("CreateLoadBalancer = %v", reply)
		}
		crash(p.acknowledge(id, name))
		for rename := range 5 {
			name := fmt.Sprintf("%s-%d", name, rename)
			p.attempt(id, name)
			reply, err := c.Call(emulatortest.Slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": id, "LoadBalancerName": name})
			if err != nil {
				return nil
			}
			if reply.Status != http.StatusOK {
				return fmt.Errorf("SetLoadBalancerName = %v", reply)
			}
			crash(p.acknowledge(id, name))
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
	kept := make(map[string]string)
	for range *rounds {
		p := &promises{names: kept, attempted: make(map[string]string)}
		crashAmongWrites(t, dir, p, 1+chance.IntN(300))
		mustBeKept(t, dir, p)
	}
	t.Logf("%d load balancers survived", len(kept))
}

// crashAmongWrites kills a server when it has acknowledged so many writes.
func crashAmongWrites(t *testing.T, dir string, p *promises, at int) {
	t.Helper()
	s := serve(t, "--data-dir", dir)
	var once sync.Once
	crash := func(acks int) {
		if acks >= at {
			once.Do(func() { s.cmd.Process.Signal(syscall.SIGKILL) })
		}
	}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			if err := p.write(s.client(), worker, crash); err != nil {
				t.Errorf("before the crash: %v", err)
				crash(at)
			}
		})
	}
	workers.Wait()
	s.cmd.Wait()
}

func mustBeKept(t *testing.T, dir string, p *promises) {
	t.Helper()
	if r := clbemu(t, "state", "check", "--data-dir", dir); r.code != 0 {
		t.Fatalf("state check after the crash = %+v", r)
	}
	s := serve(t, "--data-dir", dir)
	for id, want := range maps.Clone(p.names) {
		reply, err := s.client().Call(emulatortest.Slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
		if err != nil || reply.Status != http.StatusOK {
			t.Fatalf("DescribeLoadBalancerAttribute(%s) = %v, %v, want the acknowledged load balancer", id, reply, err)
		}
		got := reply.Text("LoadBalancerName")
		if got != want && got != p.attempted[id] {
			t.Errorf("name of %s = %q, want %q or the one in flight, %q", id, got, want, p.attempted[id])
		}
		p.names[id] = got
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code after the crash = %d, want 0", code)
	}
}
