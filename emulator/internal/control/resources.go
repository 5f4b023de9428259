package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/state"
)

// view returns what a call about resources sees: everything, or the account or region that it
// names.
func (a *api) view(of routes.OfOwner) (*state.View, error) {
	v, scope := a.Store.View(state.Owner{}), state.Owner(of)
	if scope != (state.Owner{}) {
		if _, err := resources.Owner(v, scope); err != nil {
			return nil, err
		}
	}
	return v.In(scope), nil
}

// wanted returns the resources that a query selects.
func wanted(of routes.OfResources) inventory.Wanted {
	return inventory.Wanted{Kind: of.Kind, Name: of.Name}
}

func (a *api) inventory() inventory.Inventory {
	return inventory.Inventory{Packets: a.Packets, Products: a.Products}
}

func (a *api) getResourceKinds(*http.Request) (controlapi.ResourceKinds, error) {
	return controlapi.ResourceKinds{Kinds: inventory.Kinds()}, nil
}

func (a *api) eachResource(of routes.OfResources, add func(controlapi.Resource)) error {
	v, err := a.view(of.OfOwner)
	if err != nil {
		return err
	}
	return a.inventory().Each(v, wanted(of), add)
}

func (a *api) getResources(_ *http.Request, of routes.OfResources) (found controlapi.Resources, err error) {
	v, err := a.view(of.OfOwner)
	if err != nil {
		return found, err
	}
	found, err = a.inventory().List(v, wanted(of))
	found.Warnings = a.warnings()
	return found, err
}

func (a *api) getLoadBalancer(r *http.Request, of routes.OfOwner) (tree controlapi.LoadBalancerTree, err error) {
	v, err := a.view(of)
	if err != nil {
		return tree, err
	}
	if tree, err = a.inventory().Tree(v, mux.Vars(r)["name"]); err == nil {
		tree.Faults = append(tree.Faults, a.faultsOf(v, &tree.LoadBalancer)...)
	}
	return tree, err
}

// faultsOf returns the rules that may strike calls about a load balancer.
func (a *api) faultsOf(v *state.View, lb *controlapi.Resource) (list []controlapi.FaultRule) {
	var actions []string
	kind, about := state.Kind(""), "params.LoadBalancerId"
	for _, p := range a.Products {
		if p.Name != lb.Product {
			continue
		}
		for _, action := range p.Actions {
			actions = append(actions, action.Name)
		}
		for _, r := range p.Resources {
			if "params."+r.Parameter == about {
				kind = r.Kind
			}
		}
	}
	known := func(field string) (string, bool) {
		if rest, ok := strings.CutPrefix(field, "resource."); ok && kind != "" {
			return state.Field(v, kind, lb.ID, rest)
		}
		switch field {
		case about:
			return lb.ID, true
		case "region":
			return lb.Region, true
		case "loadBalancer":
			return lb.ID, true
		}
		return "", false
	}
	for _, s := range a.Faults.Injector.Rules() {
		if !s.Rule.Disabled && s.Rule.Match.MayConcern(actions, known) {
			list = append(list, ruleOf(s))
		}
	}
	return list
}

// watchResources sends the resources, and then what changes of them, as server-sent
// events.
func (a *api) watchResources(w http.ResponseWriter, r *http.Request) {
	of, err := routes.WatchResources.ReadQuery(r)
	if err == nil {
		_, err = a.view(of.OfOwner)
	}
	if err == nil {
		err = a.inventory().Check(wanted(of))
	}
	if err != nil {
		failed(w, err)
		return
	}
	s := newStream(w)
	sent := sentResources{by: make(map[resourceKey]sentResource)}
	for synced := range a.looks(r.Context()) {
		err := sent.send(s, func(add func(controlapi.Resource)) error { return a.eachResource(of, add) })
		if err == nil && !synced {
			err = s.send("resource", 0, controlapi.ResourceChange{Change: controlapi.ResourcesSynced})
		}
		if err != nil || s.Flush() != nil {
			return
		}
	}
}

// While the state changes, looks lie so far apart that a large state costs little.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
	pauseShare    = 20 // times what the look took
)

// looks yields at first, and then whenever the state has changed, until ctx ends. It
// reports whether it yielded before.
func (a *api) looks(ctx context.Context) iter.Seq[bool] {
	return func(yield func(again bool) bool) {
		again, seen := false, state.Revision(0)
		for ctx.Err() == nil {
			for e, err := range a.Store.Watch(ctx, 0) {
				if err != nil {
					break // the next watch has a snapshot
				}
				if !e.Snapshot && e.Revision <= seen {
					continue
				}
				seen = a.Store.Revision()
				began := time.Now()
				if !yield(again) {
					return
				}
				again = true
				select {
				case <-time.After(min(max(shortestPause, pauseShare*time.Since(began)), longestPause)):
				case <-ctx.Done():
				}
			}
		}
	}
}

// sentResources are the resources that a stream sent. It keeps little of each, since a
// state may have many: enough to see that one changed, and to say that it is gone.
type sentResources struct {
	by    map[resourceKey]sentResource
	round uint
}

type resourceKey struct{ kind, id string }

type sentResource struct {
	sum          uint64
	loadBalancer string
	round        uint // the last in which it existed
}

var sumSeed = maphash.MakeSeed()

// send sends how resources differ from those that were sent, which they become.
func (sent *sentResources) send(s stream, each func(add func(controlapi.Resource)) error) (err error) {
	sent.round++
	failed := each(func(r controlapi.Resource) {
		if err == nil {
			err = sent.one(s, &r)
		}
	})
	if err != nil || failed != nil && !errors.As(failed, new(*inventory.Unknown)) {
		return cmp.Or(err, failed)
	}
	for key, r := range sent.by {
		if r.round == sent.round {
			continue
		}
		delete(sent.by, key)
		gone := controlapi.Resource{Kind: key.kind, ID: key.id, LoadBalancer: r.loadBalancer}
		if err := s.send("resource", 0, controlapi.ResourceChange{Change: controlapi.ResourceDeleted, Resource: &gone}); err != nil {
			return err
		}
	}
	return nil
}

// one sends a resource if it is new or changed.
func (sent *sentResources) one(s stream, r *controlapi.Resource) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	key := resourceKey{r.Kind, r.ID}
	old, known := sent.by[key]
	now := sentResource{maphash.Bytes(sumSeed, text), r.LoadBalancer, sent.round}
	sent.by[key] = now
	change := controlapi.ResourceAdded
	if known {
		change = controlapi.ResourceChanged
	}
	if known && old.sum == now.sum {
		return nil
	}
	return s.send("resource", 0, encodedChange{change, text})
}

// encodedChange is a controlapi.ResourceChange whose resource is encoded already.
type encodedChange struct {
	Change   string          `json:"change"`
	Resource json.RawMessage `json:"resource"`
}
