package scenarios

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Options say how a scenario is read.
type Options struct {
	// Set gives values other texts than the file does. Names that the file does
	// not have are for other files.
	Set map[string]string
	// Names, if set, are those that a scenario may use.
	Names Names
}

// Load reads a scenario and everything that is wrong with it: the error is
// Problems.
func Load(file string, text []byte, o Options) (*Scenario, error) {
	d := &decoder{file: file}
	root := d.parse(text)
	if root == nil {
		return nil, d.problems
	}
	name := filepath.Base(file)
	s := &Scenario{File: file, Name: strings.TrimSuffix(name, filepath.Ext(name))}
	d.value(root, reflect.ValueOf(s).Elem(), "")
	c := &checker{decoder: d, names: o.Names}
	c.values(root, s, o.Set)
	if len(d.problems) > 0 {
		return s, d.problems
	}
	// What the values stand for is known from here on; what is saved is not.
	filled := &Scenario{File: s.File, Name: s.Name}
	d.value(renderBut(root, "values", s.Values), reflect.ValueOf(filled).Elem(), "")
	filled.Values = s.Values
	if len(d.problems) == 0 {
		c.scenario(filled)
		c.idleValues(root, s)
	}
	return filled, d.problems.err()
}

// syntaxLine finds the line in what the YAML library says about bad syntax.
var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse returns the top of the one document, or nil and a problem.
func (d *decoder) parse(text []byte) *yaml.Node {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	err := documents.Decode(&document)
	if err == nil {
		err = documents.Decode(&more)
		if err == nil {
			d.fail(&more, "", "there is a second document: write one scenario a file")
			return nil
		}
	} else if errors.Is(err, io.EOF) {
		d.fail(&yaml.Node{Line: 1}, "", "the file is empty")
		return nil
	}
	if !errors.Is(err, io.EOF) {
		found := syntaxLine.FindStringSubmatch(err.Error())
		line := 1
		if found != nil && found[1] != "" {
			line, _ = strconv.Atoi(found[1]) // digits
		}
		d.fail(&yaml.Node{Line: line}, "", "%s", syntaxLine.ReplaceAllString(err.Error(), ""))
		return nil
	}
	if d.aliases(&document) {
		return nil
	}
	return document.Content[0]
}

// aliases reports aliases, which could stand for more than any file should hold.
func (d *decoder) aliases(node *yaml.Node) (found bool) {
	if node.Kind == yaml.AliasNode {
		d.fail(node, "", "aliases are not taken: use a value, as {{name}}")
		return true
	}
	for _, child := range node.Content {
		found = d.aliases(child) || found
	}
	return found
}
