package names_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
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
)

var update = flag.Bool("update", false, "write answers.tsv from the source of the products")

// TestAnswers proves that answers.tsv is what the source says.
func TestAnswers(t *testing.T) {
	var lines []string
	for _, p := range sources(t) {
		lines = append(lines, p.answers()...)
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("answers.tsv", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile("answers.tsv"); err != nil || string(is) != want {
		t.Errorf("answers.tsv is not what the products' source says (%v): go test ./emulator/names -run Answers -update", err)
	}
	if len(lines) < 400 {
		t.Errorf("the products have %d refusals, want hundreds: does the test see them?", len(lines))
	}
}

// TestCodesOfActions proves that an action has the codes of its own handler and not those
// of others.
func TestCodesOfActions(t *testing.T) {
	for _, c := range []struct {
		action, code string
		want         bool
	}{
		{"CreateLoadBalancer", "ORDER.ARREARAGE", true}, {"DeleteVServerGroup", "ORDER.ARREARAGE", false},
		{"DeleteVServerGroup", "RspoolVipExist", true}, {"DeleteLoadBalancer", "RspoolVipExist", false},
		{"CreateListener", "Conflict.Port", true}, {"DeleteListener", "Conflict.Port", false},
		{"CreateLoadBalancer", "VSwitchAvailableIpNotExist", true}, // the state reports it
		{"CreateLoadBalancer", "InvalidParam.ModificationProtectionStatus", true},
	} {
		actions, err := known.Match(c.action)
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.Contains(actions[0].Codes(), c.code); has != c.want {
			t.Errorf("%s can be refused with %s: %t, want %t", c.action, c.code, has, c.want)
		}
	}
}

// source is the package of a product: what each of its declarations uses of it.
type source struct {
	product string
	pkg     *types.Package
	info    *types.Info
	files   []*ast.File
	actions map[string]bool // the emulated ones
	uses    map[types.Object]map[types.Object]bool
	methods map[string][]types.Object        // by name
	facts   map[types.Object]string          // of the variables that are refusals
	rows    map[string]map[types.Object]bool // what the rows of actions use
}

// sources reads the packages of the products.
func sources(t *testing.T) (all []*source) {
	const products = "github.com/clbemu/clbemu/emulator/internal/products/"
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", products+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	fset := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	dirs, err := filepath.Glob("../internal/products/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		s := &source{uses: make(map[types.Object]map[types.Object]bool), methods: make(map[string][]types.Object), facts: make(map[types.Object]string), rows: make(map[string]map[types.Object]bool),
			info: &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}}
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, file)
		}
		if s.pkg, err = config.Check(products+filepath.Base(dir), fset, s.files, s.info); err != nil {
			t.Fatal(err)
		}
		s.read(t)
		all = append(all, s)
	}
	return all
}

// read finds out what the declarations use.
func (s *source) read(t *testing.T) {
	s.product = s.productName()
	s.actions = make(map[string]bool)
	for _, a := range known.Actions() {
		if a.Product == s.product && a.Emulated {
			s.actions[a.Name] = true
		}
	}
	if len(s.actions) == 0 {
		t.Fatalf("%s: no product has the name %q", s.pkg.Path(), s.product)
	}
	for _, file := range s.files {
		for _, d := range file.Decls {
			s.declaration(d)
		}
	}
}

// productName returns the Name that the function Product gives the product.
func (s *source) productName() (name string) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !isNamed(s.info.TypeOf(literal), "Product") {
				return true
			}
			for _, e := range literal.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok && fmt.Sprint(pair.Key) == "Name" {
					name = constant.StringVal(s.info.Types[pair.Value].Value)
				}
			}
			return true
		})
	}
	return name
}

func isNamed(t types.Type, name string) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == name
}

func (s *source) declaration(d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); ok {
		of := s.info.Defs[f.Name]
		s.add(of, f)
		if f.Recv != nil {
			s.methods[f.Name.Name] = append(s.methods[f.Name.Name], of)
			for used := range s.usedBy(f.Recv) { // what has the type may call its methods
				s.link(used, of)
			}
		}
		return
	}
	for _, spec := range d.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.add(s.info.Defs[spec.Name], spec.Type)
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				of := s.info.Defs[name]
				if spec.Type != nil {
					s.add(of, spec.Type)
				}
				for j, value := range spec.Values {
					if i == j || len(spec.Values) == 1 {
						s.add(of, value)
						s.refusal(of, value)
					}
				}
			}
		}
	}
}

func (s *source) link(from, to types.Object) {
	if s.uses[from] == nil {
		s.uses[from] = make(map[types.Object]bool)
	}
	s.uses[from][to] = true
}

func (s *source) add(of types.Object, node ast.Node) {
	for used := range s.usedBy(node) {
		s.link(of, used)
	}
}

// usedBy lists what a part of the source uses of the package. The row of an action, such as
// gateway.Write("CreateVpc", createVpc), is kept for itself.
func (s *source) usedBy(node ast.Node) map[types.Object]bool {
	used := make(map[types.Object]bool)
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if action := s.texts(n, s.actions); isNamed(s.info.TypeOf(n), "Action") && action != "" && s.rows[action] == nil {
				s.rows[action] = make(map[types.Object]bool)
				s.rows[action] = s.usedBy(n)
				return false
			}
		case *ast.Ident:
			if o := s.info.Uses[n]; o != nil && o.Pkg() == s.pkg {
				if f, ok := o.(*types.Func); ok {
					o = f.Origin()
				}
				used[o] = true
			}
		}
		return true
	})
	return used
}

// texts is the first text constant under a node, of some if they are given.
func (s *source) texts(node ast.Node, of map[string]bool) (found string) {
	ast.Inspect(node, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && found == "" {
			if v := s.info.Types[text].Value; v != nil && v.Kind() == constant.String && (of == nil || of[constant.StringVal(v)]) {
				found = constant.StringVal(v)
			}
		}
		return true
	})
	return found
}

// refusal notes a variable that keeps a refusal, by the name with which it is declared.
func (s *source) refusal(of types.Object, value ast.Expr) {
	if isNamed(of.Type(), "Refusal") {
		s.facts[of] = s.texts(value, nil)
	}
}

// reached lists the refusals reached from some objects.
func (s *source) reached(from map[types.Object]bool) map[string]bool {
	facts, seen, next := make(map[string]bool), make(map[types.Object]bool), slices.Collect(maps.Keys(from))
	for len(next) > 0 {
		o := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[o] {
			continue
		}
		seen[o] = true
		if fact := s.facts[o]; fact != "" {
			facts[fact] = true
		}
		if f, ok := o.(*types.Func); ok && s.uses[o] == nil { // of an interface
			next = append(next, s.methods[f.Name()]...)
		}
		next = slices.AppendSeq(next, maps.Keys(s.uses[o]))
	}
	return facts
}

// answers lists the refusals with the actions that reach them, a line each. What the product
// reaches in addition to the rows of its actions counts for all.
func (s *source) answers() (lines []string) {
	by := make(map[string][]string)
	for _, fact := range s.facts {
		by[fact] = nil
	}
	note := func(action string, facts map[string]bool) {
		for fact := range facts {
			by[fact] = append(by[fact], action)
		}
	}
	note("*", s.reached(map[types.Object]bool{s.pkg.Scope().Lookup("Product"): true}))
	for _, action := range slices.Sorted(maps.Keys(s.actions)) {
		note(action, s.reached(s.rows[action]))
	}
	for fact, actions := range by {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\n", s.product, fact, strings.Join(actions, " ")))
	}
	return lines
}
