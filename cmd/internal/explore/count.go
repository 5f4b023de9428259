package explore

import "slices"

// Two disturbances of a play are one plan: which call the rule of the second has to strike
// follows from the calls of the play with the first alone, and from what of them the rules
// see. A rule sees the calls that reach its point, unless the rule before it decides them.

// The points of a call at which rules strike.
const (
	atCall   = "beforeCall"
	atCommit = "beforeCommit"
	atLoss   = "afterCommit"
)

// point returns the point at which a disturbance strikes.
func (d Disturbance) point(program bool) string {
	k := kindOf(d.Kind)
	if k == nil || k.effect == nil {
		return atCall
	}
	if _, at := k.effect(d, program); at != "" {
		return at
	}
	if k.point != "" {
		return k.point
	}
	return atCall
}

// reaches reports whether a call reached a point: a refused one commits nothing.
func reaches(c Call, point string) bool {
	return c.Code == "" || point != atCommit && point != atLoss
}

// indexOf returns the place of the call of a disturbance, or -1 if it is not among the calls.
func indexOf(calls []Call, of Call) int {
	return slices.IndexFunc(calls, func(c Call) bool { return c.Action == of.Action && c.N == of.N })
}

// skipped counts the calls that a rule sees before the call that it has to strike. N counts the
// calls of all clients, which are more if the client is not alone.
func (d Disturbance) skipped(calls []Call, program bool) int {
	point, before := d.point(program), d.At.N-1
	for _, c := range calls[:max(indexOf(calls, d.At), 0)] {
		if c.Action == d.At.Action && !reaches(c, point) {
			before--
		}
	}
	return max(before, 0)
}

// skippedAfter is like skipped, for a second disturbance. The calls are those of the play with the
// first alone.
func (d Disturbance) skippedAfter(first Disturbance, calls []Call, program bool) int {
	skip := d.skipped(calls, program)
	if first.At.Action == d.At.Action && first.point(program) == d.point(program) {
		skip -= first.skipped(calls, program) + 1 // those until the first has struck are its own
	}
	return max(skip, 0)
}
