package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/scenarios"
)

// completing returns what a shell offers for a word of a command.
type completing = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// completePatience limits how long a shell waits for an emulator's answer.
const completePatience = time.Second

// fromEmulator offers names that a running emulator says; one that does not answer offers
// none.
func fromEmulator(names func(ctx context.Context, c *controlclient.Client) []string) completing {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return queryEmulator(cmd, names), cobra.ShellCompDirectiveNoFileComp
	}
}

// queryEmulator asks the emulator that the command line names.
func queryEmulator(cmd *cobra.Command, names func(ctx context.Context, c *controlclient.Client) []string) []string {
	if configure(cmd) != nil {
		return nil
	}
	f := connection{server: cmd.Flag("server").Value.String(), token: cmd.Flag("control-token").Value.String(), tokenFile: cmd.Flag("control-token-file").Value.String(), cloud: cmd.Flag("cloud").Value.String()}
	c, err := f.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), completePatience)
	defer cancel()
	return names(ctx, c)
}

func faultNames(ctx context.Context, c *controlclient.Client) (list []string) {
	rules, _ := c.Faults(ctx) // offer none then
	for _, r := range rules.Faults {
		list = append(list, r.Name)
	}
	for _, r := range rules.Skipped {
		list = append(list, r.Name)
	}
	return list
}

func snapshotNames(ctx context.Context, c *controlclient.Client) (list []string) {
	kept, _ := c.Snapshots(ctx) // offer none then
	for _, s := range kept {
		list = append(list, s.Name)
	}
	return list
}

func markNames(ctx context.Context, c *controlclient.Client) (list []string) {
	marks, _ := c.Marks(ctx) // offer none then
	for _, m := range marks {
		list = append(list, m.Name)
	}
	return list
}

