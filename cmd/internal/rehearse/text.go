package rehearse

import (
	"cmp"
	"fmt"
	"strings"
)

// summary says what a phase brought, in some words.
func (p *Phase) summary() string {
	switch findings := len(p.Findings()); {
	case p.Skipped != "":
		return "not played: " + p.Skipped
	case findings > 0:
		return fmt.Sprintf("%d of %d calls are findings", findings, len(p.Changes))
	case p.Unrested != "":
		return "it did not end"
	case len(p.Changes) == 0:
		return "nothing changes"
	}
	if before := len(p.before()); before > 0 {
		return fmt.Sprintf("%d calls should follow, the old version makes %d others too", len(p.Changes)-before, before)
	}
	return fmt.Sprintf("%d calls, all of which should follow", len(p.Changes))
}

// before returns the changes that should not follow but that the old version makes too, such as
// repairs of edits by hand that waited for the next edit of a Service.
func (p *Phase) before() (list []*Change) {
	for _, c := range p.Changes {
		if c.Before && !c.Meant {
			list = append(list, c)
		}
	}
	return list
}

// Lines returns the report for a terminal: findings, what the old version does too, and the rest in
// numbers.
func (r *Report) Lines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%d Services on %d nodes", r.Services, r.Nodes)
	for _, note := range r.Notes {
		add("  note: %s", note)
	}
	if r.Drift != nil {
		add("drift, which the old version changes already: %d calls", len(r.Drift.Changes))
		lines = append(lines, rows(r.Drift.Changes)...)
		lines = append(lines, r.Drift.more()...)
	}
	for _, p := range r.Phases {
		add("%s: %s", p.Name, p.summary())
		lines = append(lines, rows(p.Findings())...)
		if before := p.before(); len(before) > 0 {
			add("  the old version too:")
			lines = append(lines, rows(before)...)
		}
		lines = append(lines, p.more()...)
	}
	lines = append(lines, r.end()...)
	if r.Problems() == 0 {
		add("the new version changes nothing that it should not")
	}
	return lines
}

// rows returns the changes by Service, in their order.
func rows(changes []*Change) (lines []string) {
	last := "-"
	for _, c := range changes {
		of := cmp.Or(c.Services, "no Service")
		if c.LoadBalancer != "" {
			of += " (" + c.LoadBalancer + ")"
		}
		if of != last {
			lines = append(lines, "  "+of)
			last = of
		}
		lines = append(lines, "    "+c.Words())
		for _, d := range c.Details() {
			lines = append(lines, "      "+d)
		}
		for _, f := range c.Felt {
			lines = append(lines, "      clients notice: "+f.String())
		}
	}
	return lines
}

// end says what is left, what a manifest got and what an exploration found.
func (r *Report) end() (lines []string) {
	add := func(format string, args ...any) { // one line, whatever texts of controllers have
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	}
	for _, text := range r.Left {
		add("in the end: %s", text)
	}
	for i := range r.Applied {
		a := &r.Applied[i]
		add("%s: %s", a.Service, cmp.Or(a.Problem, "it gets "+strings.Join(a.Addresses, ", ")))
		for _, l := range a.Listeners {
			add("  %s", l)
		}
	}
	if x := r.Explored; x != nil {
		if add("explore: %d violations in %d plays, each with a disturbed call", len(x.Findings), x.Plays); x.Stopped != "" {
			add("  stopped: %s", x.Stopped)
		}
		for i := range x.Findings {
			f := &x.Findings[i]
			add("  %s, rule %s: expected %s, saw %s", f.About, f.Rule, f.Expected, f.Seen)
		}
	}
	return lines
}

// events says what clients met and what Events warn of, that counts or all.
func (p *Phase) events(all bool) (lines []string) {
	for _, b := range p.Breaks {
		if all || b.counts() {
			line := fmt.Sprintf("  clients of %s (%s): %s", cmp.Or(b.Services, "no Service"), b.LoadBalancer, b)
			if !b.counts() {
				line += ", " + b.verdict()
			}
			lines = append(lines, line)
		}
	}
	for i := range p.Warnings {
		if all || !p.Warnings[i].Meant {
			lines = append(lines, "  Event: "+p.Warnings[i].String())
		}
	}
	return lines
}

// more adds how the CCM ended.
func (p *Phase) more() (lines []string) {
	if lines = p.events(false); p.Unrested != "" {
		for line := range strings.SplitSeq(p.Unrested, "\n") {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// Markdown returns the report as a page for a change request.
func (r *Report) Markdown() string {
	var b strings.Builder
	verdict := "The new version changes nothing that it should not."
	if n := r.Problems(); n > 0 {
		verdict = fmt.Sprintf("%d findings: read them before the upgrade.", n)
	}
	fmt.Fprintf(&b, "# Rehearsal of an upgrade\n\n%s Played with %d Services on %d nodes, on a copy of the account.\n", verdict, r.Services, r.Nodes)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(note))
	}
	phases := r.Phases
	if r.Drift != nil {
		phases = append([]*Phase{r.Drift}, phases...)
	}
	for _, p := range phases {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", p.Name, p.summary())
		if len(p.Changes) > 0 {
			b.WriteString("\n| # | Service | load balancer | change | details | clients notice | |\n|---|---|---|---|---|---|---|\n")
		}
		for i, c := range p.Changes {
			var felt []string
			for _, f := range c.Felt {
				felt = append(felt, f.String())
			}
			verdict := c.verdict()
			if c.counts() {
				verdict = "**finding**"
			}
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s |\n", i+1, cell(c.Services), cell(c.LoadBalancer), cell(c.Words()), cell(strings.Join(c.Details(), "; ")), cell(strings.Join(felt, "; ")), verdict)
		}
		for _, line := range p.events(true) {
			fmt.Fprintf(&b, "\n%s\n", cell(strings.TrimSpace(line)))
		}
		if p.Unrested != "" {
			fmt.Fprintf(&b, "\n    %s\n", strings.ReplaceAll(p.Unrested, "\n", "\n    "))
		}
	}
	lines := r.end()
	if len(lines) > 0 {
		b.WriteString("\n## In the end\n\n")
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "- %s\n", cell(strings.TrimSpace(line)))
	}
	return b.String()
}

// verdict says why something is no finding, "" for a finding.
func (v Verdict) verdict() string {
	switch {
	case v.Meant:
		return "should follow"
	case v.Before:
		return "as the old version"
	}
	return ""
}

// cell returns a text for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}
