package yamlfile_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// file has a field of every sort.
type file struct {
	Name    string            `yaml:"name" required:"true"`
	Count   int               `yaml:"count"`
	Size    uint64            `yaml:"size"`
	Share   *float64          `yaml:"share"`
	Open    bool              `yaml:"open"`
	Parts   []part            `yaml:"parts,omitempty"`
	Labels  map[string]string `yaml:"labels"`
	Initial initial           `yaml:"initial"`
	Unnamed string
}

type part struct {
	ID   string `yaml:"id" required:"true"`
	line int
}

func (p *part) Place(node *yaml.Node) { p.line = node.Line }

func (p *part) Validate() error {
	if p.ID == "bad" {
		return errors.New("bad is no id")
	}
	return nil
}

// animal has a key for each kind of animal.
type animal struct {
	Name string `yaml:"name"`
	legs map[string]int
}

func (a *animal) ReadKey(d *yamlfile.Decoder, e yamlfile.Entry, field string, fields []string) {
	if e.Key.Value != "cow" && e.Key.Value != "hen" {
		d.Unknown(e.Key, field, append(fields, "cow", "hen"), map[string]string{"legs": "cow: 4"})
		return
	}
	legs := 0
	d.Decode(e.Value, &legs, field)
	a.legs = map[string]int{e.Key.Value: legs}
}

// TestKeyed proves that a struct reads keys next to its fields, and that those of both are
// suggested.
func TestKeyed(t *testing.T) {
	for text, want := range map[string]string{
		"{name: a, cow: 4}": "",
		"{cow: x}":          `f.yaml:1:7: cow: "x" is not a whole number`,
		"{cow: 4, cow: 4}":  "f.yaml:1:10: cow: it is here twice, on line 1 too",
		"{legs: 2}":         "f.yaml:1:2: legs: there is no such field: write cow: 4",
		"{hem: 2}":          "f.yaml:1:2: hem: there is no such field: do you mean hen?",
		"{zzzzz: 2}":        "f.yaml:1:2: zzzzz: there is no such field: there are cow, hen, name",
	} {
		d := &yamlfile.Decoder{File: "f.yaml"}
		var a animal
		d.Decode(d.Document([]byte(text)), &a, "")
		if got := d.Err(); (want == "") != (got == nil) || got != nil && got.Error() != want {
			t.Errorf("%s is wrong in %v, want %q", text, got, want)
		}
		if want == "" && (a.Name != "a" || a.legs["cow"] != 4) {
			t.Errorf("decoded %+v", a)
		}
	}
}

// initial is a type that reads itself.
type initial struct {
	letter string
	absent string
}

func (i *initial) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if len(node.Value) != 1 {
		d.Fail(node, field, "want a letter")
	}
	i.letter = node.Value
}

func (i *initial) Absent(_ *yaml.Node, field string) { i.absent = field }

func decode(text string, unsettled func(string) bool) (f file, err error) {
	d := &yamlfile.Decoder{File: "f.yaml", Unsettled: unsettled}
	if root := d.Document([]byte(text)); root != nil {
		d.Decode(root, &f, "")
	}
	return f, d.Err()
}

// TestDecode proves that each sort of field is read, and that placed and absent fields
// learn their place.
func TestDecode(t *testing.T) {
	f, err := decode("name: a\ncount: -1\nsize: 2\nshare: 0.5\nopen: true\nparts:\n  - id: p\n  - {id: q}\nlabels: {k: v}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "a" || f.Count != -1 || f.Size != 2 || *f.Share != 0.5 || !f.Open || f.Labels["k"] != "v" {
		t.Errorf("decoded %+v", f)
	}
	if len(f.Parts) != 2 || f.Parts[1] != (part{"q", 8}) || f.Initial.absent != "initial" {
		t.Errorf("decoded parts %+v and initial %+v", f.Parts, f.Initial)
	}
	if f, err = decode("{name: '{{a}}', count: '{{b}}'}", func(s string) bool { return strings.HasPrefix(s, "{{") }); err != nil || f.Name != "{{a}}" || f.Count != 0 {
		t.Errorf("decoded %+v, %v, want the text that is to be settled and nothing said of the number", f, err)
	}
}

