package ecs

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// ProductWithAutoENI is the product for clusters whose pods nobody imports: a
// lookup of network interfaces by address in a VPC first lets add make those that
// are missing, and so it may change the state, as the cloud's does not.
func ProductWithAutoENI(add func(tx *state.Tx, vpcID, ip string) error) *rpc.Product {
	p := Product()
	row := slices.IndexFunc(p.Actions, func(a rpc.Action) bool { return a.Name == "DescribeNetworkInterfaces" })
	p.Actions[row] = rpc.Write("DescribeNetworkInterfaces",
		func(tx *state.Tx, req *describeNetworkInterfacesRequest) (*describeNetworkInterfacesResponse, error) {
			for _, ip := range req.PrivateIPAddresses {
				if _, known := cloud.NetworkInterfacesByAddress.First(tx.View, req.VPCID, ip); known {
					continue
				}
				if err := add(tx, req.VPCID, ip); err != nil {
					return nil, err
				}
			}
			return describeNetworkInterfaces(tx.View, req)
		})
	return p
}
