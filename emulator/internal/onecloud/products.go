package onecloud

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/products/cas"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb"
	"github.com/clbemu/clbemu/emulator/internal/products/quotas"
	"github.com/clbemu/clbemu/emulator/internal/products/resourcemanager"
	"github.com/clbemu/clbemu/emulator/internal/products/sts"
	"github.com/clbemu/clbemu/emulator/internal/products/vpc"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// apis are the APIs of the emulated cloud.
var apis = []func(gateway.Deps) *gateway.Product{
	clb.Product,
	vpc.Product,
	ecs.Product,
	nlb.Product,
	sts.Product,
	resourcemanager.Product,
	cas.Product,
	quotas.Product,
}

// elsewhereText names the other products of the cloud, a version and a name a line:
// CLB-0021.
//
//go:embed elsewhere.txt
var elsewhereText string

// elsewhere are the products of the cloud that are not emulated, by version.
var elsewhere = sync.OnceValue(func() map[string]string {
	products := make(map[string]string)
	for line := range strings.Lines(elsewhereText) {
		version, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if other, shared := products[version]; shared {
			name = other + " or " + name
		}
		products[version] = name
	}
	return products
})

// Serves lists the products of a cloud of the configuration.
func (cfg *Config) Serves() []*gateway.Product {
	if cfg.Products != nil {
		return cfg.Products
	}
	deps := gateway.Deps{Health: topology.Attached{}}
	if len(cfg.AutoENI) > 0 {
		deps.MakeNetworkInterface = resources.PodBlocks(cfg.AutoENI).MakeNetworkInterface
	}
	var list []*gateway.Product
	for _, product := range slices.Concat(apis, cfg.More) {
		list = append(list, product(deps))
	}
	return list
}

// Products lists the APIs of the emulated cloud.
func Products() []*gateway.Product { return (&Config{}).Serves() }
