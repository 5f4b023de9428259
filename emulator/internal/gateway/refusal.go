package gateway

import (
	"slices"
	"sync"

	"github.com/clbemu/clbemu/state"
)

// Refusals are a product's own: what it refuses for reasons that no other product
// has. Their declarations run while packages initialise.
type Refusals struct{ rows []ErrorRow }

// Refusal is one reason to refuse, with its words on the wire. It is an error; Of
// returns one about a subject.
type Refusal struct {
	of   *Refusals
	fact state.Fact
}

var _ error = (*Refusal)(nil)

// New declares a refusal: its name, which request tags use, the status, the
// code, the message, in which one %s stands for the subject, and the number of the
// entry with the source.
func (r *Refusals) New(name string, status int, code, message, evidence string) Refusal {
	return r.Varying(name).In(status, code, message, evidence)
}

// Varying declares a refusal that each action words differently.
func (r *Refusals) Varying(name string) Refusal { return Refusal{r, state.Fact(name)} }

// In declares how some actions put the refusal.
func (r Refusal) In(status int, code, message, evidence string, actions ...string) Refusal {
	r.of.rows = append(r.of.rows, ErrorRow{Fact: r.fact, Actions: actions, Status: status, Code: code, Message: message, Evidence: evidence})
	return r
}

// Rows returns the refusals as rows of an error table.
func (r *Refusals) Rows() []ErrorRow { return r.rows }

// Table returns a function that builds the product's error table, once, from the
// refusals and from rows for what the state reports.
func (r *Refusals) Table(lists ...[]ErrorRow) func() *ErrorTable {
	return sync.OnceValue(func() *ErrorTable { return NewErrorTable(slices.Concat(r.rows, slices.Concat(lists...))...) })
}

// Fact returns the refusal's key in the error table.
func (r Refusal) Fact() state.Fact { return r.fact }

// Of returns the refusal as an error about a subject, which fills the %s of its message.
func (r Refusal) Of(subject ...string) error { return state.Refuse(r.fact, subject...) }

// Error implements error.
func (r Refusal) Error() string { return r.Of().Error() }

// Unwrap returns the fact that the error table looks up.
func (r Refusal) Unwrap() error { return r.Of() }
