package ecs

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errVSwitchWithoutIPv6 = refusals.New("VSwitchWithoutIPv6", 400, "InvalidVSwitch.Ipv6NotTurnOn",
		"IPv6 is not enabled for the vSwitch %s.", "CLB-0532")
	errTooManyIPv6Addresses = refusals.New("TooManyIPv6Addresses", 403, "InvalidOperation.Ipv6CountExceeded",
		"The network interface %s has as many IPv6 addresses as its instance type takes.", "CLB-0532")
	errIPv6NotAssigned = refusals.New("IPv6NotAssigned", 403, "InvalidIp.IpUnassigned",
		"The IPv6 address %s is not assigned to the network interface.", "CLB-0532")
)

// assignIPv6 gives an interface the requested IPv6 addresses.
func assignIPv6(tx *state.Tx, n *kinds.NetworkInterface, sw *kinds.VSwitch, asked ipv6Request) error {
	wanted := slices.Concat(asked.IPv6Addresses, make([]string, asked.IPv6Count))
	switch each := addressesOf(tx.View, n); {
	case len(wanted) == 0:
		return nil
	case sw.IPv6CIDRBlock == "":
		return errVSwitchWithoutIPv6.Of(sw.ID)
	case each > 0 && len(n.IPv6Addresses)+len(wanted) > each:
		return errTooManyIPv6Addresses.Of(n.ID)
	}
	for _, ip := range wanted {
		if err := kinds.TakeIPv6(tx, n, sw, ip); err != nil {
			return err
		}
	}
	return nil
}

type assignIPv6AddressesRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	NetworkInterfaceID string `rpc:"NetworkInterfaceId,required"`
	ipv6Request
	ClientToken string `rpc:"ClientToken"`
}

type assignIPv6AddressesResponse struct {
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId"`
	IPv6Addresses      []string `rpc:"Ipv6Sets>Ipv6Address"`
	IPv6Prefixes       []string `rpc:"Ipv6PrefixSets>Ipv6Prefix"`
}

// assignIPv6Addresses answers the addresses that it added, and with the token of an
// earlier call those that the interface has.
func assignIPv6Addresses(tx *state.Tx, req *assignIPv6AddressesRequest) (*assignIPv6AddressesResponse, error) {
	if len(req.IPv6Addresses) == 0 && req.IPv6Count == 0 {
		return nil, errParameterMissing.Of("Ipv6AddressCount")
	}
	before := 0
	n, err := state.OnceMade(tx, "AssignIpv6Addresses", req.ClientToken, req, kinds.NetworkInterfaces, func() (string, error) {
		return req.NetworkInterfaceID, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
			sw, err := kinds.VSwitches.Get(tx.View, n.VSwitchID)
			if err != nil {
				return err
			}
			before = len(n.IPv6Addresses)
			return assignIPv6(tx, n, sw, req.ipv6Request)
		})
	})
	if err != nil {
		return nil, err
	}
	return &assignIPv6AddressesResponse{NetworkInterfaceID: n.ID, IPv6Addresses: slices.Clone(n.IPv6Addresses[before:])}, nil
}

type unassignIPv6AddressesRequest struct {
	RegionID           string   `rpc:"RegionId,required"`
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId,required"`
	IPv6Addresses      []string `rpc:"Ipv6Address,max=10"`
}

func unassignIPv6Addresses(tx *state.Tx, req *unassignIPv6AddressesRequest) (*gateway.Empty, error) {
	if len(req.IPv6Addresses) == 0 {
		return nil, errParameterMissing.Of("Ipv6Address")
	}
	return &gateway.Empty{}, kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
		for _, ip := range req.IPv6Addresses {
			if !slices.Contains(n.IPv6Addresses, ip) {
				return errIPv6NotAssigned.Of(ip)
			}
		}
		n.IPv6Addresses = slices.DeleteFunc(slices.Clone(n.IPv6Addresses), func(ip string) bool { return slices.Contains(req.IPv6Addresses, ip) })
		return nil
	})
}

type describeNetworkInterfaceAttributeRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	NetworkInterfaceID string `rpc:"NetworkInterfaceId,required"`
}

type describeNetworkInterfaceAttributeResponse struct{ networkInterfaceView }

// describeNetworkInterfaceAttribute shows all of an interface, whichever attribute the
// call asks for.
func describeNetworkInterfaceAttribute(v *state.View, req *describeNetworkInterfaceAttributeRequest) (*describeNetworkInterfaceAttributeResponse, error) {
	n, err := kinds.NetworkInterfaces.Get(v, req.NetworkInterfaceID)
	if err != nil {
		return nil, err
	}
	return &describeNetworkInterfaceAttributeResponse{viewNetworkInterface(v, n)}, nil
}
