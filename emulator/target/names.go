package target

import (
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Names holds the names of an emulator's products and state. They implement
// scenarios.Names.
type Names struct {
	*names.Names

	actions func() []scenarios.Action
}

var _ scenarios.Names = (*Names)(nil)

// NewNames returns the names as scenarios want them.
func NewNames(known *names.Names) *Names {
	n := &Names{Names: known}
	n.actions = sync.OnceValue(n.list)
	return n
}

// Actions implements scenarios.Names.
func (n *Names) Actions() []scenarios.Action { return n.actions() }

func (n *Names) list() []scenarios.Action {
	var all []scenarios.Action
	for _, a := range n.Names.Actions() {
		row := scenarios.Action{Product: a.Product, Name: a.Name, Emulated: a.Emulated, Writes: a.Mutates, Parameters: a.ParameterNames(),
			Fields: a.ResponseFields(), Codes: a.Codes(), Values: make(map[string][]string), Ranges: make(map[string]string)}
		for _, p := range a.Action.Parameters() {
			if p.Values != nil {
				row.Values[p.Name] = p.Values
			}
			if p.Required && p.Name != "RegionId" && !strings.Contains(p.Name, ".N") { // which the caller of calls fills in
				row.Required = append(row.Required, p.Name)
			}
			if p.Range != "" && strings.HasPrefix(p.Type, "int") {
				row.Ranges[p.Name] = p.Range
			}
		}
		for _, parameter := range row.Parameters {
			if journal.IsSecret(parameter) && !strings.Contains(parameter, "[]") {
				row.Secrets = append(row.Secrets, parameter)
			}
		}
		all = append(all, row)
	}
	return all
}
