package ecs

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var instancePowerActions = []gateway.Action{
	gateway.Write("StartInstance", startInstance),
	gateway.Write("StartInstances", startInstances),
	gateway.Write("StopInstance", stopInstance),
	gateway.Write("StopInstances", stopInstances),
	gateway.Write("RebootInstance", rebootInstance),
}

// power is a change between running and stopped: from where it may be made, the stage
// in which the instance is meanwhile, and what it is called then.
type power struct {
	from  string
	stage state.Stage
	now   string
}

var (
	powerOn  = power{kinds.InstanceStopped, kinds.StageInstanceStarting, kinds.InstanceStarting}
	powerOff = power{kinds.InstanceRunning, kinds.StageInstanceStopping, kinds.InstanceStopping}
	reboot   = power{kinds.InstanceRunning, kinds.StageInstanceStarting, kinds.InstanceStarting}
)

// check: instances that are already where they shall be are in the wrong status too.
// Evidence CLB-0384.
func (p power) check(i *kinds.Instance) error {
	if i.Status != p.from {
		return errInstanceNotStopped
	}
	return nil
}

func (p power) change(tx *state.Tx, ids ...string) error {
	for _, id := range ids {
		i, err := kinds.Instances.Get(tx.View, id)
		if err != nil {
			return err
		}
		if err := p.check(i); err != nil {
			return err
		}
		state.Enter(tx, p.stage, id)
	}
	return nil
}

// stoppedMode keeps the mode of a stopped instance while it stays stopped.
func stoppedMode(tx *state.Tx, mode string, ids ...string) error {
	for _, id := range ids {
		if err := kinds.Instances.Edit(tx, id, func(i *kinds.Instance) error {
			i.StoppedMode = mode
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

type startInstanceRequest struct {
	InstanceID string `rpc:"InstanceId,required"`
	gateway.Trial
}

func startInstance(tx *state.Tx, req *startInstanceRequest) (*gateway.Empty, error) {
	if err := powerOn.change(tx, req.InstanceID); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, nil
}

type stopInstanceRequest struct {
	InstanceID  string `rpc:"InstanceId,required"`
	StoppedMode string `rpc:"StoppedMode,default=KeepCharging,enum=KeepCharging|StopCharging"`
	gateway.Trial
}

func stopInstance(tx *state.Tx, req *stopInstanceRequest) (*gateway.Empty, error) {
	if err := powerOff.change(tx, req.InstanceID); err != nil {
		return nil, err
	}
	if err := stoppedMode(tx, req.StoppedMode, req.InstanceID); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, nil
}

type rebootInstanceRequest struct {
	InstanceID string `rpc:"InstanceId,required"`
	gateway.Trial
}

func rebootInstance(tx *state.Tx, req *rebootInstanceRequest) (*gateway.Empty, error) {
	if err := reboot.change(tx, req.InstanceID); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, nil
}

// batch is a call for several instances: all change, or none does.
type batch struct {
	RegionID    string   `rpc:"RegionId,required"`
	InstanceIDs []string `rpc:"InstanceId,required,max=100"`
	gateway.Trial
}

type batchResponse struct {
	Responses []instanceResponse `rpc:"InstanceResponses>InstanceResponse"`
}

type instanceResponse struct {
	InstanceID     string `rpc:"InstanceId"`
	Code           string `rpc:"Code"`
	Message        string `rpc:"Message"`
	PreviousStatus string `rpc:"PreviousStatus"`
	CurrentStatus  string `rpc:"CurrentStatus"`
}

func (r *batch) change(tx *state.Tx, p power) (*batchResponse, error) {
	resp := &batchResponse{}
	ids := slices.Compact(slices.Sorted(slices.Values(r.InstanceIDs)))
	if err := p.change(tx, ids...); err != nil {
		return nil, err
	}
	for _, id := range ids {
		resp.Responses = append(resp.Responses, instanceResponse{InstanceID: id, Code: "200", Message: "success", PreviousStatus: p.from, CurrentStatus: p.now})
	}
	return resp, nil
}

type startInstancesRequest struct{ batch }

func startInstances(tx *state.Tx, req *startInstancesRequest) (*batchResponse, error) {
	return req.change(tx, powerOn)
}

type stopInstancesRequest struct {
	batch
	StoppedMode string `rpc:"StoppedMode,default=KeepCharging,enum=KeepCharging|StopCharging"`
}

func stopInstances(tx *state.Tx, req *stopInstancesRequest) (*batchResponse, error) {
	resp, err := req.change(tx, powerOff)
	if err != nil {
		return nil, err
	}
	return resp, stoppedMode(tx, req.StoppedMode, req.InstanceIDs...)
}
