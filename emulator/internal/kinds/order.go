package kinds

import (
	"fmt"
	"math"
	"time"
)

// inOrder are the keys of an index that lists have for their pages: all resources of a region,
// and those with a value of a field, each in the order of place. The fields come as names and
// values in turn.
func inOrder(account, region, place string, fields ...string) [][]string {
	keys := [][]string{{account, region, "", "", place}}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			keys = append(keys, []string{account, region, fields[i], fields[i+1], place})
		}
	}
	return keys
}

// oldest is a place that puts the oldest first, and what has no time before it.
func oldest(created time.Time) string {
	place := uint64(0)
	if !created.IsZero() {
		place = uint64(created.UnixNano()) ^ 1<<63 // times before 1970 as well
	}
	return fmt.Sprintf("%020d", place)
}

// Newest is a place that puts the newest first, and what has no time last. NLB-0039.
func Newest(created time.Time) string {
	age := uint64(math.MaxUint64)
	if !created.IsZero() {
		age = math.MaxInt64 - uint64(created.UnixNano())
	}
	return fmt.Sprintf("%020d", age)
}
