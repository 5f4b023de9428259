package journal

import (
	"cmp"
	"slices"
	"strings"
)

// The bounds, in bytes, of one answer and of all kept answers; the oldest go first.
const (
	maxAnswer  = 4 << 10
	maxAnswers = 1 << 20
)

// Answered is the stored part of an answer: its beginning, since some are megabytes.
func Answered(body []byte) string {
	if len(body) <= maxAnswer {
		return string(body)
	}
	return strings.ToValidUTF8(string(body[:maxAnswer-len(cut)]), "") + cut
}

// answers holds the answers to the newest calls, apart from the entries, since there are
// more entries, and in no file.
type answers struct {
	kept []keptAnswer // in order of sequence
	size int
}

type keptAnswer struct {
	sequence uint64
	text     string
}

func (a *answers) add(sequence uint64, text string) {
	a.kept = append(a.kept, keptAnswer{sequence, text})
	for a.size += len(text); a.size > maxAnswers; a.kept = a.kept[1:] {
		a.size -= len(a.kept[0].text)
		a.kept[0] = keptAnswer{}
	}
}

// of is the answer of an entry, "" when it is not kept any more. One that may have a
// secret is hidden.
func (a *answers) of(sequence uint64) string {
	at, found := slices.BinarySearchFunc(a.kept, sequence, func(k keptAnswer, s uint64) int { return cmp.Compare(k.sequence, s) })
	if !found {
		return ""
	}
	if text := a.kept[at].text; !strings.Contains(text, "PRIVATE KEY") && !containsAny(letters(text), secretFields) {
		return text
	}
	return Hidden
}
