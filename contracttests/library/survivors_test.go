package library_test

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/internal/mutate"
	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/scenarios"
)

// TestAbsences proves of each value of a kubernetes part that can be changed unnoticed that the part
// expects something of that name to be absent: nothing else is a reason.
func TestAbsences(t *testing.T) {
	for part, is := range record.Read[map[string]mutate.Outcome](t, "../testdata/mutants/values.json") {
		paths := absences(t, strings.TrimSuffix(part, "/kubernetes"))
		for _, survivor := range is.Survived {
			path, _, _ := strings.Cut(survivor.Change, ": ")
			if survivor.Why != mutate.Absent || !slices.Contains(paths, path) {
				t.Errorf("%s survives %s, because it %q; it expects to be absent: %q", part, survivor.Change, survivor.Why, paths)
			}
		}
	}
}

// absences returns the paths of values in the expectations of a kubernetes part that something is
// not there.
func absences(t *testing.T, name string) (paths []string) {
	t.Helper()
	text, known := scenarios.LibraryText(name)
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || !known {
		t.Fatalf("scenario %s: known %v, %v", name, known, err)
	}
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		for i, child := range node.Content {
			if node.Kind == yaml.MappingNode && i%2 == 1 && node.Content[i-1].Value == "expect" {
				for _, expectation := range child.Content {
					if !mutate.IsAbsence(expectation) {
						continue
					}
					for _, change := range mutate.OfExpectation(t, expectation) {
						path, _, _ := strings.Cut(strings.TrimPrefix(change.Where, "."), ": ")
						paths = append(paths, path)
					}
				}
			}
			visit(child)
		}
	}
	visit(childOf(document.Content[0], "kubernetes"))
	return paths
}

// childOf returns the value of a key of a mapping.
func childOf(node *yaml.Node, key string) *yaml.Node {
	if i := slices.IndexFunc(node.Content, func(n *yaml.Node) bool { return n.Value == key }); i >= 0 {
		return node.Content[i+1]
	}
	return &yaml.Node{}
}
