// Package mutants lists the mutants: lines of clbemu that are changed one at a time, with the plays
// that must notice each. One overlay of the go command has all of them, so that a program or a test
// that is built with it is any of them, as the variable MUTANT says. Neither the sources nor what
// is released know of it.
package mutants

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/explain"
)

// Mutant is a line of clbemu that becomes another one.
type Mutant struct {
	// Name identifies it in statements, and is the value of MUTANT that switches it on.
	Name string `yaml:"name"`
	// Rule names the part of clbemu to which it belongs.
	Rule string `yaml:"rule"`
	// File has Line once. Becomes replaces it.
	File    string `yaml:"file"`
	Line    string `yaml:"line"`
	Becomes string `yaml:"becomes"`
	// Type is the type of a value outside of functions.
	Type string `yaml:"type"`
	// By lists what must notice it, in addition to the plays of the statements that name it:
	// PACKAGE.TEST or a part of it, as TestFidelity/Slb/CreateLoadBalancer, or "scenario NAME/PART".
	By []string `yaml:"by"`
	// Survives says of a play why it does not notice the mutant.
	Survives map[string]string `yaml:"survives"`
}

//go:embed mutants.yaml
var table []byte

// Read returns the mutants, in which the plays of the statements that name them are among
// those that must notice them.
func Read() ([]*Mutant, error) {
	var all []*Mutant
	decoder := yaml.NewDecoder(bytes.NewReader(table))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("mutants.yaml: %w", err)
	}
	named := make(map[string]*Mutant)
	for _, m := range all {
		if named[m.Name] != nil {
			return nil, fmt.Errorf("mutants.yaml has %q twice", m.Name)
		}
		named[m.Name] = m
	}
	_, statements, err := explain.Statements()
	if err != nil {
		return nil, err
	}
	for _, s := range statements {
		for _, name := range s.Mutants {
			m := named[name]
			if m == nil {
				return nil, fmt.Errorf("%q has the mutant %q, which mutants.yaml does not have", s.Says, name)
			}
			if by := Play(s.By); by != "" && !slices.Contains(m.By, by) {
				m.By = append(m.By, by)
			}
		}
	}
	return all, nil
}

// Play returns the name by which mutants name what plays a statement, or "" for a command and for
// evidence, whose tests the mutants name themselves.
func Play(by explain.Way) string {
	switch by.Kind {
	case explain.ByScenario:
		return by.Kind + " " + by.Name
	case explain.ByTest, explain.ByCCM:
		return by.Name
	}
	return ""
}

// change returns the part of a text that the mutant changes, and what replaces it.
func (m *Mutant) change(text []byte) (from, to int, becomes string, err error) {
	if n := bytes.Count(text, []byte(m.Line)); n != 1 || m.Line == "" || m.Line == m.Becomes {
		return 0, 0, "", fmt.Errorf("%s: %s has %q %d times, want it once, and changed", m.Name, m.File, m.Line, n)
	}
	line, becomes := m.Line, m.Becomes
	from = bytes.Index(text, []byte(line))
	for line != "" && becomes != "" && line[0] == becomes[0] {
		line, becomes, from = line[1:], becomes[1:], from+1
	}
	for line != "" && becomes != "" && line[len(line)-1] == becomes[len(becomes)-1] {
		line, becomes = line[:len(line)-1], becomes[:len(becomes)-1]
	}
	return from, from + len(line), becomes, nil
}

// Tests returns the folders of the tests below a root, by PACKAGE.TEST.
func Tests(root string) (map[string]string, error) {
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		pkg := ""
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "package "); ok && pkg == "" {
				pkg = strings.TrimSpace(name)
			}
			if name, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ = strings.Cut(name, "(")
				all[pkg+".Test"+name] = folder
			}
		}
		return err
	})
	return all, err
}
