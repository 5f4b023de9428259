package ecs

import (
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
)

// What is refused here.
var (
	errDryRunPassed = refusals.New("DryRunPassed", 400, "DryRunOperation",
		"Request validation has been passed with DryRun flag set.", "CLB-0300")
	errNextTokenInvalid = refusals.New("NextTokenInvalid", 400, "InValidParameter.NextToken",
		"The parameter NextToken is invalid.", "CLB-0300")
)

// Times are written to the minute, or to the second where the API does so.
const (
	minuteLayout = "2006-01-02T15:04Z"
	secondLayout = "2006-01-02T15:04:05Z"
)

func formatMinute(t time.Time) string { return t.UTC().Format(minuteLayout) }

func formatSecond(t time.Time) string { return t.UTC().Format(secondLayout) }

// dryRun ends a call that only asks whether it would succeed. As the answer is an
// error, what the handler did until here is rolled back.
func dryRun(asked bool) error {
	if asked {
		return errDryRunPassed
	}
	return nil
}

// matches reports whether a filter lets a value pass; an empty one lets any.
func matches(filter, value string) bool { return filter == "" || filter == value }

// among is matches for a list of values.
func among(filter []string, value string) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

// anyAmong reports whether any of the values passes.
func anyAmong(filter, values []string) bool {
	return len(filter) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(filter, v) })
}

// like is matches for a filter with * for any text.
func like(filter, value string) bool {
	parts := strings.Split(filter, "*")
	if len(parts) == 1 {
		return matches(filter, value)
	}
	rest, ok := strings.CutPrefix(value, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// window says which part of a list is asked for: what follows a token, or a page.
type window struct {
	byToken      bool
	token        string
	number, size int
}

// windowed is what a response says about its part of the list.
type windowed struct {
	TotalCount int    `rpc:"TotalCount"`
	PageNumber int    `rpc:"PageNumber"`
	PageSize   int    `rpc:"PageSize"`
	NextToken  string `rpc:"NextToken"`
}

// cut returns the elements of the window from a list in order of id. PageSize is
// the size that was asked for: CCM takes a smaller one for the last page;
// evidence CLB-0331.
func cut[T any](all []T, id func(T) string, w window) ([]T, windowed, error) {
	out := windowed{TotalCount: len(all), PageNumber: w.number, PageSize: w.size}
	if !w.byToken {
		return listing.Page(all, w.number, w.size), out, nil
	}
	part, next, err := listing.After(all, w.token, w.size, id)
	if err != nil {
		return nil, out, errNextTokenInvalid.Of(w.token)
	}
	out.NextToken = next
	return part, out, nil
}
