package kubernetes_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
)

// chart renders deploy/chart with values into a file, by Helm's library in the module that
// has it.
func chart(t *testing.T, values string) string {
	t.Helper()
	dir := t.TempDir()
	given, file := filepath.Join(dir, "values.yaml"), filepath.Join(dir, "chart.yaml")
	if err := os.WriteFile(given, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "-release", "web", "-values", given)
	cmd.Dir = "../../deploy/helm"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v", cmd.Args, err)
	}
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestChart proves that an API server takes what the chart installs, that its pod comes up on
// a node, which runs nothing here, and that clbemu starts with the settings, the world, the
// fault rules and the token that the pod would have.
func TestChart(t *testing.T) {
	c := cluster.New(t)
	if err := c.AddNode(t.Context(), node(1)); err != nil {
		t.Fatal(err)
	}
	for _, values := range []string{"{}", "{replicas: 3, etcd: {endpoints: ['http://etcd:2379']}}"} {
		kubectl(t, c, "apply", "--dry-run=server", "--validate=strict", "--filename", chart(t, values))
	}
	world := strings.ReplaceAll(binary.Run(t, "world", "show").Stdout, "i-bp1clbemu0000000001", "i-bp1ofthechart000001")
	kubectl(t, c, "apply", "--validate=strict", "--filename", chart(t, `
persistence: {enabled: false}
settings: {log-level: info}
faults: |
  name: slow
  match: {action: Describe*}
  effect: {delay: {fixed: 1ms}}
world: |
  `+strings.ReplaceAll(world, "\n", "\n  ")))
	kubectl(t, c, "rollout", "status", "statefulset/web", "--timeout=2m")

	var objects struct {
		Items []struct{ Data map[string]string }
	}
	if err := json.Unmarshal([]byte(kubectl(t, c, "get", "configmap/web", "secret/web", "--output=json")), &objects); err != nil || len(objects.Items) != 2 {
		t.Fatalf("%+v, %v", objects, err)
	}
	dir := t.TempDir()
	for name, text := range objects.Items[0].Data {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "/etc/clbemu", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token, err := base64.StdEncoding.DecodeString(objects.Items[1].Data["token"])
	if err != nil || len(token) < 32 {
		t.Fatalf("the token is %q, %v", token, err)
	}
	server := binary.Serve(t, "--config", filepath.Join(dir, "clbemu.yaml"), "--engine", "memory", "--control-token", string(token))
	for what, want := range map[string]string{"fault list": "slow", "get instance": "i-bp1ofthechart000001"} {
		args := append(strings.Fields(what), "--server", server.Control, "--control-token", string(token))
		if r := binary.Run(t, args...); !strings.Contains(r.Stdout, want) {
			t.Errorf("clbemu %s: %+v, want %s", what, r, want)
		}
	}
}
