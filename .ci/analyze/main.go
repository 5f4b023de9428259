// Program analyze finds errors compared without errors.Is or errors.As, and bodies of answers
// that stay open. go vet runs it: go vet -vettool bin/tools/analyze ./...
package main

import (
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(errorlint.NewAnalyzer(), bodyclose.Analyzer)
}
