package controlclient

import (
	"bytes"
	"context"
	"net/url"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// faults makes a call about fault rules; the answer to each lists all rules.
func (c *Client) faults(ctx context.Context, what call) (controlapi.FaultRules, error) {
	var got controlapi.FaultRules
	err := c.do(ctx, what, into(&got))
	return got, err
}

// Faults lists the fault rules.
func (c *Client) Faults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: controlapi.GetFaults})
}

// AddFaults adds rules in YAML, all of them or none. A refusal calls the text by the
// name of its file.
func (c *Client) AddFaults(ctx context.Context, file string, rules []byte) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: controlapi.AddFaults, query: url.Values{"file": {file}}, body: bytes.NewReader(rules)})
}

// DeleteFault removes a rule.
func (c *Client) DeleteFault(ctx context.Context, name string) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: controlapi.DeleteFault, path: controlapi.DeleteFault.For(name)})
}

// DeleteFaults removes all rules.
func (c *Client) DeleteFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: controlapi.DeleteFaults})
}

// ResetFaults sets the counters of all rules to nothing and their times to now.
func (c *Client) ResetFaults(ctx context.Context) (controlapi.FaultRules, error) {
	return c.faults(ctx, call{route: controlapi.ResetFaults})
}
