package mutate

import (
	"cmp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Outcome counts the tried changes of something, and lists those that nothing noticed. Files in
// contracttests/testdata/mutants hold outcomes; contracttests/seeds.md shows them.
type Outcome struct {
	Run      int        `json:"run"`
	Survived []Survivor `json:"survived,omitempty"`
}

// Survivor is a change that nothing noticed, with the reason why nothing can.
type Survivor struct {
	Change string `json:"change"`
	Why    string `json:"why,omitempty"`
}

// Sort sorts the survivors.
func (o *Outcome) Sort() {
	slices.SortFunc(o.Survived, func(a, b Survivor) int { return cmp.Compare(a.Change, b.Change) })
}

// Absent is why no play notices another name in an expectation that IsAbsence.
const Absent = "names what must not be there"

// IsAbsence reports whether an expectation is that something is not there, or not more often:
// what has another name is not there either.
func IsAbsence(expectation *yaml.Node) bool {
	absent := false
	entries(expectation, func(_ int, key string, value *yaml.Node) {
		switch key {
		case "none", "absent":
			absent = absent || value.Value == "true"
		case "count", "exactly", "used":
			absent = absent || value.Value == "0"
		case "atMost":
			absent = true
		case "code": // a resource that is gone is refused
			absent = absent || child(value, "matches") != nil
		}
		absent = absent || IsAbsence(value)
	})
	return absent
}
