package emulator

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// NotEmulatedCode is the code with which the emulator refuses what it does not emulate.
const NotEmulatedCode = gateway.NotEmulatedCode

// Names returns the names of the emulated cloud that users write: actions, parameters,
// refusals, conditions, quotas.
func Names() *names.Names { return names.Of(kinds.Schema, products.All()) }

// NamesIn returns them with the ids of what a world has.
func NamesIn(w *world.World) *names.Names {
	return Names().In(sync.OnceValues(func() (things names.Things, err error) {
		store, err := state.Open(context.Background(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Clock: state.NewManualClock(time.Unix(0, 0)), Seed: 1})
		if err != nil {
			return nil, err
		}
		if err := store.Update(state.Owner{}, w.Plant); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		return names.ThingsOf(store.View(state.Owner{})), store.Close()
	}))
}

// Version returns the version that chooses a product in calls, such as Slb's, or "" if no product
// has the name.
func Version(product string) string { return products.Version(product) }
