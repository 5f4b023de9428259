package nlb

import (
	"slices"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
)

// region is the region that any call may name; the gateway reads it. A repetition
// that names what the first call left out is the same request.
type region struct {
	RegionID string `rpc:"RegionId" json:"-"`
}

// order is what every call that changes something may carry.
type order struct {
	region
	DryRun      bool   `rpc:"DryRun"`
	ClientToken string `rpc:"ClientToken,len=1..64"`
}

func (o *order) ordered() *order { return o }

// paging asks for a part of a list.
type paging struct {
	MaxResults int    `rpc:"MaxResults,min=1,max=100,default=20"`
	NextToken  string `rpc:"NextToken"`
}

// paged says which part of a list it is.
type paged struct {
	NextToken  string `rpc:"NextToken,omitempty"`
	MaxResults int    `rpc:"MaxResults"`
	TotalCount int    `rpc:"TotalCount"`
}

// cut returns the part of a list that is asked for.
func cut[T any](all []T, p paging, key func(T) string) ([]T, paged, error) {
	part, next, err := listing.After(all, p.NextToken, p.MaxResults, key)
	if err != nil {
		return nil, paged{}, errIllegal.Of("NextToken")
	}
	return part, paged{next, p.MaxResults, len(all)}, nil
}

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
	return t.UTC().Format(timeForm)
}
