package kubernetes_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

const killServices = 20

// TestCloudKilled proves that nothing that was acknowledged is lost, and nothing
// is made twice, when clbemu is killed again and again while a controller makes
// load balancers.
func TestCloudKilled(t *testing.T) {
	f := start(t)
	f.make(killServices)
	for _, made := range []int{3, 8, 14} {
		f.awaitLoadBalancers(made)
		f.cloud.Kill()
		f.cloud.Restart()
		if err := f.cloud.Check(f.ctx); err != nil {
			t.Errorf("the state after a kill: %v", err)
		}
	}
	f.allConverged(killServices)
}

// TestReplicasKilled proves the same of replicas: whichever leads is killed, and another
// goes on. The controller knows one of them.
func TestReplicasKilled(t *testing.T) {
	f := start(t, func(f *fixture) { f.replicas = 3 })
	f.make(killServices)
	for _, made := range []int{3, 8, 14} {
		f.awaitLoadBalancers(made)
		leader := f.leader()
		leader.Kill()
		leader.Restart()
		f.leader() // the test's own calls are not sent again
	}
	f.allConverged(killServices)
}

// leader waits until a replica leads.
func (f *fixture) leader() (leader *cloud.Cloud) {
	f.Helper()
	f.eventually("a replica leads", func() error {
		for _, c := range append(f.others, f.cloud) {
			leads, err := c.Leads(f.ctx)
			if leads {
				leader = c
			}
			if leads || err != nil {
				return err
			}
		}
		return errors.New("none does")
	})
	return leader
}

// TestControllerKilled proves that a controller killed while it makes
// load balancers finds the ones that it made, and makes none twice.
func TestControllerKilled(t *testing.T) {
	f := start(t)
	f.make(killServices)
	for _, made := range []int{3, 8, 14} {
		f.awaitLoadBalancers(made)
		f.controller.Kill()
		f.startController()
	}
	f.allConverged(killServices)
}

func (f *fixture) make(n int) {
	f.Helper()
	for i := range n {
		f.service(fmt.Sprintf("web-%d", i), twoPorts)
	}
}

// awaitLoadBalancers waits for the moment when work is half done.
func (f *fixture) awaitLoadBalancers(n int) {
	f.Helper()
	f.eventually("load balancers", func() error {
		if made := len(f.ownLoadBalancers()); made < n {
			return fmt.Errorf("%d, want %d", made, n)
		}
		return nil
	})
}
