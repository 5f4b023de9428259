package command

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/fidelity"
)

func newActions() *cobra.Command {
	var published bool
	c := &cobra.Command{
		Use:   "actions",
		Short: "List the API's actions and which of them are emulated",
		Long: `List the API's actions and which of them are emulated.

With --fidelity, list how much of what is published about each action of CLB and NLB
holds here: statements of pages, SDKs, clients and reports, each of which a test plays.
The last column weighs by use: of what the CCM and Terraform send and read in plays, how
much is stated and holds.`,
		Example: `  clbemu actions
  clbemu actions --fidelity
  clbemu actions --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if published {
				return showFidelity(cmd)
			}
			rows := emulator.Actions()
			return printing(cmd).show(list("actions", rows), func(s *terminal.Screen) error {
				var lines [][]string
				for _, row := range rows {
					lines = append(lines, []string{row.Product, row.Action, yesNo(row.Emulated)})
				}
				return s.Table([]string{"PRODUCT", "ACTION", "EMULATED"}, lines)
			})
		},
	}
	c.Flags().BoolVar(&published, "fidelity", false, "list how much of what is published holds")
	return c
}

// scored is an action with how its statements stand.
type scored struct {
	Product string `json:"product"`
	Action  string `json:"action"`
	fidelity.Score
	Share      float64 `json:"share"`
	ShareOfUse float64 `json:"shareOfUse"`
}

func (s *scored) row() []string {
	row := []string{s.Product, s.Action, fmt.Sprintf("%.1f %%", s.Share)}
	for _, n := range []int{s.Published, s.Holds, s.ByValue, s.ByBehaviour, s.ByStatus, s.Differs, s.Open, s.Unchecked} {
		row = append(row, strconv.Itoa(n))
	}
	if s.Used == 0 {
		return append(row, "") // no client calls it
	}
	return append(row, fmt.Sprintf("%.1f %%", s.ShareOfUse))
}

func showFidelity(cmd *cobra.Command) error {
	files, err := fidelity.Load(nil)
	if err != nil {
		return err
	}
	sum := scored{Product: "all"}
	rows := make([]scored, 0, len(files))
	for _, f := range files {
		score := f.Score()
		sum.Score.Add(score)
		rows = append(rows, scored{f.Product, f.Action, score, score.Share(), score.ShareOfUse()})
	}
	sum.Share, sum.ShareOfUse = sum.Score.Share(), sum.Score.ShareOfUse()
	return printing(cmd).show(list("actions", append(rows, sum)), func(s *terminal.Screen) error {
		var lines [][]string
		for i := range rows {
			lines = append(lines, rows[i].row())
		}
		return s.Table([]string{"PRODUCT", "ACTION", "SHARE", "STATEMENTS", "HOLD", "VALUE", "BEHAVIOUR", "STATUS", "DIFFER", "OPEN", "UNCHECKED", "OF USE"}, append(lines, sum.row()))
	})
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
