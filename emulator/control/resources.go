package control

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/world/resources"
	"github.com/clbemu/clbemu/state"
)

// seen runs fn on what a call about resources is to see: everything, or what is of the
// account or in the region that it names.
func (a *api) seen(where controlapi.Where, fn func(*state.View) error) error {
	return a.Store.View(state.Owner{}, func(v *state.View) error {
		scope := state.Owner{AccountID: where.AccountID, RegionID: where.RegionID}
		if scope != (state.Owner{}) {
			if _, err := resources.Owner(v, where); err != nil {
				return err
			}
		}
		return fn(v.In(scope))
	})
}

func (a *api) listResources(r *http.Request) (found controlapi.Resources, err error) {
	query := r.URL.Query()
	err = a.seen(where(r), func(v *state.View) error {
		found, err = inventory.List(v, inventory.Wanted{Kind: query.Get("kind"), Name: query.Get("name")})
		return err
	})
	return found, err
}

// failQuestion answers a question about what there is not.
func failQuestion(w http.ResponseWriter, err error) {
	status := http.StatusUnprocessableEntity
	if unknown := (*inventory.Unknown)(nil); errors.As(err, &unknown) {
		status = http.StatusNotFound
	}
	fail(w, status, err.Error())
}

func (a *api) getResources(w http.ResponseWriter, r *http.Request) {
	found, err := a.listResources(r)
	if err != nil {
		failQuestion(w, err)
		return
	}
	found.Warnings = a.warnings()
	answer(w, http.StatusOK, found)
}

func (a *api) getLoadBalancer(w http.ResponseWriter, r *http.Request) {
	var tree controlapi.LoadBalancerTree
	err := a.seen(where(r), func(v *state.View) (err error) {
		if tree, err = inventory.Tree(v, mux.Vars(r)["name"]); err == nil {
			tree.Faults = append(tree.Faults, a.faultsOf(v, &tree.LoadBalancer)...)
		}
		return err
	})
	if err != nil {
		failQuestion(w, err)
		return
	}
	answer(w, http.StatusOK, tree)
}

// faultsOf are the rules that may strike calls about a load balancer.
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
		}
		return "", false
	}
	for _, s := range a.Faults.Injector.Rules() {
		if s.Rule.Match.MayConcern(actions, known) {
			list = append(list, ruleOf(s))
		}
	}
	return list
}

// What becomes due by time is in no transaction, so who watches looks that often too;
// many transactions at once are one look.
const (
	lookAgain = time.Second
	lookPause = 50 * time.Millisecond
)

// watchResources sends what is there, and then what changes of it, as server-sent
// events.
func (a *api) watchResources(w http.ResponseWriter, r *http.Request) {
	found, err := a.listResources(r)
	if unknown := (*inventory.Unknown)(nil); err != nil && !errors.As(err, &unknown) { // it may come yet
		failQuestion(w, err)
		return
	}
	s := newStream(w)
	last := make(map[string]controlapi.Resource)
	if s.sendChanges(last, found.Resources) != nil || s.send("resource", 0, controlapi.ResourceChange{Change: controlapi.ResourcesSynced}) != nil || s.Flush() != nil {
		return
	}
	for range a.looks(r.Context()) {
		found, _ := a.listResources(r) // what can't be found is not there
		if s.sendChanges(last, found.Resources) != nil || s.Flush() != nil {
			return
		}
	}
}

// looks yields whenever something may be other than it was, until ctx ends or the
// journal, which ends with the emulator.
func (a *api) looks(ctx context.Context) <-chan struct{} {
	news, looks := make(chan struct{}, 1), make(chan struct{})
	go func() {
		for ctx.Err() == nil {
			for _, err := range a.Store.Watch(ctx, 0) {
				if err != nil {
					break // it begins anew
				}
				select {
				case news <- struct{}{}:
				default:
				}
			}
		}
	}()
	go func() {
		defer close(looks)
		again := time.NewTicker(lookAgain)
		defer again.Stop()
		for {
			select {
			case <-news:
			case <-again.C:
			case <-ctx.Done():
				return
			}
			select {
			case looks <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(lookPause):
			case <-ctx.Done():
				return
			}
		}
	}()
	return looks
}

// sendChanges sends how a list differs from the last one, which it becomes.
func (s stream) sendChanges(last map[string]controlapi.Resource, list []controlapi.Resource) error {
	there := make(map[string]bool, len(list))
	for _, r := range list {
		key := r.Kind + " " + r.ID
		there[key] = true
		old, known := last[key]
		change := controlapi.ResourceAdded
		if known {
			change = controlapi.ResourceChanged
		}
		if known && reflect.DeepEqual(old, r) {
			continue
		}
		last[key] = r
		if err := s.send("resource", 0, controlapi.ResourceChange{Change: change, Resource: &r}); err != nil {
			return err
		}
	}
	for key, r := range last {
		if there[key] {
			continue
		}
		delete(last, key)
		if err := s.send("resource", 0, controlapi.ResourceChange{Change: controlapi.ResourceDeleted, Resource: &r}); err != nil {
			return err
		}
	}
	return nil
}
