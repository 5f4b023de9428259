package vpc_test

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// What the default world has.
const (
	vpcID        = "vpc-bp1clbemu000000000001"
	otherVPCID   = "vpc-bp1clbemu000000000002"
	vSwitchID    = "vsw-bp1clbemu000000000001"
	routeTableID = "vtb-bp1clbemu000000000001"
	instanceID   = "i-bp1clbemu0000000001"
	otherID      = "i-bp1clbemu0000000004"
	eniID        = "eni-bp1clbemu000000001"
	accountID    = "1234567890123456"
	region       = "cn-hangzhou"
)

var owner = state.Owner{AccountID: accountID, RegionID: region}

// plantWorld plants the default world with what the API can't make: an EIP, two
// load balancers, an interface with two addresses, and a VPC with IPv6.
func plantWorld(tx *state.Tx) error {
	if err := world.Default().Plant(tx); err != nil {
		return err
	}
	tx = tx.In(owner)
	for _, plant := range []func(*state.Tx) error{plantEIP("eip-free", chargePostPaid), plantEIP("eip-prepaid", "PrePaid"), plantLoadBalancers, plantInterface, plantIPv6} {
		if err := plant(tx); err != nil {
			return err
		}
	}
	return nil
}

const chargePostPaid = "PostPaid"

func plantEIP(id, chargeType string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		ip, err := kinds.AllocateAddress(tx, kinds.PublicPool(region), "198.18.0.0/16", "", kinds.EIPs.Kind(), id)
		if err != nil {
			return err
		}
		kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: id, IPAddress: ip, Status: kinds.EIPAvailable, Bandwidth: "5", ISP: "BGP",
			ChargeType: chargeType, InternetChargeType: "PayByTraffic", ResourceGroupID: "rg-clbemu0default", CreateTime: tx.Now()})
		return nil
	}
}

func plantLoadBalancers(tx *state.Tx) error {
	for _, lb := range []*kinds.LoadBalancer{
		{Owner: owner, ID: "lb-intranet", AddressType: kinds.AddressTypeIntranet, VPCID: vpcID, VSwitchID: vSwitchID},
		{Owner: owner, ID: "lb-internet", AddressType: kinds.AddressTypeInternet},
	} {
		pool, block := kinds.PublicPool(region), "198.18.0.0/16"
		if lb.VSwitchID != "" {
			pool, block = vSwitchID, "192.168.0.0/24"
		}
		ip, err := kinds.AllocateAddress(tx, pool, block, "", kinds.LoadBalancers.Kind(), lb.ID)
		if err != nil {
			return err
		}
		lb.Address = ip
		kinds.LoadBalancers.Put(tx, lb)
	}
	return nil
}

func plantInterface(tx *state.Tx) error {
	n := &kinds.NetworkInterface{Owner: owner, ID: "eni-pods", Type: kinds.NetworkInterfaceSecondary, Status: kinds.NetworkInterfaceInUse,
		InstanceID: instanceID, VPCID: vpcID, VSwitchID: vSwitchID, PrivateIPAddresses: []string{"192.168.0.100", "192.168.0.101"}}
	for _, ip := range n.PrivateIPAddresses {
		if _, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", ip, kinds.NetworkInterfaces.Kind(), n.ID); err != nil {
			return err
		}
	}
	kinds.NetworkInterfaces.Put(tx, n)
	return nil
}

// plantIPv6 gives the second VPC, but nothing in it, IPv6.
func plantIPv6(tx *state.Tx) error {
	return kinds.VPCs.Edit(tx, otherVPCID, func(v *kinds.VPC) error {
		v.IPv6CIDRBlock = "2001:db8:8000::/56"
		return nil
	})
}

func inOwner(changes ...func(*state.Tx) error) func(*state.Tx) error {
	return func(tx *state.Tx) error { return gatewaytest.All(changes...)(tx.In(owner)) }
}

var both = inOwner

func customTable(tx *state.Tx) error {
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-custom", VPCID: otherVPCID, Type: kinds.RouteTableCustom})
	return nil
}

func customEntry(table, destination, nextHop string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		t, err := kinds.RouteTables.Get(tx.View, table)
		if err != nil {
			return err
		}
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: owner, ID: tx.NewID(kinds.RouteEntries.Kind()), RouteTableID: table, VPCID: t.VPCID,
			DestinationCIDRBlock: destination, Type: kinds.RouteTableCustom, Status: "Available", NextHopType: "Instance", NextHopID: nextHop})
		return nil
	})
}

// transitEntry plants an entry of the first VPC that is Pending or Deleting.
func transitEntry(destination, status string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: owner, ID: tx.NewID(kinds.RouteEntries.Kind()), RouteTableID: routeTableID, VPCID: vpcID,
			DestinationCIDRBlock: destination, Type: kinds.RouteTableCustom, Status: status, NextHopType: "Instance", NextHopID: instanceID})
		return nil
	})
}

// times plants n things.
func times(n int, plant func(i int) func(*state.Tx) error) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		for i := range n {
			if err := plant(i)(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// emptyVPC plants a VPC with its system route table and nothing else.
func emptyVPC(tx *state.Tx) error {
	kinds.VPCs.Put(tx, &kinds.VPC{Owner: owner, ID: "vpc-empty", CIDRBlock: "172.16.0.0/12", VRouterID: "vrt-empty"})
	kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-empty", VPCID: "vpc-empty", Type: kinds.RouteTableSystem})
	return nil
}

func takePublic(ip string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		if _, err := kinds.AllocateAddress(tx, kinds.PublicPool(region), "198.18.0.0/16", ip, kinds.EIPs.Kind(), "eip-taker"); err != nil {
			return err
		}
		kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: "eip-taker", IPAddress: ip, Status: kinds.EIPAvailable})
		return nil
	})
}

func useEIP(kind, id string) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		return kinds.EIPs.Edit(tx, "eip-free", func(e *kinds.EIP) error {
			e.Status, e.InstanceType, e.InstanceID = kinds.EIPInUse, kind, id
			return nil
		})
	})
}

// transitEIP puts an EIP on the way to or from an instance.
func transitEIP(status kinds.EIPStatus) func(*state.Tx) error {
	return both(useEIP("EcsInstance", instanceID), func(tx *state.Tx) error {
		return kinds.EIPs.Edit(tx, "eip-free", func(e *kinds.EIP) error {
			e.Status = status
			return nil
		})
	})
}
