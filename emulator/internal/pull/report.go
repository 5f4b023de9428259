package pull

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/state"
)

// Report says what a copy has, and what it lacks.
type Report struct {
	Region string `json:"region"`
	// Resources counts what the copy has, by kind.
	Resources map[string]int `json:"resources"`
	// Refused are the reads that the account refused, with what is missing for that.
	Refused []*Refusal `json:"refused,omitempty"`
	// LeftOut are the resources that the copy does not have.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Unread are the fields that no answer has, of the kinds that the copy has.
	Unread []Unread `json:"absent,omitempty"`
	// Hidden are fields that answers leave out of some resources.
	Hidden []Unread `json:"hidden,omitempty"`
	// Calls were sent.
	Calls int `json:"calls"`
}

// hidden are the fields that answers leave out of some resources, though others have them.
var hidden = []Unread{
	{"Instance", "StoppedMode", "answers leave it out of instances that run"},
	{"Listener", "HealthCheck", "answers leave out the settings of a check that is off"},
	{"Listener", "", "answers leave the bandwidth, the check, stickiness, gzip and timeouts out of a listener that redirects"},
	{"Region", "ZonePairs", "the order, in which the cloud prefers pairs of zones, is in no answer"},
	{"Rule", "HealthCheck", "answers leave out the settings of a check that is off"},
	{"ResourceGroup", "Name", "answers have the id in place of the name of a group without a display name"},
}

// Refusal is a read that was refused.
type Refusal struct {
	Action  string `json:"action"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Times   int    `json:"times"`
	Missing string `json:"missing"`
}

var _ fmt.Stringer = (*Refusal)(nil)

// String implements fmt.Stringer.
func (r *Refusal) String() string {
	return fmt.Sprintf("%s (%s, %d times): %s is missing", r.Action, r.Code, r.Times, r.Missing)
}

// LeftOut is a resource that the copy does not have.
type LeftOut struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Unread is a field that no answer has.
type Unread struct {
	Kind   string `json:"kind"`
	Field  string `json:"field,omitempty"`
	Reason string `json:"reason"`
}

func newReport(p *Puller) *Report {
	return &Report{Region: p.Region, Resources: make(map[string]int)}
}

func (r *Report) leaveOut(kind, id, why string) {
	r.LeftOut = append(r.LeftOut, LeftOut{kind, id, why})
}

// refuse counts a refusal; of the same action and code there is one.
func (r *Report) refuse(refusal *refused, kind, id, what string) {
	missing := "all of " + kind
	if id != "" || what != "" {
		missing = strings.TrimSpace("of " + kind + " " + what)
	}
	for _, known := range r.Refused {
		if known.Action == refusal.action && known.Code == refusal.code && known.Missing == missing {
			known.Times++
			return
		}
	}
	r.Refused = append(r.Refused, &Refusal{refusal.action, refusal.code, refusal.message, 1, missing})
}

// refusedAll reports whether all calls so far were refused.
func (r *Report) refusedAll(calls int) bool {
	n := 0
	for _, refusal := range r.Refused {
		n += refusal.Times
	}
	return n > 0 && n >= calls
}

// finish counts the copy, and lists the fields that it can't have.
func (r *Report) finish(v *state.View, calls int) {
	r.Calls = calls
	for _, k := range allKinds() {
		n := len(v.IDs(k.name))
		if n == 0 {
			continue
		}
		r.Resources[string(k.name)] = n
		for _, h := range hidden {
			if h.Kind == string(k.name) {
				r.Hidden = append(r.Hidden, h)
			}
		}
		for field, why := range k.unread {
			r.Unread = append(r.Unread, Unread{string(k.name), field, why})
		}
	}
	slices.SortFunc(r.Unread, func(a, b Unread) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Field, b.Field)) })
}

// Lines returns the report for people.
func (r *Report) Lines() (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, kind := range []string{"LoadBalancer", "NLBLoadBalancer"} { // none of them is worth a line, too
		if r.Resources[kind] == 0 {
			add("%6d  %s", 0, kind)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Resources)) {
		add("%6d  %s", r.Resources[kind], kind)
	}
	for _, f := range r.Refused {
		add("refused: %s", f)
	}
	for _, l := range r.LeftOut {
		add("left out: %s %s: %s", l.Kind, l.ID, l.Reason)
	}
	fields := make(map[[2]string][]string)
	for _, u := range slices.Concat(r.Unread, r.Hidden) {
		about := [2]string{u.Kind, u.Reason}
		fields[about] = append(fields[about], u.Field)
	}
	for _, about := range slices.SortedFunc(maps.Keys(fields), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		add("absent: %s: %s", strings.TrimSpace(about[0]+" "+strings.Join(fields[about], ", ")), about[1])
	}
	return lines
}
