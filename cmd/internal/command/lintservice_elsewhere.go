package command

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/annotations"
)

// checkElsewhere checks the names of a CCM's annotations outside of Services: in the values of a
// chart, or in an object of which another controller makes a Service. Their values mean something
// only next to the Service's ports.
func (f *serviceLint) checkElsewhere(file string, document *yaml.Node, object *manifest) (found []serviceProblem) {
	name := strings.TrimPrefix(object.Metadata.Namespace+"/"+object.Metadata.Name, "/")
	about := strings.TrimSpace(cmp.Or(object.Kind, "values of a chart") + " " + name)
	advice := "check what it becomes: kubectl get services -A -o yaml | clbemu lint-service -"
	if object.Kind == "" || strings.Contains(object.Kind, "Helm") {
		advice = "render the chart: helm template . | clbemu lint-service -"
	}
	eachAnnotation(document, 0, func(key, value *yaml.Node, line int) bool {
		problem := serviceProblem{File: file, Line: line, Service: about}
		if file == "" {
			problem.Line = 0
		}
		if len(found) == 0 {
			problem.Problem = annotations.Problem{Key: key.Value, Note: true, Text: "it stands in no Service, so that only its name is checked", Advice: advice}
			found = append(found, problem)
		}
		if _, known := annotations.Find(key.Value); known {
			return true
		}
		alone := &annotations.Service{Type: "LoadBalancer", Annotations: map[string]string{key.Value: value.Value}}
		for _, p := range annotations.Check(alone, f.version) {
			if p.Key == key.Value {
				problem.Problem = p
				found = append(found, problem)
			}
		}
		return len(found) <= mostProblems
	})
	return found
}

// mostNested bounds how deep annotations are looked for.
const mostNested = 100

// eachAnnotation yields the pairs of all mappings of a document whose keys are a CCM's, also in
// documents within a text, as resources of charts have them. It reports whether yield never
// returned false. It follows no alias, which may hold itself.
func eachAnnotation(node *yaml.Node, depth int, yield func(key, value *yaml.Node, line int) bool) bool {
	if depth > mostNested {
		return true
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && ccmReads(child.Value) && node.Content[i+1].Kind == yaml.ScalarNode {
			if !yield(child, node.Content[i+1], child.Line) {
				return false
			}
		}
		if !eachAnnotation(child, depth+1, yield) {
			return false
		}
	}
	if node.Kind == yaml.ScalarNode && strings.Contains(node.Value, "\n") && mentionsCCM(node.Value) {
		inside := func(key, value *yaml.Node, line int) bool {
			if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
				line = 0 // it is on one line
			}
			return yield(key, value, node.Line+line)
		}
		for documents := yaml.NewDecoder(strings.NewReader(node.Value)); ; {
			var inner yaml.Node
			if documents.Decode(&inner) != nil {
				break
			}
			if !eachAnnotation(&inner, depth+1, inside) {
				return false
			}
		}
	}
	return true
}

// mentionsCCM reports whether a text may have annotations of a CCM.
func mentionsCCM(text string) bool {
	return slices.ContainsFunc(annotations.Prefixes, func(p string) bool { return strings.Contains(text, p) })
}

func ccmReads(key string) bool {
	return slices.ContainsFunc(annotations.Prefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}
