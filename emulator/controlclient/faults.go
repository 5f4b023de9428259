package controlclient

import (
	"bytes"
	"context"
	"net/url"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/routes"
)

// faults makes a call about fault rules; the answer to each lists all rules.
func (c *Client) faults(ctx context.Context, what call) (controlapi.FaultRules, error) {
	var got controlapi.FaultRules
	err := c.do(ctx, what, into(&got))
	return got, err
}

// Faults lists the fault rules.
func (c *Client) Faults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: routes.GetFaults.Route})
}

// AddFaults adds rules in YAML, all of them or none. A refusal calls the text by the
// name of its file.
func (c *Client) AddFaults(ctx context.Context, file string, rules []byte) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: routes.AddFaults.Route, query: url.Values{"file": {file}}, body: bytes.NewReader(rules)})
}

// DeleteFault removes a rule.
func (c *Client) DeleteFault(ctx context.Context, name string) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: routes.DeleteFault.Route, path: routes.DeleteFault.For(name)})
}

// DeleteFaults removes all rules.
func (c *Client) DeleteFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: routes.DeleteFaults.Route})
}

// ResetFaults sets the counters of all rules to nothing and their times to now.
func (c *Client) ResetFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: routes.ResetFaults.Route})
}
