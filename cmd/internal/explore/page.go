package explore

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/clbemu/clbemu/scenarios"
)

// Line is a call in the journal of a play.
type Line struct {
	Product string            `json:"product"`
	Action  string            `json:"action"`
	Params  map[string]string `json:"params,omitempty"`
	Status  int               `json:"status"`
	Code    string            `json:"code,omitempty"`
	Faults  []string          `json:"faults,omitempty"`
	// Hand marks changes made by hand.
	Hand bool `json:"hand,omitempty"`
}

// The bounds of the journal of a play, and of all journals on a page.
const (
	maxLines     = 500
	maxParamText = 200
	maxJournals  = 16 << 20
)

// linesOf returns the journal of a play without what the runner looked at. Of a long one,
// it leaves out the middle.
func (e *explorer) linesOf(journal []scenarios.JournalCall) (lines []Line, omitted int) {
	for _, c := range journal {
		if c.UserAgent == scenarios.ObserverAgent {
			continue
		}
		line := Line{Product: c.Product, Action: c.Action, Params: maps.Clone(c.Params), Status: c.Status, Code: c.Code, Faults: c.Faults,
			Hand: e.subject.program && c.UserAgent == scenarios.ClientAgent}
		for name, value := range line.Params {
			if runes := []rune(value); len(runes) > maxParamText {
				line.Params[name] = string(runes[:maxParamText]) + "…"
			}
		}
		lines = append(lines, line)
	}
	if omitted = len(lines) - maxLines; omitted <= 0 {
		return lines, 0
	}
	return slices.Delete(lines, maxLines/2, maxLines/2+omitted), omitted
}

// interrupted says that the user ended an exploration.
const interrupted = "it was interrupted"

// Page is an exploration as the console shows it.
type Page struct {
	Scenario string  `json:"scenario"`
	Part     string  `json:"part"`
	Client   string  `json:"client"`
	Summary  Summary `json:"summary"`
	Stopped  string  `json:"stopped,omitempty"`
	// Findings are the violations, and Columns and Rows the table of the plays with one
	// disturbance.
	Findings []PageFinding `json:"findings"`
	Columns  []string      `json:"columns"`
	Rows     []PageRow     `json:"rows"`
	Plays    []Outcome     `json:"plays"`
}

// PageFinding is a violation, with its plays.
type PageFinding struct {
	Rule       string   `json:"rule"`
	Known      string   `json:"known,omitempty"`
	Difference []Change `json:"difference"`
	Plays      []string `json:"plays"`
}

// PageRow is a row of the table.
type PageRow struct {
	Name  string     `json:"name"`
	Cells []PageCell `json:"cells"`
}

// PageCell is a cell of the table: the plays that it sums up, by id.
type PageCell struct {
	Text  string   `json:"text"`
	Plays []string `json:"plays,omitempty"`
}

// Page returns what the console shows. If the journals are too large together, it leaves out those
// of fine plays first.
func (r *Report) Page() *Page {
	p := &Page{Scenario: r.Scenario, Part: r.Part, Client: r.Client, Summary: r.Summary(), Stopped: r.Stopped, Findings: []PageFinding{}, Rows: []PageRow{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		p.Findings = append(p.Findings, PageFinding{f.Rule, f.Known, f.Difference(), f.Plays})
	}
	columns, rows := r.grid()
	p.Columns = upper(columns)
	for _, row := range rows {
		is := PageRow{Name: row.name}
		for _, outcomes := range row.cells {
			c := PageCell{Text: cell(outcomes)}
			for _, o := range outcomes {
				c.Plays = append(c.Plays, o.ID)
			}
			is.Cells = append(is.Cells, c)
		}
		p.Rows = append(p.Rows, is)
	}
	p.Plays = slices.Clone(r.Outcomes)
	room := maxJournals
	for _, fine := range []bool{false, true} {
		for i := range p.Plays {
			if o := &p.Plays[i]; (o.Verdict == Fine || o.Verdict == Idle) == fine {
				text, _ := json.Marshal(o.Journal) // texts and numbers
				if room -= len(text); room < 0 {
					o.Omitted, o.Journal = o.Omitted+len(o.Journal), nil
				}
			}
		}
	}
	return p
}

// Summary counts the plays, in all and by verdict.
type Summary struct {
	Count   map[Verdict]int `json:"count"`
	Made    int             `json:"made"`
	Seconds float64         `json:"seconds"`
	Waiting float64         `json:"waiting"`
}

// Summary sums the plays up.
func (r *Report) Summary() Summary {
	return Summary{Count: r.Count(), Made: len(r.Outcomes), Seconds: r.Seconds, Waiting: r.Waiting()}
}

func (s Summary) String() string {
	return fmt.Sprintf("%d plays in %.1f s (%.0f a minute, %.0f %% of the time waiting): %d fine, %d violated, %d known, %d idle, %d could not run", s.Made, s.Seconds,
		60*float64(s.Made)/max(s.Seconds, 0.001), 100*s.Waiting, s.Count[Fine], s.Count[Violated], s.Count[Known], s.Count[Idle], s.Count[Broken])
}

// Waiting returns the share of the plays' time that they spent waiting for the client.
func (r *Report) Waiting() float64 {
	seconds, waited := 0.0, 0.0
	for _, o := range r.Outcomes {
		seconds, waited = seconds+o.Seconds, waited+o.Waited
	}
	return waited / max(seconds, 0.001)
}

// WithoutJournals returns the report without the journals of its plays.
func (r *Report) WithoutJournals() *Report {
	brief := *r
	brief.Outcomes = slices.Clone(r.Outcomes)
	for i := range brief.Outcomes {
		brief.Outcomes[i].Journal, brief.Outcomes[i].Omitted = nil, 0
	}
	return &brief
}
