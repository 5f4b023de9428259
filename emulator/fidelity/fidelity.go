// Package fidelity holds what is published about the actions of the cloud: statements, each
// with its source, and a case that plays it. It owns the form of their files. It must not
// know where a case is played.
package fidelity

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/scenarios"
)

// Classes lists what statements can be about.
var Classes = []string{"parameter", "default", "range", "error", "state", "limit", "rate", "idempotence", "order", "timing", "field"}

// Kinds lists the kinds of sources, best first.
var Kinds = []string{"recording", "report", "page", "sdk", "client"}

// File is the statements about one action.
type File struct {
	Product string `yaml:"-"` // Slb
	Action  string `yaml:"-"`
	// Sources are the publications that the statements name, by short names.
	Sources map[string]Source `yaml:"sources" required:"true"`
	// Given precedes each case, in the default world.
	Given scenarios.Given `yaml:"given"`
	// Base, Parameters, Answers and Common hold rows, from which statements follow.
	Base       base                  `yaml:"base"`
	Parameters map[string]*parameter `yaml:"parameters"`
	Answers    []answers             `yaml:"answers"`
	Common     *common               `yaml:"common"`
	// Clients rely on what other statements say.
	Clients []client `yaml:"clients"`
	// Outside are no statements: the API of today publishes them no more.
	Outside []outside `yaml:"outside"`
	// Statements holds the statements written out in a file. Load adds those that follow from rows.
	Statements []Statement `yaml:"statements"`
}

// Source is a publication.
type Source struct {
	Title string `yaml:"title" required:"true"`
	// Date is the day, month or year of the publication, or of the copy that was read.
	Date string `yaml:"date" required:"true"`
	Kind string `yaml:"kind" required:"true"`
}

var _ yamlfile.Validator = (*Source)(nil)

// Validate implements yamlfile.Validator.
func (s *Source) Validate() error {
	if !slices.Contains(Kinds, s.Kind) {
		return fmt.Errorf("kind: %q is none of %s", s.Kind, strings.Join(Kinds, ", "))
	}
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if _, err := time.Parse(layout, s.Date); err == nil {
			return nil
		}
	}
	return fmt.Errorf("date: %q is not a date such as 2026-11-26, 2026-11 or 2026", s.Date)
}

// Statement is one thing that a source says of an action.
type Statement struct {
	ID     string `yaml:"id" required:"true"`
	Class  string `yaml:"class" required:"true"`
	Says   string `yaml:"says" required:"true"`
	Source string `yaml:"source" required:"true"`
	// Code is "unpublished" if no source has the code with which the case is refused.
	Code string `yaml:"code"`
	// About lists words, one of which the refusal's message must contain, if its code does not name
	// the subject. For a statement about a parameter, the parameter's name is one of them.
	About []string `yaml:"about"`
	// Case plays the statement, in the default world, as the client part of a scenario does.
	Case []scenarios.Step `yaml:"case"`
	// Unchecked is the reason why there is no case.
	Unchecked string `yaml:"unchecked"`
	// Differs is the reason for which clbemu does something else on purpose: the case fails.
	Differs string `yaml:"differs"`
	// Open says what is wrong here, if the statement does not hold yet: the case fails.
	Open string `yaml:"open"`

	line int
	play *scenarios.Scenario
	// leans is true of what a client relies on and another statement says: it has its case.
	leans bool
}

var _ yamlfile.Placed = (*Statement)(nil)
var _ yamlfile.Validator = (*Statement)(nil)

// Place implements yamlfile.Placed.
func (s *Statement) Place(node *yaml.Node) { s.line = node.Line }

// Validate implements yamlfile.Validator.
func (s *Statement) Validate() error {
	switch {
	case !slices.Contains(Classes, s.Class):
		return fmt.Errorf("class: %q is none of %s", s.Class, strings.Join(Classes, ", "))
	case (len(s.Case) == 0) != (s.Unchecked != ""):
		return errors.New("give a case, or in unchecked the reason why there is none")
	case s.Code != "" && s.Code != unpublished:
		return fmt.Errorf("code: %q is not unpublished: expect a code in the case", s.Code)
	case s.Unchecked != "" && (s.Differs != "" || s.Open != "") || s.Differs != "" && s.Open != "":
		return errors.New("give only one of unchecked, differs and open")
	}
	return nil
}

// Verdict says whether a statement holds.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"
	Differs   Verdict = "differs"
	Open      Verdict = "open"
	Unchecked Verdict = "unchecked"
)

