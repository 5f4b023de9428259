package rehearse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
)

var many = flag.Int("many", 30, "Services in TestRehearseMany")

// TestRehearseMany rehearses a right version on a cluster of many Services: each of its changes is one that
// should follow. With -many 2000 it says what that costs.
func TestRehearseMany(t *testing.T) {
	a := newAccount(t)
	var items []map[string]any
	for i := range *many {
		name := fmt.Sprintf("s%04d", i)
		items = append(items, map[string]any{"kind": "Service", "apiVersion": "v1", "metadata": map[string]any{"name": name, "namespace": "many", "uid": "m-" + name},
			"spec": map[string]any{"type": "LoadBalancer", "ports": []any{map[string]any{"port": 80, "nodePort": 30080}}, "selector": map[string]any{"app": "web"}}})
	}
	text, err := json.Marshal(map[string]any{"kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := cluster.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a.copy.Add(objects...)
	for _, quota := range []string{"slb_quota_instances_num", "slb_quota_backendserver_attached_num"} {
		a.setQuota(quota, "100000")
	}
	a.fill()
	began := time.Now()
	report, err := a.rehearse(none, none)
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	for _, p := range report.Phases {
		changes += len(p.Changes)
	}
	if n := report.Problems(); n > 0 || changes < 12*(*many) {
		t.Errorf("%d problems in %d changes of %d Services:\n%s", n, changes, *many, report.Lines())
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d Services: %d changes in %s, %d MB of heap, %d MB of the system", *many, changes, time.Since(began).Round(time.Second), m.HeapAlloc>>20, m.Sys>>20)
}
