package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecurityNamesCallsOfClouds proves that SECURITY.md names each command that can call a real cloud: those
// whose files import what calls one.
func TestSecurityNamesCallsOfClouds(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "cmd/internal/command/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if shared := filepath.Base(file) == "realcloud.go"; shared || strings.HasSuffix(file, "_test.go") || !bytes.Contains(text, []byte(`cmd/internal/realcloud"`)) {
			continue
		}
		found++
		if name := "clbemu " + strings.ReplaceAll(strings.TrimSuffix(filepath.Base(file), ".go"), "_", " "); !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s calls a real cloud: SECURITY.md does not name `%s`", file, name)
		}
	}
	if found < 2 {
		t.Errorf("%d commands call a real cloud, want fidelity run and state pull at least", found)
	}
}
