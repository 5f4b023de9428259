package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clbemu/clbemu/cmd/internal/agents"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// session is a client of the tools for an emulator with a token.
type session struct {
	*testing.T
	*mcp.ClientSession
}

func start(t *testing.T, changes bool, token string) session {
	t.Helper()
	server := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.ControlToken = "secret" }))
	t.Cleanup(http.DefaultClient.CloseIdleConnections) // of one that was never used, a server that closes waits 5 s
	at, other := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- agents.Serve(ctx, agents.Config{Changes: changes, Lint: func(_ context.Context, text, version string) (any, error) {
			return m{"linted": fmt.Sprintf("%.100s%.100s", text, version)}, nil
		}, Names: emulator.Names(), Version: "test",
			Compare: func(_ context.Context, c, before *controlclient.Client, mark string) (any, error) {
				return m{"compared": fmt.Sprintf("%.100s since %.100s with %.100s", path.Base(c.URL), mark, path.Base(before.URL))}, nil
			},
			Client: func(cloud string) (*controlclient.Client, error) {
				address := server.ControlURL()
				if cloud != "" && cloud != "default" {
					address += "/clouds/" + url.PathEscape(cloud)
				}
				return &controlclient.Client{URL: address, Token: token}, nil
			}}, at)
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.2"}, nil).Connect(ctx, other, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		cancel()
		<-ended
	})
	return session{t, client}
}

// call calls a tool, whose answer or refusal must have the text.
func (s session) call(tool string, arguments any, refused bool, want string) string {
	s.Helper()
	result, err := s.CallTool(s.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		if !refused || !strings.Contains(err.Error(), want) {
			s.Errorf("%s(%v) = %v, want %q", tool, arguments, err, want)
		}
		return ""
	}
	var text strings.Builder
	for _, c := range result.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if result.IsError != refused || !strings.Contains(text.String(), want) {
		s.Errorf("%s(%v) = %.500s, refused %v, want %q", tool, arguments, text.String(), result.IsError, want)
	}
	return text.String()
}

type m map[string]any

// TestReads proves that without changes allowed, no tool says that it changes anything,
// none does, and all that read answer.
func TestReads(t *testing.T) {
	s := start(t, false, "secret")
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s may change something", tool.Name)
		}
	}
	slices.Sort(names)
	want := []string{"call_action", "check_scenario", "explain_error", "lint_service", "list_clouds", "list_conditions", "list_faults", "list_resources", "list_scenarios", "read_journal", "show_load_balancer", "show_scenario", "upgrade_check"}
	if !slices.Equal(names, want) {
		t.Errorf("the tools are %v, want %v", names, want)
	}
	s.call("list_clouds", nil, false, `"found"`)
	s.call("list_faults", m{"cloud": "default"}, false, `{"found":`)
	if all := s.call("list_conditions", nil, false, "account.arrears"); len(all) > 8<<10 {
		t.Errorf("the list of all conditions has %d bytes, want at most 8 KiB", len(all))
	}
	if quotas := s.call("list_conditions", m{"match": "quota", "limit": 5}, false, "quota."); len(quotas) > 8<<10 {
		t.Errorf("the conditions about quotas have %d bytes, want at most 8 KiB", len(quotas))
	}
	s.call("list_conditions", m{"match": "nothing like it"}, true, "without match")
	s.call("lint_service", m{"yaml": "kind: Service", "ccm_version": "v2.9.1"}, false, "kind: Servicev2.9.1")
	s.call("upgrade_check", m{"cloud": "try", "since_mark": "m"}, false, "try since m with 127.0.0.1:")
	s.call("upgrade_check", m{"cloud": "default"}, true, "compared with itself")
	s.call("call_action", m{"action": "ListLoadBalancers"}, false, `"TotalCount":0`)
	s.call("call_action", m{"action": "DescribeVpcs"}, false, `"Vpcs"`)
	s.call("call_action", m{"action": "CreateVpc"}, true, "--allow-changes")
	s.call("read_journal", m{"action": "ListLoadBalancers"}, false, `"product":"Nlb"`)
	s.call("list_resources", m{"kind": "vswitch"}, false, "vsw-")
	s.call("list_resources", m{"name": "vsw-bp1clbemu000000000001"}, false, `"kind":"vswitch"`)
	s.call("list_resources", nil, false, `"resources":[]`)
	s.call("list_resources", m{"kind": "vswitch", "limit": 1}, false, "more are left out")
	s.call("list_resources", m{"limit": 501}, true, "limit is 1 to 500")
	s.call("show_load_balancer", m{"name": "nope"}, true, "nope")
	if all := s.call("list_scenarios", nil, false, "backend-quota"); len(all) > 8<<10 {
		t.Errorf("the list of all scenarios has %d bytes, want at most 8 KiB", len(all))
	}
	s.call("list_scenarios", m{"match": "quota"}, false, "A load balancer has reached its backend quota.")
	s.call("list_scenarios", m{"match": "nothing like it"}, true, "without match")
	s.call("read_journal", m{"since": json.Number("18446744073709551616")}, true, "an argument is out of range: 18446744073709552000")
	s.call("show_scenario", m{"name": "backend-quota"}, false, "about:")
	s.call("explain_error", m{"text": "Error syncing load balancer []: Message: The account is arrearage."}, false, "Pay the bill.")
	s.call("call_action", m{"product": "Slb", "action": "DescribeLoadBalancers"}, false, `"TotalCount":0`)
	s.call("read_journal", m{"action": "Describe*", "limit": 5}, false, "DescribeLoadBalancers")
	s.call("call_action", m{"product": "Slb", "action": "CreateLoadBalancer"}, true, "--allow-changes")
	s.call("call_action", m{"product": "Slb", "action": "DescribeLoadBalancers"}, false, `"TotalCount":0`)
	s.call("read_journal", m{"action": "Describe*"}, false, `"userAgent":"mcp test 1.2"`)
	s.call("fork_cloud", m{"name": "x"}, true, "unknown tool")
	schema, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "clbemu://scenario.schema.json"})
	if err != nil || !json.Valid([]byte(schema.Contents[0].Text)) {
		t.Errorf("the schema = %v, %v", schema, err)
	}
}

