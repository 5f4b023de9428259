package jsonstream

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"iter"
)

// Texts holds values as JSON texts, one after the other, which takes little more than the texts.
// The zero value is empty.
type Texts struct{ chunks [][]byte }

var _ json.Marshaler = (*Texts)(nil)

// chunkSize is small enough that the last chunk, which is not full, is no waste.
const chunkSize = 64 << 10

// Add keeps a copy of a value.
func (t *Texts) Add(text []byte) {
	need := binary.MaxVarintLen64 + len(text)
	if last := len(t.chunks) - 1; last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < need {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkSize, need)))
	}
	chunk := &t.chunks[len(t.chunks)-1]
	*chunk = append(binary.AppendUvarint(*chunk, uint64(len(text))), text...)
}

// All returns the values in the order of Add. The caller must not change them.
func (t *Texts) All() iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for i := range t.length() {
			if !each(t.chunks[i], yield) {
				return
			}
		}
	}
}

// Drain is like All, but forgets what it has handed out.
func (t *Texts) Drain() iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for len(t.chunks) > 0 {
			chunk := t.chunks[0]
			t.chunks[0] = nil
			t.chunks = t.chunks[1:]
			if !each(chunk, yield) {
				return
			}
		}
	}
}

func each(chunk []byte, yield func(json.RawMessage) bool) bool {
	for len(chunk) > 0 {
		size, n := binary.Uvarint(chunk)
		chunk = chunk[n:]
		if !yield(json.RawMessage(chunk[:size:size])) {
			return false
		}
		chunk = chunk[size:]
	}
	return true
}

func (t *Texts) length() int {
	if t == nil {
		return 0
	}
	return len(t.chunks)
}

// Write writes the values as a JSON array.
func (t *Texts) Write(w io.Writer) error {
	before := "["
	for text := range t.All() {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		before = ","
	}
	if before == "[" {
		_, err := io.WriteString(w, "[]")
		return err
	}
	_, err := io.WriteString(w, "]")
	return err
}

// MarshalJSON implements json.Marshaler.
func (t *Texts) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := t.Write(&b)
	return b.Bytes(), err
}
