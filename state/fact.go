package state

import "strings"

// Fact is a reason why an operation fails, independent of the wire format.
// Products add their own facts; their error tables turn each into a code.
type Fact string

// NotFound: no resource of that kind has that id, for this account and region.
const NotFound Fact = "NotFound"

// Error is a fact about a resource, or about a value the caller sent.
type Error struct {
	Fact Fact
	Kind Kind
	ID   string
}

func (e *Error) Error() string {
	parts := []string{string(e.Fact)}
	if e.Kind != "" {
		parts = append(parts, string(e.Kind))
	}
	if e.ID != "" {
		parts = append(parts, e.ID)
	}
	return strings.Join(parts, " ")
}

// Refuse returns the fact as an error. The subject, if any, fills the %s of the
// message that the error table holds.
func Refuse(fact Fact, subject ...string) error {
	return &Error{Fact: fact, ID: strings.Join(subject, ", ")}
}
