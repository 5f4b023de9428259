package faults

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Request has the parts of a call, or of packets, that a rule can match.
type Request struct {
	Product     string
	Action      string
	RegionID    string
	AccessKeyID string
	UserAgent   string
	Params      func(name string) (string, bool)
	// Resource looks up a field of the stored object that the call is about.
	Resource func(field string) (string, bool)
	// Write reports whether the call may change something.
	Write bool
	// Packets looks up what is known of packets; a call has none.
	Packets func(field string) (string, bool)
}

// Match selects the calls of a rule. An empty one selects all.
type Match struct {
	// Action is a glob, such as Create*; a list separates them by commas.
	Action string
	// Fields are the other conditions by name, as in MatchFields.
	Fields map[string]Matcher
}

// Matcher is a condition on a text. Exactly one of its fields is set.
type Matcher struct {
	Equals  *string `yaml:"equals,omitempty" doc:"The text."`
	Matches string  `yaml:"matches,omitempty" doc:"A regular expression that the text matches."`
	Absent  bool    `yaml:"absent,omitempty" doc:"true: the call has no such text."`
}

// MarshalYAML writes an equality as the text alone.
func (m Matcher) MarshalYAML() (any, error) {
	if m.Equals != nil {
		return *m.Equals, nil
	}
	type plain Matcher
	return plain(m), nil
}

// ReadYAML reads a text as an equality.
func (m *Matcher) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if node.Kind == yaml.ScalarNode {
		m.Equals = &node.Value
		return
	}
	type plain Matcher
	d.Decode(node, (*plain)(m), field)
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

// ReadYAML reads the conditions from one mapping.
func (m *Match) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if !d.Is(node, yaml.MappingNode, "conditions by name, such as action: Create*", field) {
		return
	}
	for _, e := range d.Entries(node, field) {
		name, at := e.Key.Value, yamlfile.Join(field, e.Key.Value)
		if name == "action" {
			d.Decode(e.Value, &m.Action, at)
			continue
		}
		if !knownField(name) {
			d.Unknown(e.Key, at, matchNames(), nil)
			continue
		}
		var matcher Matcher
		d.Decode(e.Value, &matcher, at)
		if m.Fields == nil {
			m.Fields = make(map[string]Matcher)
		}
		m.Fields[name] = matcher
	}
}

// IsZero leaves a match of everything out of the YAML.
func (m Match) IsZero() bool { return m.Action == "" && len(m.Fields) == 0 }

func (m Match) problems() (all []Problem) {
	if pattern, bad := m.Actions().Bad(); bad {
		all = append(all, wrong("action", "%q is not a pattern", pattern))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		f, known := findField(name)
		if !known {
			all = append(all, Problem{[]string{name}, "there is no such field: " + suggestField(name)})
			continue
		}
		if text := m.Fields[name].Equals; text != nil && f.form != nil && !f.form.holds(*text) {
			all = append(all, Problem{[]string{name}, fmt.Sprintf("%q is not %s", *text, f.form.wants)})
		}
		for _, p := range m.Fields[name].problems() {
			all = append(all, p.at(name))
		}
	}
	return all
}

// MatchField is something that a rule may look at.
type MatchField struct {
	// Name has <…> for the part that the rule's author chooses.
	Name, About string
	// Points lists the points that have the field.
	Points []Point
	form   *form // nil is any text
}

// form describes what a text must look like.
type form struct {
	holds func(text string) bool
	wants string
}

var (
	aPort     = &form{func(s string) bool { n, err := strconv.Atoi(s); return err == nil && 0 < n && n < 1<<16 }, "a port"}
	anAddress = &form{func(s string) bool { _, err := netip.ParseAddr(s); return err == nil }, "an IP address"}
	aProtocol = &form{func(s string) bool { return slices.Contains(protocols, s) }, "one of " + strings.Join(protocols, ", ")}
	protocols = []string{"tcp", "udp", "tcpssl", "http", "https"}
)

