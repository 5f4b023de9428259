package kubernetes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// mutantTests are the tests that contracttests/mutants names.
var mutantTests = map[string]func(*testing.T){
	"TestAPIServer": TestAPIServer, "TestAddressTypeReused": TestAddressTypeReused, "TestAnnotations": TestAnnotations,
	"TestClusterWorld": TestClusterWorld, "TestCordonedRemoved": TestCordonedRemoved, "TestENI": TestENI, "TestEvents": TestEvents,
	"TestFirstEvents": TestFirstEvents, "TestFirstReuse": TestFirstReuse, "TestFirstSpec": TestFirstSpec, "TestFirstWeights": TestFirstWeights,
	"TestListenerAnnotations": TestListenerAnnotations, "TestNodePorts": TestNodePorts, "TestNodes": TestNodes, "TestOnePort": TestOnePort,
	"TestPermissionsFirst": TestPermissionsFirst, "TestReuse": TestReuse, "TestService": TestService, "TestServiceQuery": TestServiceQuery,
	"TestTrafficPolicy": TestTrafficPolicy, "TestTwoClusters": TestTwoClusters, "TestUpgradeCheck": TestUpgradeCheck,
}

// TestMutant plays what PLAYS names, NUMBER-TEST=MUTANT or NUMBER-SCENARIO=MUTANT, on a cloud and
// a controller that are that mutant of contracttests/mutants, whose TestMutants starts it.
func TestMutant(t *testing.T) {
	for _, play := range strings.Fields(os.Getenv("PLAYS")) {
		name, _, _ := strings.Cut(play, "=")
		_, play, _ := strings.Cut(name, "-")
		if strings.HasPrefix(play, "Test") {
			if mutantTests[play] == nil {
				t.Errorf("mutantTests does not have %s", play)
				continue
			}
			t.Run(name, mutantTests[play])
			continue
		}
		t.Run(name, func(t *testing.T) {
			file := impatient(t, play)
			f := start(t, ofScenario, func(f *fixture) {
				if nlbs(play) {
					withNLB(f)
				}
			})
			f.neighbour(nlbs(play)) // as in TestLibrary
			f.Cleanup(f.awaitServicesGone)
			f.forgetEvents()
			if _, err := f.playPart(file); err != nil {
				t.Error(err)
			}
		})
	}
}

// impatient writes a scenario of the library that waits no longer than enough.
func impatient(t *testing.T, name string) (file string) {
	t.Helper()
	text, _ := scenarios.LibraryText(name)
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	shorten(childOf(document.Content[0], "kubernetes"))
	text, err := yaml.Marshal(&document)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
