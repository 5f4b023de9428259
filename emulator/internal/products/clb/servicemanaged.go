package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var serviceManagedActions = []gateway.Action{
	gateway.Write("ServiceManagedControl", serviceManagedControl),
}

// Whether another cloud service manages a resource.
const (
	managed   = "Managed"
	unmanaged = "Unmanaged"
)

// managedMode returns the cloud's word for whether a service manages the load balancer.
func managedMode(lb *kinds.LoadBalancer) string {
	if lb.ServiceManaged {
		return managed
	}
	return unmanaged
}

type serviceManagedControlRequest struct {
	RegionID           string            `rpc:"RegionId"`
	ServiceManagedMode string            `rpc:"ServiceManagedMode,required,enum=Managed|Unmanaged"`
	Resources          []managedResource `rpc:"Resources,required,max=20"`
}

type managedResource struct {
	ResourceID string `rpc:"ResourceId,required"`
}

// serviceManagedControl marks load balancers, which show the mark and are changed as
// others are: CLB-0528.
func serviceManagedControl(tx *state.Tx, req *serviceManagedControlRequest) (*gateway.Empty, error) {
	for _, r := range req.Resources {
		if err := checkTakes(tx.View, r.ResourceID, "ServiceManagedControl"); err != nil {
			return nil, err
		}
		if err := kinds.LoadBalancers.Edit(tx, r.ResourceID, func(lb *kinds.LoadBalancer) error {
			lb.ServiceManaged = req.ServiceManagedMode == managed
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return &gateway.Empty{}, nil
}
