package scenarios

import (
	"path/filepath"
	"strings"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Options say how to read a scenario.
type Options struct {
	// Set gives values other texts than the file does. Names that the file does
	// not have are for other files.
	Set map[string]string
	// Names, if set, holds the names that a scenario may use.
	Names Names
}

// Load reads a scenario and everything that is wrong with it: the error is Problems.
func Load(file string, text []byte, o Options) (*Scenario, error) {
	d := NewDecoder(file)
	root := d.Document(text)
	if root == nil {
		return nil, d.Err()
	}
	name := filepath.Base(file)
	s := &Scenario{File: file, Name: strings.TrimSuffix(name, filepath.Ext(name))}
	d.Decode(root, s, "")
	c := &checker{Decoder: d, names: o.Names, malformed: d.Found() > 0}
	form := d.Found()
	c.values(root, s, o.Set)
	if d.Found() > form {
		return s, d.Err()
	}
	// What the values stand for is known from here on; saved values are not.
	filled := &Scenario{File: s.File, Name: s.Name}
	rendered, err := newFiller(s.Values).render(root, yamlfile.Child(root, "values"))
	if err != nil {
		d.Fail(root, "", "%s", err)
		return s, d.Err()
	}
	again := d
	if c.malformed {
		again = NewDecoder(file) // what it finds, the first reading has found
	}
	again.Decode(rendered, filled, "")
	c.malformed = c.malformed || again.Found() > 0
	filled.Values = s.Values
	c.scenario(filled)
	c.idleValues(root, s)
	return filled, d.Err()
}

// NewClient returns a scenario with a client part, made of parts that d has read from a file of
// another kind, and reports to d what is wrong with it. Names holds the names that it may use, or
// is nil for any.
func NewClient(d *yamlfile.Decoder, name string, given Given, steps []Step, names Names) *Scenario {
	s := &Scenario{File: d.File, Name: name, Given: given, Client: &Part{Steps: steps, place: steps[0].place}}
	(&checker{Decoder: d, names: names}).scenario(s)
	return s
}

// Problems is everything that is wrong with a file.
type Problems = yamlfile.Problems

// NewDecoder returns a decoder of scenarios and their parts. Where a text is still a template, what
// only a number or a pattern can be is not checked.
func NewDecoder(file string) *yamlfile.Decoder {
	return &yamlfile.Decoder{File: file, Unsettled: template().MatchString}
}
