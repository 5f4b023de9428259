package docs_test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/clbemu/clbemu"

// TestStableNames proves that the stable packages promise only what other modules can name:
// no function, field, method or constant of them has a type of an internal package.
func TestStableNames(t *testing.T) {
	const format = "{{.ImportPath}}\t{{.Export}}"
	args := []string{"list", "-export", "-deps", "-f", format}
	for path, promise := range promises {
		if promise == stable {
			args = append(args, "./"+path)
		}
	}
	list := exec.Command("go", args...)
	list.Dir = root
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for path, promise := range promises {
		if promise != stable {
			continue
		}
		p, err := from.Import(module + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		w := walk{t, p, make(map[types.Type]bool)}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				w.object(name, o)
			}
		}
	}
}

// walk follows the types that a package shows.
type walk struct {
	t    *testing.T
	of   *types.Package
	seen map[types.Type]bool
}

func (w walk) object(name string, o types.Object) {
	alias, named := o.(*types.TypeName)
	if !named || alias.IsAlias() {
		w.shown(name, o.Type())
		return
	}
	w.shown(name, o.Type().Underlying())
	for method := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
		if method.Obj().Exported() {
			w.shown(name+"."+method.Obj().Name(), method.Type())
		}
	}
}

// shown follows one type, to what is named.
func (w walk) shown(by string, of types.Type) {
	if w.seen[of] {
		return
	}
	w.seen[of] = true
	switch of := of.(type) {
	case *types.Alias:
		w.shown(by, types.Unalias(of))
	case *types.Named:
		if p := of.Obj().Pkg(); p != nil && strings.Contains(p.Path()+"/", "/internal/") && strings.HasPrefix(p.Path(), module) {
			w.t.Errorf("%s.%s shows %s, which other modules can't name", w.of.Path(), by, of)
		}
		for argument := range of.TypeArgs().Types() {
			w.shown(by, argument)
		}
	case *types.Struct:
		for field := range of.Fields() {
			if field.Exported() {
				w.shown(by+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for method := range of.Methods() {
			if method.Exported() {
				w.shown(by+"."+method.Name(), method.Type())
			}
		}
	case *types.Signature:
		w.tuple(by, of.Params())
		w.tuple(by, of.Results())
	case *types.Map:
		w.shown(by, of.Key())
		w.shown(by, of.Elem())
	case interface{ Elem() types.Type }: // a pointer, slice, array or channel
		w.shown(by, of.Elem())
	}
}

func (w walk) tuple(by string, of *types.Tuple) {
	for v := range of.Variables() {
		w.shown(by, v.Type())
	}
}