// TestReadsWhateverIsSaid proves that no parameter makes another call of one that was allowed.
func TestReadsWhateverIsSaid(t *testing.T) {
	s := start(t, false, "secret")
	for _, parameters := range []m{
		{"Action": "CreateVpc"}, {"action": "CreateVpc"}, {" Action ": "CreateVpc"}, {"Version": "2014-05-15", "Action": "CreateLoadBalancer"},
		{"AccessKeyId": "other.testid"}, {"access_key_id": "x"}, {"SecurityToken": "x"}, {"Timestamp": "2026-01-01T00:00:00Z"},
		{"TimeStamp": "2026-01-01T00:00:00Z"}, {"SignatureNonce": "1"}, {"Signature": "x"}, {"SignatureMethod": "HMAC-SHA256"}, {"Format": "XML"},
	} {
		s.call("call_action", m{"product": "Vpc", "action": "DescribeVpcs", "parameters": parameters}, true, "is a parameter of the protocol")
	}
	s.call("call_action", m{"product": "Vpc", "action": "CreateVpc", "parameters": m{"Action": "DescribeVpcs"}}, true, "--allow-changes")
	s.call("read_journal", nil, false, `"entries":[]`)
}

// TestChanges proves that an agent that works in a fork changes nothing else, and finds
// what it did there.
func TestChanges(t *testing.T) {
	s := start(t, true, "secret")
	s.call("fork_cloud", m{"name": "try"}, false, `"name":"try"`)
	made := s.call("call_action", m{"cloud": "try", "product": "Slb", "action": "CreateLoadBalancer", "parameters": m{"LoadBalancerName": "web", "InstanceChargeType": "PayByCLCU"}}, false, "lb-")
	s.call("show_load_balancer", m{"cloud": "try", "name": "web"}, false, `"name":"web"`)
	s.call("call_action", m{"cloud": "try", "product": "Slb", "action": "CreateLoadBalancer", "parameters": m{"LoadBalancerName": "web", "InstanceChargeType": "PayByCLCU"}}, false, "lb-")
	s.call("show_load_balancer", m{"cloud": "try", "name": "web"}, true, `2 load balancers are called "web": give an id, such as lb-`)
	s.call("call_action", m{"product": "Slb", "action": "DescribeLoadBalancers"}, false, `"TotalCount":0`)
	s.call("add_faults", m{"cloud": "try", "rules": "{name: busy, match: {action: CreateVServerGroup}, effect: {error: {code: ServiceUnavailable}}}"}, false, "busy")
	var answer struct {
		Body struct{ LoadBalancerID, Address string }
	}
	if err := json.Unmarshal([]byte(made), &answer); err != nil {
		t.Fatal(err)
	}
	s.call("show_load_balancer", m{"cloud": "try", "name": answer.Body.Address}, false, answer.Body.LoadBalancerID)
	s.call("call_action", m{"cloud": "try", "product": "Slb", "action": "CreateVServerGroup", "parameters": m{"LoadBalancerId": answer.Body.LoadBalancerID}}, false, "ServiceUnavailable")
	s.call("read_journal", m{"cloud": "try", "code": "ServiceUnavailable"}, false, `"faults":["busy"]`)
	s.call("delete_fault", m{"cloud": "try", "name": "busy"}, false, `"faults":[]`)
	s.call("set_condition", m{"cloud": "try", "name": "account.arrears", "value": "true"}, false, "account.arrears")
	s.call("call_action", m{"cloud": "try", "product": "Slb", "action": "CreateLoadBalancer"}, false, "ORDER.ARREARAGE")
	s.call("advance_clock", m{"cloud": "try", "by": "24h"}, false, `"now"`)
	s.call("run_scenario", m{"name": "backend-quota"}, false, `"status":"passed"`)
	const own = "about: A test.\nadvice: None.\nclient:\n  steps:\n  - call: {product: Slb, action: CreateLoadBalancer, params: {InstanceChargeType: PayByCLCU}}\n  expect:\n  - calls: {action: CreateLoadBalancer, exactly: 2}\n"
	s.call("check_scenario", m{"yaml": own}, false, `"valid":true`)
	s.call("run_scenario", m{"yaml": own}, false, `"status":"failed"`)
	s.call("reset_cloud", m{"name": "try"}, false, `"name":"try"`)
	s.call("list_resources", m{"cloud": "try"}, false, `"resources":[]`)
	// What is in the usual cloud is no part of a scenario, but for one who asks for it.
	s.call("call_action", m{"action": "CreateLoadBalancer", "parameters": m{"LoadBalancerName": "mine", "InstanceChargeType": "PayByCLCU"}}, false, "lb-")
	const empty = "about: A test.\nadvice: None.\nclient:\n  steps:\n  - call: {product: Slb, action: DescribeLoadBalancers, expect: {fields: {TotalCount: 0}}}\n"
	s.call("run_scenario", m{"yaml": empty}, false, `"status":"passed"`)
	s.call("run_scenario", m{"yaml": empty, "cloud": "default"}, false, `"status":"failed"`)
	s.call("delete_cloud", m{"name": "try"}, false, "try is deleted")
	if clouds := s.call("list_clouds", nil, false, "found"); strings.Contains(clouds, "scenario-") {
		t.Errorf("the forks of scenarios are left: %s", clouds)
	}
}

