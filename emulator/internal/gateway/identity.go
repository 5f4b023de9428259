package gateway

import (
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/state"
)

// The bounds of the search in a call and of its results: some have thousands of values.
const (
	maxWords = 1 << 10
	maxIDs   = 32
	minID    = 3 // its length
)

// recordNamed notes the ids in the call's parameters, at any depth of their JSON or lists.
// It runs before the handler, which may delete the resources with these ids.
func (c *Call) recordNamed() {
	words := 0
	for _, p := range c.Params {
		if p.Name == "RegionId" {
			continue
		}
		for word := range strings.FieldsFuncSeq(p.Value, parts) {
			if words++; words > maxWords || len(c.Named) == maxIDs {
				return
			}
			if len(word) >= minID && strings.ContainsAny(word, "-0123456789") && !slices.Contains(c.Named, word) && c.view.Identified(word) {
				c.Named = append(c.Named, word)
			}
		}
	}
}

// parts reports whether no id has a character, which therefore separates the ids of a text.
func parts(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_' && r != '.'
}

// recordIDs notes the ids in a write's response: of what its transaction made, and of others.
func (c *Call) recordIDs(tx *state.Tx, response any) {
	for word := range c.action.response().values(reflect.ValueOf(response).Elem()) {
		switch {
		case slices.Contains(c.Made, word) || slices.Contains(c.Named, word):
		case len(c.Made) < maxIDs && tx.Made(word):
			c.Made = append(c.Made, word)
		case len(c.Named) < maxIDs && tx.Identified(word):
			c.Named = append(c.Named, word)
		}
	}
}

// values yields the texts and the numbers of a response at any depth.
func (e *encoder) values(v reflect.Value) iter.Seq[string] {
	return func(yield func(string) bool) { e.eachValue(v, yield) }
}

func (e *encoder) eachValue(v reflect.Value, yield func(string) bool) bool {
	for i := range e.fields {
		f := &e.fields[i]
		value, present := f.present(v)
		if !present {
			continue
		}
		if !f.list {
			if !f.eachValue(value, yield) {
				return false
			}
			continue
		}
		for n := range value.Len() {
			if !f.eachValue(reflect.Indirect(value.Index(n)), yield) {
				return false
			}
		}
	}
	return true
}

func (f *encodeField) eachValue(v reflect.Value, yield func(string) bool) bool {
	switch f.kind {
	case reflect.String:
		return yield(v.String())
	case reflect.Int64:
		return yield(strconv.FormatInt(v.Int(), 10))
	case reflect.Struct:
		return f.element.eachValue(v, yield)
	}
	return true
}
