package explain

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Statement is a statement of one or several documents about Services, with what plays it.
type Statement struct {
	// Section is the part of contracttests/seeds.md that has it.
	Section string `yaml:"-" json:"section"`
	Says    string `yaml:"says" json:"says"`
	// In are the ids of the documents.
	In []string `yaml:"in" json:"in"`
	By Way      `yaml:"by" json:"by"`
	// Today says what today's CCM, or Kubernetes, says or does instead, or is empty if the
	// statement holds.
	Today string `yaml:"today" json:"today,omitempty"`
	// Note is for readers, about the play.
	Note string `yaml:"note" json:"note,omitempty"`
	// Mutants are the changes of clbemu that what plays it must notice, of contracttests/mutants.
	Mutants []string `yaml:"mutants" json:"-"`
}

// The kinds of ways.
const (
	ByScenario = "scenario"
	ByTest     = "test"
	ByCCM      = "ccm"
	ByEvidence = "evidence"
	ByCommand  = "command"
	ByKind     = "kind"
	ByNothing  = "none"
	Open       = "open"
)

// Way says how a statement is played.
type Way struct {
	Kind string `json:"kind"`
	// Name names what plays it, NAME/PART for a scenario, a check of deploy/kind for kind; or
	// the reason why nothing can, or does yet.
	Name string `json:"name"`
}

// UnmarshalYAML reads a way from its kind and its name.
func (w *Way) UnmarshalYAML(node *yaml.Node) error {
	w.Kind, w.Name, _ = strings.Cut(node.Value, " ")
	return nil
}

// Where returns the place where a statement is played: "CI"; "CI, CCM" for what a controller
// does, which is the reference controller in CI, and a real CCM elsewhere; "CCM" for what only
// a real one of the right version does; "kind" for what a kind cluster with a real CCM does;
// or "" if nothing plays it.
func (w Way) Where() string {
	_, part, _ := strings.Cut(w.Name, "/")
	switch {
	case w.Kind == ByNothing || w.Kind == Open:
		return ""
	case w.Kind == ByKind:
		return "kind"
	case w.Kind == ByCCM:
		return "CCM"
	case w.Kind == ByScenario && part == "kubernetes", w.Kind == ByTest && strings.HasPrefix(w.Name, "kubernetes_test."):
		return "CI, CCM"
	}
	return "CI"
}

// Scenario returns the names of the scenario and of its part that play a statement.
func (w Way) Scenario() (name, part string, ok bool) {
	name, part, _ = strings.Cut(w.Name, "/")
	return name, part, w.Kind == ByScenario
}

// String says what plays a statement.
func (w Way) String() string {
	switch w.Kind {
	case ByScenario:
		name, part, _ := w.Scenario()
		return fmt.Sprintf("scenario %s, %s part", name, part)
	case ByCommand:
		return w.Name
	case ByCCM:
		return "test " + w.Name + " with a real CCM"
	case ByKind:
		return "check " + w.Name + " of make e2e-kind"
	case ByNothing:
		return "nothing: " + w.Name
	case Open:
		return "nothing yet: " + w.Name
	}
	return w.Kind + " " + w.Name
}

// Document is one of the documents about Services.
type Document struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
}

//go:embed statements.yaml
var statementsText []byte

// statementsFile is the file of the statements.
type statementsFile struct {
	Documents []Document `yaml:"documents"`
	Sections  []struct {
		Title      string      `yaml:"title"`
		Statements []Statement `yaml:"statements"`
	} `yaml:"sections"`
}

var statements = sync.OnceValues(func() (f statementsFile, err error) {
	d := yaml.NewDecoder(bytes.NewReader(statementsText))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return f, fmt.Errorf("read the statements of the documents: %w", err)
	}
	return f, nil
})

// Statements returns the documents and what they say, in the order of contracttests/seeds.md.
func Statements() (documents []Document, all []Statement, err error) {
	f, err := statements()
	for _, section := range f.Sections {
		for _, s := range section.Statements {
			s.Section = section.Title
			all = append(all, s)
		}
	}
	return slices.Clone(f.Documents), all, err
}
