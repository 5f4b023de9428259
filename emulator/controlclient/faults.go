package controlclient

import (
	"bytes"
	"context"
	"net/url"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/scenarios"
)

// faults makes a call about fault rules; each is answered with all there are then.
func (c *Client) faults(ctx context.Context, what call) ([]controlapi.FaultRule, error) {
	var got controlapi.FaultRules
	err := c.do(ctx, what, into(&got))
	return got.Faults, err
}

// Faults lists the fault rules.
func (c *Client) Faults(ctx context.Context) ([]controlapi.FaultRule, error) {
	return c.faults(ctx, call{route: controlapi.GetFaults})
}

// AddFaults adds rules in YAML, all of them or none. A refusal calls the text by the
// name of its file.
func (c *Client) AddFaults(ctx context.Context, file string, rules []byte) ([]controlapi.FaultRule, error) {
	return c.faults(ctx, call{route: controlapi.AddFaults, query: url.Values{"file": {file}}, body: bytes.NewReader(rules)})
}

// DeleteFault removes a rule.
func (c *Client) DeleteFault(ctx context.Context, name string) ([]controlapi.FaultRule, error) {
	return c.faults(ctx, call{route: controlapi.DeleteFault, path: controlapi.DeleteFault.For(name)})
}

// DeleteFaults removes all rules.
func (c *Client) DeleteFaults(ctx context.Context) ([]controlapi.FaultRule, error) {
	return c.faults(ctx, call{route: controlapi.DeleteFaults})
}

// ResetFaults sets the counters of all rules to nothing and their times to now.
func (c *Client) ResetFaults(ctx context.Context) ([]controlapi.FaultRule, error) {
	return c.faults(ctx, call{route: controlapi.ResetFaults})
}

// Scenarios tells what is being played, and how the last plays ended.
func (c *Client) Scenarios(ctx context.Context) (got controlapi.Scenarios, err error) {
	err = c.do(ctx, call{route: controlapi.GetScenarios}, into(&got))
	return got, err
}

// RunScenario plays a scenario of the library on the emulator, or text where name
// is "".
func (c *Client) RunScenario(ctx context.Context, name string, text []byte) (result scenarios.Result, err error) {
	what := call{route: controlapi.RunScenario, body: bytes.NewReader(text)}
	if name != "" {
		what.query = url.Values{"name": {name}}
	}
	err = c.do(ctx, what, into(&result))
	return result, err
}
