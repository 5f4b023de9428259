package contracttests

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/fidelity"
)

// evidence says how a behaviour of the cloud is known.
type evidence struct {
	ID         string `yaml:"id"`
	Claim      string `yaml:"claim"`
	Source     string `yaml:"source"`
	Confidence string `yaml:"confidence"`
	Date       string `yaml:"date"`
	Test       string `yaml:"test"`
	// Unmet says why no CCM meets a guess. The journal names the others.
	Unmet string `yaml:"unmet"`
	// Statements cites what is published about it, such as Slb/CreateRules/busy.
	Statements []string `yaml:"statements"`
}

// problem returns what is wrong with an entry on its own.
func (e evidence) problem() error {
	switch {
	case !regexp.MustCompile(`^(CLB|NLB)-\d{4}$`).MatchString(e.ID):
		return fmt.Errorf("id %q is not CLB- or NLB- and four digits", e.ID)
	case e.Claim == "" || e.Source == "":
		return fmt.Errorf("claim or source is empty")
	case !slices.Contains([]string{"high", "medium", "low", "ours"}, e.Confidence):
		return fmt.Errorf("confidence %q is not high, medium, low or ours", e.Confidence)
	}
	_, err := time.Parse(time.DateOnly, e.Date)
	return err
}

// sources returns the project's Go files.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin") && path != ".." {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// citations returns the numbers that the sources cite, with a file that does.
func citations(t *testing.T, files []string) map[string]string {
	t.Helper()
	number := regexp.MustCompile(`\b(?:CLB|NLB)-\d{4}\b`)
	cited := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range number.FindAllString(string(text), -1) {
			cited[id] = file
		}
	}
	return cited
}

// testNames returns the tests that exist, as package.Function.
func testNames(t *testing.T, files []string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if fn, ok := declaration.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names[parsed.Name.Name+"."+fn.Name.Name] = true
			}
		}
	}
	return names
}

// entries returns all that the evidence folder holds, by number.
func entries(t *testing.T) map[string]evidence {
	t.Helper()
	files, err := filepath.Glob("evidence/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no evidence: %v", err)
	}
	all := make(map[string]evidence)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []evidence
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, e := range list {
			if err := e.problem(); err != nil {
				t.Errorf("%s: %s: %v", file, e.ID, err)
			}
			if _, twice := all[e.ID]; twice {
				t.Errorf("%s: there are two entries %s", file, e.ID)
			}
			all[e.ID] = e
		}
	}
	return all
}

// statements returns the published statements, by name.
func statements(t *testing.T) map[string]*fidelity.Statement {
	t.Helper()
	all := make(map[string]*fidelity.Statement)
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for i := range file.Statements {
			all[file.Name(&file.Statements[i])] = &file.Statements[i]
		}
	}
	return all
}

// TestGuessesAreNamed proves that each guess is in what the journal names, a refusal's
// evidence or a product's guesses, or says why no CCM meets it.
func TestGuessesAreNamed(t *testing.T) {
	literal := regexp.MustCompile(`"((?:CLB|NLB)-\d{4})"`)
	named := make(map[string]bool)
	for _, file := range sources(t) {
		if strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, filepath.Join("..", "emulator", "internal")) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range literal.FindAllSubmatch(text, -1) {
			named[string(found[1])] = true
		}
	}
	guesses := 0
	for id, e := range entries(t) {
		switch {
		case e.Confidence != "low":
			if e.Unmet != "" {
				t.Errorf("%s is no guess, and says why none meets it", id)
			}
			continue
		case !named[id] && e.Unmet == "":
			t.Errorf("the journal does not name %s, a guess, and nothing says why no CCM meets it", id)
		}
		guesses++
	}
	if guesses > 30 {
		t.Errorf("%d guesses, want at most 30", guesses)
	}
}

// Every number that the code cites has an entry, every entry is cited, and its
// test and its statements exist.
func TestEvidence(t *testing.T) {
	files := sources(t)
	cited, tests, all, published := citations(t, files), testNames(t, files), entries(t), statements(t)
	for _, id := range slices.Sorted(maps.Keys(cited)) {
		if _, ok := all[id]; !ok {
			t.Errorf("%s cites %s, which has no entry in the evidence folder", cited[id], id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if cited[id] == "" {
			t.Errorf("no code cites %s (%s)", id, all[id].Claim)
		}
		if name, _, _ := strings.Cut(all[id].Test, "/"); !tests[name] {
			t.Errorf("%s: there is no test %q", id, all[id].Test)
		}
		for _, name := range all[id].Statements {
			if s := published[name]; s == nil || s.Unchecked != "" {
				t.Errorf("%s cites %s, which is no statement with a case", id, name)
			}
		}
	}
}
