package emulator

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/cas"
	"github.com/clbemu/clbemu/emulator/clb"
	"github.com/clbemu/clbemu/emulator/ecs"
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/nlb"
	"github.com/clbemu/clbemu/emulator/resourcemanager"
	"github.com/clbemu/clbemu/emulator/sts"
	"github.com/clbemu/clbemu/emulator/vpc"
	"github.com/clbemu/clbemu/emulator/world/autoeni"
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

// Products lists the APIs of the emulated cloud.
func Products() []*gateway.Product { return productsOf(apis, gateway.Deps{}) }

// versions are those of the products by name; building the products is no matter of
// each call.
var versions = sync.OnceValue(func() map[string]string {
	list := make(map[string]string)
	for _, p := range Products() {
		list[p.Name] = p.Version
	}
	return list
})

// Version returns the version that chooses a product in calls, such as that of Slb; ""
// if no product has the name.
func Version(product string) string { return versions()[product] }

func dnsApexes(products []*gateway.Product) (list []string) {
	for _, p := range products {
		if p.DNSApex != "" {
			list = append(list, p.DNSApex)
		}
	}
	return list
}

func productsOf(apis []func(gateway.Deps) *gateway.Product, deps gateway.Deps) []*gateway.Product {
	list := make([]*gateway.Product, len(apis))
	for i, product := range apis {
		list[i] = product(deps)
	}
	return list
}

// products lists what an emulator serves.
func (cfg *Config) products() []*gateway.Product {
	deps := gateway.Deps{Health: cfg.Health}
	if len(cfg.AutoENI) > 0 {
		deps.MakeNetworkInterface = autoeni.Blocks(cfg.AutoENI).MakeNetworkInterface
	}
	return productsOf(slices.Concat(apis, cfg.Products), deps)
}
