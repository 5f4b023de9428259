package ecs

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errInstanceProtected = refusals.New("InstanceProtected", 403, "InvalidOperation.DeletionProtection",
		"The instance %s is protected against deletion: unset DeletionProtection first.", "CLB-0203")
	errInstanceSubscribed = refusals.New("InstanceSubscribed", 403, "ChargeTypeViolation",
		"The operation is not permitted due to charge type of the instance.", "CLB-0300")
	errInstanceNotStopped = refusals.New("InstanceNotStopped", 403, "IncorrectInstanceStatus",
		"The current status of the resource does not support this operation.", "CLB-0300")
)

type deleteInstanceRequest struct {
	InstanceID            string `rpc:"InstanceId,required"`
	Force                 bool   `rpc:"Force"`
	TerminateSubscription bool   `rpc:"TerminateSubscription"`
	gateway.Trial
}

// deleteInstance releases an instance with everything of its own. Routes that lead
// to it stay and lead nowhere; evidence CLB-0332. None of
// its disks outlives it.
func deleteInstance(tx *state.Tx, req *deleteInstanceRequest) (*gateway.Empty, error) {
	if err := endInstance(tx, req.InstanceID, req.Force, req.TerminateSubscription); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, nil
}

type deleteInstancesRequest struct {
	RegionID              string   `rpc:"RegionId,required"`
	InstanceIDs           []string `rpc:"InstanceId,required,max=100"`
	Force                 bool     `rpc:"Force"`
	TerminateSubscription bool     `rpc:"TerminateSubscription"`
	ClientToken           string   `rpc:"ClientToken"`
	gateway.Trial
}

// deleteInstances releases all the instances, or none. It needs no memory of its
// token: an instance goes only once.
func deleteInstances(tx *state.Tx, req *deleteInstancesRequest) (*gateway.Empty, error) {
	for _, id := range slices.Compact(slices.Sorted(slices.Values(req.InstanceIDs))) {
		if err := endInstance(tx, id, req.Force, req.TerminateSubscription); err != nil {
			return nil, err
		}
	}
	return &gateway.Empty{}, nil
}

// endInstance releases an instance, if nothing protects it.
func endInstance(tx *state.Tx, id string, force, terminate bool) error {
	i, err := kinds.Instances.Get(tx.View, id)
	if err != nil {
		return err
	}
	switch {
	case i.DeletionProtection:
		return errInstanceProtected.Of(i.ID)
	case i.InstanceChargeType == "PrePaid" && !terminate:
		return errInstanceSubscribed
	case i.Status != kinds.InstanceStopped && !force:
		return errInstanceNotStopped
	}
	for n := range kinds.NetworkInterfacesByInstance.List(tx.View, i.ID) {
		release(tx, n.ID)
		kinds.NetworkInterfaces.Remove(tx, n.ID)
	}
	release(tx, i.ID)
	kinds.Instances.Remove(tx, i.ID)
	return nil
}

// release takes an instance or an interface out of the server groups, and its
// EIPs off it. Listeners keep their groups, even empty ones; evidence CLB-0333.
func release(tx *state.Tx, id string) {
	remove := func(servers []kinds.BackendServer) []kinds.BackendServer {
		return slices.DeleteFunc(slices.Clone(servers), func(s kinds.BackendServer) bool { return s.ServerID == id })
	}
	for g := range kinds.VServerGroupsByServer.List(tx.View, id) {
		changed := *g
		changed.BackendServers = remove(g.BackendServers)
		kinds.VServerGroups.Put(tx, &changed)
	}
	for g := range kinds.MasterSlaveServerGroupsByServer.List(tx.View, id) {
		changed := *g
		changed.BackendServers = slices.DeleteFunc(slices.Clone(g.BackendServers), func(s kinds.MasterSlaveBackendServer) bool { return s.ServerID == id })
		kinds.MasterSlaveServerGroups.Put(tx, &changed)
	}
	for lb := range kinds.LoadBalancersByServer.List(tx.View, id) {
		changed := *lb
		changed.BackendServers = remove(lb.BackendServers)
		kinds.LoadBalancers.Put(tx, &changed)
	}
	for eip := range kinds.EIPsByInstance.List(tx.View, id) {
		changed := *eip
		changed.Free()
		kinds.EIPs.Put(tx, &changed)
	}
}
