package explain

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
)

// TestPublished proves that a code is explained with each statement about it. With -update it
// writes them.
func TestPublished(t *testing.T) {
	const file = "published.jsonl"
	all, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	codes := make(map[string]bool)
	for _, code := range names.Of(kinds.Schema, products.All()).AllCodes() {
		codes[code] = true
	}
	of := make(map[string]*published)
	for _, f := range all {
		for i := range f.Statements {
			code, _, _ := strings.Cut(f.Statements[i].Says, " ")
			if code = strings.TrimSuffix(code, ":"); !codes[code] {
				continue
			}
			if of[code] == nil {
				of[code] = &published{Code: code}
			}
			of[code].Statements = append(of[code].Statements, statementOf(f, &f.Statements[i]))
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for _, code := range slices.Sorted(maps.Keys(of)) {
		if err := e.Encode(of[code]); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(publishedText, text.Bytes()) {
		t.Fatalf("%s is not what is published: run make golden", file)
	}
	for code, want := range of {
		got, err := statementsAbout(code)
		if err != nil || !slices.Equal(got, want.Statements) {
			t.Errorf("%s has %v, %v, want %v", code, got, err, want.Statements)
		}
	}
}
