package durability_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 0, "how long TestSoak runs at least (0: some waves)")

const (
	soakWriters = 32
	soakEvents  = 8000 // of a wave: calls sent and answered
	soakNodes   = 2000 // of a cluster that comes and goes in each
	soakWaves   = 4    // after the first, against whose end they are measured; one with -short
)

// TestSoak proves that a server which has made and deleted for a long time takes no
// more memory, room on disk, goroutines and descriptors than before, and has nothing
// left: not the client tokens, what was replaced, or the connections.
func TestSoak(t *testing.T) {
	t.Parallel()
	c := newCloud(t, chances(t, fmt.Sprintf("-soak %s", *soak)), soakWriters)
	c.keepsWorld = true
	if err := c.open(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var before, now vitals
	waves := soakWaves
	if testing.Short() {
		waves = 1
	}
	for wave := 0; wave <= waves || time.Since(begin) < *soak; wave++ {
		err := c.wave()
		if err == nil {
			now, err = c.measure()
		}
		if err != nil {
			t.Fatalf("wave %d: %v", wave, err)
		}
		if wave == 0 {
			before = now
		}
		t.Logf("%s, %d calls: %v", time.Since(begin).Round(time.Second), c.calls(), now)
	}
	for _, problem := range now.grown(before, c.calls()) {
		t.Error(problem)
	}
	if code := c.server.End(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// calls returns how many calls of the API were answered.
func (c *cloud) calls() int {
	all := 0
	for action := range writes {
		all += c.counts.of[action]
	}
	return all
}

// wave lets many things be made, and deletes them.
func (c *cloud) wave() error {
	for _, step := range []func() error{
		func() error { return c.rage(soakWriters, soakEvents, stopWriters) },
		c.deleteContents, c.expireToken, c.comeAndGo, c.follow, c.check,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// deleteContents lets every writer delete its resources, and checks that they are gone.
func (c *cloud) deleteContents() error {
	for _, w := range c.writers {
		for _, step := range []struct{ fact, action string }{
			{lbProtection, "SetLoadBalancerDeleteProtection"}, {lb, "DeleteLoadBalancer"},
			{acl, "DeleteAccessControlList"}, {eip, "ReleaseEipAddress"},
		} {
			for w.contents[step.fact] != "" {
				next := w.make(step.action)
				reply, err := c.server.Client().Call(next.version, next.action, next.params)
				if err != nil {
					return err
				}
				c.counts.add(next.action)
				w.note(answered{call: next, reply: reply})
				if err := w.explain(); err != nil {
					return err
				}
			}
		}
	}
	return c.settle(nil)
}

// expireToken lets the time of a client token pass whose load balancer stays.
func (c *cloud) expireToken() error {
	client := c.server.Client()
	made, err := client.Call(slbVersion, "CreateLoadBalancer", map[string]string{
		"VSwitchId": vSwitchID, "InstanceChargeType": "PayByCLCU", "ClientToken": fmt.Sprintf("once%d", c.chance.Uint64())})
	if err != nil {
		return err
	}
	if _, err := c.ask(http.MethodPost, "/v1/clock", []byte(`{"advance": "25h"}`)); err != nil {
		return err
	}
	id := map[string]string{"LoadBalancerId": made.Text("LoadBalancerId"), "LoadBalancerStatus": "inactive"}
	changed, err := client.Call(slbVersion, "SetLoadBalancerStatus", id)
	if err != nil {
		return err
	}
	rows, err := c.rows()
	if err != nil {
		return err
	}
	deleted, err := client.Call(slbVersion, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id["LoadBalancerId"]})
	if err != nil || made.Status != http.StatusOK || changed.Status != http.StatusOK || deleted.Status != http.StatusOK {
		return fmt.Errorf("%v, %v, %v, %v", made, changed, deleted, err)
	}
	if rows["ClientToken"] > 0 {
		return fmt.Errorf("a day after the last was made there are %d client tokens", rows["ClientToken"])
	}
	return nil
}

// comeAndGo makes and deletes what the control API keeps.
func (c *cloud) comeAndGo() error {
	state, err := c.ask(http.MethodGet, "/v1/state", nil)
	if err != nil {
		return err
	}
	for _, call := range []struct{ method, path, body string }{
		{http.MethodPut, "/v1/snapshots/d", ""},
		{http.MethodPost, "/v1/world/import", nodes(soakNodes)},
		{http.MethodPut, "/v1/state", string(state)},
		{http.MethodPost, "/v1/snapshots/d/restore", ""},
		{http.MethodDelete, "/v1/snapshots/d", ""},
		{http.MethodPost, "/v1/faults", `{name: slow, match: {action: DescribeRegions}, effect: {delay: {fixed: 1ms}}}`},
		{http.MethodDelete, "/v1/faults/slow", ""},
		{http.MethodGet, "/v1/journal?limit=1000", ""},
		{http.MethodPost, "/v1/journal/marks", `{"name": "m"}`},
	} {
		if _, err := c.ask(call.method, call.path, []byte(call.body)); err != nil {
			return err
		}
	}
	for _, name := range c.snapshots.names() {
		if _, err := c.ask(http.MethodDelete, "/v1/snapshots/"+name, nil); err != nil {
			return err
		}
		delete(c.snapshots, name)
	}
	return nil
}

// follow opens streams of the journal, leaves them, and empties the journal.
func (c *cloud) follow() error {
	var followers sync.WaitGroup
	failed := make(chan error, soakWriters)
	for range soakWriters {
		followers.Go(func() {
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.Control+"/v1/journal/stream", nil)
			if err != nil {
				failed <- err
				return
			}
			response, err := http.DefaultTransport.RoundTrip(request)
			if err == nil {
				_, err = response.Body.Read(make([]byte, 1))
				err = errors.Join(err, response.Body.Close())
			}
			failed <- err
		})
	}
	followers.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return fmt.Errorf("journal stream: %w", err)
		}
	}
	_, err := c.ask(http.MethodDelete, "/v1/journal", nil)
	return err
}
