package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/inventory"
)

// getFlags choose what to show.
type getFlags struct {
	stateFlags
	where controlapi.Where
	watch bool
}

func newGet() *cobra.Command {
	f := &getFlags{}
	cmd := f.addWriting(&cobra.Command{
		Use:   "get [KIND] [NAME|ID]",
		Short: "Show the cloud's resources, or a load balancer with everything that belongs to it",
		Long: `Show the cloud's resources: all kinds, one kind, or those with a name or an id, which
may be a glob. For a single load balancer of CLB or NLB, show its listeners, the servers
they forward to and their health, its addresses, its quotas, and the fault rules that
may affect it.

Kinds:
` + kindsText(),
		Example: `  clbemu get lb
  clbemu get lb web
  clbemu get listeners lb-bp1example -o wide
  clbemu get backends -w
  clbemu get all -o yaml`,
		Args:              atMost(2, "a kind and a name"),
		ValidArgsFunction: completeKind,
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		wanted := controlclient.Wanted{Where: f.where}
		if len(args) > 0 {
			wanted.Kind = args[0]
		}
		if len(args) > 1 {
			wanted.Name = args[1]
		}
		return f.get(cmd, c, wanted)
	})
	flags := cmd.Flags()
	flags.BoolVarP(&f.watch, "watch", "w", false, "keep printing changes until interrupted")
	flags.StringVar(&f.where.AccountID, "account", "", "only resources of this account")
	flags.StringVar(&f.where.RegionID, "region", "", "only resources in this region")
	return cmd
}

// kindsText lists the kinds for help.
func kindsText() string {
	text := fmt.Sprintf("  %-9s everything\n", inventory.All)
	for _, k := range inventory.Kinds() {
		text += fmt.Sprintf("  %-9s %s  (%s)\n", k.Name, strings.ToLower(k.Title[:1])+k.Title[1:], strings.Join(k.Aliases, ", "))
	}
	return strings.TrimRight(text, "\n")
}

func (f *getFlags) get(cmd *cobra.Command, c *controlclient.Client, wanted controlclient.Wanted) error {
	p := printing(cmd)
	if f.watch {
		return f.follow(cmd, p, c, wanted)
	}
	found, err := c.Resources(cmd.Context(), wanted)
	if err != nil {
		return err
	}
	defer warn(cmd, found.Warnings)
	if len(found.Kinds) == 1 && wanted.Name != "" && len(found.Resources) == 1 && found.Resources[0].Kind == "lb" {
		tree, err := c.LoadBalancer(cmd.Context(), wanted.Where, found.Resources[0].ID)
		if err != nil {
			return err
		}
		typed, err := knownForms().tree(&tree)
		if err != nil {
			return err
		}
		return p.show(typed, func(s *terminal.Screen) error {
			s.Printf("%s\n", treeText(&tree))
			return nil
		})
	}
	shown := struct {
		Resources []typedResource `json:"resources"`
		Warnings  []string        `json:"warnings,omitempty"`
	}{knownForms().resources(found.Resources), found.Warnings}
	return p.show(shown, func(s *terminal.Screen) error {
		if len(found.Resources) == 0 {
			s.Printf("%s", s.Fit(nothing(wanted.Kind, found.Kinds), 0))
			return nil
		}
		return printResources(s, p.form == formWide, found)
	})
}

// printResources prints a table for each kind that has resources.
func printResources(s *terminal.Screen, wide bool, found controlapi.Resources) error {
	shown := 0
	for _, k := range found.Kinds {
		header, rows := tableOf(&k, wide, found.Resources)
		if len(rows) == 0 {
			continue
		}
		if len(found.Kinds) > 1 {
			if shown > 0 {
				s.Printf("\n")
			}
			s.Printf("%s\n", terminal.Title.Render(k.Title))
		}
		shown++
		if err := s.Table(header, rows); err != nil {
			return err
		}
	}
	return nil
}

// nothing says that there is nothing of the kinds asked for, and how clients create a
// load balancer, if that is missing.
func nothing(asked string, kinds []controlapi.ResourceKind) string {
	title := "Resources"
	if len(kinds) == 1 {
		title = kinds[0].Title
	}
	text := title + ": there are none."
	if asked != "nlb" && (len(kinds) != 1 || kinds[0].Name == "lb") {
		text += " Clients create them, for example with `clbemu call CreateLoadBalancer`."
	}
	return text + "\n"
}

func tableOf(k *controlapi.ResourceKind, wide bool, list []controlapi.Resource) (header []string, rows [][]string) {
	var columns []string
	for _, c := range k.Columns {
		if wide || !c.Wide {
			columns = append(columns, c.Name)
			header = append(header, strings.ToUpper(c.Name))
		}
	}
	for i := range list {
		if list[i].Kind != k.Name {
			continue
		}
		row := make([]string, len(columns))
		for n, c := range columns {
			row[n] = printable(list[i].Column(c))
		}
		rows = append(rows, row)
	}
	return header, rows
}

// signs mark lines of what changes.
var signs = map[string]string{controlapi.ResourceAdded: "+", controlapi.ResourceChanged: "~", controlapi.ResourceDeleted: "-"}

// follow prints resources as get does, and then a line for each change.
func (f *getFlags) follow(cmd *cobra.Command, p *printer, c *controlclient.Client, wanted controlclient.Wanted) error {
	if f.inFolder {
		return usage(errors.New("--watch needs a running emulator: the folder of a stopped one does not change"))
	}
	kinds := make(map[string]controlapi.ResourceKind)
	for _, k := range inventory.Kinds() {
		kinds[k.Name] = k
	}
	typing := knownForms()
	var first controlapi.Resources
	synced := p.forPrograms()
	err := c.WatchResources(cmd.Context(), wanted, func(change controlapi.ResourceChange) error {
		switch {
		case change.Resource == nil && !synced:
			synced = true
			first.Kinds = slices.DeleteFunc(inventory.Kinds(), func(k controlapi.ResourceKind) bool {
				return !slices.ContainsFunc(first.Resources, func(r controlapi.Resource) bool { return r.Kind == k.Name })
			})
			if len(first.Resources) == 0 {
				return nil
			}
			return printResources(p.screen, p.form == formWide, first)
		case change.Resource == nil:
			return nil
		case !synced:
			first.Resources = append(first.Resources, *change.Resource)
			return nil
		}
		k := kinds[change.Resource.Kind]
		_, rows := tableOf(&k, p.form == formWide, []controlapi.Resource{*change.Resource})
		said := struct {
			Change   string        `json:"change"`
			Resource typedResource `json:"resource"`
		}{change.Change, typing.resource(change.Resource)}
		return p.line(said, strings.TrimRight(signs[change.Change]+" "+k.Name+"  "+strings.Join(rows[0], "  "), " "))
	})
	if cmd.Context().Err() != nil {
		return nil // to interrupt it is how it ends
	}
	return err
}
