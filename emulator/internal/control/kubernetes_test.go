package control_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/journal"
)

const kindNode = `{"kind": "Node", "metadata": {"name": "kind-worker"}, "spec": {"providerID": "cn-hangzhou.i-kind1"},
	"status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}]}}`

// TestImportCluster proves that a cluster's nodes come in, that this is an entry
// of the journal, and that what can't come in is refused and is none.
func TestImportCluster(t *testing.T) {
	f := newFixture(t, func(cfg *control.Config) { cfg.MaxImport = 2000 })
	var got controlapi.Imported
	f.ask("POST", "/v1/world/import", kindNode, 200, &got)
	if want := (controlapi.Imported{Instances: controlapi.Count{Created: 1}, VPCs: 1, VSwitches: 1}); got != want {
		t.Errorf("the import did %+v, want %+v", got, want)
	}
	f.mustRefuse("POST", "/v1/world/import", `{"kind": "Secret"}`, 400, "neither Node nor Pod")
	f.mustRefuse("POST", "/v1/world/import", `{"kind": "Pod", "status": {"podIP": "10.0.0.9"}}`, 422, "import the nodes first")
	f.mustRefuse("POST", "/v1/world/import?account=1", kindNode, 404, "no account 1")
	f.mustRefuse("POST", "/v1/world/import", fmt.Sprintf(`{"kind": "Node", "x": "%2000s"}`, ""), 413, "too large")
	page := f.journal.Query(journal.Query{})
	if len(page.Entries) != 1 || page.Entries[0].Action != "import a cluster" ||
		page.Entries[0].Parameters.Get("instances") != "1 created, 0 changed, 0 unchanged" {
		t.Errorf("the journal has %+v, want the one import", page.Entries)
	}
}
