package journal

import (
	"strings"
	"time"
)

// Kind is the kind of an entry.
type Kind string

// The kinds: calls of the cloud's API, marks, and what the control API changed.
const (
	KindCall  Kind = "call"
	KindMark  Kind = "mark"
	KindWorld Kind = "world"
	KindClock Kind = "clock"
	KindFault Kind = "fault"
	KindState Kind = "state"
	// KindTraffic is the kind of traffic through the data plane: an entry has the
	// listener as its resource, and the action says what passed, or at which point a
	// fault struck it.
	KindTraffic Kind = "traffic"
)

// kinds lists them.
var kinds = []Kind{KindCall, KindMark, KindWorld, KindClock, KindFault, KindState, KindTraffic}

// Entry is one call, or one change through the control API, which Action and
// Parameters then describe.
type Entry struct {
	Sequence uint64 `json:"sequence"`
	// Time is the emulated time at which it was answered.
	Time        time.Time `json:"time"`
	Kind        Kind      `json:"kind"`
	RequestID   string    `json:"requestId,omitempty"`
	AccessKeyID string    `json:"accessKeyId,omitempty"`
	UserAgent   string    `json:"userAgent,omitempty"`
	Product     string    `json:"product,omitempty"`
	// Action is the action of a call, a description of a change, or the name of a mark.
	Action string `json:"action"`
	Region string `json:"region,omitempty"`
	// Resource is the id that the call is about.
	Resource string `json:"resource,omitempty"`
	// Also are the ids of other resources that its parameters have.
	Also []string `json:"also,omitempty"`
	// Made is the id of what the call made.
	Made string `json:"made,omitempty"`
	// AlsoMade are the ids of what it made besides.
	AlsoMade []string `json:"alsoMade,omitempty"`
	// Parameters has long values cut, and secrets hidden.
	Parameters Parameters `json:"parameters,omitempty"`
	// Omitted counts the parameters that are too many to be kept.
	Omitted int `json:"omitted,omitempty"`
	Status  int `json:"status,omitempty"`
	// Code is the error code of a refusal.
	Code string `json:"code,omitempty"`
	// Evidence is the number of the entry that says how the refusal is known, such as
	// CLB-0203: that one is a guess. Of a success it is a guess that the call met.
	Evidence string `json:"evidence,omitempty"`
	// Answer is the beginning of the answer to the call. Only the newest calls have it,
	// and only when a query names one by its sequence; answers with secrets are hidden. It
	// is recorded by RecordCall only.
	Answer string `json:"answer,omitempty"`
	// Milliseconds is the duration of the call, in real time.
	Milliseconds float64 `json:"milliseconds,omitempty"`
	// Faults are the fault rules that struck, in order.
	Faults []string `json:"faults,omitempty"`
	// Received says what the client got instead of the answer, because of a rule: nothing, a part
	// of it, or another text.
	Received string `json:"received,omitempty" enum:"nothing,part,other"`
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

// clean copies the entry's texts, which share the memory of the request,
// bounds them, and hides secrets. The parameters sent, in order of name, become the
// entry's, and it has no answer.
func (e *Entry) clean(sent []Parameter) {
	e.Answer = ""
	fields := [...]*string{&e.RequestID, &e.AccessKeyID, &e.UserAgent, &e.Product, &e.Action, &e.Region, &e.Resource, &e.Made, &e.Code}
	size := 0
	for _, text := range fields {
		size += min(len(*text), maxText)
	}
	for _, p := range sent {
		size += min(len(p.Name), maxText) + max(min(len(p.Value), maxValue), len(Hidden))
	}
	var kept texts
	kept.Grow(min(size, len(fields)*maxText+maxParameters))
	for _, text := range fields {
		*text = kept.bounded(*text, maxText)
	}
	e.keepParameters(&kept, sent)
	e.Faults, e.Unread, e.Also, e.AlsoMade = kept.names(e.Faults), kept.names(e.Unread), kept.names(e.Also), kept.names(e.AlsoMade)
}

func (e *Entry) keepParameters(kept *texts, sent []Parameter) {
	e.Parameters = nil
	if len(sent) == 0 {
		return
	}
	e.Parameters = make(Parameters, 0, min(len(sent), maxNames))
	room := maxParameters
	for _, p := range sent {
		name, value := openName(p.Name), p.Value
		// A change has the names of conditions and rules.
		if e.Kind == KindCall && IsSecret(p.Name) || isSecretValue(value) {
			value = Hidden
		}
		if room -= min(len(name), maxText) + min(len(value), maxValue); room < 0 {
			e.Omitted = len(sent) - len(e.Parameters)
			return
		}
		e.Parameters.Add(kept.bounded(name, maxText), kept.bounded(value, maxValue))
	}
}

// openName returns a name, hidden if a client wrote a value into it.
func openName(name string) string {
	if isSecretValue(name) {
		return Hidden
	}
	return name
}

// texts holds the texts of an entry, in one piece of memory.
type texts struct{ strings.Builder }

const cut = "…"

// bounded returns a copy of a text, or of its start with a sign that it was longer.
func (t *texts) bounded(text string, most int) string {
	at := t.Len()
	if len(text) <= most {
		t.WriteString(text)
	} else {
		t.WriteString(strings.ToValidUTF8(text[:most-len(cut)], ""))
		t.WriteString(cut)
	}
	return t.String()[at:]
}

func (t *texts) names(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	kept := make([]string, min(len(list), maxNames))
	for i := range kept {
		kept[i] = t.bounded(openName(list[i]), maxText)
	}
	return kept
}
