package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLayout proves that the page of architecture names every folder with code on the first
// two levels, and no folder that does not exist.
func TestLayout(t *testing.T) {
	_, text, found := strings.Cut(pages()["docs/architecture.md"].text, "## Where things are\n")
	if !found {
		t.Fatal("the page does not say where things are")
	}
	named := regexp.MustCompile(`[a-z-]+/`).FindAllString(text, -1)
	var there []string
	for _, top := range []string{".", "cmd", "contracttests", "emulator", "emulator/internal", "emulator/internal/products", "state"} {
		folders, err := os.ReadDir(filepath.Join(root, top))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			name := f.Name() + "/"
			if !f.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(notOurs, f.Name()) {
				continue
			}
			if there = append(there, name); !slices.Contains(named, name) {
				t.Errorf("the page does not name %s", path.Join(top, name))
			}
		}
	}
	for _, name := range named {
		if !slices.Contains(there, name) && len(matches(t, "*/*/"+name)) == 0 && len(matches(t, "*/*/*/"+name)) == 0 && len(matches(t, "*/"+name)) == 0 {
			t.Errorf("the page names %s, which is not there", name)
		}
	}
}

func matches(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
