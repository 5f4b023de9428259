package emulator

import (
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/clb"
	"github.com/clbemu/clbemu/emulator/ecs"
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/vpc"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// apis are the APIs of the emulated cloud.
var apis = []func(gateway.Deps) *gateway.Product{
	clb.Product,
	vpc.Product,
	ecs.Product,
}

// Products lists the APIs of the emulated cloud.
func Products() []*gateway.Product { return productsOf(apis, gateway.Deps{}) }

func productsOf(apis []func(gateway.Deps) *gateway.Product, deps gateway.Deps) []*gateway.Product {
	list := make([]*gateway.Product, len(apis))
	for i, product := range apis {
		list[i] = product(deps)
	}
	return list
}

// products lists what an emulator serves.
func (cfg *Config) products() []*gateway.Product {
	var deps gateway.Deps
	if len(cfg.AutoENI) > 0 {
		deps.MakeNetworkInterface = cfg.makeNetworkInterface
	}
	return productsOf(slices.Concat(apis, cfg.Products), deps)
}

// makeNetworkInterface makes those of pods.
func (cfg *Config) makeNetworkInterface(tx *state.Tx, vpcID, ip string) error {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !slices.ContainsFunc(cfg.AutoENI, func(block netip.Prefix) bool { return block.Contains(addr) }) {
		return nil
	}
	return world.AddNetworkInterface(tx, vpcID, ip)
}
