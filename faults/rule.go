package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Point is a place in the life of a call.
type Point string

// The points, in order.
const (
	Accept       Point = "accept"       // the call has been read, and nothing else
	BeforeCall   Point = "beforeCall"   // the caller is known and admitted
	BeforeCommit Point = "beforeCommit" // the handler has done its work, nothing is kept yet
	AfterCommit  Point = "afterCommit"  // the change is durable, nothing is answered yet
	Reply        Point = "reply"        // the answer is ready
)

// Points lists the points in order.
var Points = []Point{Accept, BeforeCall, BeforeCommit, AfterCommit, Reply}

// Rule says which calls go wrong and how.
type Rule struct {
	Name   string `yaml:"name"`
	Match  Match  `yaml:"match,omitempty"`
	When   When   `yaml:"when,omitempty"`
	At     Point  `yaml:"at,omitempty"`
	Effect Effect `yaml:"effect"`
}

// When is the schedule of a rule, over the calls that it matches: the first Skip
// are let be, and of the others each Every-th, with Probability, at most Times.
// After and For are a window on the emulated time, from when the rule was set.
type When struct {
	Skip        uint64   `yaml:"skip,omitempty"`
	Times       uint64   `yaml:"times,omitempty"`
	Every       uint64   `yaml:"every,omitempty"`
	Probability *float64 `yaml:"probability,omitempty"`
	Seed        uint64   `yaml:"seed,omitempty"`
	After       Duration `yaml:"after,omitempty"`
	For         Duration `yaml:"for,omitempty"`
}

// Duration is a time.Duration that is written as 1m30s.
type Duration time.Duration

// MarshalYAML implements yaml.Marshaler.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil || parsed < 0 {
		return fmt.Errorf("line %d: %q is no duration: write 90s or 1m30s", node.Line, node.Value)
	}
	*d = Duration(parsed)
	return nil
}

// IsZero leaves an absent duration out of the YAML.
func (d Duration) IsZero() bool { return d == 0 }

// Parse reads rules: one, a list of them, or several YAML documents. Every error
// names the line and the field.
func Parse(text []byte) ([]Rule, error) {
	var rules []Rule
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := documents.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		more, err := parseDocument(node.Content[0])
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	if len(rules) == 0 {
		return nil, errors.New("there is no rule")
	}
	return rules, nil
}

func parseDocument(node *yaml.Node) ([]Rule, error) {
	if node.Kind != yaml.SequenceNode {
		rule, err := parseRule(node)
		return []Rule{rule}, err
	}
	var rules []Rule
	for _, element := range node.Content {
		rule, err := parseRule(element)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(node *yaml.Node) (Rule, error) {
	var rule Rule
	if err := decodeStrict(node, &rule); err != nil {
		return rule, err
	}
	if err := rule.Validate(); err != nil {
		return rule, fmt.Errorf("line %d: %w", node.Line, err)
	}
	return rule, nil
}

// decodeStrict decodes a node, refusing keys that the type does not have. The
// library can do so for whole documents only.
func decodeStrict(node *yaml.Node, into any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("rule at line %d: %w", node.Line, err)
	}
	return nil
}

// String is the rule as YAML that parses back to it.
func (r Rule) String() string {
	var text strings.Builder
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(r); err != nil {
		panic(err) // a value of texts and numbers
	}
	return text.String()
}

var ruleName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$`)

// Validate checks what can be checked without knowing the API.
func (r Rule) Validate() error {
	if !ruleName.MatchString(r.Name) {
		return fmt.Errorf("name: %q: a rule needs a name of letters, digits and . _ -", r.Name)
	}
	if err := r.Match.validate(); err != nil {
		return fmt.Errorf("rule %s: match.%w", r.Name, err)
	}
	if err := r.When.validate(); err != nil {
		return fmt.Errorf("rule %s: when.%w", r.Name, err)
	}
	if err := r.Effect.validate(); err != nil {
		return fmt.Errorf("rule %s: effect: %w", r.Name, err)
	}
	if r.At != "" && !slices.Contains(r.Effect.points(), r.At) {
		return fmt.Errorf("rule %s: at: %s: this effect can happen at %s", r.Name, r.At, join(r.Effect.points()))
	}
	return nil
}

func join(points []Point) string {
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = string(p)
	}
	return strings.Join(names, ", ")
}

// Point is where the effect happens: At, or the effect's usual place.
func (r Rule) Point() Point {
	if r.At != "" {
		return r.At
	}
	return r.Effect.points()[0]
}

func (w When) validate() error {
	if p := w.Probability; p != nil && !(*p >= 0 && *p <= 1) {
		return fmt.Errorf("probability: %v is not between 0 and 1", *p)
	}
	if w.Seed != 0 && w.Probability == nil {
		return errors.New("seed: it is for a probability, which is not given")
	}
	return nil
}
