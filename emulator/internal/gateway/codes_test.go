package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// TestGatewayCodes proves that each code written in this package is one of
// those that the gateway says it has, so that scenarios may expect it.
func TestGatewayCodes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	known, found := append(gateway.GatewayCodes(), gateway.NotEmulatedCode), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			literal, isText := pair.Value.(*ast.BasicLit)
			if !isName || !isText || key.Name != "Code" {
				return true
			}
			found++
			if code, err := strconv.Unquote(literal.Value); err != nil || !slices.Contains(known, code) {
				t.Errorf("%s: %s is no code of the gateway (%v)", name, literal.Value, err)
			}
			return true
		})
	}
	if found < 20 {
		t.Errorf("%d codes are written here, want all", found)
	}
}