// Verdict returns how the statement stands, as a test proves by its case.
func (s *Statement) Verdict() Verdict {
	switch {
	case s.Unchecked != "":
		return Unchecked
	case s.Differs != "":
		return Differs
	case s.Open != "":
		return Open
	}
	return Holds
}

// Reason returns why a statement does not hold, or has no case.
func (s *Statement) Reason() string { return s.Unchecked + s.Differs + s.Open }

// Scenario returns the case as a scenario with a client part, or nil if there is none.
func (s *Statement) Scenario() *scenarios.Scenario { return s.play }

// Name returns the place of a statement in the whole, such as
// Slb/CreateLoadBalancer/bandwidth-range.
func (f *File) Name(s *Statement) string { return f.Product + "/" + f.Action + "/" + s.ID }

// Source returns the source of a statement.
func (f *File) Source(s *Statement) Source { return f.Sources[s.Source] }

//go:embed */*.yaml
var files embed.FS

// Load reads the statements about all actions, by product and action, with everything that is wrong
// with them. Names holds the names that cases may use, or is nil for any.
func Load(names scenarios.Names) (all []*File, err error) {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, file := range paths {
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		read, err := Read(file, text, names)
		all, problems = append(all, read), append(problems, err)
	}
	return all, errors.Join(problems...)
}

// Of returns the statements about an action, or nil if there are none.
func Of(product, action string) (*File, error) {
	f, err := once(strings.ToLower(product) + "/" + action + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// parsed has the files that once has read.
var parsed sync.Map

// once reads a file of the binary, if this is the first time.
func once(file string) (*File, error) {
	if f, ok := parsed.Load(file); ok {
		return f.(*File), nil
	}
	text, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := Read(file, text, nil)
	if err == nil {
		parsed.Store(file, f)
	}
	return f, err
}

// About returns the statements about refusals with a code, with the action of each.
func About(code string) (found []Found, err error) {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range paths {
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(text, []byte(code)) {
			continue
		}
		f, err := once(file)
		if err != nil {
			return nil, err
		}
		for i := range f.Statements {
			if said, _, _ := strings.Cut(f.Statements[i].Says, " "); strings.TrimSuffix(said, ":") == code {
				found = append(found, Found{f, &f.Statements[i]})
			}
		}
	}
	return found, nil
}

// Found is a statement with the file that has it.
type Found struct {
	File      *File
	Statement *Statement
}

// Read reads a file of statements, which PRODUCT/ACTION.yaml names. An error is
// scenarios.Problems.
func Read(file string, text []byte, names scenarios.Names) (*File, error) {
	d := scenarios.NewDecoder(file)
	var derived []Statement
	f := &File{Product: productOf(path.Base(path.Dir(file))), Action: strings.TrimSuffix(path.Base(file), ".yaml")}
	root := d.Document(text)
	if root == nil {
		return f, d.Err()
	}
	d.Decode(root, f, "")
	if d.Found() > 0 {
		return f, d.Err()
	}
	d.Decode(sequence(root.Line, f.rows(d)), &derived, "rows")
	if f.Statements = slices.Concat(derived, f.Statements); d.Found() > 0 {
		return f, d.Err()
	}
	if f.Statements = append(f.Statements, f.clientStatements(d)...); d.Found() > 0 {
		return f, d.Err()
	}
	lines := make(map[string]int)
	for i := range f.Statements {
		f.check(d, &f.Statements[i], lines, names)
	}
	return f, d.Err()
}

// productOf returns a product by its folder.
func productOf(folder string) string {
	if folder == "" {
		return ""
	}
	return strings.ToUpper(folder[:1]) + folder[1:]
}

// check reports what is wrong with a statement beyond its form. Lines are those of the ids
// before it.
func (f *File) check(d *yamlfile.Decoder, s *Statement, lines map[string]int, names scenarios.Names) {
	at := &yaml.Node{Line: s.line}
	if line, twice := lines[s.ID]; twice {
		d.Fail(at, "id", "%s is the id of the statement on line %d too", s.ID, line)
	}
	lines[s.ID] = s.line
	if _, known := f.Sources[s.Source]; !known {
		d.Fail(at, "source", "sources has no %s: it has %s", s.Source, strings.Join(slices.Sorted(maps.Keys(f.Sources)), ", "))
	}
	if len(s.Case) == 0 {
		return
	}
	if problem := s.unproven(); problem != "" {
		d.Fail(at, "case", "%s", problem)
	}
	if s.Verdict() != Holds {
		names = nil // what clbemu does not know yet may be what is claimed
	}
	s.play = scenarios.NewClient(d, f.Name(s), f.Given, s.Case, names)
}
