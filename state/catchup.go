package state

import (
	"fmt"
	"strings"
)

// catchUp moves the sequence of an imported state to where it mints no id twice: after the ids of
// the rows, and not before the state that it replaces if both come from one seed. It returns what
// was wrong with the sequence, or "".
func (tx *Tx) catchUp(before *Sequence) (repaired string) {
	imported := tx.sequence()
	sequence := *imported
	sequence.Next = tx.behindRows(imported)
	if sequence.Next > imported.Next {
		repaired = fmt.Sprintf("the sequence of ids was at %d, behind those that rows have: it goes on from %d", imported.Next, sequence.Next)
	}
	if before != nil && before.Seed == sequence.Seed {
		sequence.Next = max(sequence.Next, before.Next)
	}
	if sequence.Next != imported.Next {
		Sequences.Put(tx, &sequence)
	}
	return repaired
}

// searched limits how many draws after the last one that made an id of a row are
// searched for another.
const searched = 10_000

// longestPart is as many digits as no id has.
const longestPart = 40

// behindRows returns the first draw, from the sequence's next one, after all draws that made ids of
// rows.
func (tx *Tx) behindRows(s *Sequence) uint64 {
	made, lengths := tx.mintedParts()
	next := s.Next
	if len(made) == 0 {
		return next
	}
	for n := next; n < next+searched; n++ {
		chance := s.draw(n)
		digits := base36(chance[:], longestPart)
		for length := range lengths {
			if _, ok := made[digits[longestPart-length:]]; ok {
				next = n + 1
				break
			}
		}
	}
	return next
}

// mintedParts returns the parts of ids that follow the region's code, for all rows
// whose kind has a form, and their lengths.
func (tx *Tx) mintedParts() (made map[string]struct{}, lengths map[int]struct{}) {
	made, lengths = make(map[string]struct{}), make(map[int]struct{})
	everything := tx.In(Owner{}).View
	for _, k := range tx.schema.all() {
		if k.form == nil {
			continue
		}
		for id := range k.table.all(everything) {
			if rest, ok := strings.CutPrefix(id, k.form.prefix); ok && len(rest) > k.form.length {
				made[rest[len(rest)-k.form.length:]] = struct{}{}
				lengths[k.form.length] = struct{}{}
			}
		}
	}
	return made, lengths
}
