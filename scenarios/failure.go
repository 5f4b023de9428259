package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Failure describes why a part ended early.
type Failure struct {
	File string `json:"file"`
	// Line is the line of the step, or of the first of several expectations.
	Line int    `json:"line"`
	Step string `json:"step"`
	// Reason is why it could not run.
	Reason string `json:"reason,omitempty"`
	// Unmet are the expectations that did not hold, at least one unless there is a reason.
	Unmet []Unmet `json:"unmet,omitempty"`
	// Calls are the client's, since the part began.
	Calls []FoldedCalls `json:"calls,omitempty"`
	// Faults counts the hits of the scenario's rules, since then.
	Faults []FaultHits `json:"faults,omitempty"`
	// Output is the last part of what a program wrote.
	Output string `json:"output,omitempty"`
	// Hint says what to look at first.
	Hint string `json:"hint,omitempty"`
	// Advice says what the client should do.
	Advice string `json:"advice,omitempty"`

	status Status
}

// Unmet is an expectation that did not hold, and the error of one.
type Unmet struct {
	Line int `json:"line"`
	// Kind is the step's or expectation's, such as call or state.
	Kind string `json:"kind"`
	// Step is its title, which with Expected and Seen is for people alone.
	Step     string `json:"step"`
	Expected string `json:"expected"`
	Seen     string `json:"seen"`
	// Missing are the lines that a state lacks.
	Missing []string `json:"missing,omitempty"`
	// Extra are the lines that a state has too much.
	Extra []string `json:"extra,omitempty"`
	// Code is the code of a refused call.
	Code string `json:"code,omitempty"`
	// Rule is the rule of clbemu explore, if an expectation stands for several.
	Rule string `json:"rule,omitempty"`
	// Of is the expectation, or nil if a step itself failed.
	Of *Expectation `json:"-"`

	output string // of a program
	// cannot says that the cluster did not answer, so that nothing is known of the client.
	cannot bool
}

// times says in which round of a repeat it was.
func (f *Failure) times(n int) {
	round := fmt.Sprintf(" (n is %d)", n)
	f.Step += round
	for i := range f.Unmet {
		f.Unmet[i].Step += round
	}
}

func (u Unmet) String() string { return u.Step + ": expected " + u.Expected + ", saw " + u.Seen }

// FaultHits is a fault rule with how many calls it matched and struck.
type FaultHits struct {
	Name string `json:"name"`
	Seen uint64 `json:"seen"`
	Hits uint64 `json:"hits"`
}

// FoldedCalls are calls one after another that differ in parameters alone.
type FoldedCalls struct {
	Times int `json:"times"`
	// Call is the last of them.
	Call JournalCall `json:"call"`
	// Varying are the parameters in which they differ.
	Varying []string `json:"varying,omitempty"`
}

// fold puts like calls together, in order.
func fold(calls []JournalCall) (folded []FoldedCalls) {
	for _, c := range calls {
		if n := len(folded); n > 0 && folded[n-1].takes(c) {
			continue
		}
		folded = append(folded, FoldedCalls{Times: 1, Call: c})
	}
	return folded
}

// takes adds a call that is like the others.
func (f *FoldedCalls) takes(c JournalCall) bool {
	was := f.Call
	if was.Product != c.Product || was.Action != c.Action || was.Status != c.Status || was.Code != c.Code || !slices.Equal(was.Faults, c.Faults) {
		return false
	}
	names := maps.Clone(was.Params)
	if names == nil {
		names = make(map[string]string)
	}
	maps.Copy(names, c.Params)
	for _, name := range sortedKeys(names) {
		before, had := was.Params[name]
		now, has := c.Params[name]
		if (before != now || had != has) && !slices.Contains(f.Varying, name) {
			f.Varying = append(f.Varying, name)
		}
	}
	f.Times, f.Call = f.Times+1, c
	return true
}

// The bounds of what a failure keeps, and of what a message shows of it.
const (
	maxKeptCalls  = 200
	maxShownCalls = 20
	maxShownValue = 60
	maxShownLines = 30
)

// String describes it in several lines.
func (f *Failure) String() string {
	var text strings.Builder
	part := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&text, "  %-9s %s\n", label, strings.ReplaceAll(strings.TrimSpace(value), "\n", "\n            "))
		}
	}
	if f.Unmet == nil {
		fmt.Fprintf(&text, "%s:%d: %s\n", f.File, f.Line, f.Step)
	}
	part("reason", f.Reason)
	for _, u := range f.Unmet {
		fmt.Fprintf(&text, "%s:%d: %s\n", f.File, u.Line, u.Step)
		part("expected", u.Expected)
		part("saw", u.Seen)
	}
	part("calls", f.shownCalls())
	for i, fault := range f.Faults {
		label := ""
		if i == 0 {
			label = "faults"
		}
		part(label, fault.String())
	}
	part("output", lastLines(f.Output))
	part("hint", f.Hint)
	part("to do", f.Advice)
	return text.String()
}

// lastLines returns the end of a program's output for a message.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(lines) > maxShownLines {
		lines = append([]string{"…"}, lines[len(lines)-maxShownLines:]...)
	}
	return strings.Join(lines, "\n")
}

func (h FaultHits) String() string {
	return fmt.Sprintf("%s struck %d of %d calls that it matched", h.Name, h.Hits, h.Seen)
}

// shownCalls returns the last calls, a line each.
func (f *Failure) shownCalls() string {
	if len(f.Calls) == 0 {
		return ""
	}
	shown := f.Calls[max(len(f.Calls)-maxShownCalls, 0):]
	lines := []string{"since the beginning:"}
	if len(shown) < len(f.Calls) {
		lines = []string{fmt.Sprintf("the last %d of %d lines since the beginning:", len(shown), len(f.Calls))}
	}
	for _, c := range shown {
		lines = append(lines, c.String())
	}
	return strings.Join(lines, "\n")
}

func (f FoldedCalls) String() string {
	if f.Times == 1 {
		return f.Call.text(nil)
	}
	text := fmt.Sprintf("%d × %s", f.Times, f.Call.text(f.Varying))
	if len(f.Varying) > 0 {
		text += ", each with another " + strings.Join(f.Varying, " and ")
	}
	return text
}

// text returns the call without some of its parameters.
func (c JournalCall) text(without []string) string {
	text := c.Product + " " + c.Action
	for _, name := range sortedKeys(c.Params) {
		if !slices.Contains(without, name) {
			text += " " + name + "=" + cut(c.Params[name])
		}
	}
	text += fmt.Sprintf(" → %d", c.Status)
	if c.Code != "" {
		text += " " + c.Code
	}
	if len(c.Faults) > 0 {
		text += " (fault " + strings.Join(c.Faults, ", ") + ")"
	}
	return text
}

// cut returns a value as a line shows it.
func cut(value string) string {
	value = strings.ReplaceAll(value, "\n", " ")
	if letters := []rune(value); len(letters) > maxShownValue {
		return string(letters[:maxShownValue-1]) + "…"
	}
	return value
}
