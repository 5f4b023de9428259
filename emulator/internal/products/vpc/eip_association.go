package vpc

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var eipAssociationActions = []gateway.Action{
	gateway.Write("AssociateEipAddress", associateEIPAddress).Refusing(errInstanceTypeUnsupported),
	gateway.Write("UnassociateEipAddress", unassociateEIPAddress).Refusing(errInstanceTypeUnsupported),
}

// The refusals of this file.
var (
	errEIPStatusIncorrect = refusals.New("EIPStatusIncorrect", 400, "IncorrectEipStatus",
		"Current elastic IP status does not support this operation", "CLB-0300")
	errInstanceTypeUnsupported = refusals.New("InstanceTypeUnsupported", 400, "InvalidInstanceType.ValueNotSupported",
		"The specified value of InstanceType is not supported.", "CLB-0300")
	errOtherRegion = refusals.New("OtherRegion", 400, "InvalidParameter.Mismatch",
		"Specified elastic IP address and ECS instance are not in the same region.", "CLB-0300")
	errTargetNotFound = refusals.New("TargetNotFound", 404, "InvalidInstanId.NotFound",
		"Specified instance does not exist.", "CLB-0300")
	errTargetNotInVPC = refusals.New("TargetNotInVPC", 400, "OperationDenied",
		"Specified instance is not in VPC.", "CLB-0300")
	errTargetHasPublicAddress = refusals.New("TargetHasPublicAddress", 400, "EIP_CAN_NOT_ASSOCIATE_WITH_PUBLIC_IP",
		"instance already bind natpublicip,cannot bind eip.", "CLB-0300")
	errTargetHasEIP = refusals.New("TargetHasEIP", 400, "InvalidAssociation.Duplicated",
		"Specified instance already is associated.", "CLB-0300")
	errPrivateAddressNotFound = refusals.New("PrivateAddressNotFound", 400, "OperationFailed.PrivateIpAddressNotExist",
		"The operation failed because the PrivateIpAddress is not found.", "CLB-0300")
	errNotOnThat = refusals.New("NotOnThat", 404, "InvalidBindInstance.NotFound",
		"The specified bind instance does not exist.", "CLB-0300")
)

// What an EIP can be on.
const (
	eipOnInstance         = "EcsInstance"
	eipOnLoadBalancer     = "SlbInstance"
	eipOnNetworkInterface = "NetworkInterface"
	eipOnNATGateway       = "Nat"
)

// modeNAT is the only mode of association that every account may use.
const modeNAT = "NAT"

type associateEIPAddressRequest struct {
	AllocationID     string `rpc:"AllocationId,required"`
	InstanceID       string `rpc:"InstanceId,required"`
	InstanceType     string `rpc:"InstanceType,default=EcsInstance,enum=Nat|SlbInstance|EcsInstance|NetworkInterface|HaVip,invalid=InstanceTypeUnsupported"`
	InstanceRegionID string `rpc:"InstanceRegionId"`
	PrivateIPAddress string `rpc:"PrivateIpAddress"`
	ClientToken      string `rpc:"ClientToken"`
	gateway.Trial
}

func associateEIPAddress(tx *state.Tx, req *associateEIPAddressRequest) (*gateway.Empty, error) {
	_, err := state.Once(tx, "AssociateEipAddress", req.ClientToken, req, kinds.EIPs, func() (string, error) {
		return req.AllocationID, associate(tx, req)
	})
	return &gateway.Empty{}, err
}

func associate(tx *state.Tx, req *associateEIPAddressRequest) error {
	eip, err := kinds.EIPs.Get(tx.View, req.AllocationID)
	if err != nil {
		return err
	}
	if eip.Status != kinds.EIPAvailable {
		return errEIPStatusIncorrect
	}
	if !listing.Matches(req.InstanceRegionID, eip.RegionID) {
		return errOtherRegion
	}
	target, err := findTarget(tx.View, req.InstanceType, req.InstanceID)
	if err != nil {
		return err
	}
	if err := target.check(tx.View, req); err != nil {
		return err
	}
	associated := *eip
	associated.InstanceType, associated.InstanceID = req.InstanceType, req.InstanceID
	if req.InstanceType == eipOnNetworkInterface {
		associated.PrivateIPAddress = req.PrivateIPAddress
	}
	kinds.EIPs.Put(tx, &associated)
	state.Enter(tx, kinds.StageEIPAssociating, eip.ID)
	return nil
}

