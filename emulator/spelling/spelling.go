// Package spelling suggests a name for a mistyped one, and checks names that people
// give.
package spelling

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// longestName limits the letters in the names of fault rules, marks and snapshots.
const longestName = 80

// CheckName checks a name that a person gives to a thing, and that is also part of URL
// paths and file names.
func CheckName(thing, name string) error {
	const rule = "write letters, digits and . _ -, and begin with a letter or a digit"
	if name == "" {
		return fmt.Errorf("%s needs a name: %s", thing, rule)
	}
	if len(name) > longestName {
		return fmt.Errorf("%.20q… has %d letters, and the name of %s at most %d", name, len(name), thing, longestName)
	}
	for i, r := range name {
		letter := r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("._-", r)) {
			return fmt.Errorf("%q is not a name for %s: %s", name, thing, rule)
		}
	}
	return nil
}

// verb begins the names of actions.
var verb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][a-z]+`) })

// DidYouMean ends a refusal: with the name that was meant, or else with where names are
// listed, if that is not "". A glob is meant to be one of a verb.
func DidYouMean(name string, names []string, otherwise string) string {
	if strings.HasSuffix(name, "*") {
		for _, n := range names {
			names = append(names, verb().FindString(n)+"*")
		}
	}
	if near := Nearest(name, names); near != "" && near != name {
		return ": do you mean " + near + "?"
	}
	if otherwise == "" {
		return ""
	}
	return ": " + otherwise
}

// Nearest returns the name that is closest to a mistyped one, the first by the alphabet of several,
// or "" if none is near.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, candidate := range names {
		if more := len(name) - len(candidate); max(more, -more) > least {
			continue // more letters differ
		}
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate)); d < least || d == least && candidate < best {
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
