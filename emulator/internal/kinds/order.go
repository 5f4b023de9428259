package kinds

import (
	"fmt"
	"math"
	"time"
)

// inOrder returns the keys of an index for the pages of lists: all resources of a region, and those
// with a value of a field, each in the order of place. The fields come as names and values in turn.
func inOrder(account, region, place string, fields ...string) [][]string {
	keys := [][]string{{account, region, "", "", place}}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			keys = append(keys, []string{account, region, fields[i], fields[i+1], place})
		}
	}
	return keys
}

// oldest returns a place that sorts the oldest resource first, after those without a time.
func oldest(created time.Time) string {
	place := uint64(0)
	if !created.IsZero() {
		place = uint64(created.UnixNano()) ^ 1<<63 // times before 1970 as well
	}
	return fmt.Sprintf("%020d", place)
}

// Newest returns a place that sorts the newest resource first, and those without a time last.
// NLB-0039.
func Newest(created time.Time) string {
	age := uint64(math.MaxUint64)
	if !created.IsZero() {
		age = math.MaxInt64 - uint64(created.UnixNano())
	}
	return fmt.Sprintf("%020d", age)
}
