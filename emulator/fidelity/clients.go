package fidelity

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// client lists what a client relies on, in one file of its source: the fields of the answer that it
// reads, and the codes of refusals that it distinguishes, each with its line. A statement follows
// from each, with the case of the statement about the field or the code.
type client struct {
	Source string `yaml:"source" required:"true"`
	At     string `yaml:"at" required:"true"`
	Reads  raw    `yaml:"reads"`
	Codes  raw    `yaml:"codes"`

	line int
}

var _ yamlfile.Placed = (*client)(nil)

// Place implements yamlfile.Placed.
func (c *client) Place(node *yaml.Node) { c.line = node.Line }

// clientStatements returns what follows from clients.
func (f *File) clientStatements(d *yamlfile.Decoder) (list []Statement) {
	for i := range f.Clients {
		c := &f.Clients[i]
		file := strings.TrimSuffix(c.At, ".go")
		each(c.Reads.Node, func(field, line *yaml.Node) {
			list = append(list, f.caseOf(d, field, Statement{ID: kebab(file) + "-reads-" + kebab(field.Value), Class: "field", Source: c.Source,
				Says: "A client reads " + field.Value + " (" + c.At + ":" + line.Value + ")."}))
		})
		each(c.Codes.Node, func(code, line *yaml.Node) {
			list = append(list, f.caseOf(d, code, Statement{ID: kebab(file) + "-tells-" + kebab(code.Value), Class: "error", Source: c.Source,
				Says: code.Value + ": a client tells it apart (" + c.At + ":" + line.Value + ")."}))
		})
	}
	return list
}

// each calls a function for the pairs of a mapping, if there is one.
func each(node *yaml.Node, visit func(key, value *yaml.Node)) {
	if node == nil {
		return
	}
	for pair := range slices.Chunk(node.Content, 2) {
		visit(pair[0], pair[1])
	}
}

// caseOf gives a statement of a client the case of the first one about the same field or code.
func (f *File) caseOf(d *yamlfile.Decoder, about *yaml.Node, s Statement) Statement {
	s.line = about.Line
	at := slices.IndexFunc(f.Statements, func(o Statement) bool {
		return o.Class == s.Class && o.Verdict() == Holds && isAbout(&o, about.Value)
	})
	if at < 0 {
		d.Fail(about, "clients", "no statement with a case is about %s: write one", about.Value)
		return s
	}
	o := f.Statements[at]
	s.Case, s.Code, s.About, s.leans = o.Case, o.Code, o.About, true
	return s
}

// isAbout reports whether a statement is about a field, or a code, by the end of its name.
func isAbout(s *Statement, name string) bool {
	if s.Class == "error" {
		return strings.HasPrefix(s.Says, name+":")
	}
	field, ok := strings.CutPrefix(s.Says, "It answers ")
	field, _, _ = strings.Cut(field, ", ")
	field = strings.TrimSuffix(strings.TrimSuffix(field, "."), "[]")
	return ok && (field == name || strings.HasSuffix(field, "."+name))
}
