package ecs

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
)

// anyAmong reports whether any of the values passes.
func anyAmong(filter, values []string) bool {
	return len(filter) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(filter, v) })
}

// like is like listing.Matches, for a filter with * for any text.
func like(filter, value string) bool {
	parts := strings.Split(filter, "*")
	if len(parts) == 1 {
		return listing.Matches(filter, value)
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
