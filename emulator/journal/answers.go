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

// answers holds the answers to the newest calls, apart from the entries, since there are
// more entries, and in no file.
type answers struct {
	kept []keptAnswer // in order of sequence
	size int          // of their memory
}

type keptAnswer struct {
	sequence uint64
	text     []byte
}

// add keeps a copy of an answer, or of its beginning, since some are megabytes. It is made
// in the memory of the answer that goes for it, unless most of that would be empty.
func (a *answers) add(sequence uint64, answer []byte) {
	text := answer[:min(len(answer), maxAnswer)]
	if len(answer) > maxAnswer {
		text = []byte(strings.ToValidUTF8(string(answer[:maxAnswer-len(cut)]), "") + cut)
	}
	var memory []byte
	for len(a.kept) > 0 && a.size+len(text) > maxAnswers {
		oldest := a.kept[0].text
		if len(text) <= cap(oldest) && cap(oldest) <= 2*len(text) {
			memory = oldest[:0]
		}
		a.size -= cap(oldest)
		a.kept[0] = keptAnswer{}
		a.kept = a.kept[1:]
	}
	memory = append(memory, text...)
	a.size += cap(memory)
	a.kept = append(a.kept, keptAnswer{sequence, memory})
}

// of returns the answer of an entry, or "" if it is not kept any more. It hides an answer that may
// have a secret.
func (a *answers) of(sequence uint64) string {
	at, found := slices.BinarySearchFunc(a.kept, sequence, func(k keptAnswer, s uint64) int { return cmp.Compare(k.sequence, s) })
	if !found {
		return ""
	}
	if text := string(a.kept[at].text); !strings.Contains(text, "PRIVATE KEY") && !containsAny(letters(text), secretFields) {
		return text
	}
	return Hidden
}
