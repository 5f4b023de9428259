package kubernetes_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/internal/mutate"
	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// valuesFile has how many values of the kubernetes parts were changed, and which changes
// still hold; contracttests/seeds.md shows it.
const valuesFile = "../testdata/mutants/values.json"

// TestPartValues proves of each value that a kubernetes part expects that it matters: at the
// moment when an expectation holds, it does not hold with the value changed. The driver plays
// most parts, and a real CCM in CCM_BIN the others.
func TestPartValues(t *testing.T) {
	if os.Getenv("E2E_MUTANTS") == "" {
		t.Skip("E2E_MUTANTS=1 plays each part, and holds each expectation with each of its values changed")
	}
	plane := <-shared.free
	shared.free <- plane
	t.Setenv("PATH", filepath.Dir(plane.Kubectl())+":"+os.Getenv("PATH"))
	var mu sync.Mutex
	outcomes := record.Read[map[string]mutate.Outcome](t, valuesFile)
	t.Run("all", func(t *testing.T) {
		for _, name := range kubernetesParts(t) {
			t.Run(name, func(t *testing.T) {
				if (ccmBinary() == "") != (needsCCM[name] == "") || ccmBinary() != "" && findings[name] != "" {
					t.Skip("the other controller plays it, or a real CCM fails it")
				}
				f := start(t, ofScenario, func(f *fixture) {
					if nlbs(name) {
						withNLB(f)
					}
				})
				f.neighbour(nlbs(name))
				f.Cleanup(f.awaitServicesGone)
				is := f.holdChanged(name)
				mu.Lock()
				defer mu.Unlock()
				outcomes[name+"/kubernetes"] = is
			})
		}
	})
	if !t.Failed() {
		record.Write(t, valuesFile, outcomes, 1)
	}
}

// holdChanged plays a part, and holds the changes of each expectation when it holds.
func (f *fixture) holdChanged(name string) (is mutate.Outcome) {
	f.Helper()
	text, _ := scenarios.LibraryText(name)
	options := scenarios.Options{Names: target.NewNames(emulator.NamesIn(world.Default()))}
	scenario, err := scenarios.Load(name+".yaml", text, options)
	if err != nil {
		f.Fatal(err)
	}
	remote := &target.Remote{API: "http://" + f.cloud.Endpoint, Control: f.cloud.ControlURL(), Products: products.All(),
		AccessKeyID: apiclient.AccessKeyID, AccessKeySecret: apiclient.AccessKeySecret}
	result := scenarios.Play(f.ctx, scenario, scenarios.KubernetesPart, scenarios.Setup{
		Target: remote, Programs: remote, Cluster: target.Kubectl{Kubeconfig: f.cluster.Kubeconfig},
		Held: func(expectation *yaml.Node, also func(*yaml.Node) bool) {
			why := ""
			if mutate.IsAbsence(expectation) {
				why = mutate.Absent
			}
			for _, change := range mutate.OfExpectation(f, expectation) {
				is.Run++
				_, mark, since := strings.Cut(change.Where, ".since: ")
				if since && !loads(name, text, mark, options) || slices.ContainsFunc(change.Texts, func(text []byte) bool {
					var other yaml.Node
					return yaml.Unmarshal(text, &other) != nil || !also(other.Content[0])
				}) {
					continue
				}
				is.Survived = append(is.Survived, mutate.Survivor{Change: withoutIDs(strings.TrimPrefix(change.Where, ".")), Why: why})
				if why == "" {
					f.Errorf("%s holds all the same", change.Where)
				}
			}
		},
	})
	if result.Status != scenarios.Passed {
		f.Errorf("unchanged: %s", result.Failure)
	}
	is.Sort()
	return is
}

// loads reports whether a scenario loads that names another mark, which ends in x.
func loads(name string, text []byte, mark string, options scenarios.Options) bool {
	was := "since: " + strings.TrimSuffix(mark, "x")
	_, err := scenarios.Load(name+".yaml", bytes.ReplaceAll(text, []byte(was), []byte(was+"x")), options)
	return err == nil
}
