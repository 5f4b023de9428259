package kubernetes_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
)

// kindFolder has the manifests of a kind cluster.
const kindFolder = "../../deploy/kind/"

// TestManifests proves that an API server takes the replicas, and all that the
// kustomizations make, in which the image of the CCM is where up.sh replaces it.
func TestManifests(t *testing.T) {
	c := cluster.New(t)
	// A dry run makes no namespace for what comes after it.
	kubectl(t, c, "apply", "--filename", kindFolder+"clbemu/namespace.yaml")
	for folder, objects := range map[string]int{"clbemu": 10, "ccm": 5} {
		out := kubectl(t, c, "apply", "--dry-run=server", "--validate=strict", "--output=name", "--kustomize", kindFolder+folder)
		if n := strings.Count(out, "\n"); n != objects {
			t.Errorf("%s makes %d objects, want %d:\n%s", folder, n, objects, out)
		}
	}
	for _, file := range []string{kindFolder + "nlb-service.yaml", "../../deploy/replicas/kubernetes.yaml"} {
		kubectl(t, c, "apply", "--dry-run=server", "--validate=strict", "--filename", file)
	}
	script, err := os.ReadFile(kindFolder + "up.sh")
	if err != nil {
		t.Fatal(err)
	}
	const image = "image: cloud-controller-manager\n"
	if out := kubectl(t, c, "kustomize", kindFolder+"ccm"); strings.Count(out, image) != 1 || !strings.Contains(string(script), `s|`+strings.TrimSpace(image)+`$|`) {
		t.Errorf("up.sh does not replace the image in\n%s", out)
	}
}

func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), c.Kubectl(), append(args, "--kubeconfig", c.Kubeconfig)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(stderr.String(), "Warning") {
		t.Fatalf("kubectl %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

// kindsWorld returns the file of the world that up.sh makes for a network of Docker.
func kindsWorld(t *testing.T, network string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(file, []byte(binary.Run(t, "world", "show", "--network", network).Stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWatch proves, with a control plane and the rights that the manifests give, that
// nodes become instances where Docker puts them, that those which join follow, and
// that all come again when the cloud has lost them.
func TestWatch(t *testing.T) {
	plane := cluster.New(t)
	kubectl(t, plane, "apply", "--filename", kindFolder+"clbemu/namespace.yaml")
	kubectl(t, plane, "apply", "--namespace", "clbemu", "--filename", kindFolder+"clbemu/rbac.yaml")
	join := func(n int) {
		t.Helper()
		node := cluster.NewNode(n, fmt.Sprintf("cn-hangzhou.i-bp1clbemukind000000%d", n), fmt.Sprintf("172.19.0.%d", n+1))
		if err := plane.AddNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	join(1)
	dir := t.TempDir()
	server := binary.Serve(t, "--engine", "memory", "--world", kindsWorld(t, "172.19.0.0/16"))
	worldwatch, kubeconfig := filepath.Join(dir, "worldwatch"), filepath.Join(dir, "kubeconfig")
	if err := binary.Release("../../deploy/worldwatch", worldwatch); err != nil {
		t.Fatal(err)
	}
	if err := plane.WriteKubeconfig(kubeconfig, "system:serviceaccount:clbemu:worldwatch"); err != nil {
		t.Fatal(err)
	}
	watch, err := process.Start(process.Command{Dir: dir, Name: "worldwatch", Path: worldwatch, Args: []string{"--kubeconfig", kubeconfig, "--server", server.Control}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Kill)
	await := func(id string) {
		t.Helper()
		if r := binary.Run(t, "wait", "--for", "instance="+id, "--server", server.Control); r.Code != 0 {
			t.Fatalf("%+v\n%s", r, watch.Tail(10))
		}
	}
	await("i-bp1clbemukind0000001")
	join(2)
	await("i-bp1clbemukind0000002")
	if r := binary.Run(t, "state", "reset", "--server", server.Control); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	await("i-bp1clbemukind0000001")
	await("i-bp1clbemukind0000002")
	if r := binary.Run(t, "get", "vswitch", "--server", server.Control); !strings.Contains(r.Stdout, "172.19.0.0/") {
		t.Errorf("no vSwitch is around the nodes: %+v", r)
	}
}
