// Command errorlint is go-errorlint for go vet -vettool, which looks again only at what changed;
// the program that it comes with reads the whole module each time. It must know no other linter.
package main

import (
	"github.com/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(errorlint.NewAnalyzer()) }
