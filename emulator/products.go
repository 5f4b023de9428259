package emulator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/onecloud"
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

// Products lists the APIs of the emulated cloud.
func Products() []*gateway.Product { return onecloud.Products() }

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

// versions maps products to their versions. New computes it once, since building the
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
