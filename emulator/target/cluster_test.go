package target_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// TestCloudConfig proves what clbemu derives from a state for a controller, and that it
// says what is missing.
func TestCloudConfig(t *testing.T) {
	one, two := state.Owner{AccountID: "1", RegionID: "r"}, state.Owner{AccountID: "2", RegionID: "r"}
	instances := func(tx *state.Tx) {
		for id, at := range map[string]struct {
			owner state.Owner
			vpc   string
		}{"i-1": {one, "vpc-1"}, "i-2": {two, "vpc-2"}, "i-3": {two, "vpc-3"}, "i-4": {two, "vpc-3"}} {
			kinds.Instances.Put(tx, &kinds.Instance{ID: id, Owner: at.owner, VPCID: at.vpc})
		}
	}
	keys := func(tx *state.Tx) {
		for _, key := range []kinds.AccessKey{
			{ID: "k1", Secret: "s1", AccountID: "1", Status: kinds.AccessKeyActive},
			{ID: "k0", AccountID: "2", Status: kinds.AccessKeyInactive},
			{ID: "k01", AccountID: "2", Status: kinds.AccessKeyActive, SecurityToken: "of a role"},
			{ID: "k2", Secret: "s2", AccountID: "2", Status: kinds.AccessKeyActive},
		} {
			kinds.AccessKeys.Put(tx, &key)
		}
	}
	vSwitches := func(tx *state.Tx) {
		kinds.VSwitches.Put(tx, &kinds.VSwitch{ID: "vsw-1", Owner: one, VPCID: "vpc-1", ZoneID: "a"})
		kinds.VSwitches.Put(tx, &kinds.VSwitch{ID: "vsw-2", Owner: two, VPCID: "vpc-3", ZoneID: "b"})
		kinds.VSwitches.Put(tx, &kinds.VSwitch{ID: "vsw-3", Owner: two, VPCID: "vpc-3", ZoneID: "c"})
	}
	tagged := func(of state.TagResourceType, id, cluster string) func(*state.Tx) {
		return func(tx *state.Tx) {
			owner := one
			if strings.HasSuffix(id, "2") {
				owner = two
			}
			if of == kinds.TagLoadBalancer {
				kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{ID: id, Owner: owner})
			} else {
				kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{ID: id, Owner: owner})
			}
			state.Tags.Put(tx, &state.Tag{Owner: owner, ResourceType: of, ResourceID: id, Key: "ack.aliyun.com", Value: cluster})
		}
	}
	clb, nlb := kinds.TagLoadBalancer, kinds.TagNLBLoadBalancer
	for name, test := range map[string]struct {
		has       []func(*state.Tx)
		cluster   string
		nodes     []string
		key, vpc  string
		vSwitches string
		problem   string
	}{
		"the account of the tagged load balancer": {has: []func(*state.Tx){instances, keys, vSwitches, tagged(clb, "lb-2", "c")}, key: "k2", vpc: "vpc-3", vSwitches: "b:vsw-2,c:vsw-3"},
		"another account":                         {has: []func(*state.Tx){instances, keys, vSwitches, tagged(clb, "lb-1", "c")}, key: "k1", vpc: "vpc-1", vSwitches: "a:vsw-1"},
		"an NLB":                                  {has: []func(*state.Tx){instances, keys, vSwitches, tagged(nlb, "nlb-2", "c")}, key: "k2", vpc: "vpc-3", vSwitches: "b:vsw-2,c:vsw-3"},
		"a named cluster without a load balancer": {has: []func(*state.Tx){instances, keys, vSwitches}, cluster: "c", key: "k2", vpc: "vpc-3", vSwitches: "b:vsw-2,c:vsw-3"},
		"the VPC of its nodes":                    {has: []func(*state.Tx){instances, keys}, cluster: "c", nodes: []string{"i-2"}, key: "k2", vpc: "vpc-2"},
		"nodes that the account lacks":            {has: []func(*state.Tx){instances, keys}, cluster: "c", nodes: []string{"i-none"}, key: "k2", vpc: "vpc-3"},
		"no tag":                                  {has: []func(*state.Tx){instances, keys}, problem: "no load balancer has the tag ack.aliyun.com of a cluster: give --cluster-id"},
		"two clusters":                            {has: []func(*state.Tx){tagged(clb, "lb-1", "b"), tagged(nlb, "nlb-2", "a")}, problem: "load balancers belong to the clusters a, b: choose one with --cluster-id"},
		"no instance":                             {has: []func(*state.Tx){keys}, cluster: "c", problem: "the state has no instance that could be a node of the cluster: give --cloud-config"},
		"no key":                                  {has: []func(*state.Tx){instances}, cluster: "c", problem: "account 2 has no active access key: give --cloud-config"},
	} {
		s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(state.Owner{}, func(tx *state.Tx) error {
			for _, put := range test.has {
				put(tx)
			}
			return nil
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text []byte
		v := s.View(state.Owner{})
		text, err = target.CloudConfig(v, test.cluster, test.nodes...)
		if test.problem != "" {
			if err == nil || err.Error() != test.problem {
				t.Errorf("%s: %v, want %q", name, err, test.problem)
			}
			continue
		}
		var c struct{ Global map[string]string }
		if err := errors.Join(err, json.Unmarshal(text, &c)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for field, want := range map[string]string{
			"accessKeyID": base64.StdEncoding.EncodeToString([]byte(test.key)), "accessKeySecret": base64.StdEncoding.EncodeToString([]byte("s" + test.key[1:])),
			"clusterID": "c", "region": "r", "vpcid": test.vpc, "vswitchid": test.vSwitches,
		} {
			if got := c.Global[field]; got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
	}
}
