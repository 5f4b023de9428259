package resources

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// group returns the resource group with the id, or the account's default for "".
func group(tx *state.Tx, owner state.Owner, id string) string {
	if id != "" {
		return id
	}
	a, _ := kinds.Accounts.Find(tx.View, owner.AccountID)
	return a.DefaultResourceGroupID
}

// AddVPC puts a VPC with its router. Its system route table is put for itself.
func AddVPC(tx *state.Tx, vpc *kinds.VPC) {
	vpc.VRouterID = cmp.Or(vpc.VRouterID, "vrt-"+strings.TrimPrefix(vpc.ID, "vpc-"))
	vpc.ResourceGroupID = group(tx, vpc.Owner, vpc.ResourceGroupID)
	vpc.CreateTime = tx.Now()
	kinds.VPCs.Put(tx, vpc)
}

// AddRouteTable puts a route table into a VPC, with the route that each has from the
// beginning.
func AddRouteTable(tx *state.Tx, vpc *kinds.VPC, t *kinds.RouteTable) {
	t.Owner, t.VPCID, t.VRouterID = vpc.Owner, vpc.ID, vpc.VRouterID
	t.ResourceGroupID = group(tx, t.Owner, t.ResourceGroupID)
	t.CreateTime = tx.Now()
	kinds.RouteTables.Put(tx, t)
	kinds.AddSystemRoute(tx, t, kinds.ServiceBlock)
}

// AddVSwitch puts a vSwitch into a VPC, with the VPC's own route table unless it names
// one, and with the routes that lead to it.
func AddVSwitch(tx *state.Tx, vpc *kinds.VPC, sw *kinds.VSwitch) {
	sw.Owner, sw.VPCID = vpc.Owner, vpc.ID
	sw.RouteTableID = cmp.Or(sw.RouteTableID, systemTable(tx, vpc))
	sw.ResourceGroupID = group(tx, sw.Owner, sw.ResourceGroupID)
	sw.CreateTime = tx.Now()
	kinds.VSwitches.Put(tx, sw)
	for t := range kinds.RouteTablesByVPC.List(tx.View, vpc.ID) {
		if sw.CIDRBlock != "" {
			kinds.AddSystemRoute(tx, t, sw.CIDRBlock)
		}
	}
}

func systemTable(tx *state.Tx, vpc *kinds.VPC) string {
	for t := range kinds.RouteTablesByVPC.List(tx.View, vpc.ID) {
		if t.Type == kinds.RouteTableSystem {
			return t.ID
		}
	}
	return ""
}

// Allocate takes an address out of a pool, any free one if ip is "". An empty block stands for an
// invalid one, which was reported: Allocate then does nothing.
func Allocate(tx *state.Tx, pool, block, ip string, holder state.Kind, id string) (string, error) {
	if block == "" {
		return "", nil
	}
	got, err := kinds.AllocateAddress(tx, pool, block, ip, holder, id)
	if err == nil {
		return got, nil
	}
	if a, taken := kinds.Addresses.Find(tx.View, kinds.AddressID(pool, ip)); taken {
		return "", fmt.Errorf("%s is taken by %s %s", ip, a.Holder, a.HolderID)
	}
	if ip == "" {
		return "", fmt.Errorf("%s (%s) has no free address left", pool, block)
	}
	return "", fmt.Errorf("%s is not a usable address of %s (%s): the first and the last three are reserved", ip, pool, block)
}
