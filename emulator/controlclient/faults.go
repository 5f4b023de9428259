package controlclient

import (
	"bytes"
	"context"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// Faults lists the fault rules.
func (c *Client) Faults(ctx context.Context) (controlapi.FaultRules, error) {
	return ask(ctx, c, routes.GetFaults, call{})
}

// AddFaults adds rules in YAML, all of them or none. A refusal calls the text by the
// name of its file.
func (c *Client) AddFaults(ctx context.Context, file string, rules []byte) (controlapi.FaultRules, error) {
	return ask(ctx, c, routes.AddFaults, call{query: routes.AddFaults.Values(routes.OfRules{File: file}), body: bytes.NewReader(rules)})
}

// DeleteFault removes a rule.
func (c *Client) DeleteFault(ctx context.Context, name string) (controlapi.FaultRules, error) {
	return ask(ctx, c, routes.DeleteFault, call{name: name})
}

// DeleteFaults removes all rules.
func (c *Client) DeleteFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return ask(ctx, c, routes.DeleteFaults, call{})
}

// ResetFaults sets the counters of all rules to nothing and their times to now.
func (c *Client) ResetFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return ask(ctx, c, routes.ResetFaults, call{})
}
