package scenarios

import (
	"context"
	"slices"
	"strings"
)

var stateKind = kind[State](Kind{Name: "state", About: "Everything that differs from the beginning, a line each; [] is nothing.", ofCloud: true, Rule: "state"})

// State lists what differs from the beginning of the part, but for ids, addresses and
// times. A line that begins with "- " is of a deleted resource.
type State []string

// goneMark begins the line of a resource that was there at the beginning.
const goneMark = "- "

// Changed lists what differs between two states: the lines that are new, and, each after
// "- ", the deleted ones.
func Changed(before, after []string) (lines []string) {
	count := make(map[string]int)
	for _, line := range after {
		count[line]++
	}
	for _, line := range before {
		count[line]--
	}
	for _, line := range sortedKeys(count) {
		for range count[line] {
			lines = append(lines, line)
		}
		for range -count[line] {
			lines = append(lines, goneMark+line)
		}
	}
	return lines
}

func (s State) look(ctx context.Context, p *play) error {
	now, err := p.Target.State(ctx)
	if err != nil {
		return err
	}
	is := Changed(p.base, now)
	differs := Changed(slices.Sorted(slices.Values(s)), is)
	if differs == nil {
		return nil
	}
	var expected, seen []string
	for _, line := range differs {
		if missing, ok := strings.CutPrefix(line, goneMark); ok && !slices.Contains(is, line) {
			expected = append(expected, missing)
		} else {
			seen = append(seen, line)
		}
	}
	u := &Unmet{Expected: orNothing(expected), Seen: orNothing(seen), Missing: expected, Extra: seen}
	if len(s) == 0 {
		u.Expected = "nothing"
	}
	return u
}

// orNothing joins lines of a state.
func orNothing(lines []string) string {
	if lines == nil {
		return "nothing more"
	}
	return strings.Join(lines, "\n")
}
