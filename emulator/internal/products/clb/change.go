package clb

import (
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errLoadBalancerLocked = refusals.New("LoadBalancerLocked", 400, "ActionNotAllowed",
		"Locked for any Business Reason.", "CLB-0201").
		In(400, "LbStatusNotSupport", "The status of specified loadbalancer does not support..", "CLB-0200",
			"RemoveVServerGroupBackendServers")
	errLoadBalancerStopped = refusals.New("LoadBalancerStopped", 400, "LbStatusNotSupport",
		"The status of specified loadbalancer does not support..", "CLB-0195")
)

// stoppedTakes lists what a load balancer takes while SetLoadBalancerStatus keeps it
// inactive: its way back, its deletion and what that needs, tags and a resource group, and
// what Terraform sends after it stopped one in the same apply. A locked one takes nothing.
// Page "CLB instances", 2025-01-16; CLB-0174 and CLB-0195.
var stoppedTakes = []string{
	"SetLoadBalancerStatus", "DeleteLoadBalancer", "SetLoadBalancerDeleteProtection", "SetLoadBalancerModificationProtection",
	"AddTags", "RemoveTags", "MoveResourceGroup",
	"SetLoadBalancerName", "ModifyLoadBalancerInstanceChargeType", "ModifyLoadBalancerInstanceSpec", "ModifyLoadBalancerInternetSpec", "ModifyLoadBalancerPayType",
}

// ofLoadBalancer is the part of a request that names the load balancer to change.
type ofLoadBalancer struct {
	RegionID       string `rpc:"RegionId,required"`
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

var _ gateway.AboutLoadBalancer = (*ofLoadBalancer)(nil)

// LoadBalancerOf implements gateway.AboutLoadBalancer.
func (r *ofLoadBalancer) LoadBalancerOf(*state.View) (string, error) { return r.LoadBalancerID, nil }

// noLoadBalancer is the id for calls that concern no load balancer.
const noLoadBalancer = ""

// change declares an action that changes a load balancer or a part of it, which one in a
// state that does not allow the action does not take.
func change[Req, Res any](name string, handle func(*state.Tx, *Req) (*Res, error)) gateway.Action {
	if _, ok := any((*Req)(nil)).(gateway.AboutLoadBalancer); !ok {
		panic(fmt.Sprintf("clb: %s does not say which load balancer it changes", name))
	}
	return gateway.Write(name, func(tx *state.Tx, req *Req) (*Res, error) {
		id, err := any(req).(gateway.AboutLoadBalancer).LoadBalancerOf(tx.View)
		if err == nil && id != noLoadBalancer {
			err = checkTakes(tx.View, id, name)
		}
		if err != nil {
			return nil, err
		}
		return handle(tx, req)
	})
}

// checkTakes refuses an action that a load balancer does not take now.
func checkTakes(v *state.View, id, action string) error {
	lb, err := kinds.LoadBalancers.Get(v, id)
	switch {
	case err != nil:
		return err
	case lb.Status == kinds.LoadBalancerLocked:
		return errLoadBalancerLocked
	case lb.Status == kinds.LoadBalancerInactive && !lb.Idle && !slices.Contains(stoppedTakes, action):
		return errLoadBalancerStopped
	}
	return nil
}

// owner returns the load balancer of a part that is found by its own id.
func owner[T any](v *state.View, parts *state.Table[T], id string, of func(*T) string) (string, error) {
	p, err := parts.Get(v, id)
	if err != nil {
		return "", err
	}
	return of(p), nil
}
