package contracttests

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// parts are the kinds that a load balancer consists of.
var parts = []state.Kind{"LoadBalancer", "Listener", "VServerGroup", "MasterSlaveServerGroup", "Rule", "DomainExtension", "NLBLoadBalancer", "NLBListener"}

// lockWords holds the words of CLB and NLB for a lock.
var lockWords = []string{"Locked for any Business Reason", "FinancialLocked"}

// TestLockedLoadBalancersTakeNoChange proves for every action, by the calls of its
// golden cases, that no part of a load balancer changes while it is locked for an
// unpaid bill.
func TestLockedLoadBalancersTakeNoChange(t *testing.T) {
	refused := make(map[string]int)
	for _, c := range apiCases() {
		if c.code != "" {
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

// lockAll lets the days of grace of an unpaid bill pass, and returns the ids of the load
// balancers, which are locked then.
func (c *fixedCloud) lockAll() (ids []string) {
	c.t.Helper()
	if err := c.store.Update(state.Owner{}, func(tx *state.Tx) error {
		return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: "account.graceDays", Value: "0"}, {Name: "account.nlbGraceDays", Value: "0"}, {Name: "account.arrears", Value: "true"}})
	}); err != nil {
		c.t.Fatal(err)
	}
	for _, kind := range []state.Kind{"LoadBalancer", "NLBLoadBalancer"} {
		for _, row := range c.rows(kind) {
			var lb struct{ ID string }
			if err := json.Unmarshal([]byte(row), &lb); err != nil {
				c.t.Fatal(err)
			}
			ids = append(ids, lb.ID)
		}
	}
	return ids
}

// rows are the rows of a kind, as they are exported.
func (c *fixedCloud) rows(kind state.Kind) (rows []string) {
	c.t.Helper()
	export, err := c.store.Export()
	if err != nil {
		c.t.Fatal(err)
	}
	for row := range export.Tables[kind].All() {
		rows = append(rows, string(row))
	}
	return rows
}

// partsOf are the parts of load balancers, as they are exported.
func (c *fixedCloud) partsOf(ids []string) (rows []string) {
	for _, kind := range parts {
		for _, row := range c.rows(kind) {
			if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(row, id) }) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
