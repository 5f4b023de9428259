package kubernetes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

// TestEnvtestExample plays the example for authors who test with envtest, whose own programs
// are the control plane's.
func TestEnvtestExample(t *testing.T) {
	programs, err := tools.Cached()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", ".")
	cmd.Dir = filepath.Join("..", "..", "examples", "envtest")
	cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+string(programs), "TEST_ASSET_ETCD="+filepath.Join(string(programs), "server"),
		// Envtest's 20 s are too few where fuzzing keeps both cores busy.
		"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=5m", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=5m")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestService ") {
		t.Errorf("the example does not pass: %v\n%s", err, out)
	}
}
