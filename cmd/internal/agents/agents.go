// Package agents serves a running emulator to programs that use a language model, by the
// Model Context Protocol (MCP): each tool is a call or two of the control API. It must not
// know how clbemu emulates anything.
package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// Config says which emulator the tools are about, and what they may do.
type Config struct {
	// Client calls the control API of a cloud, "" being the usual one.
	Client func(cloud string) (*controlclient.Client, error)
	// Changes adds the tools that change the emulator; without it all tools read.
	Changes bool
	// Names checks scenarios and explains errors.
	Names *names.Names
	// Lint checks the text of Services for a version of the CCM; nil leaves the tool out.
	Lint func(ctx context.Context, text, version string) (any, error)
	// Compare finds what the calls to a cloud since a mark, "" for all, would change in another;
	// nil leaves the tool out.
	Compare func(ctx context.Context, c, before *controlclient.Client, mark string) (any, error)
	// Version is the program's.
	Version string
}

// instructions tell a model what the tools are for.
const instructions = `clbemu emulates Alibaba Cloud's load balancers (CLB and NLB, with parts of VPC and ECS).
The state is emulated: nothing here costs money or reaches the real cloud. Work in a fork
(fork_cloud), which starts as a copy of the default cloud and leaves it as it is; give its name
as "cloud" to the other tools. read_journal shows what a client called and what it got.
Most tools need a running emulator: if none answers, start one with clbemu serve, and call the tool again.`

// schemaURI is the address of the JSON Schema of scenarios.
const schemaURI = "clbemu://scenario.schema.json"

// Serve serves one client at the transport until it leaves or ctx ends.
func Serve(ctx context.Context, cfg Config, transport mcp.Transport) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "clbemu", Title: "clbemu", Version: cfg.Version}, &mcp.ServerOptions{Instructions: instructions})
	server.AddResource(&mcp.Resource{URI: schemaURI, Name: "scenario.schema.json", MIMEType: "application/schema+json",
		Description: "The JSON Schema of scenario files, with every field."},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: schemaURI, MIMEType: "application/schema+json", Text: string(scenarios.Schema)}}}, nil
		})
	server.AddReceivingMiddleware(shortRefusals)
	t := &tools{cfg, server}
	t.reads()
	t.explains()
	t.lints()
	t.compares()
	t.calls()
	if cfg.Changes {
		t.changes()
	}
	return server.Run(ctx, answering{transport})
}

type tools struct {
	Config
	server *mcp.Server
}

// reader adds a tool that changes nothing, and writer one that does.
func reader[In, Out any](t *tools, name, about string, do func(context.Context, In) (Out, error)) {
	add(t, &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}}, do)
}

func writer[In, Out any](t *tools, name, about string, do func(context.Context, In) (Out, error)) {
	add(t, &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{OpenWorldHint: new(bool)}}, do)
}

// add adds a tool whose answer is JSON of any form: its input alone has a schema.
func add[In, Out any](t *tools, tool *mcp.Tool, do func(context.Context, In) (Out, error)) {
	mcp.AddTool(t.server, tool, func(ctx context.Context, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		out, err := do(context.WithValue(ctx, callerKey{}, call.Session), in)
		return nil, out, err
	})
}

// callerKey is the key of the session in the context of a tool.
type callerKey struct{}

// callerOf returns the caller that the journal shows of an agent's calls.
func callerOf(ctx context.Context) string {
	session, _ := ctx.Value(callerKey{}).(*mcp.ServerSession)
	if session == nil || session.InitializeParams() == nil || session.InitializeParams().ClientInfo == nil {
		return "mcp"
	}
	client := session.InitializeParams().ClientInfo
	return strings.TrimSpace("mcp " + client.Name + " " + client.Version)
}

// on adds a tool about one cloud.
type on struct {
	Cloud string `json:"cloud,omitempty" jsonschema:"name of a cloud from list_clouds; the usual one if absent"`
}

// found is the answer of a tool that lists.
type found[T any] struct {
	Found []T `json:"found"`
}

// list adds a tool that lists what a call about a cloud returns.
func list[T any](t *tools, name, about string, call func(*controlclient.Client, context.Context) ([]T, error)) {
	reader(t, name, about, func(ctx context.Context, in on) (found[T], error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return found[T]{}, err
		}
		all, err := call(c, ctx)
		return found[T]{all}, err
	})
}