// MatchFields are the fields that a rule can match, besides the action.
var MatchFields = []MatchField{
	{"region", "the region of the call", anywhere, nil},
	{"accessKeyId", "who calls", anywhere, nil},
	{"userAgent", "the client's User-Agent", anywhere, nil},
	{"params.<Name>", "a parameter", anywhere, nil},
	{"resource.<field>", "a field of the stored object that the call is about", anywhere, nil},
	{"loadBalancer", "the id of the load balancer", ofPackets, nil},
	{"listener", "the id of the listener", ofPackets, nil},
	{"port", "the listener's port, the first of a range", ofPackets, aPort},
	{"protocol", "the listener's protocol: tcp, udp, tcpssl, http or https", ofPackets, aProtocol},
	{"address", "the address at which the listener answers", []Point{Listen, Connect, Forward}, anAddress},
	{"zone", "the zone of that address", []Point{Listen, Connect, Forward}, nil},
	{"client", "the client's address, without its port", []Point{Connect, Forward}, anAddress},
	{"server", "the id of the server, or its address where it has none", []Point{Forward, Check}, nil},
	{"host", "the host that an HTTP request is for", []Point{Forward}, nil},
	{"path", "the path of an HTTP request", []Point{Forward}, nil},
}

func knownField(name string) bool {
	_, ok := findField(name)
	return ok
}

func findField(name string) (MatchField, bool) {
	i := slices.IndexFunc(MatchFields, func(f MatchField) bool {
		prefix, _, named := strings.Cut(f.Name, "<")
		return name == f.Name && !named || named && strings.HasPrefix(name, prefix) && name != prefix
	})
	if i < 0 {
		return MatchField{}, false
	}
	return MatchFields[i], true
}

func matchNames() []string {
	known := []string{"action"}
	for _, f := range MatchFields {
		known = append(known, f.Name)
	}
	return known
}

func suggestField(name string) string {
	known := matchNames()
	if near := spelling.Nearest(name, known); near != "" {
		return "do you mean " + near + "?"
	}
	return "there are " + strings.Join(known, ", ")
}

func (m Matcher) problems() []Problem {
	set := 0
	for _, is := range []bool{m.Equals != nil, m.Matches != "", m.Absent} {
		if is {
			set++
		}
	}
	if set != 1 {
		return []Problem{wrong("", "give one of equals, matches and absent")}
	}
	if _, err := regexp.Compile(m.Matches); err != nil {
		return []Problem{wrong("matches", "%s", err)}
	}
	return nil
}

// Actions returns the patterns of the actions. An empty list stands for all actions.
func (m Match) Actions() glob.List { return glob.Split(m.Action) }

// compiled is a match with its expressions ready.
type compiled struct {
	actions glob.List
	fields  []compiledField
}

type compiledField struct {
	name    string
	matcher Matcher
	pattern *regexp.Regexp
}

func (m Match) compile() compiled {
	c := compiled{actions: m.Actions()}
	for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
		f := compiledField{name: name, matcher: m.Fields[name]}
		if f.matcher.Matches != "" {
			f.pattern = regexp.MustCompile(f.matcher.Matches)
		}
		c.fields = append(c.fields, f)
	}
	return c
}

// concerns reports whether calls of an action can match.
func (c compiled) concerns(action string) bool {
	return c.actions == nil || c.actions.Match(action)
}

// matches reports whether a call of an action that the match concerns is one of its
// calls.
func (c compiled) matches(call Request) bool {
	return !slices.ContainsFunc(c.fields, func(f compiledField) bool { return !f.matches(call.field(f.name)) })
}

func (f *compiledField) matches(value string, present bool) bool {
	switch {
	case f.matcher.Absent || !present:
		return f.matcher.Absent && !present
	case f.pattern != nil:
		return f.pattern.MatchString(value)
	}
	return value == *f.matcher.Equals
}

// MayConcern reports whether calls of one of the actions may match, by what is known of their
// fields.
func (m Match) MayConcern(actions []string, known func(field string) (value string, ok bool)) bool {
	c := m.compile()
	if c.actions != nil && !c.actions.Match(actions...) {
		return false
	}
	return !slices.ContainsFunc(c.fields, func(f compiledField) bool {
		value, ok := known(f.name)
		return ok && !f.matches(value, true)
	})
}

func (c Request) field(name string) (string, bool) {
	if c.Packets != nil {
		return c.Packets(name)
	}
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