// TestProblems proves that all problems are reported at once, in the order of the
// lines, with suggestions.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "f.yaml:1: the file is empty",
		"# nothing":             "f.yaml:1: the file is empty",
		"name: [":               "f.yaml:1: a value is missing, or a [ or { is not closed",
		"name: a\n---\nname: b": "f.yaml:3:1: there is a second document: write one a file",
		"[]":                    "f.yaml:1:1: want fields, such as name: …",
		"nam: a":                "f.yaml:1:1: nam: there is no such field: do you mean name?\nf.yaml:1:1: name: it is missing",
		"name: a\nzzzzzz: b":    "f.yaml:2:1: zzzzzz: there is no such field: there are count, initial, labels, name, open, parts, share, size",
		"name: a\nname: b":      "f.yaml:2:1: name: it is here twice, on line 1 too",
		"name:":                 "f.yaml:1:6: name: it has no value",
		"name: {a: b}":          "f.yaml:1:7: name: want a text",
		"{[a]: b, name: c}":     "f.yaml:1:2: want a plain key",
		"name: a\ncount: 1.5\nsize: -1\nshare: much\nopen: 2": "f.yaml:2:8: count: \"1.5\" is not a whole number\n" +
			"f.yaml:3:7: size: \"-1\" is not a whole number that is not negative\nf.yaml:4:8: share: \"much\" is not a number\nf.yaml:5:7: open: \"2\" is not true or false",
		"parts: [{}, {id: bad}, x]\nname: a\nlabels: []\ninitial: ab": "f.yaml:1:9: parts[0].id: it is missing\nf.yaml:1:13: parts[1]: bad is no id\n" +
			"f.yaml:1:24: parts[2]: want fields, such as id: …\nf.yaml:3:9: labels: want names with values\nf.yaml:4:10: initial: want a letter",
		"name: &a x\nlabels:\n  k: *a\nparts: [*a]": "f.yaml:3:6: labels.k: aliases are not taken: write the value out\nf.yaml:4:9: parts[0]: aliases are not taken: write the value out",
	} {
		if _, err := decode(text, nil); err == nil || err.Error() != want {
			t.Errorf("%q is wrong in\n%v\nwant\n%s", text, err, want)
		}
	}
	if got := (yamlfile.Problem{Line: 3, Field: "a", Reason: "b"}).String(); got != "line 3: a: b" {
		t.Errorf("a problem of a text = %q", got)
	}
	if _, err := decode("{name: {{a}}}", func(string) bool { return true }); err == nil || !strings.Contains(err.Error(), `write a template in quotes, as "{{name}}"`) {
		t.Errorf("a template without quotes = %v", err)
	}
}

// goType finds what only the source says.
var goType = regexp.MustCompile(`map\[string\]|interface ?\{|yamlfile\.|reflect|\*?file\.|!!|unmarshal|\buint64\b|\bfloat64\b`)

// FuzzDecode proves that no text makes the decoder panic, that every problem has its
// file and a line that there is, and that none speaks of Go's types.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"name: a\ncount: 1", "{[a]: b}", "name: !!binary x", "name: *a", "a: &a [*a]", "parts: {id: x}\nshare: []", "\x00", "- - - -", "<<: {name: a}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := decode(text, nil)
		var problems yamlfile.Problems
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("%q: %v", text, err)
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 2
		for _, p := range problems {
			if p.File != "f.yaml" || p.Line < 1 || p.Line > lines || p.Reason == "" {
				t.Errorf("%q: %+v", text, p)
			}
			if said := strings.ReplaceAll(p.Reason, text, ""); goType.MatchString(said) && !goType.MatchString(text) {
				t.Errorf("%q: %s", text, p)
			}
		}
	})
}

