package ecs

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var networkInterfaceChangeActions = []gateway.Action{
	gateway.Write("CreateNetworkInterface", createNetworkInterface).Refusing(errInterfaceNameInvalid, errTooManyTags),
	gateway.Write("AttachNetworkInterface", attachNetworkInterface),
	gateway.Write("DetachNetworkInterface", detachNetworkInterface),
	gateway.Write("DeleteNetworkInterface", deleteNetworkInterface),
	gateway.Write("AssignPrivateIpAddresses", assignPrivateIPAddresses),
	gateway.Write("UnassignPrivateIpAddresses", unassignPrivateIPAddresses),
	gateway.Write("AssignIpv6Addresses", assignIPv6Addresses),
	gateway.Write("UnassignIpv6Addresses", unassignIPv6Addresses),
	gateway.Read("DescribeNetworkInterfaceAttribute", describeNetworkInterfaceAttribute),
}

// The refusals of this file.
var (
	errInterfaceState = refusals.New("InterfaceState", 403, "InvalidOperation.InvalidEniState",
		"The operation is not allowed in the current state of the network interface %s.", "CLB-0386")
	errInterfaceType = refusals.New("InterfaceType", 403, "InvalidOperation.InvalidEniType",
		"The operation is not allowed for the type of the network interface %s.", "CLB-0386")
	errInterfaceInstanceState = refusals.New("InterfaceInstanceState", 403, "InvalidOperation.InvalidEcsState",
		"The operation is not allowed in the current state of the instance %s.", "CLB-0386")
	errInterfaceZone = refusals.New("InterfaceZone", 403, "InvalidOperation.AvailabilityZoneMismatch",
		"The network interface %s is in another zone than the instance.", "CLB-0386")
	errInterfaceOutsideVPC = refusals.New("InterfaceOutsideVPC", 403, "InvalidOperation.VpcMismatch",
		"The network interface %s is in another VPC than the instance.", "CLB-0386")
	errTooManyInterfaces = refusals.New("TooManyInterfaces", 403, "EniPerInstanceLimitExceeded",
		"The instance %s has as many network interfaces as its type takes.", "CLB-0386")
	errTooManyAddresses = refusals.New("TooManyAddresses", 403, "InvalidOperation.Ipv4CountExceeded",
		"The network interface %s has as many addresses as its instance type takes.", "CLB-0386")
	errAddressNotAssigned = refusals.New("AddressNotAssigned", 403, "InvalidIp.IpUnassigned",
		"The private IP address %s is not assigned to the network interface.", "CLB-0386")
	errPrimaryAddress = refusals.New("PrimaryAddress", 403, "InvalidOperation.PrimaryIp",
		"The primary private IP address %s can't be unassigned.", "CLB-0386")
)

// newInterface is an interface to create. Its first address is the primary one. Without addresses
// it gets any free one.
type newInterface struct {
	interfaceRequest
	addresses       []string
	more            int // addresses that the caller does not name
	resourceGroupID string
	tags            []tagging.Tag
	unchecked       bool // SourceDestCheck is off
}

// putInterface creates an interface and, unless i is nil, attaches it to an instance.
func putInterface(tx *state.Tx, i *kinds.Instance, req newInterface) (*kinds.NetworkInterface, error) {
	sw, err := kinds.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return nil, err
	}
	n := &kinds.NetworkInterface{
		Owner: sw.Owner, ID: tx.NewID(kinds.NetworkInterfaces.Kind()), Name: req.Name, Description: req.Description,
		Type: cmp.Or(req.InstanceType, kinds.NetworkInterfaceSecondary), Status: kinds.NetworkInterfaceAvailable, VPCID: sw.VPCID,
		VSwitchID: sw.ID, ZoneID: sw.ZoneID, SourceDestCheck: !req.unchecked, ResourceGroupID: req.resourceGroupID, CreateTime: tx.Now(),
	}
	n.MacAddress = kinds.MACOf(n.ID)
	if err := join(tx.View, n, req.groups()); err != nil {
		return nil, err
	}
	if i != nil {
		if err := fits(tx.View, n, i); err != nil {
			return nil, err
		}
		n.InstanceID, n.Status = i.ID, kinds.NetworkInterfaceInUse
	}
	if len(req.addresses) == 0 {
		req.addresses = []string{""}
	}
	if err := assign(tx, n, sw, append(req.addresses, make([]string, req.more)...)); err != nil {
		return nil, err
	}
	if err := assignIPv6(tx, n, sw, req.ipv6Request); err != nil {
		return nil, err
	}
	kinds.NetworkInterfaces.Put(tx, n)
	tagging.Set(tx, kinds.TagNetworkInterface, n.ID, req.tags)
	return n, nil
}

