package journal

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kind is what an entry is about.
type Kind string

// The kinds: calls of the cloud's API, marks, and what the control API changed.
const (
	KindCall  Kind = "call"
	KindMark  Kind = "mark"
	KindWorld Kind = "world"
	KindClock Kind = "clock"
	KindFault Kind = "fault"
	KindState Kind = "state"
)

// kinds lists them.
var kinds = []Kind{KindCall, KindMark, KindWorld, KindClock, KindFault, KindState}

// Entry is one call, or one change by the control API, of which Action is what
// was done and Parameters with what.
type Entry struct {
	Sequence    uint64    `json:"sequence"`
	Time        time.Time `json:"time"` // emulated, when it was answered
	Kind        Kind      `json:"kind"`
	RequestID   string    `json:"requestId,omitempty"`
	AccessKeyID string    `json:"accessKeyId,omitempty"`
	UserAgent   string    `json:"userAgent,omitempty"`
	Product     string    `json:"product,omitempty"`
	Action      string    `json:"action"`
	Region      string    `json:"region,omitempty"`
	// Resource is the id that the call is about.
	Resource string `json:"resource,omitempty"`
	// Made is the id of what the call made.
	Made       string            `json:"made,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// Omitted counts the parameters that are too many to be kept.
	Omitted int    `json:"omitted,omitempty"`
	Status  int    `json:"status,omitempty"`
	Code    string `json:"code,omitempty"` // of a refusal
	// Milliseconds is how long the call took, in real time.
	Milliseconds float64 `json:"milliseconds,omitempty"`
	// Faults are the fault rules that struck, in order.
	Faults []string `json:"faults,omitempty"`
	// Unread are the parameters that no handler reads.
	Unread []string `json:"unread,omitempty"`
}

// The bounds of an entry, in bytes. A call may bring 1 MiB of parameters, and the
// journal holds thousands of calls.
const (
	maxText       = 256 // of a field and of a parameter's name
	maxValue      = 2 << 10
	maxParameters = 8 << 10 // of all names and values
	maxNames      = 32      // of faults, and of unread parameters
)

// clean makes the entry's texts its own, as those of a request share its memory,
// bounds them, and hides secrets.
func (e *Entry) clean() {
	for _, text := range []*string{&e.RequestID, &e.AccessKeyID, &e.UserAgent, &e.Product, &e.Action, &e.Region, &e.Resource, &e.Made, &e.Code} {
		*text = bounded(*text, maxText)
	}
	e.cleanParameters()
	e.Faults, e.Unread = boundedNames(e.Faults), boundedNames(e.Unread)
}

func (e *Entry) cleanParameters() {
	sent := e.Parameters
	if len(sent) == 0 {
		return
	}
	e.Parameters = make(map[string]string, min(len(sent), maxNames))
	room := maxParameters
	for name := range inOrder(sent) {
		value := bounded(sent[name], maxValue)
		// The names of a change are those of conditions and rules.
		if e.Kind == KindCall && IsSecret(name) || isSecretValue(sent[name]) {
			value = Hidden
		}
		name = openName(name)
		if room -= len(name) + len(value); room < 0 {
			e.Omitted = len(sent) - len(e.Parameters)
			return
		}
		e.Parameters[name] = value
	}
}

// inOrder yields the names of parameters, in order of name where not all may be
// kept.
func inOrder(sent map[string]string) iter.Seq[string] {
	size := 0
	for name, value := range sent {
		size += max(len(name), len(Hidden)) + max(len(value), len(Hidden))
	}
	if size > maxParameters {
		return slices.Values(slices.Sorted(maps.Keys(sent)))
	}
	return maps.Keys(sent)
}

// openName is a name, unless a client wrote a value into it.
func openName(name string) string {
	if isSecretValue(name) {
		return Hidden
	}
	return bounded(name, maxText)
}

const cut = "…"

// bounded is a copy of a text, or of its start with a sign that there was more.
func bounded(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:most-len(cut)], "") + cut
}

func boundedNames(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	kept := make([]string, min(len(names), maxNames))
	for i := range kept {
		kept[i] = openName(names[i])
	}
	return kept
}
