package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var deletionProtectionActions = []gateway.Action{
	gateway.Write("DeletionProtection", deletionProtection).Refusing(errProtectedTypeUnknown),
}

// The refusals of this file. A struct tag names the refusal that has no variable.
var (
	errDeletionProtected = refusals.New("DeletionProtected", 400, "InvalidOperation.DeletionProtection",
		"The instance cannnot delete because of deletion protecion.", "CLB-0400") // the cloud's spelling
	errProtectedTypeUnknown = refusals.New("ProtectedTypeUnknown", 400, "InvalidParameter.Type",
		"The specified Type is not valid.", "CLB-0402")
)

type deletionProtectionRequest struct {
	RegionID         string `rpc:"RegionId,required"`
	InstanceID       string `rpc:"InstanceId,required"`
	Type             string `rpc:"Type,required,enum=EIP|CBWP|NATGW,invalid=ProtectedTypeUnknown"`
	ProtectionEnable bool   `rpc:"ProtectionEnable,required"`
	ClientToken      string `rpc:"ClientToken"`
}

func deletionProtection(tx *state.Tx, req *deletionProtectionRequest) (*gateway.Empty, error) {
	var err error
	switch req.Type {
	case "EIP":
		err = protect(tx, req, kinds.EIPs, func(e *kinds.EIP) *bool { return &e.DeletionProtection })
	case "NATGW":
		err = protect(tx, req, kinds.NATGateways, func(g *kinds.NATGateway) *bool { return &g.DeletionProtection })
	default:
		err = protect(tx, req, kinds.CommonBandwidthPackages, func(p *kinds.CommonBandwidthPackage) *bool { return &p.DeletionProtection })
	}
	return &gateway.Empty{}, err
}

func protect[T any](tx *state.Tx, req *deletionProtectionRequest, table *state.Table[T], protected func(*T) *bool) error {
	return state.EditOnce(tx, "DeletionProtection", req.ClientToken, req, table, req.InstanceID, func(r *T) error {
		*protected(r) = req.ProtectionEnable
		return nil
	})
}