// assign allocates addresses for an interface: the named ones, and any for "".
func assign(tx *state.Tx, n *kinds.NetworkInterface, sw *kinds.VSwitch, addresses []string) error {
	if each := addressesOf(tx.View, n); each > 0 && len(n.PrivateIPAddresses)+len(addresses) > each {
		return errTooManyAddresses.Of(n.ID)
	}
	kept := slices.Clone(n.PrivateIPAddresses)
	for _, ip := range addresses {
		got, err := kinds.AllocateAddress(tx, sw.ID, sw.CIDRBlock, ip, kinds.NetworkInterfaces.Kind(), n.ID)
		if err != nil {
			return err
		}
		kept = append(kept, got)
	}
	n.PrivateIPAddresses = kept
	return nil
}

// addressesOf returns how many addresses an interface can have, or 0 if the type of its instance is
// not listed.
func addressesOf(v *state.View, n *kinds.NetworkInterface) int {
	i, ok := kinds.Instances.Find(v, n.InstanceID)
	if !ok {
		return maxAddresses
	}
	return instanceTypes()[i.InstanceType].AddressesOfInterface
}

// maxAddresses limits the addresses of an interface that is on no instance.
const maxAddresses = 50

// fits reports whether an instance can take an interface.
func fits(v *state.View, n *kinds.NetworkInterface, i *kinds.Instance) error {
	most := instanceTypes()[i.InstanceType].Interfaces
	switch {
	case n.VPCID != i.VPCID:
		return errInterfaceOutsideVPC.Of(n.ID)
	case n.ZoneID != i.ZoneID:
		return errInterfaceZone.Of(n.ID)
	case most > 0 && kinds.NetworkInterfacesByInstance.Count(v, i.ID) >= most:
		return errTooManyInterfaces.Of(i.ID)
	}
	return nil
}

type createNetworkInterfaceRequest struct {
	Tags               []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
	RegionID           string        `rpc:"RegionId,required"`
	VSwitchID          string        `rpc:"VSwitchId,required"`
	PrimaryIPAddress   string        `rpc:"PrimaryIpAddress"`
	PrivateIPAddresses []string      `rpc:"PrivateIpAddress,max=50"`
	SecondaryCount     int           `rpc:"SecondaryPrivateIpAddressCount,min=0,max=49"`
	SecurityGroupID    string        `rpc:"SecurityGroupId"`
	SecurityGroupIDs   []string      `rpc:"SecurityGroupIds,max=16"`
	Name               string        `rpc:"NetworkInterfaceName,len=2..128,invalid=InterfaceNameInvalid"`
	Description        string        `rpc:"Description,len=2..255"`
	ResourceGroupID    string        `rpc:"ResourceGroupId"`
	SourceDestCheck    bool          `rpc:"SourceDestCheck"`
	ipv6Request
	ClientToken string `rpc:"ClientToken"`
}

type createNetworkInterfaceResponse struct{ interfaceFields }

// createNetworkInterface creates an interface that is on no instance. It is available
// at once, and its source and destination go unchecked unless the call asks for the
// check. Evidence CLB-0386.
func createNetworkInterface(tx *state.Tx, req *createNetworkInterfaceRequest) (*createNetworkInterfaceResponse, error) {
	groups := slices.Concat(given(req.SecurityGroupID), req.SecurityGroupIDs)
	if len(groups) == 0 {
		return nil, errParameterMissing.Of("SecurityGroupId")
	}
	if req.ResourceGroupID != "" {
		if _, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID); err != nil {
			return nil, err
		}
	}
	if err := tagRefusals.Check(req.Tags); err != nil {
		return nil, err
	}
	n, err := state.OnceMade(tx, "CreateNetworkInterface", req.ClientToken, req, kinds.NetworkInterfaces, func() (string, error) {
		n, err := putInterface(tx, nil, newInterface{
			interfaceRequest: interfaceRequest{VSwitchID: req.VSwitchID, SecurityGroupIDs: groups, Name: req.Name, Description: req.Description, ipv6Request: req.ipv6Request},
			addresses:        slices.Concat([]string{req.PrimaryIPAddress}, req.PrivateIPAddresses), more: req.SecondaryCount,
			resourceGroupID: req.ResourceGroupID, tags: req.Tags, unchecked: !req.SourceDestCheck,
		})
		if err != nil {
			return "", err
		}
		return n.ID, nil
	})
	if err != nil {
		return nil, err
	}
	return &createNetworkInterfaceResponse{fieldsOf(tx.View, n)}, nil
}

type attachNetworkInterfaceRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	NetworkInterfaceID string `rpc:"NetworkInterfaceId,required"`
	InstanceID         string `rpc:"InstanceId,required"`
}

func attachNetworkInterface(tx *state.Tx, req *attachNetworkInterfaceRequest) (*gateway.Empty, error) {
	i, err := kinds.Instances.Get(tx.View, req.InstanceID)
	if err != nil {
		return nil, err
	}
	if i.Status != kinds.InstanceRunning && i.Status != kinds.InstanceStopped {
		return nil, errInterfaceInstanceState.Of(i.ID)
	}
	return &gateway.Empty{}, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
		if n.Status != kinds.NetworkInterfaceAvailable {
			return errInterfaceState.Of(n.ID)
		}
		n.InstanceID, n.Status = i.ID, kinds.NetworkInterfaceInUse
		return fits(tx.View, n, i)
	})
}

type detachNetworkInterfaceRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	NetworkInterfaceID string `rpc:"NetworkInterfaceId,required"`
	InstanceID         string `rpc:"InstanceId,required"`
}

func detachNetworkInterface(tx *state.Tx, req *detachNetworkInterfaceRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
		switch {
		case n.Type == kinds.NetworkInterfacePrimary:
			return errInterfaceType.Of(n.ID)
		case n.Status != kinds.NetworkInterfaceInUse || n.InstanceID != req.InstanceID:
			return errInterfaceState.Of(n.ID)
		}
		n.InstanceID, n.Status = "", kinds.NetworkInterfaceAvailable
		return nil
	})
}

type deleteNetworkInterfaceRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	NetworkInterfaceID string `rpc:"NetworkInterfaceId,required"`
}

// deleteNetworkInterface takes an interface out of the server groups, as the end of an
// instance does.
func deleteNetworkInterface(tx *state.Tx, req *deleteNetworkInterfaceRequest) (*gateway.Empty, error) {
	n, err := kinds.NetworkInterfaces.Get(tx.View, req.NetworkInterfaceID)
	if err != nil {
		return nil, err
	}
	if n.Status != kinds.NetworkInterfaceAvailable {
		return nil, errInterfaceState.Of(n.ID)
	}
	release(tx, n.ID)
	kinds.NetworkInterfaces.Remove(tx, n.ID)
	return &gateway.Empty{}, nil
}

type assignPrivateIPAddressesRequest struct {
	RegionID           string   `rpc:"RegionId,required"`
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId,required"`
	PrivateIPAddresses []string `rpc:"PrivateIpAddress,max=50"`
	Count              int      `rpc:"SecondaryPrivateIpAddressCount,min=1,max=49"`
	ClientToken        string   `rpc:"ClientToken"`
}

type assignPrivateIPAddressesResponse struct {
	Assigned assignedAddresses `rpc:"AssignedPrivateIpAddressesSet"`
}

type assignedAddresses struct {
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId"`
	PrivateIPs         []string `rpc:"PrivateIpSet>PrivateIpAddress"`
}

func assignPrivateIPAddresses(tx *state.Tx, req *assignPrivateIPAddressesRequest) (*assignPrivateIPAddressesResponse, error) {
	wanted := append(slices.Clone(req.PrivateIPAddresses), make([]string, req.Count)...)
	if len(wanted) == 0 {
		return nil, errParameterMissing.Of("PrivateIpAddress")
	}
	resp := &assignPrivateIPAddressesResponse{assignedAddresses{NetworkInterfaceID: req.NetworkInterfaceID}}
	_, err := state.Once(tx, "AssignPrivateIpAddresses", req.ClientToken, req, kinds.NetworkInterfaces, func() (string, error) {
		return req.NetworkInterfaceID, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
			sw, err := kinds.VSwitches.Get(tx.View, n.VSwitchID)
			if err != nil {
				return err
			}
			before := len(n.PrivateIPAddresses)
			err = assign(tx, n, sw, wanted)
			resp.Assigned.PrivateIPs = slices.Clone(n.PrivateIPAddresses[before:])
			return err
		})
	})
	return resp, err
}

type unassignPrivateIPAddressesRequest struct {
	RegionID           string   `rpc:"RegionId,required"`
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId,required"`
	PrivateIPAddresses []string `rpc:"PrivateIpAddress,max=50"`
}

func unassignPrivateIPAddresses(tx *state.Tx, req *unassignPrivateIPAddressesRequest) (*gateway.Empty, error) {
	if len(req.PrivateIPAddresses) == 0 {
		return nil, errParameterMissing.Of("PrivateIpAddress")
	}
	return &gateway.Empty{}, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
		for _, ip := range req.PrivateIPAddresses {
			switch slices.Index(n.PrivateIPAddresses, ip) {
			case -1:
				return errAddressNotAssigned.Of(ip)
			case 0:
				return errPrimaryAddress.Of(ip)
			}
			kinds.Addresses.Delete(tx, kinds.AddressID(n.VSwitchID, ip))
			freeEIP(tx, n.ID, ip)
		}
		n.PrivateIPAddresses = slices.DeleteFunc(slices.Clone(n.PrivateIPAddresses), func(ip string) bool { return slices.Contains(req.PrivateIPAddresses, ip) })
		return nil
	})
}

// freeEIP takes an EIP off an address that its interface loses.
func freeEIP(tx *state.Tx, interfaceID, ip string) {
	for eip := range kinds.EIPsByInstance.List(tx.View, interfaceID) {
		if eip.PrivateIPAddress == ip {
			freed := *eip
			freed.Free()
			kinds.EIPs.Put(tx, &freed)
		}
	}
}
