package nlb

import (
	"slices"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// asked reports whether a filter lets a value pass; an empty one lets any.
func asked[T comparable](filter []T, value T) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

// matches is asked for a filter of one value.
func matches(filter, value string) bool { return filter == "" || filter == value }

// formatTime writes a time, "" for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return gateway.Second(t)
}
