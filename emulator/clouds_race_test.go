package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state"
)

// TestCloudsAreIsolated proves that random calls in two clouds at once give what they
// give in each of them alone: state, ids, quotas, throttling, journal, metrics, clock,
// conditions and fault rules.
func TestCloudsAreIsolated(t *testing.T) {
	const steps = 150
	for seed := range uint64(3) {
		alone := func(cloud string) string {
			e, control := running(t, emulator.Config{Seed: 1, StrictAuth: true, Clock: state.NewManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
			mustFork(t, control, cloud, controlapi.NewCloud{})
			p := newProgram(e, control, cloud, seed)
			for n := range steps {
				p.step(t, n)
			}
			return p.end(t)
		}
		e, control := running(t, emulator.Config{Seed: 1, StrictAuth: true, Clock: state.NewManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))})
		var both []*program
		for _, cloud := range []string{"a", "b"} {
			mustFork(t, control, cloud, controlapi.NewCloud{})
			both = append(both, newProgram(e, control, cloud, seed))
		}
		before := countBalancers(t, caller(e, ""))
		for n := range steps {
			var once sync.WaitGroup
			for _, p := range both {
				once.Go(func() { p.step(t, n) })
			}
			once.Wait()
		}
		for i, cloud := range []string{"a", "b"} {
			if got, want := both[i].end(t), alone(cloud); got != want {
				t.Errorf("seed %d, cloud %s: beside another one it differs from alone: %s", seed, cloud, firstDifference(got, want))
			}
		}
		if after := countBalancers(t, caller(e, "")); after != before {
			t.Errorf("seed %d: the default cloud has %v load balancers, want %v", seed, after, before)
		}
		if a, b := both[0].ids, both[1].ids; len(a) == 0 || len(b) == 0 || a[0] == b[0] {
			t.Errorf("seed %d: the clouds made %v and %v, want different ids", seed, a, b)
		}
	}
}

// TestCloudLeavesNothing proves that a cloud which is deleted, expires or is reset while
// calls hang in it leaves no goroutine and no memory, and that its calls end.
func TestCloudLeavesNothing(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1})
	use := func(name, expires string) {
		mustFork(t, control, name, controlapi.NewCloud{Port: true, Expires: expires})
		if _, err := within(control, name).AddFaults(t.Context(), "", []byte("{name: hang, match: {action: DescribeRegions}, effect: {hang: true}}")); err != nil {
			t.Fatal(err)
		}
		makeBalancer(t, caller(e, name))
	}
	use("first", "1h") // what is made once for all
	if err := control.DeleteCloud(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	goroutines, memory := settled()
	for n := range 20 {
		name := fmt.Sprint("cloud-", n)
		use(name, "1h")
		hung := make(chan struct{})
		go func() {
			defer close(hung)
			_, _ = caller(e, name).Call(emulator.Version("Slb"), "DescribeRegions", nil) // it gets no answer
		}()
		await.Until(t, "the call hangs", func() bool {
			rules, err := within(control, name).Faults(t.Context())
			return err == nil && rules.Faults[0].Hits == 1
		})
		end := control.DeleteCloud
		if n%2 == 1 {
			end = func(ctx context.Context, name string) error {
				_, err := control.ResetCloud(ctx, name)
				<-hung
				return errors.Join(err, control.DeleteCloud(ctx, name))
			}
		}
		if err := end(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		<-hung
	}
	http.DefaultClient.CloseIdleConnections()
	var kept uint64
	await.Until(t, "the goroutines end", func() (over bool) { // connections that were closed take their time
		var after int
		after, kept = settled()
		return after <= goroutines
	})
	if kept > memory+20*64<<10 {
		t.Errorf("%d KiB of memory are in use, and were %d", kept>>10, memory>>10)
	}
}

// TestCallsDuringReset proves that a call of a cloud which is reset waits for it, and is
// never refused for want of it.
func TestCallsDuringReset(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1})
	mustFork(t, control, "a", controlapi.NewCloud{})
	over := make(chan struct{})
	var calling sync.WaitGroup
	for range 4 {
		calling.Go(func() {
			client := caller(e, "a")
			for {
				select {
				case <-over:
					return
				default:
				}
				// A call that is under way when the reset begins may be cut off.
				if reply, err := client.Call(emulator.Version("Slb"), "DescribeLoadBalancers", nil); err == nil && reply.Text("Code") != "" && reply.Text("Code") != "ServiceUnavailable" {
					t.Errorf("during a reset: %v", reply.Body)
					return
				}
			}
		})
	}
	for range 50 {
		if _, err := control.ResetCloud(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	close(over)
	calling.Wait()
}

// TestCloudsUnderFire proves that clouds which are made, reset and deleted at once, while
// clients call them, never answer with what is not theirs, with an error of the emulator's
// own, or not at all.
func TestCloudsUnderFire(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1, StrictAuth: true})
	names := []string{"a", "b", "c"}
	for _, name := range names {
		mustFork(t, control, name, controlapi.NewCloud{Port: true})
	}
	var changing, calling sync.WaitGroup
	over := make(chan struct{})
	for worker := range 4 {
		changing.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(worker), 7))
			for range 40 {
				name := names[chance.IntN(len(names))]
				var err error
				switch chance.IntN(3) {
				case 0:
					_, err = control.CreateCloud(t.Context(), name, controlapi.NewCloud{Port: chance.IntN(2) == 0, From: []string{"", "a"}[chance.IntN(2)]})
				case 1:
					_, err = control.ResetCloud(t.Context(), name)
				case 2:
					err = control.DeleteCloud(t.Context(), name)
				}
				if refused := (*controlclient.Refused)(nil); err != nil && (!errors.As(err, &refused) || refused.Status >= 500) {
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	for worker := range 4 {
		calling.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				name := names[(n+worker)%len(names)]
				reply, err := caller(e, name).Call(emulator.Version("Slb"), "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU", "LoadBalancerName": name})
				if err != nil || reply.Status >= 500 {
					t.Errorf("a call of %s: %v, %v", name, reply, err)
				}
				if list, err := caller(e, "").Call(emulator.Version("Slb"), "DescribeLoadBalancers", nil); err != nil || list.Body["TotalCount"] != 0.0 {
					t.Errorf("the default cloud has %v load balancers, %v", list.Body["TotalCount"], err)
				}
			}
		})
	}
	changing.Wait()
	close(over)
	calling.Wait()
}

// TestCloseFinishesCalls proves that a call in flight is answered before the
// store closes, and that no goroutine stays.
func TestCloseFinishesCalls(t *testing.T) {
	before := runtime.NumGoroutine()
	e := mustNew(t, emulator.Config{Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	body, write := io.Pipe()
	started := make(chan struct{})
	status := make(chan int)
	go func() {
		request, _ := http.NewRequest("POST", "http://"+e.Addr()+"/?Version=2014-05-15&Action=DescribeRegions", io.MultiReader(signal{started}, body))
		// The server asks for the body when the call is being read.
		request.Header.Set("Expect", "100-continue")
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}}
		response, err := client.Do(request)
		if err != nil {
			status <- 0
			return
		}
		response.Body.Close()
		status <- response.StatusCode
	}()
	<-started
	closed := make(chan error)
	go func() { closed <- e.Close(context.Background()) }()
	write.Close()
	if got := <-status; got != http.StatusOK {
		t.Errorf("the call in flight = %d, want 200", got)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	await.Until(t, fmt.Sprintf("no more than the %d goroutines of before are left", before), func() bool { return runtime.NumGoroutine() <= before })
}
