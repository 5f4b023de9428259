// Package products lists the APIs of the emulated cloud, for those who serve them or walk
// their tables of actions. They are in emulator/internal/products. It knows no store.
package products

import (
	_ "embed"
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
)

// What a Product declares.
type (
	// Product is one API of the emulated cloud.
	Product = gateway.Product
	// Action is an action of a product.
	Action = gateway.Action
	// Parameter is a parameter that an action reads.
	Parameter = gateway.Parameter
	// Deps holds what a product gets from its cloud.
	Deps = gateway.Deps
)

// apis are the APIs of the emulated cloud.
var apis = []func(Deps) *Product{
	clb.Product,
	vpc.Product,
	ecs.Product,
	nlb.Product,
	sts.Product,
	resourcemanager.Product,
	cas.Product,
	quotas.Product,
}

// With lists the products with what they get from their cloud, and more behind them.
func With(deps Deps, more ...func(Deps) *Product) (list []*Product) {
	for _, product := range apis {
		list = append(list, product(deps))
	}
	for _, product := range more {
		list = append(list, product(deps))
	}
	return list
}

// All lists the products.
func All() []*Product { return With(Deps{}) }

// versions maps products to their versions. It is computed once, since building the
// products for each call would cost too much.
var versions = sync.OnceValue(func() map[string]string {
	list := make(map[string]string)
	for _, p := range All() {
		list[p.Name] = p.Version
	}
	return list
})

// Version returns the version that chooses a product in calls, such as Slb's, or "" if no product
// has the name.
func Version(product string) string { return versions()[product] }

// elsewhereText names the other products of the cloud, a version and a name a line:
// CLB-0021.
//
//go:embed elsewhere.txt
var elsewhereText string

// Elsewhere maps the versions of the cloud's products that are not emulated to their names.
var Elsewhere = sync.OnceValue(func() map[string]string {
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
