// Package explain explains refusals and actions: the message of an error, its evidence,
// what cures it, how to cause it and how to clear it. An Index finds what a text is about.
// Its texts about causes and evidence are written from the tests that try them. It must
// not know who asks.
package explain

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/names"
)

// Facts are the facts that the tests wrote.
type Facts struct {
	Causes   []controlapi.Cause    `json:"causes"`
	Evidence []controlapi.Evidence `json:"evidence"`
	Events   []Event               `json:"events"`
}

// Event is the text of an Event that a real CCM wrote in plays of scenarios.
type Event struct {
	Text      string   `json:"text"`
	Scenarios []string `json:"scenarios"`
}

//go:embed facts.json
var factsText []byte

var facts = sync.OnceValues(func() (f Facts, err error) {
	err = json.Unmarshal(factsText, &f)
	return f, err
})

// Guessed reports whether evidence is of low confidence: what it is about is a guess.
func Guessed(evidence string) bool {
	f, err := facts()
	return err == nil && slices.ContainsFunc(f.Evidence, func(e controlapi.Evidence) bool { return e.ID == evidence && e.Confidence == "low" })
}

// Name explains a code or an action. One that nothing has is refused.
func Name(known *names.Names, name string) (controlapi.Explanation, error) {
	f, err := facts()
	if err != nil {
		return controlapi.Explanation{}, fmt.Errorf("read what is known of refusals: %w", err)
	}
	e := controlapi.Explanation{Name: name, Answers: []controlapi.ExplainedAnswer{}, Causes: []controlapi.Cause{}, Evidence: []controlapi.Evidence{}, Statements: []controlapi.Statement{}}
	if !action(known, &e) && !code(known, &e) {
		return e, unknown{known, name}
	}
	if e.Statements, err = statementsOf(&e); err != nil {
		return e, err
	}
	for _, c := range f.Causes {
		if e.Action == nil && c.Code == name || e.Action != nil && c.Action == name && c.Product == e.Action.Product {
			e.Causes = append(e.Causes, c)
		}
	}
	for _, evidence := range f.Evidence {
		if slices.ContainsFunc(e.Answers, func(a controlapi.ExplainedAnswer) bool { return a.Evidence == evidence.ID }) {
			e.Evidence = append(e.Evidence, evidence)
		}
	}
	return e, nil
}

// unknown is the error for an unknown name. It looks for the nearest only when it is read, as a
// caller may go on and take the name for a text.
type unknown struct {
	known *names.Names
	name  string
}

var _ error = (*unknown)(nil)

// Error implements error.
func (u unknown) Error() string {
	all := u.known.AllCodes()
	for _, a := range u.known.Actions() {
		all = append(all, a.Name)
	}
	return fmt.Sprintf("there is no code and no action %s%s", u.name, names.DidYouMean(u.name, all, "`clbemu actions` lists the actions"))
}

// action explains the action of that name, if there is one. Of several products' the
// emulated one of CLB is meant, which is the first.
func action(known *names.Names, e *controlapi.Explanation) bool {
	for _, a := range known.Actions() {
		if a.Name != e.Name || e.Action != nil && e.Action.Emulated {
			continue
		}
		e.Action = &controlapi.ExplainedAction{Product: a.Product, Version: a.Version(), Emulated: a.Emulated, Mutates: a.Mutates, Parameters: []controlapi.ExplainedParameter{}}
		for _, p := range a.Parameters() {
			e.Action.Parameters = append(e.Action.Parameters, controlapi.ExplainedParameter{Name: p.Name, Required: p.Required})
		}
		e.Answers = e.Answers[:0]
		for row := range a.Errors() {
			if slices.Contains(row.Actions, a.Name) {
				e.Answers = append(e.Answers, answer(a.Product, row))
			}
		}
	}
	return e.Action != nil
}

// worded returns a message with a place for its subject.
func worded(message string) string { return strings.ReplaceAll(message, "%s", "…") }

// code explains a code that calls can be refused with, if it is one.
func code(known *names.Names, e *controlapi.Explanation) bool {
	fault, brought := "", false
	var injected controlapi.Explanation // answers that only a fault rule gives
	for _, a := range known.Actions() {
		if !a.Emulated {
			continue
		}
		own := false
		for row := range a.ErrorsWith(e.Name) {
			own = true
			add(e, answer(a.Product, row))
		}
		row, here, found := a.Worded(e.Name)
		brought = brought || own || here
		if !found || own {
			continue
		}
		if !here && fault == "" {
			fault = fmt.Sprintf("{name: %s, match: {action: %s}, effect: {error: {code: %s}}}", ruleName(e.Name), a.Name, e.Name)
		}
		switch {
		case row.Message == "":
		case here:
			add(e, answer(a.Product, &row))
		case !slices.ContainsFunc(injected.Answers, func(known controlapi.ExplainedAnswer) bool { return known.Message == row.Message }):
			add(&injected, answer(a.Product, &row)) // in the words of the first product that has them
		}
		if row.Actions == nil { // the gateway's own is any action's
			e.Answers = e.Answers[:min(len(e.Answers), 1)]
			return true
		}
	}
	if !brought {
		e.Fault, e.Answers = fault, append(e.Answers, injected.Answers...)
	}
	return brought || fault != "" || e.Name == gateway.NotEmulatedCode
}

func answer(product string, row *names.ErrorRow) controlapi.ExplainedAnswer {
	return controlapi.ExplainedAnswer{Product: product, Actions: row.Actions, Status: row.Status, Code: row.Code, Message: worded(row.Message), Evidence: row.Evidence}
}

// add adds an answer. If e has an equal one for other actions, add adds the actions to that one.
func add(e *controlapi.Explanation, answer controlapi.ExplainedAnswer) {
	for i := range e.Answers {
		known := &e.Answers[i]
		if known.Product == answer.Product && known.Status == answer.Status && known.Message == answer.Message && known.Evidence == answer.Evidence {
			for _, action := range answer.Actions {
				if known.Actions != nil && !slices.Contains(known.Actions, action) {
					known.Actions = append(slices.Clip(known.Actions), action)
				}
			}
			return
		}
	}
	e.Answers = append(e.Answers, answer)
}

// ruleName returns the form of a code in which fault rules can have it as a name.
func ruleName(code string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' {
			return '-'
		}
		return r
	}, strings.ToLower(code))
}
