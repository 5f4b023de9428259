package stage

import (
	"context"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state/cloud"
)

// Names are those of this emulator. They implement scenarios.Names.
type Names struct {
	*names.Names

	scratch *emulator.Emulator
	actions func() []scenarios.Action
}

// NewNames returns the names, with an emulator of its own to try rules on.
func NewNames(ctx context.Context) (*Names, error) {
	scratch, err := emulator.New(ctx, emulator.Config{Engine: emulator.Memory})
	if err != nil {
		return nil, err
	}
	n := &Names{Names: names.Of(cloud.Schema, emulator.Products()), scratch: scratch}
	n.actions = sync.OnceValue(n.list)
	return n, nil
}

// Close ends the emulator.
func (n *Names) Close(ctx context.Context) error { return n.scratch.Close(ctx) }

// Actions implements scenarios.Names.
func (n *Names) Actions() []scenarios.Action { return n.actions() }

func (n *Names) list() []scenarios.Action {
	var all []scenarios.Action
	for _, a := range n.Names.Actions() {
		row := scenarios.Action{Product: a.Product, Name: a.Name, Emulated: a.Emulated, Parameters: a.ParameterNames(),
			Fields: a.ResponseFields(), Codes: a.Codes()}
		for _, parameter := range row.Parameters {
			if journal.IsSecret(parameter) && !strings.Contains(parameter, "[]") {
				row.Secrets = append(row.Secrets, parameter)
			}
		}
		all = append(all, row)
	}
	return all
}

// Quotas implements scenarios.Names.
func (n *Names) Quotas() []string {
	var all []string
	for _, name := range cloud.Schema.QuotaNames() {
		all = append(all, string(name))
	}
	return all
}

// CheckFault implements scenarios.Names.
func (n *Names) CheckFault(rule faults.Rule) error {
	if err := n.scratch.Faults().Add([]faults.Rule{rule}); err != nil {
		return err
	}
	return n.scratch.Faults().Delete(rule.Name)
}
