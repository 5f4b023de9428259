package emulator

import (
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/clb"
	"github.com/clbemu/clbemu/emulator/ecs"
	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/emulator/vpc"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// Products lists the APIs of the emulated cloud.
func Products() []*rpc.Product {
	return []*rpc.Product{clb.Product(), vpc.Product(), ecs.Product()}
}

// productsWith lists the APIs when network interfaces of some addresses are made
// as they are looked up.
func productsWith(autoENI []netip.Prefix) []*rpc.Product {
	if len(autoENI) == 0 {
		return Products()
	}
	return []*rpc.Product{clb.Product(), vpc.Product(), ecs.ProductWithAutoENI(func(tx *state.Tx, vpcID, ip string) error {
		addr, err := netip.ParseAddr(ip)
		if err != nil || !slices.ContainsFunc(autoENI, func(block netip.Prefix) bool { return block.Contains(addr) }) {
			return nil
		}
		return world.AddNetworkInterface(tx, vpcID, ip)
	})}
}
