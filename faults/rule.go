package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Point is a place in the life of a call of the API, or in the way of packets.
type Point string

// The points of calls, in order.
const (
	Accept       Point = "accept"
	BeforeCall   Point = "beforeCall"
	BeforeCommit Point = "beforeCommit"
	AfterCommit  Point = "afterCommit"
	Reply        Point = "reply"
)

// The points of packets. What is at Listen is a state, and the others are events.
const (
	Listen  Point = "listen"
	Connect Point = "connect"
	Forward Point = "forward"
	Check   Point = "check"
)

// OfPackets reports whether a point is one of packets, and not of calls.
func (p Point) OfPackets() bool { return slices.Contains(ofPackets, p) }

// About describes what has happened at a point.
func (p Point) About() string {
	return map[Point]string{
		Accept:       "the call has been read, and nothing else",
		BeforeCall:   "the caller is known and admitted",
		BeforeCommit: "the handler has done its work, nothing is kept yet",
		AfterCommit:  "the change is durable, nothing is answered yet",
		Reply:        "the answer is ready",
		Listen:       "a listener waits for packets at an address",
		Connect:      "a client has connected, or sent the first packet of a UDP session",
		Forward:      "a server is chosen for a connection, a UDP session or an HTTP request",
		Check:        "a health check is about to ask a server",
	}[p]
}

// Points lists the points in order.
var Points = slices.Concat([]Point{Accept, BeforeCall, BeforeCommit, AfterCommit, Reply}, ofPackets)

// Rule describes which calls or packets go wrong, and how.
type Rule struct {
	Name     string `yaml:"name" required:"true" doc:"The name of the rule; a new rule with the same name replaces it."`
	Match    Match  `yaml:"match,omitempty" meant:"action,actions" doc:"The calls or connections that match; all if absent."`
	When     When   `yaml:"when,omitempty" doc:"Which of them fail; all if absent."`
	At       Point  `yaml:"at,omitempty" doc:"The point; the effect's default point if absent."`
	Effect   Effect `yaml:"effect" required:"true" meant:"afterCommit,crash,cut,deaf,delay,empty,error,flap,hang,life,malformed,refuse,reset,slow,stale,stall,throttle,truncate" doc:"What happens to them."`
	Disabled bool   `yaml:"disabled,omitempty" doc:"true: the rule is kept, and affects nothing."`
}

// When is the schedule of a rule, over the calls or connections that it matches: the first Skip
// are skipped; then every Every-th fails, with Probability, at most Times.
// After and For are a window on the emulated time, from when the rule was set.
type When struct {
	Skip        uint64   `yaml:"skip,omitempty" doc:"Skip this many matching calls first."`
	Times       uint64   `yaml:"times,omitempty" counted:"true" doc:"Affect at most this many calls."`
	Every       uint64   `yaml:"every,omitempty" counted:"true" doc:"After the skipped calls, affect every n-th."`
	Probability *float64 `yaml:"probability,omitempty" doc:"The probability, between 0 and 1."`
	Seed        uint64   `yaml:"seed,omitempty" doc:"The seed that makes the probability repeatable."`
	After       Duration `yaml:"after,omitempty" doc:"Start this long after the rule was added, in emulated time."`
	For         Duration `yaml:"for,omitempty" doc:"Stop this long after the start."`
}

// Duration is a time.Duration written as 1m30s.
type Duration time.Duration

var _ yaml.Marshaler = (*Duration)(nil)
var _ yamlfile.Reader = (*Duration)(nil)

// MarshalYAML implements yaml.Marshaler.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// ReadYAML implements yamlfile.Reader.
func (d *Duration) ReadYAML(file *yamlfile.Decoder, node *yaml.Node, field string) {
	if !file.Is(node, yaml.ScalarNode, "a duration", field) || file.Open(node) {
		return
	}
	parsed, err := time.ParseDuration(node.Value)
	if err != nil || parsed < 0 {
		file.Fail(node, field, "%q is not a duration: write 90s or 1m30s", node.Value)
	}
	*d = Duration(parsed)
}

// IsZero leaves an absent duration out of the YAML.
func (d Duration) IsZero() bool { return d == 0 }

// Problem is something wrong with a rule, at a field of it.
type Problem struct {
	// Path leads to the field: match, params.LoadBalancerName.
	Path   []string
	Reason string
}

// at returns the problem with names put before its path.
func (p Problem) at(names ...string) Problem { return Problem{append(names, p.Path...), p.Reason} }

