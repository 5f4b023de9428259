package command

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
)

// journalFlags select entries and their form.
type journalFlags struct {
	action, code, key, sinceMark string
	where                        []string
	since                        uint64
	limit                        int
	follow, counts               bool
}

func newJournal() *cobra.Command {
	f := &journalFlags{}
	cmd := addRemote(&cobra.Command{
		Use:   "journal",
		Short: "Show the calls to a running emulator and the changes made to it",
		Long: `Show the calls to a running emulator, oldest first, one per line: emulated time,
action, the resource it names or created, status and code, duration, caller, fault
rules that took effect, parameters that the emulator ignores, and other parameters.
Failed calls and calls changed by a rule start with !, changes through the control
API and marks with *. What a fault rule strikes at a listener starts with !, and
connections and requests, with clbemu serve --access-log, with +. The journal never
holds secrets.`,
		Example: `  clbemu journal --follow
  clbemu journal --action '*LoadBalancer*' --code OK
  clbemu journal --where resource=lb-bp1example --where status=400 --json
  clbemu journal --where kind=traffic --follow
  clbemu journal mark before
  clbemu journal --since-mark before --counts`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error { return f.show(cmd, c) })
	flags := cmd.Flags()
	flags.BoolVar(&f.follow, "follow", false, "keep printing new entries until interrupted")
	flags.StringVar(&f.action, "action", "", "actions: a glob, or several separated by commas")
	flags.StringVar(&f.code, "code", "", "error code, or OK")
	flags.StringVar(&f.key, "key", "", "access key id")
	flags.StringArrayVar(&f.where, "where", nil, "another field, NAME=VALUE: kind, sequence, requestId, userAgent, product, region, resource, made, status, fault, unread, text, refused, from, to or params.<Name>")
	flags.Uint64Var(&f.since, "since", 0, "entries after this sequence number")
	flags.StringVar(&f.sinceMark, "since-mark", "", "entries after this mark")
	flags.IntVar(&f.limit, "limit", 100, "number of newest entries (0: all)")
	flags.BoolVar(&f.counts, "counts", false, "count the calls by action and code instead")
	completeFlag(cmd, "since-mark", fromEmulator(markNames))
	completeFlag(cmd, "action", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return emulatedNames(runningActions(cmd), ""), cobra.ShellCompDirectiveNoFileComp
	})
	completeFlag(cmd, "code", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(wholeCodes(), journal.Success), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.AddCommand(newJournalMark(), newJournalMarks(), newJournalClear())
	return cmd
}

// query returns the query to the control API.
func (f *journalFlags) query(cmd *cobra.Command) (url.Values, error) {
	if f.follow && f.counts {
		return nil, usage(errors.New("--follow and --counts can't be used together"))
	}
	q := url.Values{"limit": {strconv.Itoa(f.limit)}}
	for name, value := range map[string]string{"action": f.action, "code": f.code, "accessKeyId": f.key, "sinceMark": f.sinceMark} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if cmd.Flags().Changed("since") {
		q.Set("since", strconv.FormatUint(f.since, 10))
	}
	for _, condition := range f.where {
		name, value, ok := strings.Cut(condition, "=")
		if !ok {
			return nil, usage(fmt.Errorf("--where takes NAME=VALUE, not %q", condition))
		}
		q.Set(name, value)
	}
	return q, nil
}

func (f *journalFlags) show(cmd *cobra.Command, c *controlclient.Client) error {
	q, err := f.query(cmd)
	if err != nil {
		return err
	}
	p := printing(cmd)
	lines := newEntryLines(p.screen)
	show := func(e *journal.Entry) error { return p.line(e, lines.text(e)) }
	if f.follow {
		err := c.Follow(cmd.Context(), q, show, func(n uint64) { printMissed(cmd.ErrOrStderr(), n) })
		if cmd.Context().Err() != nil {
			return nil // to interrupt it is how it ends
		}
		return err
	}
	page, err := c.Journal(cmd.Context(), q)
	if err != nil {
		return err
	}
	if page.Missed > 0 && (q.Has("since") || q.Has("sinceMark")) {
		printMissed(cmd.ErrOrStderr(), page.Missed)
	}
	if f.counts {
		return printCounts(p, page.Counts)
	}
	for _, e := range page.Entries {
		if err := show(e); err != nil {
			return cannot(err)
		}
	}
	return nil
}

func printMissed(w io.Writer, n uint64) {
	fmt.Fprintf(w, "# %s missing: the journal was full\n", counted(n, "entry"))
}

func printCounts(p *printer, counts []journal.Count) error {
	return p.show(list("counts", counts), func(s *terminal.Screen) error {
		var rows [][]string
		for _, c := range counts {
			rows = append(rows, []string{printable(c.Action), printable(c.Code), strconv.Itoa(c.Calls)})
		}
		return s.Table([]string{"ACTION", "CODE", "CALLS"}, rows)
	})
}

func newJournalMark() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:     "mark NAME",
		Short:   "Name the current end of the journal, for --since-mark",
		Example: "  clbemu journal mark before",
		Args:    oneName("a mark"),
	}, func(cmd *cobra.Command, args []string, c *controlclient.Client) error {
		if err := c.Mark(cmd.Context(), args[0]); err != nil {
			return err
		}
		return printChange(cmd, "mark %s is set", args[0])
	})
}

func newJournalMarks() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:     "marks",
		Short:   "List the marks in order of their positions",
		Example: "  clbemu journal marks",
		Args:    noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
		marks, err := c.Marks(cmd.Context())
		if err != nil {
			return err
		}
		return printing(cmd).show(controlapi.Marks{Marks: append([]journal.Mark{}, marks...)}, func(s *terminal.Screen) error {
			var rows [][]string
			for _, m := range marks {
				rows = append(rows, []string{m.Name, strconv.FormatUint(m.Sequence, 10), m.Time.Format(entryTime)})
			}
			return s.Table([]string{"MARK", "SEQUENCE", "TIME"}, rows)
		})
	})
}

func newJournalClear() *cobra.Command {
	return addRemote(&cobra.Command{
		Use:     "clear",
		Short:   "Empty the journal in memory; marks and the journal file stay",
		Example: "  clbemu journal clear",
		Args:    noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
		if err := c.ClearJournal(cmd.Context()); err != nil {
			return err
		}
		return printChange(cmd, "the journal is empty")
	})
}