// reads adds the tools about what is in the emulator.
func (t *tools) reads() {
	reader(t, "list_clouds", "List the clouds of the emulator: the default one and its forks.", func(ctx context.Context, _ struct{}) (found[controlapi.Cloud], error) {
		c, err := t.Client("")
		if err != nil {
			return found[controlapi.Cloud]{}, err
		}
		all, err := c.Clouds(ctx)
		return found[controlapi.Cloud]{all}, err
	})
	list(t, "list_faults", "List the fault rules of a cloud with their hits.", func(c *controlclient.Client, ctx context.Context) ([]controlapi.FaultRule, error) {
		rules, err := c.Faults(ctx)
		return rules.Faults, err
	})
	t.readsConditions()
	t.readsJournal()
	t.readsResources()
}

// mostHelp bounds what lists say about each entry, in bytes.
const mostHelp = 40

// cut shortens a text at a space, and marks it.
func cut(text string) string {
	if len(text) <= mostHelp {
		return text
	}
	return text[:max(strings.LastIndexByte(text[:mostHelp], ' '), 0)] + "…"
}

func (t *tools) readsConditions() {
	reader(t, "list_conditions", "List the conditions that a cloud can have, such as arrears or a zone that is sold out. Give a match to read their help whole, with the names that they can have.", func(ctx context.Context, in struct {
		on
		Match string `json:"match,omitempty" jsonschema:"part of the name or of the help, such as quota or arrears; if absent, all conditions are listed in short"`
		limited
	}) (conditionsFound, error) {
		c, err := t.Client(in.Cloud)
		if err := cmp.Or(err, in.check()); err != nil {
			return conditionsFound{}, err
		}
		all, err := c.Conditions(ctx)
		var found conditionsFound
		for _, known := range all {
			lower, match := strings.ToLower(known.Name+" "+known.Help), strings.ToLower(in.Match)
			switch {
			case in.Match == "":
				found.Found = append(found.Found, controlapi.KnownCondition{Name: known.Name, Help: cut(known.Help)})
			case strings.Contains(lower, match) && len(found.Found) == in.Limit:
				found.More++
			case strings.Contains(lower, match):
				if len(known.Named) > usualLimit {
					known.Named = append(known.Named[:usualLimit:usualLimit], fmt.Sprintf("and %d more", len(known.Named)-usualLimit))
				}
				found.Found = append(found.Found, known)
			}
		}
		if err == nil && len(found.Found) == 0 {
			err = fmt.Errorf("no condition has %.70q in its name or help: call list_conditions without match", in.Match)
		}
		return found, err
	})
}

// conditionsFound is the answer of list_conditions.
type conditionsFound struct {
	Found []controlapi.KnownCondition `json:"found"`
	// More are left out.
	More int `json:"more,omitempty"`
}

// resourcesFound is the answer of list_resources: without the columns of tables.
type resourcesFound struct {
	Resources []controlapi.Resource `json:"resources"`
	Warnings  []string              `json:"warnings,omitempty"`
}

