// Package glob matches names against the patterns that users write: the ones of
// path.Match, several separated by commas. The
// policies of accounts use the cloud's own patterns, which are elsewhere.
package glob

import (
	"path"
	"slices"
	"strings"
)

// List is a list of patterns; one of them must match.
type List []string

// Split reads a list. "" is the empty list, which matches nothing.
func Split(text string) List {
	if text == "" {
		return nil
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// Bad returns the first text that is not a valid pattern, and reports whether there is one.
func (l List) Bad() (pattern string, bad bool) {
	for _, pattern := range l {
		if _, err := path.Match(pattern, ""); err != nil {
			return pattern, true
		}
	}
	return "", false
}

// Match reports whether one of the patterns matches one of the names. What is no pattern
// matches nothing.
func (l List) Match(names ...string) bool {
	return slices.ContainsFunc(l, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	})
}

// Select lists the values whose names a pattern of the list matches, and the first
// pattern that matches none.
func Select[T any](l List, values []T, name func(T) string) (selected []T, idle string) {
	for _, pattern := range l {
		before := len(selected)
		for _, v := range values {
			if (List{pattern}).Match(name(v)) {
				selected = append(selected, v)
			}
		}
		if len(selected) == before {
			return selected, pattern
		}
	}
	return selected, ""
}
