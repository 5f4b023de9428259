package command

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

func newCloud() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cloud",
		Short: "Fork clouds: whole emulated clouds side by side in one emulator",
		Long: `Fork a cloud of a running emulator. A fork starts as a copy and then has its own state,
clock, conditions, fault rules, throttling, journal and scenarios. Forking a large state
costs no more than forking a small one.

A client reaches its cloud in one of three ways:

  by access key   put "NAME." before the key's id, such as team-a.testid
  by host         NAME.localhost, at the port of all clouds
  by port         the cloud's own port, unless it was created with --port=false, or by
                  replicas that share a state

A Cloud Controller Manager asks the metadata service without a key, so give it the port.
clbemu's own commands take --cloud NAME. A cloud's console is at /clouds/NAME/ of the
control API.`,
		Args: noArgs,
		RunE: help,
	}
	cmd.AddCommand(newCloudCreate(), newCloudList(), newCloudReset(), newCloudDelete())
	return cmd
}

func newCloudCreate() *cobra.Command {
	var made controlapi.NewCloud
	cmd := addRemote(&cobra.Command{
		Use:   "create NAME",
		Short: "Fork a cloud",
		Example: `  clbemu cloud create team-a
  clbemu cloud create try --from team-a --expires 10m
  clbemu cloud create staging --durable --expires never`,
		Args: one("the name of a cloud"),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		created, err := c.CreateCloud(cmd.Context(), args[0], made)
		if err != nil {
			return err
		}
		return printing(cmd).show(created, func(s *terminal.Screen) error {
			there := "--cloud " + created.Name
			if server := cmd.Flag("server"); server.Changed {
				there += " --server " + server.Value.String()
			}
			s.Printf("%s starts as a copy of %s, and %s\n\n  eval \"$(clbemu env %s)\"\n  clbemu get %s\n", created.Name, created.From, expiryText(created), there, there)
			return nil
		})
	})
	flags := cmd.Flags()
	flags.StringVar(&made.From, "from", "", "cloud to fork (default: the cloud of --cloud)")
	flags.StringVar(&made.Expires, "expires", "24h", "when to delete it: a duration, a time such as 2027-01-02T15:04:05Z, or never")
	flags.BoolVar(&made.Durable, "durable", false, "keep it over restarts, in the data folder or in etcd")
	flags.Uint64Var(&made.Seed, "seed", 0, "seed of its ids (0: derived from its name)")
	flags.BoolVar(&made.Port, "port", true, "give it its own ports, for its API, packets and names")
	completeFlag(cmd, "from", fromEmulator(cloudNames))
	return cmd
}

// expiryText says when a cloud goes.
func expiryText(c controlapi.Cloud) string {
	if c.Expires == nil {
		return "never expires"
	}
	return "expires at " + c.Expires.Local().Format(time.RFC3339)
}

func newCloudList() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:     "list",
		Short:   "List the clouds",
		Example: "  clbemu cloud list",
		Args:    noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error { return printClouds(cmd, c) })
}

func newCloudReset() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:               "reset NAME",
		Short:             "Fork a cloud again, from the current state of its origin",
		Example:           "  clbemu cloud reset team-a",
		Args:              one("the name of a cloud"),
		ValidArgsFunction: fromEmulator(cloudNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		reset, err := c.ResetCloud(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return printChange(cmd, "%s is a copy of %s again", reset.Name, reset.From)
	})
}

func newCloudDelete() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:               "delete NAME...",
		Short:             "Delete clouds and everything in them",
		Example:           "  clbemu cloud delete team-a team-b",
		Args:              oneOrMore("the names of clouds"),
		ValidArgsFunction: fromEmulator(cloudNames),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		for _, name := range args {
			if err := c.DeleteCloud(cmd.Context(), name); err != nil {
				return err
			}
		}
		return printClouds(cmd, c)
	})
}

func cloudNames(ctx context.Context, c *controlclient.Client) (list []string) {
	clouds, _ := c.Clouds(ctx) // offer none then
	for _, cloud := range clouds {
		if cloud.Name != controlapi.DefaultCloud {
			list = append(list, cloud.Name)
		}
	}
	return list
}

func printClouds(cmd *cobra.Command, c *controlclient.Client) error {
	list, err := c.Clouds(cmd.Context())
	if err != nil {
		return err
	}
	return printing(cmd).show(controlapi.Clouds{Clouds: list}, func(s *terminal.Screen) error {
		var rows [][]string
		var problems []string
		for _, c := range list {
			if c.Problem != "" {
				rows = append(rows, []string{c.Name, "-", "-", "not opened", "-", "-", "-"})
				problems = append(problems, fmt.Sprintf("%s\n  clbemu cloud delete %s\n", c.Problem, c.Name))
				continue
			}
			expires := "never"
			if c.Expires != nil {
				expires = c.Expires.Local().Format(time.RFC3339)
			}
			kept := map[bool]string{true: "durable", false: "in memory"}[c.Durable]
			rows = append(rows, []string{c.Name, cmp.Or(c.From, "-"), expires, kept, fmt.Sprint(c.Resources), fmt.Sprint(c.Calls), cmp.Or(c.API, "-")})
		}
		if err := s.Table([]string{"CLOUD", "FROM", "EXPIRES", "KEPT", "RESOURCES", "CALLS", "API"}, rows); err != nil {
			return err
		}
		for _, problem := range problems {
			s.Printf("\n%s", problem)
		}
		return nil
	})
}
