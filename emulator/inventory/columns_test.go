package inventory_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// more is what the world of the example lacks of what can be listed.
const more = `
networkInterfaces: [{id: eni-pod, name: pod, vSwitch: vsw-h, instance: i-node1}]
eips: [{id: eip-a, name: a, bandwidth: 5, instance: i-node1}]
calls:
- {product: Slb, action: CreateAccessControlList, id: acl-office, parameters: {AclName: office}}
- {product: Slb, action: AddAccessControlListEntry, parameters: {AclId: acl-office, AclEntrys: '[{"entry":"10.0.0.0/8"}]'}}
- {product: Slb, action: CreateLoadBalancerHTTPListener, parameters: {LoadBalancerId: lb-ingress, ListenerPort: 8080, VServerGroupId: rsp-http, StickySession: "off", HealthCheck: "off", AclStatus: "on", AclType: white, AclId: acl-office, Bandwidth: 5}}
- {product: Slb, action: CreateRules, parameters: {LoadBalancerId: lb-ingress, ListenerPort: 8080, RuleList: '[{"RuleName":"r","Domain":"www.example.com","Url":"/a","VServerGroupId":"rsp-http"}]'}}
- {product: Vpc, action: CreateCommonBandwidthPackage, parameters: {Bandwidth: 20, Name: b}}
`

// TestColumns proves that what is listed has values in the columns of its kind alone, and
// that no column is without a value everywhere.
func TestColumns(t *testing.T) {
	text, err := os.ReadFile("../../examples/world/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.Parse("w.yaml", append(text, more...))
	if err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(context.Background(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Clock: state.NewManualClock(time.Unix(1e9, 0)), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := store.Update(state.Owner{}, w.Plant); err != nil {
		t.Fatal(err)
	}
	// A resource has these beside its fields, and listeners and servers say these where no table does.
	each, untold := []string{"id", "name", "status", "product", "region", "loadBalancer"}, []string{"answersAt", "problem"}
	// No certificate is in the world, no zone is sold out, and a job ends with its call.
	none := []string{"cert", "job", "zone soldOut", "listener certificate", "backend description"}
	for _, kind := range inventory.Kinds() {
		var columns, seen []string
		for _, c := range kind.Columns {
			columns = append(columns, c.Name)
		}
		err := inventory.Inventory{}.Each(store.View(state.Owner{}), inventory.Wanted{Kind: kind.Name}, func(r controlapi.Resource) {
			for name := range r.Fields {
				seen = append(seen, name)
				if !slices.Contains(columns, name) && !slices.Contains(untold, name) {
					t.Errorf("%s %s has the field %s, which is no column of %v", kind.Name, r.ID, name, columns)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range columns {
			if !slices.Contains(seen, name) && !slices.Contains(each, name) && !slices.Contains(none, kind.Name) && !slices.Contains(none, kind.Name+" "+name) {
				t.Errorf("nothing of kind %s has a value in the column %s", kind.Name, name)
			}
		}
	}
}
