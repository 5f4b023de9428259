package control

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/state"
)

// settleTimeout limits how long an answer about traffic waits until listeners have
// applied the last change.
const settleTimeout = 2 * time.Second

// getTraffic answers with the traffic of listeners. A name is one of load balancers or
// listeners, as for resources.
func (a *api) getTraffic(r *http.Request, of routes.OfTraffic) (controlapi.Traffic, error) {
	answered := controlapi.Traffic{Listeners: []controlapi.ListenerTraffic{}}
	if a.Packets == nil {
		return answered, errors.New("load balancers answer no packets here: start clbemu serve with --data-plane ports or addresses")
	}
	settled, cancel := context.WithTimeout(r.Context(), settleTimeout)
	defer cancel()
	if err := a.Packets.Settled(settled); err != nil && r.Context().Err() == nil {
		a.Log.Warn().Err(err).Msg("the data plane lags behind the state")
	}
	wanted, err := a.listenersNamed(of.Name)
	if err != nil {
		return answered, err
	}
	for _, l := range a.Packets.Traffic() {
		if wanted == nil || wanted[l.Listener] {
			answered.Listeners = append(answered.Listeners, l)
		}
	}
	return answered, nil
}

// listenersNamed returns the listeners with the name, and those of load balancers with it, or nil
// for all.
func (a *api) listenersNamed(name string) (ids map[string]bool, err error) {
	if name == "" {
		return nil, nil
	}
	ids = make(map[string]bool)
	v, known, names := a.Store.View(state.Owner{}), a.inventory(), []string{name}
	err = known.Each(v, inventory.Wanted{Kind: "lb", Name: name}, func(lb controlapi.Resource) { names = append(names, lb.ID) })
	if unknown := (*inventory.Unknown)(nil); err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	listeners := inventory.Wanted{Kind: "listener", Name: strings.Join(names, ",")}
	missing := known.Each(v, listeners, func(l controlapi.Resource) { ids[l.ID] = true })
	if len(names) > 1 {
		return ids, nil // a load balancer may have none
	}
	return ids, missing
}