// TestLongNonsense proves that no tool repeats all of a long text, and that none takes long to
// find what was meant by it.
func TestLongNonsense(t *testing.T) {
	s := start(t, true, "secret")
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok {
			t.Fatalf("the schema of %s is %T", tool.Name, tool.InputSchema)
		}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, long := range append(slices.Sorted(maps.Keys(properties)), "unknown") {
			arguments := m{long: strings.Repeat("a", 100_000)}
			for _, name := range required {
				if arguments[name.(string)] == nil {
					arguments[name.(string)] = "x"
				}
			}
			result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
			if err != nil {
				if len(err.Error()) > 5000 {
					t.Errorf("%s refuses a long %s with %d bytes", tool.Name, long, len(err.Error()))
				}
				continue
			}
			for _, c := range result.Content {
				if text, ok := c.(*mcp.TextContent); ok && strings.Contains(text.Text, strings.Repeat("a", 5000)) {
					t.Errorf("%s answers a long %s with %d bytes", tool.Name, long, len(text.Text))
				}
			}
		}
	}
}

// TestNonsense proves that arguments that mean nothing, and what the token does not allow,
// are refused with a reason.
func TestNonsense(t *testing.T) {
	s := start(t, true, "secret")
	s.call("call_action", m{"product": 5}, true, "product")
	s.call("call_action", m{"product": "Slb", "action": "CreateLoadBalancr"}, false, "InvalidAction.NotEmulated")
	s.call("list_faults", m{"cloud": "no such"}, true, "no such")
	s.call("list_faults", m{"clowd": "try"}, true, "clowd")
	s.call("read_journal", m{"limit": -1}, true, "1 to 500")
	s.call("explain_error", m{"text": strings.Repeat("x", 65<<10)}, true, "at most")
	s.call("explain_error", m{"text": "the weather is fine today"}, true, "nothing known")
	s.call("show_scenario", m{"name": "backend-quot"}, true, "do you mean backend-quota")
	s.call("check_scenario", m{"yaml": "about: [\x00"}, false, `"valid":false`)
	s.call("run_scenario", m{}, true, "either a name or yaml")
	s.call("run_scenario", m{"name": "nope"}, true, "nope")
	s.call("add_faults", m{"rules": "{name: n, match: {action: Creat}, effect: {reset: true}}"}, true, "Creat")
	s.call("set_condition", m{"name": "account.arears", "value": "true"}, true, "account.arrears")
	s.call("advance_clock", m{"by": "tomorrow"}, true, "tomorrow")
	s.call("list_clouds", m{"cloud": "try"}, true, "cloud")
	if clouds := s.call("list_clouds", nil, false, "found"); strings.Contains(clouds, "scenario-") {
		t.Errorf("a scenario that did not run left a fork: %s", clouds)
	}
	stranger := start(t, true, "wrong")
	stranger.call("list_clouds", nil, true, "token")
	stranger.call("fork_cloud", m{"name": "x"}, true, "token")
}
