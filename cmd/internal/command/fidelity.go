package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/cmd/internal/trail"
	"github.com/clbemu/clbemu/emulator/target/private"
)

func newFidelity() *cobra.Command {
	c := &cobra.Command{
		Use:   "fidelity",
		Short: "Hold clbemu against the cloud",
		Long: `Hold clbemu against the cloud.

docs/fidelity.md and clbemu actions --fidelity say how much of what is published about
the cloud holds here. These commands compare with what the cloud really answered.`,
		Args: noArgs,
		RunE: help,
	}
	c.AddCommand(newFidelityCheck(), newFidelityRun(), newFidelityClean())
	return c
}

func newFidelityCheck() *cobra.Command {
	var play bool
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Find what clbemu would have answered otherwise than the cloud did",
		Long: `Find what clbemu would have answered otherwise than the cloud did.

A FILE has events of ActionTrail (a list, an object with Events or Records, one after the
other, or as Simple Log Service and EventBridge have them), the journal of clbemu as JSON,
or a log of the Cloud Controller Manager at -v=5; gzip is read too, and - is standard
input. Each event is held against what clbemu knows: is the
action emulated, are its parameters known, can it answer the code, with that status, and
does it answer the fields. With --play, the calls are made again, in order, in a private
cloud, as far as they need nothing that the file does not create, and the answers are compared.

Nothing of the file but names and codes is printed, so that the output can be attached to
an issue. Memory does not grow with the file: what is longer than 4 MiB is passed over.`,
		Example: `  clbemu fidelity check actiontrail.json
  clbemu fidelity check --play events-*.json.gz
  kubectl -n kube-system logs deploy/cloud-controller-manager | clbemu fidelity check -
  clbemu journal --json | clbemu fidelity check -`,
		Args: oneOrMore("the files to check"),
		RunE: func(cmd *cobra.Command, args []string) error {
			checked := checkedTrails{Findings: []trail.Finding{}}
			findings := trail.NewFindings(knownNames())
			var failed error
			for _, file := range args {
				if err := checked.add(cmd, file, findings, play); err != nil {
					failed = errors.Join(failed, fmt.Errorf("%s: %w", file, err))
				}
			}
			checked.Findings, checked.Dropped = append(checked.Findings, findings.Sorted()...), findings.Dropped
			switch {
			case failed == nil:
				return printing(cmd).show(checked, checked.print)
			case checked.Read != trail.Read{}: // what was read before counts
				failed = errors.Join(printing(cmd).show(checked, checked.print), failed)
			}
			return cannot(failed)
		},
	}
	c.Flags().BoolVar(&play, "play", false, "make the calls again in a private cloud, and compare the answers")
	return c
}

// checkedTrails has the findings of all files.
type checkedTrails struct {
	trail.Read
	Played   int             `json:"played"`
	Skipped  int             `json:"skipped"`
	Findings []trail.Finding `json:"findings"`
	Dropped  int             `json:"dropped,omitempty"`
}

// add reads a file.
func (c *checkedTrails) add(cmd *cobra.Command, file string, findings *trail.Findings, play bool) error {
	from := cmd.InOrStdin()
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return err
		}
		defer opened.Close() //nolint:errcheck // it was only read
		from = opened
	}
	return c.read(cmd.Context(), from, findings, play)
}

func (c *checkedTrails) read(ctx context.Context, from io.Reader, findings *trail.Findings, play bool) (err error) {
	each := findings.Judge
	var failed error
	if play {
		forks, err := private.NewForks(ctx)
		if err != nil {
			return err
		}
		cloud, err := forks.Fork(ctx)
		if err != nil {
			return errors.Join(err, forks.Close(ctx))
		}
		player := trail.NewPlayer(cloud, findings)
		each = func(e *trail.Event) bool {
			here := findings.Judge(e)
			if here && failed == nil {
				failed = player.Play(ctx, e)
			}
			return here
		}
		defer func() {
			c.Played, c.Skipped = c.Played+player.Played, c.Skipped+player.Skipped
			err = errors.Join(err, cloud.Close(ctx), forks.Close(ctx))
		}()
	}
	read, err := trail.Each(from, each)
	c.Events, c.Elsewhere, c.Unread, c.Long = c.Events+read.Events, c.Elsewhere+read.Elsewhere, c.Unread+read.Unread, c.Long+read.Long
	return errors.Join(err, failed)
}

// findingWords says what each kind of finding means.
var findingWords = map[string]string{
	"action":    "the action is not emulated",
	"parameter": "the parameter is not known",
	"code":      "the code can't be answered",
	"status":    "the code has another status",
	"field":     "the field is not answered",
	"answer":    "the answer differs",
	"value":     "the value differs",
}

func (c *checkedTrails) print(s *terminal.Screen) error {
	s.Printf("%d events", c.Events)
	if c.Elsewhere+c.Unread+c.Long > 0 {
		s.Printf("; passed over: %d of other services or no calls, %d pieces that are no events, %d that are too long", c.Elsewhere, c.Unread, c.Long)
	}
	if c.Played+c.Skipped > 0 {
		s.Printf("; %d were played again, %d need what the file does not create", c.Played, c.Skipped)
	}
	s.Printf("\n")
	switch {
	case c.Events == 0:
		s.Printf("No event is of a service that clbemu emulates.\n")
		return nil
	case len(c.Findings) == 0:
		s.Printf("clbemu knows all that is in them.\n")
		return nil
	}
	var lines [][]string
	for _, f := range c.Findings {
		lines = append(lines, []string{strconv.Itoa(f.Times), f.Action, findingWords[f.Kind], f.What})
	}
	err := s.Table([]string{"TIMES", "ACTION", "DIFFERENCE", "WHAT"}, lines)
	if c.Dropped > 0 {
		s.Printf("%d events with yet other differences are not listed.\n", c.Dropped)
	}
	return err
}
