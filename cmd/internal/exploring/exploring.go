// Package exploring explores scenarios on private emulators: it tells explore what
// the emulated cloud can do. It must not know how explore plans or judges plays.
package exploring

import (
	"context"
	"slices"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// Config returns the configuration to explore a part of a scenario, each play with an
// its own emulator.
func Config(file string, text []byte, part string) explore.Config {
	known := emulator.Names()
	all := target.NewNames(known)
	return explore.Config{
		File: file, Text: text, Part: part, Depth: 1, Parallel: 4, Seed: 1,
		Load: func(file string, text []byte) (*scenarios.Scenario, error) {
			return scenarios.Load(file, text, scenarios.Options{Names: all})
		},
		Open: func(ctx context.Context, _ int) (explore.Place, error) {
			if part == scenarios.ClientPart {
				return private.New(ctx)
			}
			return private.NewOpen(ctx, false)
		},
		Actions:    all.Actions(),
		Refusals:   func(action string) []string { return refusals(known, action) },
		Conditions: conditions,
	}
}

// refusals lists the codes of an action with a recorded cause, which a fault can inject.
func refusals(known *names.Names, action string) (codes []string) {
	explained, err := explain.Name(known, action)
	if err != nil {
		return nil
	}
	for _, c := range explained.Causes {
		rule := faults.Rule{Name: "refuse", Match: faults.Match{Action: action}, Effect: faults.Effect{Value: faults.ErrorEffect{Code: c.Code}}}
		if c.Action == action && len(known.ResolveFault(&rule)) == 0 {
			codes = append(codes, c.Code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// denied lets the key of the default world read, and change nothing.
const denied = `{"Version": "1", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}, ` +
	`{"Effect": "Deny", "Action": ["slb:Create*", "slb:Add*", "slb:Set*", "slb:Start*", "slb:Delete*", "nlb:Create*", "nlb:Add*", "nlb:Update*", "nlb:Delete*"], "Resource": "*"}]}`

// conditions are of the default world.
var conditions = []explore.Condition{
	{Name: "arrears", On: map[string]string{"account.arrears": "true"}, Off: map[string]string{"account.arrears": "false"}},
	{Name: "quotaFull",
		On:  map[string]string{"quota.slb_quota_instances_num": "0", "quota.slb_quota_listeners_num": "0", "quota.slb_quota_backendservers_num": "0"},
		Off: map[string]string{"quota.slb_quota_instances_num": "default", "quota.slb_quota_listeners_num": "default", "quota.slb_quota_backendservers_num": "default"}},
	{Name: "soldOut", On: everyZone("soldout"), Off: everyZone("available")},
	{Name: "vSwitchFull",
		On:  map[string]string{"vswitch.vsw-bp1clbemu000000000001.freeAddresses": "0", "vswitch.vsw-bp1clbemu000000000002.freeAddresses": "0"},
		Off: map[string]string{"vswitch.vsw-bp1clbemu000000000001.freeAddresses": "all", "vswitch.vsw-bp1clbemu000000000002.freeAddresses": "all"}},
	{Name: "permissionMissing", On: map[string]string{"policy.key.testid": denied}, Off: map[string]string{"policy.key.testid": "none"}},
	{Name: "nodeGone", Refuses: map[string]string{
		"AddBackendServers":             "{code: InvalidServerId.NotFound}",
		"AddVServerGroupBackendServers": "{code: InvalidServerId.NotExist}",
		"AddServersToServerGroup":       "{code: ResourceNotFound.Ecs, httpStatus: 404, message: The specified resource of Ecs is not found., custom: true}"}},
	{Name: "podWithoutInterface", Interface: true},
	{Name: "slowChanges", On: map[string]string{"life.profile": "realistic"}, Off: map[string]string{"life.profile": "instant"}},
}

// everyZone sets the stock of all zones of the default region.
func everyZone(stock string) map[string]string {
	all := make(map[string]string)
	for _, zone := range []string{"g", "h", "i", "j", "k"} {
		all["stock.cn-hangzhou-"+zone] = stock
	}
	return all
}
