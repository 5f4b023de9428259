// Package routes declares the calls of the control API, one row each: method, path, query,
// body, answer and refusals. The server's handlers and the client's methods are bound to the
// rows, and make golden writes the OpenAPI document from them.
package routes

import (
	"net/url"
	"reflect"
	"regexp"
	"sync"
)

// Call is a call with a Query, whose body is a Request and whose answer is an Answer.
type Call[Query, Request, Answer any] struct{ *Route }

// Route describes a call, whatever the types of its body and answer.
type Route struct {
	Method, Path string
	// Summary says what the call does, and Description the rest.
	Summary, Description string
	// Parameters lists the parameters of its Query.
	Parameters []Parameter
	// Open is for those that everybody may call.
	Open bool
	// Slots makes the call wait for a slot, as it takes much memory.
	Slots Slots
	// Refusals are the statuses of refusals that only some calls have.
	Refusals []int
	// Request and Answer are the types of the body and the answer.
	Request, Answer reflect.Type
}

// Slots bound how many calls that take much memory run at once.
type Slots int

// The slots.
const (
	NoSlots Slots = iota
	SlotsOfAnswers
	SlotsOfImports
)

// Bodies and answers that are no JSON of a declared type. Handlers of those other than
// None write the answer themselves.
type (
	// None is no query, or no body.
	None struct{}
	// Text is plain text.
	Text struct{}
	// YAML is a text in YAML, such as a scenario.
	YAML struct{}
	// Rules are fault rules in YAML.
	Rules struct{}
	// Object is a JSON object of any form.
	Object struct{}
	// State is an exported state.
	State struct{}
	// Events are server-sent events whose data is a Data each.
	Events[Data any] []Data
)

// All lists all calls.
var All []*Route

func call[Query, Request, Answer any](r Route) Call[Query, Request, Answer] {
	r.Parameters = parameters(reflect.TypeFor[Query]())
	r.Request, r.Answer = reflect.TypeFor[Request](), reflect.TypeFor[Answer]()
	All = append(All, &r)
	return Call[Query, Request, Answer]{&r}
}

// Names lists the query's parameters. It reports false where any field of the journal is
// one.
func (r *Route) Names() (names []string, all bool) {
	all = true
	for _, p := range r.Parameters {
		switch {
		case p.Form == FormFields:
			all = false
		case !p.Header:
			names = append(names, p.Name)
		}
	}
	return names, all
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z]+\}`) })

// For returns the path of a call about the thing with this name.
func (r *Route) For(name string) string {
	return variable().ReplaceAllLiteralString(r.Path, url.PathEscape(name))
}
