// Package record keeps what tests found for the next run and for pages: as JSON with a row a line,
// so that a row that changes is one line of a change. It must not know what the rows mean.
package record

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Schema is the depth of a JSON Schema: a property of a definition has a line.
const Schema = 4

// Read reads a record.
func Read[T any](t testing.TB, file string) (recorded T) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return recorded
}

// Write writes a record whose rows are depth objects or lists deep.
func Write(t testing.TB, file string, recorded any, depth int) {
	t.Helper()
	if err := os.WriteFile(file, Text(t, recorded, depth), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Text returns what Write writes.
func Text(t testing.TB, recorded any, depth int) []byte {
	t.Helper()
	var all, text bytes.Buffer
	encoder := json.NewEncoder(&all)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(recorded)
	if err == nil {
		err = lines(&text, bytes.TrimSpace(all.Bytes()), depth, "\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	return text.Bytes()
}

// lines writes the members of an object or a list on lines of their own, down to a depth.
func lines(b *bytes.Buffer, text []byte, depth int, line string) error {
	ends := map[byte]string{'{': "}", '[': "]"}[text[0]]
	if depth == 0 || ends == "" || len(text) == 2 {
		b.Write(text)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	b.WriteByte(text[0])
	for n := 0; d.More(); n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(line + " ")
		if ends == "}" {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, err := json.Marshal(key)
			if err != nil {
				return err
			}
			b.Write(append(name, ": "...))
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := lines(b, value, depth-1, line+" "); err != nil {
			return err
		}
	}
	b.WriteString(line + ends)
	return nil
}
