package fidelity

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Nodes of YAML, which rows put together as a file could have them. None is changed once it
// is part of another.

func scalar(line int, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: line}
}

// mapping returns a mapping of keys and values, by turns.
func mapping(line int, pairs ...any) *yaml.Node {
	node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
	for pair := range slices.Chunk(pairs, 2) {
		node.Content = append(node.Content, scalar(line, pair[0].(string)), pair[1].(*yaml.Node))
	}
	return node
}

func sequence(line int, elements []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: elements, Line: line}
}

// with returns a mapping with another value of a key.
func with(line int, node *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	changed := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
	if node != nil {
		changed.Content = slices.Clone(node.Content)
	}
	without(changed, key)
	changed.Content = append(changed.Content, scalar(line, key), value)
	return changed
}

// without deletes a key of a mapping.
func without(node *yaml.Node, key string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = slices.Delete(slices.Clone(node.Content), i, i+2)
			return
		}
	}
}

// child returns the value of a key, or nil if there is none.
func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil {
		return nil
	}
	for pair := range slices.Chunk(node.Content, 2) {
		if pair[0].Value == key {
			return pair[1]
		}
	}
	return nil
}

// merged returns a mapping with the keys of another, less some.
func merged(line int, node, more *yaml.Node, less []string) *yaml.Node {
	result := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
	for _, from := range []*yaml.Node{node, more} {
		if from == nil {
			continue
		}
		for pair := range slices.Chunk(from.Content, 2) {
			without(result, pair[0].Value)
			result.Content = append(result.Content, pair[0], pair[1])
		}
	}
	for _, key := range less {
		without(result, key)
	}
	return result
}

func copied(line int, list []raw) (nodes []*yaml.Node) {
	for _, r := range list {
		nodes = append(nodes, step(line, r.Node))
	}
	return nodes
}

func step(line int, call *yaml.Node) *yaml.Node { return mapping(line, "call", call) }

// refusal returns what a refused call expects: a code, or the status of one whose code no
// source has.
func refusal(line int, code string) *yaml.Node {
	if code == unpublished {
		return mapping(line, "status", scalar(line, "400"))
	}
	return mapping(line, "code", scalar(line, code))
}

func statement(line int, id, class, says, source string, noCode bool, steps []*yaml.Node) *yaml.Node {
	node := mapping(line, "id", scalar(line, id), "class", scalar(line, class), "says", scalar(line, says), "source", scalar(line, source),
		"case", sequence(line, steps))
	if noCode {
		node = with(line, node, "code", scalar(line, unpublished))
	}
	return node
}
