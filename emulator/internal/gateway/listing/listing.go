// Package listing filters lists and cuts them into the pages that clients ask for, by number or by
// token, for all products alike. It must not know the listed kinds.
package listing

import (
	"cmp"
	"encoding/base64"
	"iter"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/state"
)

// Unique returns the values in order, each once, and leaves the given ones
// as they are.
func Unique(values []string) []string {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// Matches reports whether a filter lets a value pass; an empty one lets any.
func Matches(filter, value string) bool { return filter == "" || filter == value }

// Among is like Matches, for a list of values.
func Among[T comparable](filter []T, value T) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

// One returns the field with a value, of names and values in turn, or "" for none; it fails if
// there are two.
func One(fields ...string) (field, value string, ok bool) {
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] == "" {
			continue
		}
		if value != "" {
			return "", "", false
		}
		field, value = fields[i], fields[i+1]
	}
	return field, value, true
}

// Pick returns the wanted elements.
func Pick[T any](all iter.Seq[T], wanted func(T) bool) (list []T) {
	for e := range all {
		if wanted(e) {
			list = append(list, e)
		}
	}
	return list
}

// Views returns what answers show of each element.
func Views[T, V any](v *state.View, list []T, view func(*state.View, T) V) (views []V) {
	for _, e := range list {
		views = append(views, view(v, e))
	}
	return views
}

// Page returns a page of a list, counted from 1. A page beyond the end is empty.
func Page[T any](list []T, number, size int) []T {
	// One so far out that its start overflows is as empty as any beyond the end.
	start := len(list)
	if number-1 <= len(list)/size {
		start = min((number-1)*size, len(list))
	}
	return list[start : start+min(size, len(list)-start)]
}

// BadToken is the fact that After did not make a token. Each product puts it in
// words of its own.
const BadToken state.Fact = "BadToken"

// tokenMark begins every token, which distinguishes tokens from other text in base64.
const tokenMark = "after:"

// After returns the elements after the one that a token names, in the order of keys, which no two
// elements share. It returns at most size, and the token for the rest, or "" if there is none. The
// empty token is for the beginning.
func After[T any](list []T, token string, size int, key func(T) string) (part []T, next string, err error) {
	last, err := Last(token)
	if err != nil {
		return nil, "", err
	}
	sorted := slices.SortedFunc(slices.Values(list), func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	start := 0
	if token != "" {
		start = len(sorted)
		if n := slices.IndexFunc(sorted, func(t T) bool { return key(t) > last }); n >= 0 {
			start = n
		}
	}
	part = sorted[start : start+min(size, len(sorted)-start)]
	if start+len(part) < len(sorted) {
		next = Token(key(part[len(part)-1]))
	}
	return part, next, nil
}

// Token names what comes behind a key.
func Token(last string) string {
	return base64.URLEncoding.EncodeToString([]byte(tokenMark + last))
}

// Last returns the key that a token names, or "" for the beginning. It fails with BadToken.
func Last(token string) (string, error) {
	if token == "" {
		return "", nil
	}
	text, err := base64.URLEncoding.DecodeString(token)
	last, ok := strings.CutPrefix(string(text), tokenMark)
	if err != nil || !ok {
		return "", state.Refuse(BadToken, token)
	}
	return last, nil
}
