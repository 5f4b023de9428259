package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write go-packages.md")

// maxNames limits the exported names that other modules can use, in all packages.
const maxNames = 650

// stable promises what a package keeps within a major version, and ours promises nothing:
// it is for clbemu's own commands and tests.
const (
	stable = "stable"
	ours   = "may change"
)

// promises say what other modules can rely on. A package that is not here must be internal.
var promises = map[string]string{
	"emulator":               stable,
	"emulator/emulatortest":  stable,
	"emulator/controlapi":    stable,
	"emulator/controlclient": stable,
	"emulator/journal":       stable,
	"faults":                 stable,
	"scenarios":              stable,
	"state":                  ours,
	"state/engine":           ours, "state/engine/bolt": ours, "state/engine/memory": ours, "state/engine/durable": ours, "state/engine/enginetest": ours,
	"state/jsonstream":    ours,
	"contracttests/await": ours, "contracttests/mutants": ours, "contracttests/binary": ours, "contracttests/netns": ours, "contracttests/record": ours,
	"emulator/fidelity":  ours,
	"emulator/apiclient": ours,
	"emulator/explain":   ours,
	"emulator/glob":      ours,
	"emulator/inventory": ours,
	"emulator/names":     ours,
	"emulator/spelling":  ours,
	"emulator/products":  ours, "emulator/target": ours, "emulator/target/private": ours,
	"emulator/annotations": ours,
	"emulator/world":       ours, "emulator/world/conditions": ours,
	"emulator/yamlfile": ours,
	"examples/go":       ours,
}

// goPackage is a package as other modules see it.
type goPackage struct {
	path, doc string
	names     []string
}

// TestGoPackages proves that each importable package has a promise, that each stable one is
// in go-packages.md with its names, and that there are not too many names.
func TestGoPackages(t *testing.T) {
	page := "# Go packages\n\nOther modules can rely on these packages of `github.com/clbemu/clbemu`. Until version 1.0, each changes only with a note in\n" +
		"[CHANGELOG](../CHANGELOG.md) that says what to write instead. Every other package is for clbemu's own commands, and may change at any time.\n"
	count := 0
	for _, p := range importable(t) {
		promise, listed := promises[p.path]
		if !listed {
			t.Errorf("other modules can import %s: make it internal, or list it here with a promise", p.path)
		}
		count += len(p.names)
		if promise == stable {
			page += fmt.Sprintf("\n## %s\n\n%s\n\n`%s`\n", p.path, strings.TrimSuffix(p.doc, "."), strings.Join(p.names, "` `"))
		}
	}
	if count > maxNames {
		t.Errorf("other modules can import %d names, want at most %d", count, maxNames)
	}
	file := filepath.Join(root, "docs", "go-packages.md")
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != page {
		t.Errorf("go-packages.md is out of date (%v): run `make golden`", err)
	}
}

// importable lists the packages that other modules can import, in order of path.
func importable(t *testing.T) (all []goPackage) {
	t.Helper()
	err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := d.Name()
		if slices.Contains(notOurs, name) {
			return fs.SkipDir
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); dir != root && (err == nil || name == "internal" || name == "testdata" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if p, ok := readPackage(t, dir); ok {
			all = append(all, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readPackage reads what a folder exports; a command and a folder of tests export nothing.
func readPackage(t *testing.T, dir string) (p goPackage, ok bool) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	p.path = path.Clean(filepath.ToSlash(relative))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "main" {
			return p, false
		}
		if doc := file.Doc.Text(); doc != "" {
			p.doc = strings.ReplaceAll(strings.SplitAfter(doc, ".\n")[0], "\n", " ")
			p.doc, _, _ = strings.Cut(strings.TrimSpace(p.doc), ". ")
		}
		for _, declared := range file.Decls {
			p.names = append(p.names, exportedBy(declared)...)
		}
	}
	slices.Sort(p.names)
	return p, len(p.names) > 0
}

// exportedBy lists the exported names of a declaration; methods belong to their types.
func exportedBy(declared ast.Decl) (names []string) {
	var identifiers []*ast.Ident
	switch d := declared.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			identifiers = append(identifiers, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				identifiers = append(identifiers, s.Name)
			case *ast.ValueSpec:
				identifiers = append(identifiers, s.Names...)
			}
		}
	}
	for _, i := range identifiers {
		if i.IsExported() {
			names = append(names, i.Name)
		}
	}
	return names
}
