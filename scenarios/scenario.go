package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/faults"
)

// The types of a scenario file. The tag key names a field in YAML, doc explains
// it in the JSON Schema.

// place is a position in a file.
type place struct {
	Line int
	node *yaml.Node
}

var _ yamlfile.Placed = (*place)(nil)

// Place implements yamlfile.Placed.
func (p *place) Place(node *yaml.Node) { p.Line, p.node = node.Line, node }

// Scenario is a file.
type Scenario struct {
	// Name is the name of the file without its extension.
	Name string
	File string

	About      string            `yaml:"about" required:"true" doc:"What the scenario tests, in one line."`
	Advice     string            `yaml:"advice" doc:"What a client should do; shown when the scenario fails."`
	Values     map[string]string `yaml:"values" doc:"Texts for {{name}}, which may use each other; --set overrides them."`
	Given      Given             `yaml:"given" doc:"The state before the first step of each part."`
	Client     *Part             `yaml:"client" doc:"A scripted client, which runs on its own."`
	Kubernetes *Part             `yaml:"kubernetes" doc:"What a controller in a cluster must do. Skipped without a cluster."`
	Program    *Part             `yaml:"program" doc:"What a program that clbemu scenario watch runs must do."`
	Explore    Explore           `yaml:"explore" doc:"How clbemu explore judges this scenario."`
}

// Given is the state before the steps.
type Given struct {
	World Settings   `yaml:"world" doc:"Conditions of the world by name; clbemu world set --help lists them."`
	Clock *Clock     `yaml:"clock" doc:"Changes of the emulated time."`
	State []CallStep `yaml:"state" doc:"Calls that create the initial resources; each must succeed."`
	// Servers answer at this machine.
	Servers []Server `yaml:"servers" doc:"Servers of this machine that stand for instances or network interfaces of the world."`
	// Cluster is about the kubernetes part alone.
	Cluster []Object `yaml:"cluster" doc:"Objects that exist in the cluster, which steps and expectations may name."`

	place
}

// Object is an object of a cluster.
type Object struct {
	Kind      string `yaml:"kind" required:"true" doc:"The kind, such as Node."`
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	Name      string `yaml:"name" required:"true" doc:"The name."`
}

// Part is a part of a scenario played on its own.
type Part struct {
	Command  []string      `yaml:"command" doc:"The program of the part, as [./controller, --once]; a command line after -- replaces it."`
	Restarts int           `yaml:"restarts" doc:"How often the program starts again after an exit status other than 0."`
	Steps    []Step        `yaml:"steps" doc:"The steps, in order."`
	Expect   []Expectation `yaml:"expect" doc:"The expectations after the steps."`

	place
}

// Step is a step of one kind.
type Step struct {
	Name string `yaml:"name" doc:"The purpose of the step, shown while it runs."`
	element
}

func (s *Step) ReadKey(d *yamlfile.Decoder, e yamlfile.Entry, field string, fields []string) {
	s.read(d, e, field, fields, stepKinds)
}

func (s *Step) Validate() error { return exactlyOne(kindNames(stepKinds), s.given...) }

// title says in a few words what a step does.
func (s *Step) title() string { return cmp.Or(s.Name, s.element.title()) }

// Expectation is a condition of one kind that must hold.
type Expectation struct {
	element
	Within Duration `yaml:"within" doc:"It must come true within this time."`
	For    Duration `yaml:"for" doc:"It must stay true for this time."`
}

func (e *Expectation) ReadKey(d *yamlfile.Decoder, entry yamlfile.Entry, field string, fields []string) {
	e.read(d, entry, field, fields, expectationKinds)
}

func (e *Expectation) Validate() error {
	if e.Within > 0 && e.For > 0 {
		return errors.New("give within or for, not both")
	}
	return exactlyOne(kindNames(expectationKinds), e.given...)
}

// title names the expectation in a few words.
func (e *Expectation) title() string { return "expect " + e.element.title() }

func (s *Scenario) Validate() error {
	if s.Client == nil && s.Kubernetes == nil && s.Program == nil {
		return errors.New("there is nothing to play: give client, kubernetes or program")
	}
	return nil
}

func (h *Part) Validate() error {
	switch {
	case len(h.Steps) == 0 && len(h.Expect) == 0 && len(h.Command) == 0:
		return errors.New("there is nothing to play: give steps, expect or both")
	case h.Restarts < 0 || h.Restarts > maxTries:
		return fmt.Errorf("restarts is 0 to %d", maxTries)
	}
	return nil
}

// The parts of a scenario.
const (
	ClientPart     = "client"
	KubernetesPart = "kubernetes"
	ProgramPart    = "program"
)

// Parts lists the parts in the order of play.
var Parts = []string{ClientPart, KubernetesPart, ProgramPart}

// Part returns the part with the name, or nil if the scenario does not have it.
func (s *Scenario) Part(name string) *Part {
	return map[string]*Part{ClientPart: s.Client, KubernetesPart: s.Kubernetes, ProgramPart: s.Program}[name]
}

// PartNames returns the names of the scenario's parts, in the order in which they run.
func (s *Scenario) PartNames() (names []string) {
	for _, name := range Parts {
		if s.Part(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// maxTries bounds the number of tries.
const maxTries = 100

// flat lists steps with those within them.
func flat(steps []Step) (all []*Step) {
	for i := range steps {
		inner, _ := steps[i].holds()
		all = append(append(all, &steps[i]), flat(inner)...)
	}
	return all
}

// find returns the first matching step, also within another one.
func (h *Part) find(wanted func(*Step) bool) *Step {
	steps := flat(h.Steps)
	if i := slices.IndexFunc(steps, wanted); i >= 0 {
		return steps[i]
	}
	return nil
}

// allExpectations lists the expectations of the part and of its steps.
func (h *Part) allExpectations() []Expectation {
	all := slices.Clone(h.Expect)
	for _, s := range flat(h.Steps) {
		_, expectations := s.holds()
		all = append(all, expectations...)
	}
	return all
}

// rules returns the fault rules that the part adds.
func (h *Part) rules() (rules []faults.Rule) {
	for _, s := range flat(h.Steps) {
		if f, ok := s.Value.(*Fault); ok {
			rules = append(rules, f.rule)
		}
	}
	return rules
}

// RunsPrograms reports whether a part is about a program, or runs one.
func (s *Scenario) RunsPrograms(part string) bool {
	h := s.Part(part)
	return part == ProgramPart || h != nil && (len(h.Command) > 0 || h.find(func(s *Step) bool { return s.Kind == execKind }) != nil)
}

// exactlyOne refuses another number than one of things that exclude each other.
func exactlyOne(names []string, given ...bool) error {
	if len(slices.DeleteFunc(given, func(is bool) bool { return !is })) == 1 {
		return nil
	}
	last := len(names) - 1
	return fmt.Errorf("give exactly one of %s and %s", strings.Join(names[:last], ", "), names[last])
}

// Cures lists the cures that the part shows, each by the indexes of its steps: one named
// "cure: …", and those named "cure: and …" that go with it.
func (h *Part) Cures() (list [][]int) {
	for i := range h.Steps {
		switch name := h.Steps[i].Name; {
		case strings.HasPrefix(name, "cure: and ") && list != nil:
			list[len(list)-1] = append(list[len(list)-1], i)
		case strings.HasPrefix(name, "cure: "):
			list = append(list, []int{i})
		}
	}
	return list
}