// conditionNames lists the conditions in force, and those whose name has no part that
// only a world knows.
func conditionNames(ctx context.Context, c *controlclient.Client) (list []string) {
	inForce, _ := c.World(ctx, controlapi.Where{}) // they are not offered then
	for _, s := range inForce {
		list = append(list, s.Name)
	}
	all, _ := c.Conditions(ctx) // nor are these
	for _, known := range all {
		before, _, variable := strings.Cut(known.Name, "<")
		if !variable {
			list = append(list, known.Name)
		}
		for _, named := range known.Named {
			list = append(list, before+named)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// completeSetting offers conditions, for each of which the user types a value, and then its values.
func completeSetting(cmd *cobra.Command, _ []string, word string) (list []string, _ cobra.ShellCompDirective) {
	if name, _, typed := strings.Cut(word, "="); typed {
		if c, _, ok := conditions.Find(name); ok {
			for _, value := range c.Value.Words {
				list = append(list, name+"="+value)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	}
	for _, name := range queryEmulator(cmd, conditionNames) {
		list = append(list, name+"=")
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// resourceNames returns the ids and names of a kind.
func resourceNames(kind string) func(ctx context.Context, c *controlclient.Client) []string {
	return func(ctx context.Context, c *controlclient.Client) (list []string) {
		found, _ := c.Resources(ctx, controlclient.Wanted{Kind: kind}) // offer none then
		for _, r := range found.Resources {
			list = append(list, r.ID)
			if r.Name != "" {
				list = append(list, r.Name)
			}
		}
		return list
	}
}

// regionNames lists the regions with a vSwitch, which can have resources.
func regionNames(ctx context.Context, c *controlclient.Client) []string {
	return ofVSwitches(ctx, c, func(r *controlapi.Resource) string { return r.Region })
}

func accountIDs(ctx context.Context, c *controlclient.Client) []string {
	return ofVSwitches(ctx, c, func(r *controlapi.Resource) string { return r.Account })
}

func ofVSwitches(ctx context.Context, c *controlclient.Client, name func(*controlapi.Resource) string) (list []string) {
	found, _ := c.Resources(ctx, controlclient.Wanted{Kind: "vswitch"}) // offer none then
	for i := range found.Resources {
		list = append(list, name(&found.Resources[i]))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// accessKeys returns the access keys of the account.
func accessKeys(ctx context.Context, c *controlclient.Client) (list []string) {
	inForce, _ := c.World(ctx, controlapi.Where{}) // offer none then
	for _, s := range inForce {
		if known, id, ok := conditions.Find(s.Name); ok && known.Name == "key.<id>.status" {
			list = append(list, id)
		}
	}
	return list
}

// completeKind offers kinds, and then the resources of one.
func completeKind(cmd *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		list = append(list, inventory.All)
		for _, k := range inventory.Kinds() {
			list = append(list, k.Name)
		}
		list = append(list, queryEmulator(cmd, shortNames)...)
	case 1:
		list = queryEmulator(cmd, resourceNames(args[0]))
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// shortNames returns the products that choose load balancers.
func shortNames(ctx context.Context, c *controlclient.Client) (list []string) {
	server, _ := c.Server(ctx) // offer none then
	for _, p := range server.Products {
		list = append(list, p.ShortNames...)
	}
	return list
}

// runningActions lists the actions of the running emulator, or of this program where
// none answers.
func runningActions(cmd *cobra.Command) []controlapi.Action {
	rows := emulator.Actions()
	queryEmulator(cmd, func(ctx context.Context, c *controlclient.Client) []string {
		if running, err := c.Actions(ctx); err == nil {
			rows = running
		}
		return nil
	})
	return rows
}

// emulatedNames returns the names of the emulated actions of a product, or of all products.
func emulatedNames(rows []controlapi.Action, product string) (list []string) {
	for _, a := range rows {
		if a.Emulated && (product == "" || product == a.Product) {
			list = append(list, a.Action)
		}
	}
	return list
}

// completeScenario offers the library, and files.
func completeScenario(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.LibraryNames(), cobra.ShellCompDirectiveDefault
}

// namedBy are the kinds whose ids parameters of calls are.
var namedBy = map[string]string{
	"LoadBalancerId": "lb", "ListenerId": "listener", "VServerGroupId": "group", "MasterSlaveServerGroupId": "group", "ServerGroupId": "group", "AclId": "acl",
	"ServerCertificateId": "cert", "CACertificateId": "cert", "VSwitchId": "vswitch", "AllocationId": "eip", "InstanceId": "instance",
}

// completeValue offers the values of a parameter of an action: the user typed name=.
func completeValue(cmd *cobra.Command, action names.Action, name string) (list []string) {
	var values []string
	for _, p := range action.Parameters() {
		switch {
		case typedName(p.Name) != name:
		case p.Type == "bool":
			values = []string{"true", "false"}
		default:
			values = p.Values
		}
	}
	if kind := namedBy[name]; kind != "" {
		values = queryEmulator(cmd, func(ctx context.Context, c *controlclient.Client) (ids []string) {
			found, _ := c.Resources(ctx, controlclient.Wanted{Kind: kind}) // offer none then
			for _, r := range found.Resources {
				ids = append(ids, r.ID)
			}
			return ids
		})
	}
	for _, value := range values {
		list = append(list, name+"="+value)
	}
	return list
}

// completeFlag offers values of a flag of a command.
func completeFlag(cmd *cobra.Command, flag string, offer completing) {
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // there is no such flag
	}
}

// choices offers some words alone.
func choices[T ~string](list ...T) completing {
	return func(*cobra.Command, []string, string) (words []string, _ cobra.ShellCompDirective) {
		for _, word := range list {
			words = append(words, string(word))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeWait offers what clbemu wait waits for: kinds need a name.
func completeWait(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	list := []string{"ready", "call=", "name="}
	for _, k := range inventory.Kinds() {
		list = append(list, k.Name+"=")
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeEverywhere offers values of the flags that mean the same of every command.
func completeEverywhere(cmd *cobra.Command) {
	for flag, offer := range map[string]completing{
		"region": fromEmulator(regionNames), "account": fromEmulator(accountIDs), "access-key-id": fromEmulator(accessKeys),
		"cloud": fromEmulator(cloudNames),
		"part":  choices(scenarios.ClientPart, scenarios.KubernetesPart), "shell": choices("sh", "fish", "powershell", "dotenv"),
		"engine": choices(emulator.Bolt, emulator.Memory, engineEtcd), "auth": choices(authStrict, authOff),
		"data-plane": choices(emulator.DataPlanes...), "data-plane-source": choices(sourceOwn, sourceTransparent), "read": choices(readLeader, readLocal),
		"log-format": choices(logAuto, logConsole, logJSON), "log-level": choices("debug", "info", "warn", "error"), "for": completeWait,
	} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Value.Type() == "string" {
			completeFlag(cmd, flag, offer)
		}
	}
	for _, sub := range cmd.Commands() {
		completeEverywhere(sub)
	}
}
