package stage

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
)

// API knows what this emulator can be asked. It implements scenarios.API.
type API struct {
	scratch *emulator.Emulator
}

// NewAPI returns an API, with an emulator of its own to try rules on.
func NewAPI(ctx context.Context) (*API, error) {
	scratch, err := emulator.New(ctx, emulator.Config{Engine: emulator.Memory})
	if err != nil {
		return nil, err
	}
	return &API{scratch}, nil
}

// Close ends the emulator.
func (a *API) Close(ctx context.Context) error { return a.scratch.Close(ctx) }

// CheckFault implements scenarios.API.
func (a *API) CheckFault(rule faults.Rule) error {
	if err := a.scratch.Faults().Add([]faults.Rule{rule}); err != nil {
		return err
	}
	return a.scratch.Faults().Delete(rule.Name)
}

// index finds the number of an element of a list, such as Tag.2.Key.
var index = regexp.MustCompile(`\.[1-9][0-9]*(\.|$)`)

// CheckCall implements scenarios.API.
func (a *API) CheckCall(product, action string, params, paths []string) error {
	known, err := find(product, action)
	if err != nil {
		return err
	}
	names := []string{"RegionId"}
	for _, p := range known.Parameters() {
		names = append(names, p.Name)
	}
	for _, param := range params {
		if !slices.Contains(names, param) && !slices.Contains(names, index.ReplaceAllString(param, ".N$1")) {
			return fmt.Errorf("params.%s: %s has no such parameter%s", param, action, didYouMean(param, names))
		}
	}
	return checkPaths(known, paths)
}

// element is the number of an element in a path: .0 of LoadBalancer.0.Address.
var element = regexp.MustCompile(`\.[0-9]+(\.|$)`)

// checkPaths wants paths that lead to something that the action can answer. What
// an error answers is no field of an action.
func checkPaths(action rpc.Action, paths []string) error {
	known := []string{"RequestId", "HostId", "Code", "Message", "Recommend"}
	for _, field := range action.ResponseFields() {
		known = append(known, strings.ReplaceAll(field, "[]", ""))
	}
	for _, path := range paths {
		if strings.Contains(path, "{{") {
			continue
		}
		plain := element.ReplaceAllString(path, "$1")
		if !slices.ContainsFunc(known, func(field string) bool { return field == plain || strings.HasPrefix(field, plain+".") }) {
			return fmt.Errorf("%s: %s answers no such field%s", path, action.Name, didYouMean(plain, known))
		}
	}
	return nil
}

func find(product, action string) (rpc.Action, error) {
	var names []string
	for _, p := range emulator.Products() {
		if p.Name != product {
			continue
		}
		for _, a := range p.Actions {
			if a.Name == action && a.Emulated {
				return a, nil
			}
			names = append(names, a.Name)
		}
	}
	return rpc.Action{}, fmt.Errorf("action: no emulated action of %s is called %s%s", product, action, didYouMean(action, names))
}

func didYouMean(name string, names []string) string {
	if near := faults.Nearest(name, names); near != "" && near != name {
		return ": do you mean " + near + "?"
	}
	return ": clbemu actions lists what is emulated"
}

// CheckCondition implements scenarios.API.
func (a *API) CheckCondition(name string) error {
	var names []string
	for _, d := range world.Documentation() {
		before, rest, _ := strings.Cut(d.Name, "<")
		_, after, variable := strings.Cut(rest, ">")
		if name == d.Name || variable && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			return nil
		}
		names = append(names, d.Name)
	}
	if near := faults.Nearest(name, names); near != "" {
		return fmt.Errorf("there is no such condition: do you mean %s?", near)
	}
	return fmt.Errorf("there is no such condition: clbemu world set --help lists them")
}
