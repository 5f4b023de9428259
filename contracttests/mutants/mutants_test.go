package mutants_test

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/mutants"
	"github.com/clbemu/clbemu/scenarios"
)

const root = "../.."

func read(t *testing.T) []*mutants.Mutant {
	t.Helper()
	all, err := mutants.Read()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTable proves that each mutant says what it is, and that what must notice it exists.
func TestTable(t *testing.T) {
	tests, err := mutants.Tests(root)
	if err != nil {
		t.Fatal(err)
	}
	all := read(t)
	for _, m := range all {
		if m.Name == "" || m.Rule == "" || len(m.By) == 0 {
			t.Errorf("%+v has no name, no rule, or nothing that must notice it", m)
		}
		for _, by := range m.By {
			if name, ok := strings.CutPrefix(by, "scenario "); ok {
				name, part, _ := strings.Cut(name, "/")
				if text, _ := scenarios.LibraryText(name); !strings.Contains(string(text), "\n"+part+":") {
					t.Errorf("%s: there is no %s part of %s", m.Name, part, name)
				}
			} else if tests[test(by)] == "" {
				t.Errorf("%s: there is no test %s", m.Name, by)
			}
		}
		for by, why := range m.Survives {
			if !slices.Contains(m.By, by) || why == "" {
				t.Errorf("%s survives %s, which does not play it, or without a reason", m.Name, by)
			}
		}
	}
	if len(all) < 250 {
		t.Errorf("there are %d mutants, want one for each row and rule", len(all))
	}
}

// TestOverlay proves that each line that a mutant changes is there once, and that the packages
// with all mutants compile.
func TestOverlay(t *testing.T) {
	files, err := mutants.Files(root, read(t))
	if err != nil {
		t.Fatal(err)
	}
	folders := make(map[string]bool)
	for path := range files {
		if folder := filepath.Dir(path); !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(folder, clusterFolder) {
			folders["./"+folder] = true
		}
	}
	compile(t, slices.Sorted(maps.Keys(folders)), files)
}

// compile checks the types of packages with the mutants. What they import is compiled for the
// other tests anyway, which is not so of the driver, a module of its own.
func compile(t *testing.T, packages []string, files map[string][]byte) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles \" \"}}"}, packages...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports, sources := make(map[string]string), make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exports[p[0]] = p[1]
		for _, name := range strings.Fields(p[3]) {
			sources[p[2]] = append(sources[p[2]], filepath.Join(p[2], name))
		}
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, folder := range packages {
		folder = filepath.Clean(folder)
		paths := sources[filepath.Join(top, folder)]
		for path := range files {
			if full := filepath.Join(top, path); filepath.Dir(path) == folder && !strings.HasSuffix(path, "_test.go") && !slices.Contains(paths, full) {
				paths = append(paths, full)
			}
		}
		var parsed []*ast.File
		for _, path := range paths {
			relative, _ := filepath.Rel(top, path)
			var text any
			if changed, ok := files[relative]; ok {
				text = changed
			}
			file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("with the mutants: %v", err)
				continue
			}
			parsed = append(parsed, file)
		}
		config := types.Config{Importer: imports, Error: func(err error) {
			var of types.Error
			if errors.As(err, &of) {
				line := strings.Split(string(files[strings.TrimPrefix(of.Fset.Position(of.Pos).Filename, top+"/")]), "\n")
				at := min(max(of.Fset.Position(of.Pos).Line-1, 0), len(line)-1)
				t.Errorf("with the mutants: %v: %s", err, line[at])
			}
		}}
		_, _ = config.Check(folder, set, parsed, nil) // Error has them all
	}
}

// TestProblems proves which mutants are none.
func TestProblems(t *testing.T) {
	for want, m := range map[string]mutants.Mutant{
		"2 times":          {Line: "twice", Becomes: "x"},
		"0 times":          {Line: "never", Becomes: "x"},
		"and changed":      {Line: "twice()\n}", Becomes: "twice()\n}"},
		"in no expression": {Line: "outside = 1", Becomes: "outside = 2"},
		`of the type ""`:   {Line: "= 1", Becomes: "= 2"},
		"no such file":     {File: "g.go"},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "f.go"), []byte("package f\n\nvar outside = 1\n\nfunc f() {\n\ttwice()\n\ttwice()\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if m.File == "" {
			m.File = "f.go"
		}
		if _, err := mutants.Files(folder, []*mutants.Mutant{&m}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q becomes %q: %v, want %q", m.Line, m.Becomes, err, want)
		}
	}
}