// target describes what an EIP is, or will be, associated with.
type target struct {
	vpcID     string
	privateIP string   // the address that the EIP stands for if the call names none
	others    []string // the further addresses that it can stand for
	publicIP  bool     // it has its own public address
	many      bool     // it takes several EIPs
}

func findTarget(v *state.View, kind, id string) (target, error) {
	switch kind {
	case eipOnLoadBalancer:
		lb, err := kinds.LoadBalancers.Get(v, id)
		if err != nil {
			return target{}, err
		}
		return target{vpcID: lb.VPCID, privateIP: lb.Address}, nil
	case eipOnInstance:
		return instanceTarget(v, id)
	case eipOnNATGateway:
		g, err := kinds.NATGateways.Get(v, id)
		if err != nil {
			return target{}, err
		}
		return target{vpcID: g.VPCID, privateIP: g.PrivateIPAddress, many: true}, nil
	case eipOnNetworkInterface:
		n, err := kinds.NetworkInterfaces.Get(v, id)
		if err != nil {
			return target{}, err
		}
		return target{vpcID: n.VPCID, privateIP: primaryAddress(n), others: n.PrivateIPAddresses}, nil
	}
	return target{}, errTargetNotFound.Of(id)
}

func instanceTarget(v *state.View, id string) (target, error) {
	i, err := kinds.Instances.Get(v, id)
	if err != nil {
		return target{}, err
	}
	t := target{vpcID: i.VPCID, publicIP: len(i.PublicIPAddresses) > 0}
	if n, ok := kinds.NetworkInterfacesByInstance.First(v, id, kinds.NetworkInterfacePrimary); ok {
		t.privateIP = primaryAddress(n)
	}
	return t, nil
}

func primaryAddress(n *kinds.NetworkInterface) string {
	if len(n.PrivateIPAddresses) == 0 {
		return ""
	}
	return n.PrivateIPAddresses[0]
}

// check refuses a target that can't take the EIP. One without a VPC is a load
// balancer that is not an intranet one; evidence CLB-0309.
func (t target) check(v *state.View, req *associateEIPAddressRequest) error {
	if t.vpcID == "" {
		return errTargetNotInVPC
	}
	if t.publicIP {
		return errTargetHasPublicAddress
	}
	ip := cmp.Or(req.PrivateIPAddress, t.privateIP)
	for other := range kinds.EIPsByInstance.List(v, req.InstanceID) {
		if !t.many && cmp.Or(other.PrivateIPAddress, t.privateIP) == ip {
			return errTargetHasEIP
		}
	}
	if ip != t.privateIP && !slices.Contains(t.others, ip) {
		return errPrivateAddressNotFound.Of(ip)
	}
	return nil
}

type unassociateEIPAddressRequest struct {
	AllocationID     string `rpc:"AllocationId,required"`
	InstanceID       string `rpc:"InstanceId"`
	InstanceType     string `rpc:"InstanceType,enum=EcsInstance|SlbInstance|NetworkInterface|Nat|HaVip,invalid=InstanceTypeUnsupported"`
	PrivateIPAddress string `rpc:"PrivateIpAddress"`
	ClientToken      string `rpc:"ClientToken"`
}

func unassociateEIPAddress(tx *state.Tx, req *unassociateEIPAddressRequest) (*gateway.Empty, error) {
	_, err := state.Once(tx, "UnassociateEipAddress", req.ClientToken, req, kinds.EIPs, func() (string, error) {
		return req.AllocationID, unassociate(tx, req)
	})
	return &gateway.Empty{}, err
}

// unassociate takes the EIP off its instance. It does not compare what the request does not name,
// though the documentation has EcsInstance for the type; evidence CLB-0310.
func unassociate(tx *state.Tx, req *unassociateEIPAddressRequest) error {
	eip, err := kinds.EIPs.Get(tx.View, req.AllocationID)
	if err != nil {
		return err
	}
	if eip.Status != kinds.EIPInUse {
		return errEIPStatusIncorrect
	}
	on, err := findTarget(tx.View, eip.InstanceType, eip.InstanceID)
	if err != nil {
		return err
	}
	if !listing.Matches(req.InstanceID, eip.InstanceID) || !listing.Matches(req.InstanceType, eip.InstanceType) ||
		!listing.Matches(req.PrivateIPAddress, cmp.Or(eip.PrivateIPAddress, on.privateIP)) {
		return errNotOnThat.Of(req.InstanceID)
	}
	state.Enter(tx, kinds.StageEIPUnassociating, eip.ID)
	return nil
}
