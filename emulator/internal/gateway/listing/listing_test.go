package listing_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
)

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Pages by number hold what they should, also the last and those beyond.
func TestPage(t *testing.T) {
	for _, c := range []struct {
		number, size int
		want         []int
	}{
		{1, 3, []int{0, 1, 2}}, {2, 3, []int{3, 4, 5}}, {3, 3, []int{6}}, {4, 3, nil}, {1, 100, numbers(7)},
		{math.MaxInt, 3, nil}, {math.MaxInt, math.MaxInt, nil}, {1, math.MaxInt, numbers(7)},
	} {
		if got := listing.Page(numbers(7), c.number, c.size); !slices.Equal(got, c.want) {
			t.Errorf("Page(7 numbers, %d, %d) = %v, want %v", c.number, c.size, got, c.want)
		}
	}
}

// Who follows the tokens sees every element once, in order, whatever the order
// of the list.
func TestAfter(t *testing.T) {
	key := func(n int) string { return fmt.Sprintf("%03d", n) }
	for size := 1; size < 9; size++ {
		list := numbers(7)
		slices.Reverse(list)
		var seen []int
		token := ""
		for range 10 {
			part, next, err := listing.After(list, token, size, key)
			if err != nil || len(part) > size {
				t.Fatalf("After(%q, %d) = %v, %v", token, size, part, err)
			}
			seen = append(seen, part...)
			if token = next; token == "" {
				break
			}
		}
		if !slices.Equal(seen, numbers(7)) {
			t.Errorf("by %d: %v", size, seen)
		}
	}
	for _, token := range []string{"x", "####", "MDAz"} {
		if _, _, err := listing.After(numbers(3), token, 1, key); !strings.Contains(fmt.Sprint(err), string(listing.BadToken)) {
			t.Errorf("After with token %q = %v, want it refused", token, err)
		}
	}
}
