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

// TestArchitectureNames proves that the page of architecture names no file and no
// identifier of a package that is not there.
func TestArchitectureNames(t *testing.T) {
	in := packageTexts(t)
	found := 0
	for _, quoted := range regexp.MustCompile("`([^` \n]+)`").FindAllStringSubmatch(pages()["docs/architecture.md"].text, -1) {
		name, there := quoted[1], true
		if id := regexp.MustCompile(`^([a-z]\w+)\.([A-Z]\w+)`).FindStringSubmatch(name); id != nil {
			there = regexp.MustCompile(`\b`+id[2]+`\b`).MatchString(in[id[1]]) || strings.Contains(in["clb"], name) // a variable of a product
		} else if strings.Contains(name, "/") && !strings.ContainsAny(name, "…ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			there = slices.ContainsFunc([]string{"", "emulator", "emulator/internal", "emulator/internal/console", "emulator/internal/products/*"}, func(top string) bool { return len(matches(t, path.Join(top, name))) > 0 })
		} else {
			continue
		}
		if found++; !there {
			t.Errorf("the page names %s, which is not there", name)
		}
	}
	if found < 80 {
		t.Errorf("%d names were found on the page, want all", found)
	}
}

// packageTexts returns the sources of all packages by name; a package and its tests have the
// text of both.
func packageTexts(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	clause := regexp.MustCompile(`(?m)^package (\w+)$`)
	eachFile(t, func(name string) bool { return path.Ext(name) == ".go" }, func(_, text string) {
		if found := clause.FindStringSubmatch(text); found != nil {
			of := strings.TrimSuffix(found[1], "_test")
			all[of], all[of+"_test"] = all[of]+text, all[of+"_test"]+text
		}
	})
	return all
}

func matches(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
