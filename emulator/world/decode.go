package world

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// place is a position in the file.
type place struct {
	line int
	path string
}

// scalar is a value of the file. An absent one has no text, and the line of what
// should hold it.
type scalar struct {
	place
	text string
}

var _ yamlfile.Absentee = (*scalar)(nil)
var _ yamlfile.Reader = (*scalar)(nil)

// ReadYAML implements yamlfile.Reader.
func (s *scalar) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	s.place = place{node.Line, field}
	var text string
	before := d.Found()
	if d.Decode(node, &text, field); d.Found() > before {
		return
	}
	if strings.ContainsFunc(text, isForbidden) {
		d.Fail(node, field, "it holds a control character")
		return
	}
	s.text = text
}

// Absent implements yamlfile.Absentee.
func (s *scalar) Absent(in *yaml.Node, field string) { s.place = place{in.Line, field} }

func isForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r == unicode.ReplacementChar
}

// pair is an entry of a mapping whose keys the user chooses, such as a tag.
type pair struct {
	key   string
	value scalar
}

// pairs are in the order of the file.
type pairs []pair

var _ yamlfile.Reader = (*pairs)(nil)

// ReadYAML implements yamlfile.Reader.
func (ps *pairs) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if !d.Is(node, yaml.MappingNode, "names with values", field) {
		return
	}
	for _, e := range d.Entries(node, field) {
		p := pair{key: e.Key.Value}
		before := d.Found()
		if d.Decode(e.Value, &p.value, yamlfile.Join(field, p.key)); d.Found() == before {
			*ps = append(*ps, p)
		}
	}
}

// problem is one thing that is wrong with what is planted.
type problem struct {
	place
	reason string
}

type problems []problem

// in returns the problems with the name of their file.
func (ps problems) in(file string) yamlfile.Problems {
	var found yamlfile.Problems
	for _, p := range ps {
		found = append(found, yamlfile.Problem{File: file, Line: p.line, Field: p.path, Reason: p.reason})
	}
	return found
}
