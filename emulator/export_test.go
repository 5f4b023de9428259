package emulator

import "github.com/clbemu/clbemu/emulator/products"

// WithProducts serves more products than the cloud has.
func WithProducts(cfg Config, more ...func(products.Deps) *products.Product) Config {
	cfg.more = more
	return cfg
}
