package contracttests

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// parts are the kinds that a load balancer consists of.
var parts = []state.Kind{cloud.LoadBalancers.Kind(), cloud.Listeners.Kind(), cloud.VServerGroups.Kind(), cloud.MasterSlaveServerGroups.Kind(), cloud.Rules.Kind(), cloud.DomainExtensions.Kind(),
	cloud.NLBLoadBalancers.Kind(), cloud.NLBListeners.Kind()}

// lockedTake are the calls that a locked load balancer takes: CLB-0174.
var lockedTake = []string{"DeleteLoadBalancer"}

// lockWords are what CLB and NLB say of a lock.
var lockWords = []string{"Locked for any Business Reason", "FinancialLocked"}

// TestLockedLoadBalancersTakeNoChange proves for every action, by the calls of its
// golden cases, that no part of a load balancer changes while it is locked for an
// unpaid bill.
func TestLockedLoadBalancersTakeNoChange(t *testing.T) {
	refused := make(map[string]int)
	for _, c := range apiCases() {
		if c.code != "" || slices.Contains(lockedTake, c.action) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			f := newCloud(t).prepareAll()
			for _, s := range c.before {
				f.do(s)
			}
			locked := f.lockAll()
			before := f.partsOf(locked)
			reply := f.send(c.product, c.action, "JSON", f.names.resolve(c.params))
			if after := f.partsOf(locked); !slices.Equal(after, before) {
				t.Errorf("%s = %d %s changes a part of a locked load balancer", c, reply.Code, reply.Body)
			}
			for _, word := range lockWords {
				if strings.Contains(reply.Body.String(), word) {
					refused[word]++
				}
			}
		})
	}
	for _, word := range lockWords {
		if refused[word] == 0 {
			t.Errorf("no call was refused because of the lock, which says %s", word)
		}
	}
}

// lockAll locks all load balancers and returns their ids.
func (c *fixedCloud) lockAll() (ids []string) {
	c.t.Helper()
	if err := c.store.Update(state.Owner{}, func(tx *state.Tx) error {
		for lb := range cloud.LoadBalancers.All(tx.View) {
			locked := *lb
			locked.Status, locked.LockedFrom = cloud.LoadBalancerLocked, lb.Status
			cloud.LoadBalancers.Put(tx, &locked)
			ids = append(ids, lb.ID)
		}
		for lb := range cloud.NLBLoadBalancers.All(tx.View) {
			locked := *lb
			locked.FinancialLocked = true
			cloud.NLBLoadBalancers.Put(tx, &locked)
			ids = append(ids, lb.ID)
		}
		return nil
	}); err != nil {
		c.t.Fatal(err)
	}
	return ids
}

// partsOf are the parts of load balancers, as they are exported.
func (c *fixedCloud) partsOf(ids []string) (rows []string) {
	c.t.Helper()
	export, err := c.store.Export()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, kind := range parts {
		for row := range export.Tables[kind].All() {
			if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(string(row), id) }) {
				rows = append(rows, string(row))
			}
		}
	}
	return rows
}
