package emulator

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
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
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// What a Product declares, for those who walk the tables of actions.
type (
	// Product is one API of the emulated cloud.
	Product = gateway.Product
	// Action is an action of a product.
	Action = gateway.Action
	// Parameter is a parameter that an action reads.
	Parameter = gateway.Parameter
	// Deps holds what a product gets from the emulator.
	Deps = gateway.Deps
)

// NotEmulatedCode is the code with which the emulator refuses what it does not emulate.
const NotEmulatedCode = gateway.NotEmulatedCode

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

// Products lists the APIs of the emulated cloud.
func Products() []*gateway.Product { return productsOf(apis, gateway.Deps{}) }

// Names returns the names of the emulated cloud that users write: actions, parameters,
// refusals, conditions, quotas.
func Names() *names.Names { return names.Of(cloud.Schema, Products()) }

// NamesIn returns them with the ids of what a world has.
func NamesIn(w *world.World) *names.Names {
	return Names().In(sync.OnceValues(func() (things names.Things, err error) {
		store, err := state.Open(context.Background(), state.Config{Schema: cloud.Schema, Engine: &memory.Engine{}, Clock: state.NewManualClock(time.Unix(0, 0)), Seed: 1})
		if err != nil {
			return nil, err
		}
		if err := store.Update(state.Owner{}, w.Plant); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		err = store.View(state.Owner{}, func(v *state.View) error {
			things = names.ThingsOf(v)
			return nil
		})
		return things, errors.Join(err, store.Close())
	}))
}

// versions maps products to their versions. It is computed once, since building the
// products for each call would cost too much.
var versions = sync.OnceValue(func() map[string]string {
	list := make(map[string]string)
	for _, p := range Products() {
		list[p.Name] = p.Version
	}
	return list
})

// Version returns the version that chooses a product in calls, such as Slb's; ""
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
		deps.MakeNetworkInterface = resources.PodBlocks(cfg.AutoENI).MakeNetworkInterface
	}
	return productsOf(slices.Concat(apis, cfg.Products), deps)
}