// TestSyntax proves that each syntax error of a file has its line, and says what to
// do.
func TestSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\n\tcount: 1":                 "f.yaml:2: a line is indented by a tab: use spaces",
		"\tname: a":                           "f.yaml:1: a line is indented by a tab: use spaces",
		"labels:\n  a: b\n\tc: d\n":           "f.yaml:3: a line is indented by a tab: use spaces",
		"name: a\nlabels: {k: v\nparts: []\n": "f.yaml:2: a { is not closed, or a comma is missing between its entries",
		"name: a\nlabels: {k: v":              "f.yaml:2: a { is not closed, or a comma is missing between its entries",
		"name: a\nparts: [a, b\nopen: true\n": "f.yaml:2: a [ is not closed, or a comma is missing between its elements",
		"name: a\nparts: [a b]\n c: d":        "f.yaml:3: this line or one below is not indented as the keys before it",
		"name: a\nlabels:\n  k: v\n open: b":  "f.yaml:4: this line or one below is not indented as the keys before it",
		"name: a\nlabels: k: v":               "f.yaml:2: there is a second colon in a value: put the value in quotes, or begin a new line",
		"name: a\nlabels: @k":                 "f.yaml:2: a text can't begin with this character: put it in quotes",
		"name: a\nlabels: \"k\nopen: true\n":  "f.yaml:2: a quote is not closed",
		"name: a\nlabels: \"\\k\"\n":          `f.yaml:2: a text in "quotes" has a backslash that escapes nothing: write \\ or use 'quotes'`,
		"name: a\nlabels\nopen: true":         "f.yaml:2: a key has no colon, or the text of a key goes over several lines: write key: value",
		"name: a\nlabels: - a":                "f.yaml:2: a list can't begin in this place: begin a new line before its -",
		"name: a\x00":                         "f.yaml:1: there is a control character: write it as an escape in \"quotes\"",
		"%NAME a":                             "f.yaml:1: it is no YAML: found unknown directive name",
	} {
		d := &yamlfile.Decoder{File: "f.yaml"}
		if documents := d.Documents([]byte(text)); documents != nil || d.Err() == nil || d.Err().Error() != want {
			t.Errorf("%q: %v\nwant %s", text, d.Err(), want)
		}
	}
}

// TestManyProblems proves that an error says how many problems it does not show.
func TestManyProblems(t *testing.T) {
	var all yamlfile.Problems
	for line := range 102 {
		all = append(all, yamlfile.Problem{File: "f.yaml", Line: line + 1, Reason: "wrong"})
	}
	lines := strings.Split(all.Err().Error(), "\n")
	if len(lines) != 101 || lines[99] != "f.yaml:100: wrong" || lines[100] != "and 2 more problems" {
		t.Errorf("%d lines, which end with %q", len(lines), lines[len(lines)-2:])
	}
	if text := all[:100].Err().Error(); strings.Contains(text, "more") || strings.Count(text, "\n") != 99 {
		t.Errorf("a hundred problems are %q", text)
	}
}

// TestVersion proves that a document may name the version of its form, each of several, and
// that another version is refused at its place, once.
func TestVersion(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: clbemu/v1\nname: a\n":                                "",
		"name: a\napiVersion: clbemu/v1\n":                                "",
		"apiVersion: clbemu/v2\nname: a\n":                                `f.yaml:1:13: apiVersion: "clbemu/v2" is not a version that this clbemu reads: write clbemu/v1`,
		"name: a\napiVersion: {}\n":                                       `f.yaml:2:13: apiVersion: "" is not a version`,
		"apiVersion: clbemu/v1\nname: a\napiVersion: clbemu/v1\n":         "apiVersion",
		"apiVersion: clbemu/v1\nname: a\n---\napiVersion: v1\nname: b\n":  `f.yaml:4:13: apiVersion: "v1" is not`,
		"apiVersion: clbemu/v1\nname: a\nparts: [{id: p, apiVersion: x}]": "apiVersion", // within, it is a field like any
	} {
		d := &yamlfile.Decoder{File: "f.yaml"}
		for _, document := range d.Documents([]byte(text)) {
			d.Decode(document, &file{}, "")
		}
		if err := d.Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
