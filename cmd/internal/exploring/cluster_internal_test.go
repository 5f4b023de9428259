package exploring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/target"
)

// TestReleaseWaits proves that a play ends when the cluster lists none of its Services,
// however often it lists them after they were deleted, and leaves other Services alone.
func TestReleaseWaits(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("ASKED", filepath.Join(dir, "asked"))
	const script = `#!/bin/sh
echo "$*" >> "$ASKED"
case "$*" in *"get services"*)
	type=LoadBalancer
	[ "$(grep -c "get services" "$ASKED")" -lt 4 ] || type=ClusterIP
	echo '{"items": [{"metadata": {"name": "web", "namespace": "shop"}, "spec": {"type": "'$type'"}}, {"metadata": {"name": "kubernetes", "namespace": "default"}, "spec": {"type": "ClusterIP"}}]}';;
*patch*) exit 1;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	place := &clusterPlace{nil, target.Kubectl{Kubeconfig: "none"}}
	if err := place.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	if lists, deletes := strings.Count(string(asked), "get services"), strings.Count(string(asked), "delete --wait=false --ignore-not-found service web --namespace shop"); lists != 4 || deletes != 3 || strings.Contains(string(asked), "service kubernetes") {
		t.Errorf("%d lists and %d deletions:\n%s", lists, deletes, asked)
	}
}
