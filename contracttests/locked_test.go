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
			f := preparedCloud(t, c.before...)
			f.lockAll()
			before := f.export()
			locked := loadBalancers(t, before)
			reply := f.send(c.product, c.action, "JSON", f.names.resolve(c.params))
			if after := f.export(); !slices.Equal(partsOf(after, locked), partsOf(before, locked)) {
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

// lockAll lets the days of grace of an unpaid bill pass, which locks all load balancers.
func (c *fixedCloud) lockAll() {
	c.t.Helper()
	if err := c.store.Update(state.Owner{}, func(tx *state.Tx) error {
		return conditions.Set(tx, state.Owner{}, []conditions.Setting{{Name: "account.graceDays", Value: "0"}, {Name: "account.nlbGraceDays", Value: "0"}, {Name: "account.arrears", Value: "true"}})
	}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *fixedCloud) export() *state.Export {
	c.t.Helper()
	export, err := c.store.Export()
	if err != nil {
		c.t.Fatal(err)
	}
	return export
}

// loadBalancers returns the ids of all load balancers.
func loadBalancers(t *testing.T, of *state.Export) (ids []string) {
	t.Helper()
	for _, kind := range []state.Kind{"LoadBalancer", "NLBLoadBalancer"} {
		for row := range of.Tables[kind].All() {
			var lb struct{ ID string }
			if err := json.Unmarshal(row, &lb); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, lb.ID)
		}
	}
	return ids
}

// partsOf returns the parts of load balancers, as they are exported.
func partsOf(of *state.Export, ids []string) (rows []string) {
	for _, kind := range parts {
		for row := range of.Tables[kind].All() {
			if text := string(row); slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text, id) }) {
				rows = append(rows, text)
			}
		}
	}
	return rows
}
