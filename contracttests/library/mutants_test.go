package library_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// free are the texts of a scenario that are no names: whoever writes the scenario
// chooses them, or the cloud does while it is played. A path ends in ! where the
// key of a field is meant and not its value.
var free = []string{
	"about", "advice", "*.name", "*.params.*", "*.fields.*", "*.message", "*.message.*",
	"values.*",                 // where a value is used as a name, the name is checked
	"*.fault.name",             // a label, unless it is cleared
	"given.world.*", "*.set.*", // a condition's value
	"*.quota.holder", "kubernetes.*.vSwitch", // saved, or of the cluster's world
	"*.match.params.*", "*.match.userAgent", "*.match.region", // what clients send
	"*.loadBalancer.address", "*.loadBalancer.address.*", // the cloud's
	"*.traffic.host", "*.traffic.path", // what clients send
	// What an object is like, but for what it is and whose.
	"*.kubectl.*.spec.*", "*.kubectl.*.addressType", "*.kubectl.*.ports.*", "*.kubectl.*.endpoints.*",
	"*.kubectl.*.annotations.*", "*.kubectl.*.labels.touched", "*.selector.*!", "*.labels.touched!",
}

// policyAction is a name in the value of a condition.
var policyAction = regexp.MustCompile(`\.policy\..*\.Action$`)

func isFree(where string) bool {
	return !policyAction.MatchString(where) &&
		slices.ContainsFunc(free, func(pattern string) bool {
			return strings.HasSuffix(pattern, "!") == strings.HasSuffix(where, "!") && matchesPath(pattern, where)
		})
}

// matchesPath is like path.Match, with a * that stands for dots too.
func matchesPath(pattern, where string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(where)
}

// mutants returns misspelt forms of a name. What a pattern with a letter less or more
// matches may be a name all the same.
func mutants(where, name string) []string {
	if protocol, port, ok := strings.Cut(name, ":"); ok && strings.Contains(where, ".listeners.") {
		return []string{protocol + "x:" + port, protocol[1:] + ":" + port}
	}
	if strings.Contains(name, "*") || strings.HasSuffix(where, ".matches") {
		return []string{"zz" + name}
	}
	all := []string{name + "x"}
	if len(name) > 2 {
		all = append(all, name[:len(name)-2]+name[len(name)-1:], name[1:])
	}
	return all
}

// measure is a text that is no name: a number, a truth, a duration or nothing.
var measure = regexp.MustCompile(`^(-?[0-9.]+(ms|s|m|h)?|true|false|null|)$`)

// scalars visits all texts under a node with their places, keys with a ! behind.
func scalars(node *yaml.Node, where string, visit func(where string, node *yaml.Node)) {
	switch node.Kind {
	case yaml.ScalarNode:
		visit(where, node)
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			under := strings.TrimPrefix(where+"."+node.Content[i].Value, ".")
			visit(under+"!", node.Content[i])
			scalars(node.Content[i+1], under, visit)
		}
	default:
		for _, element := range node.Content {
			scalars(element, where, visit)
		}
	}
}

// TestMutants proves that no name of a library scenario can be misspelt: each
// mutant of each name, one at a time, is refused when it is loaded, or when its
// condition is set. All texts count as names but those listed as free. With -short it tries
// an eighth of the scenarios, which the seed chooses.
func TestMutants(t *testing.T) {
	every := 1
	if testing.Short() {
		every = 8
	}
	chosen := binary.Chances(t, *seed, "-short").IntN(every)
	names, tried := target.NewNames(emulator.NamesIn(world.Default())), new(atomic.Int64)
	t.Run("all", func(t *testing.T) { // ends when all of them have
		for i, name := range scenarios.LibraryNames() {
			if i%every != chosen {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				local, err := private.New(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := local.Close(context.Background()); err != nil {
						t.Error(err)
					}
				})
				text, _ := scenarios.LibraryText(name)
				m := mutation{t: t, names: names, local: local, file: name + ".yaml", done: make(map[string]bool)}
				if err := yaml.Unmarshal(text, &m.document); err != nil {
					t.Fatal(err)
				}
				scalars(m.document.Content[0], "", m.try)
				tried.Add(int64(m.tried))
			})
		}
	})
	if tried.Load() < int64(2400/every) {
		t.Errorf("%d mutants were tried, want thousands", tried.Load())
	}
}

// mutation is a scenario that is misspelt.
type mutation struct {
	t        *testing.T
	names    *target.Names
	local    *private.Emulator
	file     string
	document yaml.Node
	done     map[string]bool // places, and names at them
	tried    int
}

// alone returns the name of an object of the cluster that nothing else names.
func (m *mutation) alone(where, name string) bool {
	text, _ := scenarios.LibraryText(strings.TrimSuffix(m.file, ".yaml"))
	return strings.HasSuffix(where, ".metadata.name") && strings.Count(string(text), name) == 1
}

// try misspells a text, if it is a name, and wants that refused.
func (m *mutation) try(where string, node *yaml.Node) {
	key := strings.HasSuffix(where, "!")
	if isFree(where) || measure.MatchString(node.Value) || key && m.done[where] || m.alone(where, node.Value) {
		return
	}
	original := node.Value
	all := mutants(where, original)
	if m.done[where+original] {
		all = all[:1] // the others of the same name at such a place are tried once
	}
	m.done[where], m.done[where+original] = true, true
	for _, node.Value = range all {
		m.tried++
		text, err := yaml.Marshal(&m.document)
		if err != nil {
			m.t.Fatal(err)
		}
		s, err := scenarios.Load(m.file, text, scenarios.Options{Names: m.names})
		if err == nil && !refusedWhenSet(m.t, m.local, s) {
			m.t.Errorf("%s: %q instead of %q is taken", where, node.Value, original)
		}
	}
	node.Value = original
}

// refusedWhenSet reports whether the world refuses a condition of the scenario that
// names what is not in it.
func refusedWhenSet(t *testing.T, local *private.Emulator, s *scenarios.Scenario) bool {
	all := []scenarios.Settings{s.Given.World}
	for _, server := range s.Given.Servers {
		all = append(all, scenarios.Settings{{Name: "instance." + server.ID + ".reachAt", Value: "127.0.0.1:1"}})
	}
	for _, name := range scenarios.Parts {
		if part := s.Part(name); part != nil {
			for _, step := range part.Steps {
				if set, ok := step.Value.(*scenarios.Settings); ok {
					all = append(all, *set)
				}
			}
		}
	}
	return slices.ContainsFunc(all, func(settings scenarios.Settings) bool { return local.Set(t.Context(), settings) != nil })
}
