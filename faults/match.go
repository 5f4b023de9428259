package faults

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Call is what a rule may look at.
type Call struct {
	Product     string
	Action      string
	RegionID    string
	AccessKeyID string
	UserAgent   string
	Params      func(name string) (string, bool)
	// Resource looks up a field of the stored object that the call is about.
	Resource func(field string) (string, bool)
	// Write tells a call that may change something.
	Write bool
}

// Match says which calls a rule is about. An empty one is about all.
type Match struct {
	// Action is a glob, such as Create*; a list separates them by commas.
	Action string
	// Fields are the other conditions by name: region, accessKeyId, userAgent,
	// params.<Name>, resource.<field>.
	Fields map[string]Matcher
}

// Matcher is a condition on a text. Exactly one of its fields is set.
type Matcher struct {
	Equals  *string `yaml:"equals,omitempty"`
	Matches string  `yaml:"matches,omitempty"`
	Absent  bool    `yaml:"absent,omitempty"`
}

// MarshalYAML writes an equality as the text alone.
func (m Matcher) MarshalYAML() (any, error) {
	if m.Equals != nil {
		return *m.Equals, nil
	}
	type plain Matcher
	return plain(m), nil
}

// UnmarshalYAML takes a text for an equality.
func (m *Matcher) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		value := node.Value
		m.Equals = &value
		return nil
	}
	type plain Matcher
	var p plain
	if err := decodeStrict(node, &p); err != nil {
		return err
	}
	*m = Matcher(p)
	return nil
}

// MarshalYAML writes the conditions as one map.
func (m Match) MarshalYAML() (any, error) {
	all := make(map[string]any, len(m.Fields)+1)
	for name, matcher := range m.Fields {
		all[name] = matcher
	}
	if m.Action != "" {
		all["action"] = m.Action
	}
	return all, nil
}

// UnmarshalYAML reads the conditions from one map.
func (m *Match) UnmarshalYAML(node *yaml.Node) error {
	var all map[string]yaml.Node
	if err := node.Decode(&all); err != nil {
		return err
	}
	for name, value := range all {
		if name == "action" {
			m.Action = value.Value
			continue
		}
		var matcher Matcher
		if err := value.Decode(&matcher); err != nil {
			return fmt.Errorf("match.%s: %w", name, err)
		}
		if m.Fields == nil {
			m.Fields = make(map[string]Matcher)
		}
		m.Fields[name] = matcher
	}
	return nil
}

// IsZero leaves a match of everything out of the YAML.
func (m Match) IsZero() bool { return m.Action == "" && len(m.Fields) == 0 }

func (m Match) validate() error {
	for _, glob := range m.globs() {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("action: %q is no pattern", glob)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		if !knownField(name) {
			return fmt.Errorf("%s: there is no such field: %s", name, suggestField(name))
		}
		if err := m.Fields[name].validate(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

var plainFields = []string{"region", "accessKeyId", "userAgent"}

func knownField(name string) bool {
	for _, prefix := range []string{"params.", "resource."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest != ""
		}
	}
	return slices.Contains(plainFields, name)
}

func suggestField(name string) string {
	if near := Nearest(name, append([]string{"action", "params.<Name>", "resource.<field>"}, plainFields...)); near != "" {
		return "do you mean " + near + "?"
	}
	return "there are action, region, accessKeyId, userAgent, params.<Name> and resource.<field>"
}

func (m Matcher) validate() error {
	set := 0
	for _, is := range []bool{m.Equals != nil, m.Matches != "", m.Absent} {
		if is {
			set++
		}
	}
	if set != 1 {
		return errors.New("give one of equals, matches and absent")
	}
	if _, err := regexp.Compile(m.Matches); err != nil {
		return fmt.Errorf("matches: %w", err)
	}
	return nil
}

func (m Match) globs() []string {
	if m.Action == "" {
		return nil
	}
	globs := strings.Split(m.Action, ",")
	for i := range globs {
		globs[i] = strings.TrimSpace(globs[i])
	}
	return globs
}

// Globs are the patterns of the actions, for a check against those that exist.
func (m Match) Globs() []string { return m.globs() }

// compiled is a match with its expressions ready.
type compiled struct {
	globs  []string
	fields []compiledField
}

type compiledField struct {
	name    string
	matcher Matcher
	pattern *regexp.Regexp
}

func (m Match) compile() compiled {
	c := compiled{globs: m.globs()}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		f := compiledField{name: name, matcher: m.Fields[name]}
		if f.matcher.Matches != "" {
			f.pattern = regexp.MustCompile(f.matcher.Matches)
		}
		c.fields = append(c.fields, f)
	}
	return c
}

func (c compiled) matches(call Call) bool {
	if c.globs != nil && !slices.ContainsFunc(c.globs, func(glob string) bool {
		ok, _ := path.Match(glob, call.Action) // validated
		return ok
	}) {
		return false
	}
	for _, f := range c.fields {
		value, present := call.field(f.name)
		switch {
		case f.matcher.Absent:
			if present {
				return false
			}
		case !present:
			return false
		case f.pattern != nil:
			if !f.pattern.MatchString(value) {
				return false
			}
		case value != *f.matcher.Equals:
			return false
		}
	}
	return true
}

func (c Call) field(name string) (string, bool) {
	switch name {
	case "region":
		return c.RegionID, c.RegionID != ""
	case "accessKeyId":
		return c.AccessKeyID, c.AccessKeyID != ""
	case "userAgent":
		return c.UserAgent, c.UserAgent != ""
	}
	look := c.Params
	rest, ok := strings.CutPrefix(name, "params.")
	if !ok {
		rest, look = strings.TrimPrefix(name, "resource."), c.Resource
	}
	if look == nil {
		return "", false
	}
	return look(rest)
}

// Nearest is the name that a mistyped one is closest to, "" when none is near.
func Nearest(name string, names []string) string {
	best, distance := "", len(name)/2+1
	for _, candidate := range names {
		if d := Distance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// Distance counts the letters that are more, less or others in b than in a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
