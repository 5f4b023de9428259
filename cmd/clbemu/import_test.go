package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

const kindNodes = `{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "kind-worker"},
	"spec": {"providerID": "cn-hangzhou.i-kind1"},
	"status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}]}}]}`

// TestWorldImport proves that a cluster comes in from standard input into a
// running emulator and from a file into a stopped one's folder, where it is still.
func TestWorldImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	cmd := exec.Command(binary.Path, "world", "import", "--server", s.Control, "-")
	cmd.Stdin = strings.NewReader(kindNodes)
	if r := binary.Finish(t, cmd); r.Code != 0 || r.Stdout != "instances: 1 created, 0 changed, 0 unchanged\ncreated for them: 1 VPCs, 1 vSwitches\n" {
		t.Errorf("world import - = %+v", r)
	}
	s.End(syscall.SIGTERM)

	file := writeFile(t, filepath.Join(t.TempDir(), "nodes.json"), kindNodes)
	if r := binary.Run(t, "world", "import", "--data-dir", dir, file); r.Code != 0 || r.Stdout != "instances: 0 created, 0 changed, 1 unchanged\n" {
		t.Errorf("world import %s = %+v", file, r)
	}
	services := writeFile(t, filepath.Join(t.TempDir(), "services.json"), `{"kind": "Service"}`)
	if r := binary.Run(t, "world", "import", "--data-dir", dir, services); r.Code != 1 || !strings.Contains(r.Stderr, "neither Node nor Pod") {
		t.Errorf("world import of a Service = %+v", r)
	}
}
