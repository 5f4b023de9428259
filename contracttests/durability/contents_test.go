package durability_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/apiclient"
)

// contents holds what one writer has in the cloud: facts by names such as lb/name. A
// name under another's is gone with it. An absent fact is "".
type contents map[string]string

// anything is the value of a fact that is there, whatever it says: the id of what
// was made by a call that was never answered, or the listener that a call needs.
const anything = "*"

// with returns the contents with one fact changed. What is under a fact that goes
// goes too.
func (e contents) with(name, value string) contents {
	next := maps.Clone(e)
	if value != "" {
		next[name] = value
		return next
	}
	maps.DeleteFunc(next, func(other, _ string) bool { return other == name || strings.HasPrefix(other, name+"/") })
	return next
}

// is reports whether these are the expected contents.
func (e contents) is(expected contents) bool {
	return maps.EqualFunc(e, expected, func(got, want string) bool { return got == want || want == anything })
}

// call is one write of a writer with what it means for the writer's contents.
type call struct {
	version, action string
	params          map[string]string
	// needs are the facts that the call needs; without them it is refused.
	// One that must not be there is "".
	needs contents
	// once is the fact that keeps the writer from the call: the cloud would have
	// two of it.
	once string
	// change applies a success. The reply is a success, or its outcome is unknown.
	change func(e contents, reply apiclient.Reply) contents
}

func (c call) fits(e contents) bool {
	for name, value := range c.needs {
		if e[name] != value && (value != anything || e[name] == "") {
			return false
		}
	}
	return true
}

// answered is a call with its answer.
type answered struct {
	call
	reply apiclient.Reply
	// lost is a call without an answer, or one that failed inside: whether it was
	// executed is not known.
	lost bool
}

func (a answered) succeeded() bool { return !a.lost && a.reply.Status == http.StatusOK }

// after returns the contents that a call may leave behind, given the possible ones
// before; none if its answer can't be explained.
func (a answered) after(before []contents) []contents {
	var found []contents
	for _, e := range before {
		fits := a.fits(e)
		if fits && (a.lost || a.succeeded()) {
			found = append(found, a.change(e, a.reply))
		}
		if a.lost || !fits && !a.succeeded() {
			found = append(found, e)
		}
	}
	return found
}

// outcomes returns the contents that calls may leave behind, in their order.
func outcomes(before []contents, calls []answered) []contents {
	for _, c := range calls {
		before = c.after(before)
	}
	return before
}

// outcomesAround returns the contents that calls may leave behind when one change
// of the whole world happens somewhere among them.
func outcomesAround(before contents, calls []answered, world func([]contents) []contents) []contents {
	var found []contents
	for at := range len(calls) + 1 {
		found = append(found, outcomes(world(outcomes([]contents{before}, calls[:at])), calls[at:])...)
	}
	return found
}

// prefixes returns the contents that there may be while calls are made.
func prefixes(before contents, calls []answered) []contents {
	var found []contents
	for at := range len(calls) + 1 {
		found = append(found, outcomes([]contents{before}, calls[:at])...)
	}
	return found
}

// oneOf reports whether the contents are among the expected ones.
func (e contents) oneOf(expected []contents) bool { return slices.ContainsFunc(expected, e.is) }