func (t *tools) readsResources() {
	reader(t, "list_resources", "List resources of a cloud: load balancers, or another kind.", func(ctx context.Context, in struct {
		on
		Kind string `json:"kind,omitempty" jsonschema:"such as lb, clb, nlb, vpc, vswitch or instance; if absent, load balancers, or any kind that has the name"`
		Name string `json:"name,omitempty" jsonschema:"id or name of a resource"`
		limited
	}) (resourcesFound, error) {
		c, err := t.Client(in.Cloud)
		if err := cmp.Or(err, in.check()); err != nil {
			return resourcesFound{}, err
		}
		if in.Kind == "" && in.Name == "" {
			in.Kind = "lb"
		}
		found, err := c.Resources(ctx, controlclient.Wanted{Kind: in.Kind, Name: in.Name})
		if more := len(found.Resources) - in.Limit; more > 0 {
			found.Resources = found.Resources[:in.Limit]
			found.Warnings = append(found.Warnings, fmt.Sprintf("%d more are left out: give a kind, a name or a higher limit", more))
		}
		return resourcesFound{found.Resources, found.Warnings}, err
	})
	reader(t, "show_load_balancer", "Show a load balancer with its listeners, server groups, servers, health and tags.", func(ctx context.Context, in struct {
		on
		Name string `json:"name" jsonschema:"id, name or address"`
	}) (controlapi.LoadBalancerTree, error) {
		c, err := t.Client(in.Cloud)
		if err != nil {
			return controlapi.LoadBalancerTree{}, err
		}
		found, err := c.Resources(ctx, controlclient.Wanted{Kind: "lb", Name: in.Name})
		if err != nil {
			return controlapi.LoadBalancerTree{}, err
		}
		if n := len(found.Resources); n > 1 {
			return controlapi.LoadBalancerTree{}, fmt.Errorf("%d load balancers are called %.70q: give an id, such as %s", n, in.Name, found.Resources[0].ID)
		}
		return c.LoadBalancer(ctx, controlapi.Where{}, in.Name)
	})
}

func (t *tools) readsJournal() {
	reader(t, "read_journal", "Read the newest calls to a cloud, oldest first, with their parameters, codes and the fault rules that took effect, and counts by action and code.", func(ctx context.Context, in struct {
		on
		Action   string `json:"action,omitempty" jsonschema:"actions: a glob such as *LoadBalancer*"`
		Code     string `json:"code,omitempty" jsonschema:"error code, or OK"`
		Resource string `json:"resource,omitempty" jsonschema:"id of a resource"`
		Since    uint64 `json:"since,omitempty" jsonschema:"sequence after which entries are wanted"`
		limited
	}) (any, error) {
		c, err := t.Client(in.Cloud)
		if err := cmp.Or(err, in.check()); err != nil {
			return nil, err
		}
		query := url.Values{"limit": {fmt.Sprint(in.Limit)}}
		for name, value := range map[string]string{"action": in.Action, "code": in.Code, "resource": in.Resource} {
			if value != "" {
				query.Set(name, value)
			}
		}
		if in.Since > 0 {
			query.Set("since", fmt.Sprint(in.Since))
		}
		return c.Journal(ctx, query)
	})
}

// limited is the parameter of a tool that could answer too much for a model.
type limited struct {
	Limit int `json:"limit,omitempty" jsonschema:"at most so many, 1 to 500; 20 if absent"`
}

const maxLimit, usualLimit = 500, 20

func (l *limited) check() error {
	if l.Limit < 0 || l.Limit > maxLimit {
		return fmt.Errorf("limit is 1 to %d, not %d", maxLimit, l.Limit)
	}
	l.Limit = cmp.Or(l.Limit, usualLimit)
	return nil
}

// explains adds the tools that need no emulator.
func (t *tools) explains() {
	reader(t, "explain_error", "Explain an error from any text that shows it: an Event of a Service, an SDK's or Terraform's error, a log line, a code. The answer has what happened, cures, how it begins and ends here, and the scenarios that play it.", func(_ context.Context, in struct {
		Text string `json:"text" jsonschema:"the text, up to 64 KiB"`
	}) (*explain.Found, error) {
		if len(in.Text) > maxText {
			return nil, fmt.Errorf("the text has %d bytes, and at most %d are read: leave out what does not show the error", len(in.Text), maxText)
		}
		index, err := explain.NewIndex(t.Names)
		if err != nil {
			return nil, err
		}
		answer, earned := index.Search(in.Text)
		if !earned {
			return nil, errors.New("nothing known matches the text")
		}
		return answer.For(in.Text, ""), nil
	})
	reader(t, "list_scenarios", "List the scenarios of the library, each a failure of the cloud. Give a match to get each text whole.", func(_ context.Context, in struct {
		Match string `json:"match,omitempty" jsonschema:"part of the name or of what it is about, such as quota or nlb; if absent, all scenarios are listed in short"`
	}) (found[head], error) {
		var all found[head]
		for _, h := range scenarios.LibraryHeads() {
			switch {
			case in.Match == "":
				all.Found = append(all.Found, head{h.Name, cut(h.About)})
			case strings.Contains(strings.ToLower(h.Name+" "+h.About), strings.ToLower(in.Match)):
				all.Found = append(all.Found, head{h.Name, h.About})
			}
		}
		if len(all.Found) == 0 {
			return all, fmt.Errorf("no scenario has %.70q in its name or in what it is about: call list_scenarios without match", in.Match)
		}
		return all, nil
	})
	reader(t, "show_scenario", "Show the YAML of a scenario of the library, as an example for one of your own.", func(_ context.Context, in struct {
		Name string `json:"name" jsonschema:"a name from list_scenarios"`
	}) (scenarioText, error) {
		text, ok := scenarios.LibraryText(in.Name)
		if !ok {
			return scenarioText{}, fmt.Errorf("the library has no scenario %.70q%s", in.Name, names.DidYouMean(in.Name, scenarios.LibraryNames(), "list_scenarios lists them"))
		}
		return scenarioText{string(text)}, nil
	})
	reader(t, "check_scenario", "Check the YAML of a scenario that you wrote: all that is wrong with it, by line. The resource "+schemaURI+" has every field.", func(_ context.Context, in scenarioText) (checked, error) {
		if len(in.YAML) > maxText {
			return checked{}, fmt.Errorf("the scenario has %d bytes, and may have %d", len(in.YAML), maxText)
		}
		return check(in.YAML, t.Names), nil
	})
}

