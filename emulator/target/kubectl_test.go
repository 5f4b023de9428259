package target_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/target"
)

// TestKubectl proves that the command gets the cluster, its arguments and its
// input, and that its errors are reported without its log, which repeats them.
func TestKubectl(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\"\ncat\n[ \"$3\" != get ] || { echo \"$STDERR\" >&2; exit 1; }\n"
	do(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	cluster := target.Kubectl{Kubeconfig: "cluster.conf"}
	out, err := cluster.Kubectl(t.Context(), "kind: Service\n", "apply", "--filename", "-")
	if err != nil || string(out) != "--kubeconfig cluster.conf apply --filename -\nkind: Service\n" {
		t.Errorf("Kubectl(apply) = %q, %v", out, err)
	}
	const log = "E1123 23:59:17.481267    4706 memcache.go:265] \"Unhandled Error\" err=\"refused\"\n"
	for stderr, want := range map[string]string{
		"no such thing":                   "no such thing",
		log + log + "was refused\nat all": "was refused\nat all",
		strings.TrimSpace(log):            strings.TrimSpace(log),
		"":                                "",
	} {
		t.Setenv("STDERR", stderr)
		if _, err := cluster.Kubectl(t.Context(), "", "get", "service/none"); err == nil || err.Error() != "kubectl get: exit status 1: "+want {
			t.Errorf("Kubectl(get) = %v, want what kubectl complains of: %s", err, want)
		}
	}
}
