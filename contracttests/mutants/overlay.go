package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Overlay writes an overlay of the go command into a folder, with which what is built from
// root holds all mutants, and returns its file.
func Overlay(root, folder string, all []*Mutant) (string, error) {
	files, err := Files(root, all)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for path, text := range files {
		original, err := filepath.Abs(filepath.Join(root, path))
		if err != nil {
			return "", err
		}
		// By a name that the go command does not take for a source below the folder.
		replace[original] = filepath.Join(folder, strings.ReplaceAll(path, "/", "+")+".txt")
		if err := os.WriteFile(replace[original], text, 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, text, 0o644)
}

// switches is a file that each package with mutants gets. The mutant's name is read once.
const switches = `package %s

import "os"

var mutantName = os.Getenv("MUTANT")

func mutantValue[T any](name string, changed, original T) T {
	if mutantName == name {
		return changed
	}
	return original
}
`

// Files returns the files with all mutants, by their paths below root, and the files that switch
// the mutants.
func Files(root string, all []*Mutant) (map[string][]byte, error) {
	of := make(map[string][]*Mutant)
	for _, m := range all {
		of[m.File] = append(of[m.File], m)
	}
	files := make(map[string][]byte)
	var problems []error
	for path, mutants := range of {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		changed, pkg, err := withMutants(text, mutants)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files[path] = changed
		name := "mutants_" + pkg + ".go"
		if strings.HasSuffix(path, "_test.go") {
			name = "mutants_" + pkg + "_test.go"
		}
		files[filepath.Join(filepath.Dir(path), name)] = fmt.Appendf(nil, switches, pkg)
	}
	return files, errors.Join(problems...)
}

// insertion is a text that replaces a part of a file.
type insertion struct {
	from, to int
	text     string
}

// withMutants returns the text of a file with its mutants. A function begins with its mutants, each
// a copy of its whole body with the change, so that nothing but the change differs.
func withMutants(text []byte, mutants []*Mutant) (changed []byte, pkg string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, mutants[0].File, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, "", err
	}
	var insertions []insertion
	var problems []error
	for _, m := range mutants {
		i, err := m.insertion(file, text)
		insertions, problems = append(insertions, i), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, "", err
	}
	slices.SortStableFunc(insertions, func(a, b insertion) int { return a.from - b.from })
	done := 0
	for _, i := range insertions {
		if i.from < done {
			return nil, "", fmt.Errorf("%s: two values outside of functions overlap", mutants[0].File)
		}
		changed = append(append(changed, text[done:i.from]...), i.text...)
		done = i.to
	}
	return append(changed, text[done:]...), file.Name.Name, nil
}

// insertion puts a mutant into its file.
func (m *Mutant) insertion(file *ast.File, text []byte) (insertion, error) {
	from, to, becomes, err := m.change(text)
	if err != nil {
		return insertion{}, err
	}
	// with is a part of the text with the change.
	with := func(begin, end int) string { return string(text[begin:from]) + becomes + string(text[to:end]) }
	offset := func(p token.Pos) int { return int(p - file.FileStart) }
	if signature, body := around(file, from, to); body != nil {
		changed := "{ func() " + with(offset(body.Lbrace), offset(body.Rbrace)+1) + "(); return }"
		if r := signature.Results; r != nil {
			changed = "{ return func() " + string(text[offset(r.Pos()):offset(r.End())]) + " " + with(offset(body.Lbrace), offset(body.Rbrace)+1) + "() }"
		}
		at := offset(body.Lbrace) + 1
		return insertion{at, at, fmt.Sprintf("\nif mutantName == %q %s\n", m.Name, changed)}, nil
	}
	value := innermost(file, from, to)
	if value == nil || m.Type == "" {
		return insertion{}, fmt.Errorf("%s: %s: %q is in no function, and in no expression of the type %q", m.Name, m.File, m.Line, m.Type)
	}
	begin, end := offset(value.Pos()), offset(value.End())
	return insertion{begin, end, fmt.Sprintf("mutantValue[%s](%q, %s, %s)", m.Type, m.Name, with(begin, end), text[begin:end])}, nil
}

// around returns the outermost function whose body holds a part of a file.
func around(file *ast.File, from, to int) (signature *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(file, func(node ast.Node) bool {
		if body != nil || node == nil {
			return false
		}
		s, b := (*ast.FuncType)(nil), (*ast.BlockStmt)(nil)
		switch node := node.(type) {
		case *ast.FuncDecl:
			s, b = node.Type, node.Body
		case *ast.FuncLit:
			s, b = node.Type, node.Body
		}
		if b != nil && int(b.Lbrace-file.FileStart) < from && to <= int(b.Rbrace-file.FileStart) {
			signature, body = s, b
		}
		return body == nil
	})
	return signature, body
}

// innermost returns the smallest expression that holds a part of a file.
func innermost(file *ast.File, from, to int) (found ast.Expr) {
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil || int(node.Pos()-file.FileStart) > from || int(node.End()-file.FileStart) < to {
			return false
		}
		if expr, ok := node.(ast.Expr); ok {
			if _, pair := node.(*ast.KeyValueExpr); !pair {
				found = expr
			}
		}
		return true
	})
	return found
}
