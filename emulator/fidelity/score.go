package fidelity

import (
	"slices"

	"github.com/clbemu/clbemu/scenarios"
)

// Score counts statements by how they stand, and those that hold by how that is known.
type Score struct {
	Published int `json:"published"`
	Holds     int `json:"holds"`
	Differs   int `json:"differs"`
	Open      int `json:"open"`
	Unchecked int `json:"unchecked"`
	// ByValue are known by a value or a code, ByBehaviour by packets or time, and ByStatus by
	// the status of an answer alone.
	ByValue     int `json:"byValue"`
	ByBehaviour int `json:"byBehaviour"`
	ByStatus    int `json:"byStatus"`
	// Outside are fields and codes of older publications that the API of today publishes no
	// more. They count nowhere else.
	Outside int `json:"outside"`
	// Leaning counts what clients rely on, which cases of other statements play. It counts nowhere
	// else.
	Leaning int `json:"leaning"`
	// Used counts how often clients send a parameter or read a field in plays, and UsedHolds how
	// often a statement about it holds.
	Used      int `json:"used"`
	UsedHolds int `json:"usedHolds"`
}

// Count counts a statement.
func (s *Score) Count(of *Statement) {
	if of.leans {
		s.Leaning++
		return
	}
	s.Published++
	v := of.Verdict()
	*map[Verdict]*int{Holds: &s.Holds, Differs: &s.Differs, Open: &s.Open, Unchecked: &s.Unchecked}[v]++
	if v == Holds {
		*map[knownBy]*int{byValue: &s.ByValue, byBehaviour: &s.ByBehaviour, byStatus: &s.ByStatus}[of.known()]++
	}
}

// Add adds the counts of another score.
func (s *Score) Add(o Score) {
	s.Published, s.Holds, s.Differs, s.Open, s.Unchecked = s.Published+o.Published, s.Holds+o.Holds, s.Differs+o.Differs, s.Open+o.Open, s.Unchecked+o.Unchecked
	s.ByValue, s.ByBehaviour, s.ByStatus = s.ByValue+o.ByValue, s.ByBehaviour+o.ByBehaviour, s.ByStatus+o.ByStatus
	s.Outside, s.Leaning = s.Outside+o.Outside, s.Leaning+o.Leaning
	s.Used, s.UsedHolds = s.Used+o.Used, s.UsedHolds+o.UsedHolds
}

// Share returns the percentage of the published statements that hold.
func (s Score) Share() float64 {
	if s.Published == 0 {
		return 0
	}
	return 100 * float64(s.Holds) / float64(s.Published)
}

// ShareOfAll returns the share with what is outside among what is published.
func (s Score) ShareOfAll() float64 {
	s.Published += s.Outside
	return s.Share()
}

// ShareOfUse returns the percentage of what clients send and read about which a statement
// holds.
func (s Score) ShareOfUse() float64 { return Score{Published: s.Used, Holds: s.UsedHolds}.Share() }

// Score counts the statements of a file.
func (f *File) Score() (s Score) {
	for i := range f.Statements {
		s.Count(&f.Statements[i])
	}
	for i := range f.Outside {
		s.Outside += len(f.Outside[i].Fields) + len(f.Outside[i].Codes)
	}
	for _, u := range f.uses() {
		s.Used += u.count
		if u.holds {
			s.UsedHolds += u.count
		}
	}
	return s
}

// knownBy is the kind of a case's comparison.
type knownBy int

const (
	byStatus knownBy = iota
	byValue
	byBehaviour
)

// known returns what shows that a case holds: the values and codes of its answers, or else what its
// other steps see.
func (s *Statement) known() knownBy {
	by := byStatus
	for i := range s.Case {
		reply, isCall := replyOf(&s.Case[i])
		switch {
		case reply != nil && (reply.Code != nil || len(reply.Fields) > 0):
			return byValue
		case !isCall && slices.Contains([]string{"traffic", "expect"}, s.Case[i].Kind.Name):
			by = byBehaviour
		}
	}
	return by
}

// replyOf returns the answer that a step expects, and whether it is a call.
func replyOf(step *scenarios.Step) (reply *scenarios.Reply, isCall bool) {
	switch value := step.Value.(type) {
	case *scenarios.CallStep:
		return value.Expect, true
	case *scenarios.Wait:
		return value.Call.Expect, true
	}
	return nil, false
}
