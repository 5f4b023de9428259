// Package spelling finds the name that a mistyped one was meant to be.
package spelling

import "strings"

// Nearest is the name that a mistyped one is closest to, "" when none is near.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, candidate := range names {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// Distance counts the letters that are more, less or others in b than in a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
