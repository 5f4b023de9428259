package explore

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/scenarios"
)

// atRest is the row of the table for what happens at rest.
const atRestRow = "at rest"

// gridRow is a row of the table, with the outcomes of each cell.
type gridRow struct {
	name  string
	cells [][]Outcome
}

// thenAt stands between the first disturbance of a pair and the call of the second.
const thenAt = ", then at "

// Table returns the outcomes of the plays: a row for each call and a column for each kind. A
// pair is in the row of its first disturbance with the call of the second, and in the column of
// the kind of the second. A cell has the violated rules, "ok", or "-" where
// it had no play.
func (r *Report) Table() (header []string, rows [][]string) {
	columns, grid := r.grid()
	for _, row := range grid {
		line := []string{row.name}
		for _, outcomes := range row.cells {
			line = append(line, cell(outcomes))
		}
		rows = append(rows, line)
	}
	return append([]string{"CALL"}, upper(columns)...), rows
}

// grid returns the table's columns and rows.
func (r *Report) grid() (columns []string, rows []gridRow) {
	cells := make(map[string]map[string][]Outcome)
	order := []string{}
	for _, c := range r.Calls {
		order = append(order, c.String())
	}
	order = append(order, atRestRow)
	used := make(map[string]bool)
	for _, o := range r.Outcomes {
		if len(o.Disturbances) == 0 {
			continue
		}
		d := o.Disturbances[len(o.Disturbances)-1]
		row := atRestRow
		if d.At.Action != "" {
			row = d.At.String()
		}
		if len(o.Disturbances) > 1 {
			row = strings.Replace(o.Disturbances[0].String()+thenAt+row, thenAt+atRestRow, ", then "+atRestRow, 1)
		}
		if cells[row] == nil {
			cells[row] = make(map[string][]Outcome)
			if len(o.Disturbances) > 1 {
				order = append(order, row)
			}
		}
		cells[row][d.Kind] = append(cells[row][d.Kind], o)
		used[d.Kind] = true
	}
	for _, k := range kinds {
		columns = append(columns, k.name)
	}
	columns = append(columns, againKind)
	for _, h := range manualChanges {
		if !slices.Contains(columns, h.name) {
			columns = append(columns, h.name)
		}
	}
	columns = slices.DeleteFunc(columns, func(name string) bool { return !used[name] })
	for _, name := range order {
		if cells[name] == nil {
			continue
		}
		row := gridRow{name: name}
		for _, column := range columns {
			row.cells = append(row.cells, cells[name][column])
		}
		rows = append(rows, row)
	}
	return columns, rows
}

func upper(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strings.ToUpper(text)
	}
	return all
}

// cell sums up outcomes.
func cell(outcomes []Outcome) string {
	var bad []string
	fine, idle := 0, 0
	for _, o := range outcomes {
		switch o.Verdict {
		case Violated:
			bad = append(bad, o.Rule)
		case Known:
			bad = append(bad, "("+o.Rule+")")
		case Broken:
			bad = append(bad, "broken")
		case Idle:
			idle++
		default:
			fine++
		}
	}
	slices.Sort(bad)
	switch bad = slices.Compact(bad); {
	case len(bad) > 0:
		return strings.Join(bad, " ")
	case fine > 0:
		return "ok"
	case idle > 0:
		return "idle"
	}
	return "-"
}

// NotPlayed says of each kind of plays that could not run why, once.
func (r *Report) NotPlayed() (all []string) {
	said := make(map[string]bool)
	for _, o := range r.Outcomes {
		if key := alike(o.Why); o.Verdict == Broken && !said[key] {
			said[key] = true
			all = append(all, o.ID+": "+o.Why)
		}
	}
	return all
}

// Count counts the outcomes by verdict.
func (r *Report) Count() map[Verdict]int {
	count := make(map[Verdict]int)
	for _, o := range r.Outcomes {
		count[o.Verdict]++
	}
	return count
}

// WriteJUnit writes a case for each play.
func (r *Report) WriteJUnit(w io.Writer) error {
	results := make([]scenarios.Result, len(r.Outcomes))
	for i, o := range r.Outcomes {
		results[i] = o.result(r.Scenario)
	}
	return scenarios.WriteJUnit(w, results)
}

func (o *Outcome) result(scenario string) scenarios.Result {
	is := scenarios.Result{Scenario: scenario, Part: o.ID, Seconds: o.Seconds, Status: scenarios.Passed}
	switch o.Verdict {
	case Violated:
		is.Status = scenarios.Failed
		is.Failure = &scenarios.Failure{Step: o.ID, Unmet: []scenarios.Unmet{{Step: o.Rule, Expected: o.Expected, Seen: o.Seen}}}
	case Known:
		is.Status, is.Reason = scenarios.Skipped, fmt.Sprintf("known violation of %s: %s", o.Rule, o.Why)
	case Idle:
		is.Status, is.Reason = scenarios.Skipped, cmp.Or(o.Why, "the disturbance did not happen")
	case Broken:
		is.Status = scenarios.Broken
		is.Failure = &scenarios.Failure{Step: o.ID, Reason: o.Why}
	}
	return is
}
