package replicas_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state"
)

// machineClock is the clock of a machine that is ahead of the others'.
type machineClock struct {
	state.SystemClock
	ahead time.Duration
}

func (c *machineClock) Now() time.Time { return c.SystemClock.Now().Add(c.ahead) }

// inProcess starts a replica in this process, whose machine's clock is ahead, and returns
// it once it is ready.
func inProcess(t *testing.T, members []*member, name string, ahead time.Duration) (r *replica, shared *etcd.Engine, end func()) {
	t.Helper()
	clock := &machineClock{ahead: ahead}
	shared, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints(members), Prefix: "/clbemu/", Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	e, err := emulator.New(t.Context(), emulator.Config{
		Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", Clock: clock, DataPlane: emulator.NoPackets,
		Replica: &emulator.Replica{State: shared, Name: name},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	waiting.Go(func() {
		if err := e.Wait(ctx); err != nil {
			t.Errorf("%s ended: %v", name, err)
		}
	})
	t.Cleanup(waiting.Wait)
	t.Cleanup(stop)
	r = &replica{t: t, name: name, control: &controlclient.Client{URL: "http://" + e.ControlAddr()}}
	r.api = &apiclient.Client{URL: "http://" + e.Addr(), HTTP: &http.Client{Timeout: time.Minute}}
	r.await()
	return r, shared, end
}

// The emulated time goes on when a machine takes over whose clock is a day ahead or
// behind: tokens of the day before still hold, and nothing is due at once.
func TestClockOfAnotherDay(t *testing.T) {
	t.Parallel()
	for _, first := range []time.Duration{0, 24 * time.Hour} {
		t.Run(fmt.Sprintf("first %s", first), func(t *testing.T) {
			t.Parallel()
			members := startEtcd(t, 1)
			other := 24*time.Hour - first
			leader, _, end := inProcess(t, members, "first", first)
			id, err := leader.create(t.Context(), "web", "token")
			if err != nil {
				t.Fatal(err)
			}
			for n, ahead := range []time.Duration{other, first, other} {
				next, shared, endNext := inProcess(t, members, fmt.Sprint("next-", n), ahead)
				eventually(t, "the follower knows the leader's clock", func() error {
					if got := shared.Ahead(); (got - first + ahead).Abs() > time.Minute {
						return fmt.Errorf("it is ahead by %s", got)
					}
					return nil
				})
				end()
				eventually(t, "the next one leads", func() error {
					if !next.replicas().Leads {
						return fmt.Errorf("%+v", next.replicas())
					}
					return nil
				})
				// A test may take minutes.
				if clock, err := next.control.Clock(t.Context()); err != nil || clock.Now.Sub(time.Now().Add(first)).Abs() > 10*time.Minute {
					t.Errorf("after takeover %d the time is %s, %v; it was ahead by %s", n, clock.Now, err, first)
				}
				if again, err := next.create(t.Context(), "web", "token"); err != nil || again != id {
					t.Errorf("after takeover %d the token makes %s, %v, and made %s", n, again, err, id)
				}
				end = endNext
			}
		})
	}
}
