package vpc

import (
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var deletionProtectionActions = []gateway.Action{
	gateway.Write("DeletionProtection", deletionProtection),
}

// What is refused here. That without a name of its own is asked for by a tag.
var (
	errDeletionProtected = refusals.New("DeletionProtected", 400, "InvalidOperation.DeletionProtection",
		"The instance cannnot delete because of deletion protecion.", "CLB-0400") // the cloud's spelling
	_ = refusals.New("ProtectedTypeUnknown", 400, "InvalidParameter.Type",
		"The specified Type is not valid.", "CLB-0402")
)

type deletionProtectionRequest struct {
	RegionID         string `rpc:"RegionId,required"`
	InstanceID       string `rpc:"InstanceId,required"`
	Type             string `rpc:"Type,required,enum=EIP|CBWP,invalid=ProtectedTypeUnknown"`
	ProtectionEnable bool   `rpc:"ProtectionEnable,required"`
	ClientToken      string `rpc:"ClientToken"`
}

// deletionProtection protects EIPs and bandwidth packages; there are no NAT gateways.
func deletionProtection(tx *state.Tx, req *deletionProtectionRequest) (*gateway.Empty, error) {
	if req.Type == "EIP" {
		_, err := state.Once(tx, "DeletionProtection", req.ClientToken, req, cloud.EIPs, func() (string, error) {
			return req.InstanceID, cloud.EIPs.Edit(tx, req.InstanceID, func(e *cloud.EIP) error {
				e.DeletionProtection = req.ProtectionEnable
				return nil
			})
		})
		return &gateway.Empty{}, err
	}
	_, err := state.Once(tx, "DeletionProtection", req.ClientToken, req, cloud.CommonBandwidthPackages, func() (string, error) {
		return req.InstanceID, cloud.CommonBandwidthPackages.Edit(tx, req.InstanceID, func(p *cloud.CommonBandwidthPackage) error {
			p.DeletionProtection = req.ProtectionEnable
			return nil
		})
	})
	return &gateway.Empty{}, err
}
