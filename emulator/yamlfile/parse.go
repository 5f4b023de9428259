package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Documents returns the documents of a text, none when something is wrong with its
// form, which it reports.
func (d *Decoder) Documents(text []byte) []*yaml.Node {
	var documents []*yaml.Node
	before := len(d.problems)
	for reader := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		err := reader.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, reason := syntax(text, err)
			d.Fail(&yaml.Node{Line: line}, "", "%s", reason)
			return nil
		}
		for _, content := range document.Content {
			d.aliases(content, "")
			d.version(content)
			documents = append(documents, content)
		}
	}
	if len(d.problems) > before {
		return nil
	}
	return documents
}

// Document returns the one document of a text. If there is not exactly one, it reports
// that and returns nil.
func (d *Decoder) Document(text []byte) *yaml.Node {
	before := len(d.problems)
	documents := d.Documents(text)
	switch {
	case len(d.problems) > before:
		return nil
	case len(documents) == 0:
		d.Fail(&yaml.Node{Line: 1}, "", "the file is empty")
		return nil
	case len(documents) > 1:
		d.Fail(documents[1], "", "there is a second document: write one a file")
		return nil
	}
	return documents[0]
}

// apiVersion is the form of the files of this version, which a document may name as its
// apiVersion.
const apiVersion = "clbemu/v1"

// version takes the key apiVersion out of a document, and reports another version.
func (d *Decoder) version(document *yaml.Node) {
	if document.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(document.Content); i += 2 {
		if key, value := document.Content[i], document.Content[i+1]; key.Value == "apiVersion" {
			if value.Value != apiVersion {
				d.Fail(value, key.Value, "%q is not a version that this clbemu reads: write %s, or use the clbemu that the file is for", value.Value, apiVersion)
			}
			document.Content = append(document.Content[:i:i], document.Content[i+2:]...)
			return
		}
	}
}

// aliases reports aliases, which could stand for more than any file should hold.
func (d *Decoder) aliases(node *yaml.Node, field string) {
	switch node.Kind {
	case yaml.AliasNode:
		d.Fail(node, field, "aliases are not taken: write the value out")
	case yaml.SequenceNode:
		for i, element := range node.Content {
			d.aliases(element, fmt.Sprintf("%s[%d]", field, i))
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			d.aliases(node.Content[i], field)
			d.aliases(node.Content[i+1], Join(field, node.Content[i].Value))
		}
	}
}

// Child finds what a path of keys leads to, or how far it leads.
func Child(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		next := (*yaml.Node)(nil)
		if node.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == name {
					next = node.Content[i+1]
				}
			}
		}
		if next == nil {
			return node
		}
		node = next
	}
	return node
}
