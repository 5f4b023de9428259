package kubernetes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// enough is how long a play waits for what does not happen without a cure. With it, what
// a scenario waits for takes some 10 s.
const enough = "30s"

// TestCures proves of each cure that a kubernetes half shows that the half fails without
// it. It takes half a minute for each, so that it runs on request.
func TestCures(t *testing.T) {
	if os.Getenv("E2E_CURES") == "" {
		t.Skip("E2E_CURES=1 takes each cure out of its scenario, in some 15 minutes")
	}
	requireCCM(t, "what a real CCM does without a cure")
	for _, name := range kubernetesHalves(t) {
		for n, file := range curesOf(t, name) {
			t.Run(fmt.Sprintf("%s-%d", name, n+1), func(t *testing.T) {
				f := start(t, ofScenario, func(f *fixture) {
					if nlbs(name) {
						withNLB(f)
					}
				})
				f.Cleanup(f.awaitServicesGone)
				if out, err := f.playHalf(file); err == nil || !strings.Contains(out, "1 failed") {
					f.Errorf("without its cure it does not fail: %v", err)
				}
			})
		}
	}
}

// curesOf writes a file for each cure of a kubernetes half: the scenario without it.
func curesOf(t *testing.T, name string) (files []string) {
	t.Helper()
	text, _ := scenarios.LibraryText(name)
	scenario, err := scenarios.Load(name+".yaml", text, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cure := range scenario.Kubernetes.Cures() {
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		half := childOf(document.Content[0], "kubernetes")
		steps := childOf(half, "steps")
		var kept, removed []*yaml.Node
		for i, step := range steps.Content {
			if slices.Contains(cure, i) {
				removed = append(removed, step)
			} else {
				kept = append(kept, step)
			}
		}
		steps.Content = kept
		forget(document.Content[0], half, removed)
		shorten(half)
		shorter, err := yaml.Marshal(&document)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, shorter, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// forget removes what only the removed steps give or use: expectations about a load
// balancer that one of them names, values, and what is saved for them.
func forget(root, half *yaml.Node, removed []*yaml.Node) {
	for _, step := range removed {
		if name := childOf(childOf(step, "kubectl"), "balancer").Value; name != "" {
			expect := childOf(half, "expect")
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
	forgetSaves(half, childOf(half, "steps"))
}

// forgetSaves takes away what is saved under a node of a half and used nowhere in it.
func forgetSaves(half, node *yaml.Node) {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); {
		save := node.Content[i+1]
		if node.Content[i].Value != "save" {
			i += 2
			continue
		}
		for j := 0; j+1 < len(save.Content); {
			if mentions(half, "{{"+save.Content[j].Value+"}}") {
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
		forgetSaves(half, child)
	}
}

// mentions reports whether a text under a node has a text in it.
func mentions(node *yaml.Node, text string) bool {
	return strings.Contains(node.Value, text) || slices.ContainsFunc(node.Content, func(n *yaml.Node) bool { return mentions(n, text) })
}

// childOf is the value of a key, an empty node where there is none.
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
