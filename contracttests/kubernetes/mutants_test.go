package kubernetes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/internal/mutate"
	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/scenarios"
)

// enough is how long a play waits for what does not happen without a cure. With it, what
// a scenario waits for takes some 10 s.
const enough = "30s"

// partsFile has which mutants of the kubernetes parts were run; contracttests/seeds.md shows it.
const partsFile = "../testdata/mutants/kubernetes.json"

// unnoticed are the steps without which a part passes, with the reason.
var unnoticed = map[string]string{
	"backend-quota without steps [0]":          "the quota that is given is too small for three nodes already",
	"renamed-by-hand without steps [3]":        "another name must change nothing",
	"reuse-controller-made without steps [17]": "the step only looks",
	"status-removed without steps [9]":         "a label must change nothing",
	"tag-removed-by-hand without steps [3]":    "a lost tag must change nothing",
}

// statedParts returns the kubernetes parts that play statements of the documents.
func statedParts(t *testing.T) (names []string) {
	t.Helper()
	_, statements, err := explain.Statements()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if name, part, ok := s.By.Scenario(); ok && part == "kubernetes" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// TestMutants proves of each kubernetes part that plays a statement that it fails without each of its cures, and
// without each of its causes of trouble. It takes half a minute for each, so that it runs on
// request, and records what it found.
func TestMutants(t *testing.T) {
	if os.Getenv("E2E_MUTANTS") == "" {
		t.Skip("E2E_MUTANTS=1 takes each cure and each cause out of its scenario, in some 20 minutes")
	}
	var mu sync.Mutex
	outcomes := record.Read[map[string]mutate.Outcome](t, partsFile)
	started := make(map[string]bool)
	t.Run("all", func(t *testing.T) {
		for _, name := range statedParts(t) {
			for i, m := range mutantsOf(t, name) {
				t.Run(fmt.Sprintf("%s/%d", name, i+1), func(t *testing.T) {
					f := start(t, ofScenario, func(f *fixture) {
						if nlbs(name) {
							withNLB(f)
						}
					})
					f.neighbour(nlbs(name)) // as in TestLibrary
					f.Cleanup(f.awaitServicesGone)
					_, err := f.playPart(m.file)
					mu.Lock()
					defer mu.Unlock()
					key := name + "/kubernetes"
					is := outcomes[key]
					if !started[key] {
						started[key], is = true, mutate.Outcome{}
					}
					is.Run++
					if err == nil {
						is.Survived = append(is.Survived, mutate.Survivor{Change: m.where, Why: unnoticed[name+" "+m.where]})
						is.Sort()
					}
					outcomes[key] = is
				})
			}
		}
	})
	record.Write(t, partsFile, outcomes, 1)
}

// partMutant is a scenario without a cure, or without a cause of trouble.
type partMutant struct{ where, file string }

// mutantsOf writes a file for each mutant of a kubernetes part.
func mutantsOf(t *testing.T, name string) (all []partMutant) {
	t.Helper()
	text, _ := scenarios.LibraryText(name)
	scenario, err := scenarios.Load(name+".yaml", text, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	groups := scenario.Kubernetes.Cures()
	for i, step := range childOf(childOf(whole.Content[0], "kubernetes"), "steps").Content {
		if !strings.HasPrefix(childOf(step, "name").Value, "cure: ") && troubles(step) {
			groups = append(groups, []int{i})
		}
	}
	for _, cure := range groups {
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		part := childOf(document.Content[0], "kubernetes")
		steps := childOf(part, "steps")
		var kept, removed []*yaml.Node
		for i, step := range steps.Content {
			if slices.Contains(cure, i) {
				removed = append(removed, step)
			} else {
				kept = append(kept, step)
			}
		}
		steps.Content = kept
		forget(document.Content[0], part, removed)
		shorten(part)
		shorter, err := yaml.Marshal(&document)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, shorter, 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, partMutant{fmt.Sprintf("without steps %v", cure), file})
	}
	return all
}

// troubles reports whether a step is a cause of trouble: a condition, a fault, a call, or a
// change of an object.
func troubles(step *yaml.Node) bool {
	kubectl := childOf(step, "kubectl")
	return childOf(step, "set").Kind != 0 || childOf(step, "fault").Kind != 0 || childOf(step, "call").Kind != 0 ||
		childOf(kubectl, "patch").Kind != 0 || childOf(kubectl, "delete").Kind != 0
}

// forget removes what only the removed steps give or use: expectations about a load
// balancer that one of them names, values, and what is saved for them.
func forget(root, part *yaml.Node, removed []*yaml.Node) {
	for _, step := range removed {
		if name := childOf(childOf(step, "kubectl"), "balancer").Value; name != "" {
			expect := childOf(part, "expect")
			expect.Content = slices.DeleteFunc(expect.Content, func(e *yaml.Node) bool { return mentions(e, "{{"+name+"}}") })
		}
	}
	values := childOf(root, "values")
	for i := 0; i+1 < len(values.Content); {
		if name := "{{" + values.Content[i].Value + "}}"; !mentions(root, name) {
			values.Content = slices.Delete(values.Content, i, i+2)
			continue
		}
		i += 2
	}
	forgetSaves(part, childOf(part, "steps"))
}

// forgetSaves takes away what is saved under a node of a part and used nowhere in it.
func forgetSaves(part, node *yaml.Node) {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); {
		save := node.Content[i+1]
		if node.Content[i].Value != "save" {
			i += 2
			continue
		}
		for j := 0; j+1 < len(save.Content); {
			if mentions(part, "{{"+save.Content[j].Value+"}}") {
				j += 2
			} else {
				save.Content = slices.Delete(save.Content, j, j+2)
			}
		}
		if len(save.Content) > 0 {
			i += 2
		} else {
			node.Content = slices.Delete(node.Content, i, i+2)
		}
	}
	for _, child := range node.Content {
		forgetSaves(part, child)
	}
}

// mentions reports whether a text under a node has a text in it.
func mentions(node *yaml.Node, text string) bool {
	return strings.Contains(node.Value, text) || slices.ContainsFunc(node.Content, func(n *yaml.Node) bool { return mentions(n, text) })
}

// childOf returns the value of a key, or an empty node if there is none.
func childOf(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// shorten has expectations wait no longer than enough.
func shorten(node *yaml.Node) {
	if within := childOf(node, "within"); node.Kind == yaml.MappingNode && strings.HasSuffix(within.Value, "m") {
		within.Value = enough
	}
	for _, child := range node.Content {
		shorten(child)
	}
}
