package agents

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/scenarios"
)

// calls adds the tool that calls the cloud's API, of which it only reads unless changes
// are allowed.
func (t *tools) calls() {
	do := func(ctx context.Context, in struct {
		on
		Product    string            `json:"product,omitempty" jsonschema:"Slb (CLB), Nlb, Vpc, Ecs, ...; if absent, the one that has the action, Slb first"`
		Action     string            `json:"action"`
		Parameters map[string]string `json:"parameters,omitempty" jsonschema:"by the API's names, such as LoadBalancerId"`
	}) (controlapi.CloudAnswer, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.CloudAnswer{}, err
		}
		in.Product = cmp.Or(in.Product, t.productOf(in.Action))
		// The emulator, which executes the action, says whether it only reads.
		return c.MakeCall(ctx, controlapi.CloudCall{Product: in.Product, Action: in.Action, Parameters: in.Parameters,
			ReadOnly: !t.Changes, Caller: callerOf(ctx)})
	}
	const about = "Sign and send a call of the cloud's API, such as DescribeVServerGroups. A refusal is an answer, with its status and code."
	if t.Changes {
		writer(t, "call_action", about, do)
	} else {
		reader(t, "call_action", about+" Only actions that read are allowed.", do)
	}
}

// productOf returns the product that has an action, Slb first. It returns Slb if no product has the
// action.
func (t *tools) productOf(action string) string {
	const usual = "Slb"
	product := usual
	for _, a := range t.Names.Actions() {
		switch {
		case a.Name == action && a.Product == usual:
			return usual
		case a.Name == action && (product == usual || a.Emulated):
			product = a.Product
		}
	}
	return product
}

// changes adds the tools that change the emulator.
func (t *tools) changes() {
	t.changesClouds()
	t.changesCloud()
}

// named is a tool about something with a name.
type named struct {
	on
	Name string `json:"name" jsonschema:"its name"`
}

// done is the answer of a tool that only does something.
type done struct {
	Done string `json:"done"`
}

// changesClouds adds the tools about clouds as a whole.
func (t *tools) changesClouds() {
	writer(t, "fork_cloud", "Fork a cloud: the fork starts as a copy of another, and then has its own state, clock, conditions, fault rules and journal. The answer has the address of its API for clients.", func(ctx context.Context, in struct {
		Name    string `json:"name" jsonschema:"name of the new cloud, such as try-1"`
		From    string `json:"from,omitempty" jsonschema:"cloud to fork; the default cloud if absent"`
		Expires string `json:"expires,omitempty" jsonschema:"duration such as 2h, or never; 24h if absent"`
	}) (controlapi.Cloud, error) {
		c, err := t.Client("")
		if err != nil {
			return controlapi.Cloud{}, err
		}
		return c.CreateCloud(ctx, in.Name, controlapi.NewCloud{From: in.From, Expires: in.Expires, Port: true})
	})
	writer(t, "delete_cloud", "Delete a fork with all that is in it.", func(ctx context.Context, in struct {
		Name string `json:"name" jsonschema:"name of the fork"`
	}) (done, error) {
		c, err := t.Client("")
		if err != nil {
			return done{}, err
		}
		return done{in.Name + " is deleted"}, c.DeleteCloud(ctx, in.Name)
	})
	writer(t, "reset_cloud", "Fork a fork again from the cloud that it comes from: all that was made or set in it is gone.", func(ctx context.Context, in struct {
		Name string `json:"name" jsonschema:"name of the fork"`
	}) (controlapi.Cloud, error) {
		c, err := t.Client("")
		if err != nil {
			return controlapi.Cloud{}, err
		}
		return c.ResetCloud(ctx, in.Name)
	})
	writer(t, "run_scenario", "Run the client part of a scenario, of the library or your own, on an emulator of its own. With cloud, it runs in a copy of that cloud, with all that is in it, which is deleted afterwards. The answer says whether it passed, and if not, what was expected and what was seen.", func(ctx context.Context, in struct {
		on
		Name string `json:"name,omitempty" jsonschema:"a name from list_scenarios"`
		YAML string `json:"yaml,omitempty" jsonschema:"a scenario of your own, in place of a name"`
	}) (scenarios.Result, error) {
		return t.runScenario(ctx, in.Cloud, in.Name, in.YAML)
	})
}

// runScenario plays a scenario, in a fork of a cloud if that is named.
func (t *tools) runScenario(ctx context.Context, cloud, name, text string) (result scenarios.Result, err error) {
	switch {
	case (name == "") == (text == ""):
		return result, errors.New("give either a name or yaml")
	case len(text) > maxText:
		return result, fmt.Errorf("the scenario has %d bytes, and may have %d", len(text), maxText)
	}
	from, err := t.Client(cloud)
	if err != nil {
		return result, err
	}
	if cloud == "" {
		return from.RunScenarioApart(ctx, name, []byte(text))
	}
	fork := "scenario-" + strings.ToLower(rand.Text()) // scenarios may run at the same time
	if _, err := from.CreateCloud(ctx, fork, controlapi.NewCloud{From: cloud, Expires: "1h"}); err != nil {
		return result, err
	}
	defer func() { // also of a caller who has gone
		err = errors.Join(err, from.DeleteCloud(context.WithoutCancel(ctx), fork))
	}()
	in, err := t.Client(fork)
	if err != nil {
		return result, err
	}
	return in.RunScenario(ctx, name, []byte(text))
}

// changesCloud adds the tools that change what is in a cloud.
func (t *tools) changesCloud() {
	writer(t, "set_condition", "Set a condition of a cloud, such as account.arrears=on; list_conditions has their names and values.", func(ctx context.Context, in struct {
		named
		Value string `json:"value"`
	}) (controlapi.Conditions, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.Conditions{}, err
		}
		return c.SetWorld(ctx, controlapi.Change{Settings: []controlapi.Setting{{Name: in.Name, Value: in.Value}}})
	})
	writer(t, "add_faults", "Add fault rules to a cloud, as YAML: {name: n, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {error: {code: Throttling.User}}}. Effects are error, delay, hang, reset, throttle and others; a refusal lists them all.", func(ctx context.Context, in struct {
		on
		Rules string `json:"rules" jsonschema:"one rule, or a list, in YAML"`
	}) (controlapi.FaultRules, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.FaultRules{}, err
		}
		return c.AddFaults(ctx, "rules", []byte(in.Rules))
	})
	writer(t, "delete_fault", "Delete a fault rule of a cloud.", func(ctx context.Context, in named) (controlapi.FaultRules, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.FaultRules{}, err
		}
		return c.DeleteFault(ctx, in.Name)
	})
	writer(t, "advance_clock", "Let the emulated time of a cloud pass, as for arrears, ClientTokens or health checks.", func(ctx context.Context, in struct {
		on
		By string `json:"by" jsonschema:"duration such as 24h"`
	}) (controlapi.Clock, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.Clock{}, err
		}
		if err := c.SetClock(ctx, controlapi.ClockChange{Advance: in.By}); err != nil {
			return controlapi.Clock{}, err
		}
		return c.Clock(ctx)
	})
}