// lints adds the tool that checks Services, where there is a check.
func (t *tools) lints() {
	if t.Lint == nil {
		return
	}
	reader(t, "lint_service", "Check the YAML of Services before a Cloud Controller Manager reads them: annotations that take no effect, or break the Service.", func(ctx context.Context, in struct {
		YAML       string `json:"yaml" jsonschema:"one or more Services, up to 64 KiB"`
		CCMVersion string `json:"ccm_version,omitempty" jsonschema:"version of the Cloud Controller Manager, such as v2.9.1; the newest if absent"`
	}) (any, error) {
		if len(in.YAML) > maxText {
			return nil, fmt.Errorf("the text has %d bytes, and at most %d are read", len(in.YAML), maxText)
		}
		return t.Lint(ctx, in.YAML, in.CCMVersion)
	})
}

// compares adds the tool that says what a controller would change, where there is one.
func (t *tools) compares() {
	if t.Compare == nil {
		return
	}
	reader(t, "upgrade_check", "Report what clients tried to change in a fork, in the words of the check that ACK runs before an upgrade of the Cloud Controller Manager: run the new version against a fork, then compare it with the cloud that it was forked from. It reads CLB's attributes, listeners and server groups.", func(ctx context.Context, in struct {
		Cloud  string `json:"cloud" jsonschema:"the fork that the new version was run against"`
		Before string `json:"before,omitempty" jsonschema:"cloud that it was forked from; the default cloud if absent"`
		Mark   string `json:"since_mark,omitempty" jsonschema:"mark of the fork's journal after which calls count; all if absent"`
	}) (any, error) {
		if in.Cloud == cmp.Or(in.Before, controlapi.DefaultCloud) {
			return nil, fmt.Errorf("%.70q is compared with itself: give the fork as cloud, and its origin as before", in.Cloud)
		}
		c, err := t.Client(in.Cloud)
		if err != nil {
			return nil, err
		}
		before, err := t.Client(cmp.Or(in.Before, controlapi.DefaultCloud))
		if err != nil {
			return nil, err
		}
		return t.Compare(ctx, c, before, in.Mark)
	})
}

// maxText bounds the texts that tools read.
const maxText = 64 << 10

// head is a scenario in a list.
type head struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

type scenarioText struct {
	YAML string `json:"yaml" jsonschema:"the scenario"`
}

// checked has the problems of a scenario.
type checked struct {
	Valid    bool     `json:"valid"`
	Problems []string `json:"problems,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

func check(text string, known *names.Names) checked {
	s, err := scenarios.Load("scenario.yaml", []byte(text), scenarios.Options{Names: target.NewNames(known)})
	if err != nil {
		return checked{Problems: strings.Split(err.Error(), "\n")}
	}
	c := checked{Valid: true}
	for _, w := range s.Warnings() {
		c.Warnings = append(c.Warnings, w.String())
	}
	return c
}
