package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Matcher is a condition on a field. A text alone is an equality.
type Matcher struct {
	Equals  *string `yaml:"equals" doc:"The field equals this text."`
	Matches string  `yaml:"matches" doc:"The field matches this regular expression."`
	Absent  bool    `yaml:"absent" doc:"true: the field is absent."`
	Count   *int    `yaml:"count" doc:"The field is a list of this many elements; an absent field counts as empty."`

	pattern *regexp.Regexp
}

var _ yamlfile.Reader = (*Matcher)(nil)

// ReadYAML implements yamlfile.Reader.
func (m *Matcher) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if node.Kind == yaml.ScalarNode {
		m.Equals = &node.Value
		return
	}
	type plain Matcher
	before := d.Found()
	if d.Decode(node, (*plain)(m), field); d.Found() > before {
		return
	}
	if err := exactlyOne([]string{"equals", "matches", "absent", "count"}, m.Equals != nil, m.Matches != "", m.Absent, m.Count != nil); err != nil {
		d.Fail(node, field, "%s", err)
		return
	}
	if m.Count != nil && *m.Count < 0 {
		d.Fail(yamlfile.Child(node, "count"), yamlfile.Join(field, "count"), "no list has %d elements", *m.Count)
	}
	if m.Matches == "" || template().MatchString(m.Matches) {
		return
	}
	var err error
	if m.pattern, err = regexp.Compile(m.Matches); err != nil {
		d.Fail(yamlfile.Child(node, "matches"), yamlfile.Join(field, "matches"), "%s", err)
	}
}

// holds reports whether a field is as wanted; ok is false for an absent one.
func (m Matcher) holds(value any, ok bool) bool {
	list, isList := value.([]any)
	switch {
	case m.Absent:
		return !ok
	case m.Count != nil:
		return len(list) == *m.Count && (isList || !ok)
	case !ok:
		return false
	case m.pattern != nil:
		return m.pattern.MatchString(show(value))
	}
	return show(value) == *m.Equals
}

// success is the code of calls that were not refused, as the journal has it.
const success = "OK"

// ofCode reports whether a code is as wanted. The code of a success is "".
func (m Matcher) ofCode(code string) bool {
	if m.ofSuccess() {
		return code == ""
	}
	return m.holds(code, code != "")
}

// ofSuccess reports whether it wants the code of a success.
func (m Matcher) ofSuccess() bool { return m.Absent || m.Equals != nil && *m.Equals == success }

// fieldName returns the matcher as messages show it after a parameter's name.
func (m Matcher) fieldName() string {
	if m.Absent {
		return "absent"
	}
	return m.String()
}

func (m Matcher) String() string {
	switch {
	case m.Absent:
		return "nothing"
	case m.Count != nil:
		return counted(*m.Count, "element")
	case m.pattern != nil:
		return fmt.Sprintf("a match of %q", m.Matches)
	}
	return strconv.Quote(*m.Equals)
}

// counted returns a number of things in words: 1 call, 2 calls.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// shown returns the seen value of a field: for a counted list, its length.
func (m Matcher) shown(value any, ok bool) string {
	if list, is := value.([]any); is && m.Count != nil {
		return counted(len(list), "element")
	}
	return showField(value, ok)
}

// show returns a field as a text.
func show(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case nil:
		return "null"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// showField returns a field for a message. It shows numbers and booleans as texts, since they
// compare as such.
func showField(value any, ok bool) string {
	if !ok {
		return "nothing"
	}
	text := show(value)
	switch value.(type) {
	case string, float64, bool, json.Number:
		text = strconv.Quote(text)
	}
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}

// field finds a field by its path: names, and elements by index or by the value of a field of
// theirs, separated by dots. A backslash before a dot makes it a part of the name.
func field(body any, path string) (any, bool) {
	for _, part := range splitPath(path) {
		switch at := body.(type) {
		case map[string]any:
			next, ok := at[part]
			if !ok {
				return nil, false
			}
			body = next
		case []any:
			i := indexOf(at, part)
			if i < 0 || i >= len(at) {
				return nil, false
			}
			body = at[i]
		default:
			return nil, false
		}
	}
	return body, true
}

// indexOf returns the index of the element that a part of a path names, or -1 if there is none.
func indexOf(list []any, part string) int {
	if name, value, ok := strings.Cut(part, "="); ok {
		return slices.IndexFunc(list, func(element any) bool {
			fields, _ := element.(map[string]any)
			is, ok := fields[name]
			return ok && show(is) == value
		})
	}
	i, err := strconv.Atoi(part)
	if err != nil {
		return -1
	}
	return i
}

func splitPath(path string) []string {
	const dot = "\x00"
	parts := strings.Split(strings.ReplaceAll(path, `\.`, dot), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], dot, ".")
	}
	return parts
}

// after adds words about the expected and the seen.
func (u *Unmet) after(expected, seen string) *Unmet {
	u.Expected, u.Seen = u.Expected+expected, u.Seen+seen
	return u
}

func (u *Unmet) Error() string { return "expected " + u.Expected + ", saw " + u.Seen }

// unmet are expectations that did not hold.
type unmet []Unmet

func (u unmet) Error() string { return u[0].String() }

// compare holds fields of a body against matchers.
func compare(body any, fields map[string]Matcher) error {
	var expected, seen []string
	for _, path := range sortedKeys(fields) {
		value, ok := field(body, path)
		if !fields[path].holds(value, ok) {
			expected = append(expected, path+" "+fields[path].String())
			seen = append(seen, path+" "+fields[path].shown(value, ok))
		}
	}
	if expected == nil {
		return nil
	}
	return &Unmet{Expected: strings.Join(expected, ", "), Seen: strings.Join(seen, ", ")}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