// String returns the field and what is wrong with it.
func (p Problem) String() string {
	if len(p.Path) == 0 {
		return p.Reason
	}
	return strings.Join(p.Path, ".") + ": " + p.Reason
}

// wrong returns a problem with a field.
func wrong(field, format string, args ...any) Problem {
	p := Problem{Reason: fmt.Sprintf(format, args...)}
	if field != "" {
		p.Path = strings.Split(field, ".")
	}
	return p
}

// Parse reads rules: one, a list of them, or several YAML documents. Every problem
// has its line and its field.
func Parse(text []byte) ([]Rule, error) { return ParseFile("", text, nil) }

// ParseFile is like Parse, for a file. More, if set, looks for what is wrong with a rule whose form
// is right, and may complete the rule.
func ParseFile(file string, text []byte, more func(*Rule) []Problem) ([]Rule, error) {
	d := &yamlfile.Decoder{File: file}
	var rules []Rule
	for _, document := range d.Documents(text) {
		nodes := []*yaml.Node{document}
		if document.Kind == yaml.SequenceNode {
			nodes = document.Content
		}
		for _, node := range nodes {
			rules = append(rules, Read(d, node, "", more))
		}
	}
	if len(rules) == 0 && d.Found() == 0 {
		d.Fail(&yaml.Node{Line: 1}, "", "there is no rule")
	}
	return rules, d.Err()
}

// Read reads the rule of a node that is at a field.
func Read(d *yamlfile.Decoder, node *yaml.Node, field string, more func(*Rule) []Problem) (rule Rule) {
	before := d.Found()
	d.Decode(node, &rule, field)
	if d.Found() > before {
		return rule
	}
	problems := rule.problems()
	if len(problems) == 0 && more != nil {
		problems = more(&rule)
	}
	for _, p := range problems {
		at := field
		for _, name := range p.Path {
			at = yamlfile.Join(at, name)
		}
		d.Fail(yamlfile.Child(node, p.Path...), at, "%s", p.Reason)
	}
	return rule
}

// String returns the rule as YAML that parses back to it.
func (r Rule) String() string {
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(r); err != nil {
		panic(err) // a value of texts and numbers
	}
	return text.String()
}

// validate checks what can be checked without knowing the API.
func (r Rule) validate() error {
	var errs []error
	for _, p := range r.problems() {
		errs = append(errs, fmt.Errorf("rule %s: %s", r.Name, p))
	}
	return errors.Join(errs...)
}

func (r Rule) problems() (all []Problem) {
	if err := spelling.CheckName("a rule", r.Name); err != nil {
		all = append(all, wrong("name", "%s", err))
	}
	for _, p := range r.Match.problems() {
		all = append(all, p.at("match"))
	}
	for _, p := range r.When.problems() {
		all = append(all, p.at("when"))
	}
	effect := r.Effect.problems()
	for _, p := range effect {
		all = append(all, p.at("effect"))
	}
	switch {
	case len(effect) > 0:
	case r.At != "" && !slices.Contains(r.Effect.Kind().Points, r.At):
		all = append(all, wrong("at", "%s: this effect can happen at %s", r.At, join(r.Effect.Kind().Points)))
	default:
		all = append(all, r.misplaced()...)
	}
	return all
}

// misplaced returns what a rule can't have at its point.
func (r Rule) misplaced() (all []Problem) {
	if r.Match.Action != "" && r.Point().OfPackets() {
		all = append(all, wrong("match.action", "packets have no action: the point %s is not one of calls", r.Point()))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Match.Fields)) {
		if f, ok := findField(name); ok && !slices.Contains(f.Points, r.Point()) {
			all = append(all, Problem{[]string{"match", name}, fmt.Sprintf("there is none at the point %s: it is for %s", r.Point(), join(f.Points))})
		}
	}
	w := r.When
	if r.Point() == Listen && (w.Skip > 0 || w.Times > 0 || w.Every > 0 || w.Probability != nil) {
		all = append(all, wrong("when", "at the point %s there is nothing to count: it takes only after and for", Listen))
	}
	return all
}

func join(points []Point) string {
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// Point returns where the effect happens: At, or the effect's default point.
func (r Rule) Point() Point {
	if r.At != "" {
		return r.At
	}
	return r.Effect.Kind().Points[0]
}

func (w When) problems() (all []Problem) {
	if p := w.Probability; p != nil && !(*p >= 0 && *p <= 1) {
		all = append(all, wrong("probability", "%v is not between 0 and 1", *p))
	}
	if w.Seed != 0 && w.Probability == nil {
		all = append(all, wrong("seed", "it is for a probability, which is not given"))
	}
	return all
}
