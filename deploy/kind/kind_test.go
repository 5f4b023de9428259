// Package kind holds the files and scripts that put clbemu and a cloud controller
// manager into a kind cluster, and tests of them as far as they go without Docker.
package kind

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/clbemu/clbemu/deploy/cloud"
	"github.com/clbemu/clbemu/deploy/cluster"
	"github.com/clbemu/clbemu/deploy/tools"
)

// config is the cluster's, as kind's own package decodes it.
func config(t *testing.T) *v1alpha4.Cluster {
	t.Helper()
	text, err := os.ReadFile("cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var cluster v1alpha4.Cluster
	if err := decoder.Decode(&cluster); err != nil {
		t.Fatal(err)
	}
	v1alpha4.SetDefaultsCluster(&cluster)
	return &cluster
}

// kubelet is what a node's patch says to its kubelet.
type kubelet struct {
	Kind             string
	NodeRegistration struct {
		KubeletExtraArgs map[string]string `yaml:"kubeletExtraArgs"`
	} `yaml:"nodeRegistration"`
}

func kubeletOf(t *testing.T, node v1alpha4.Node) kubelet {
	t.Helper()
	if len(node.KubeadmConfigPatches) != 1 {
		t.Fatalf("a node has %d patches, want one", len(node.KubeadmConfigPatches))
	}
	var patch kubelet
	if err := yaml.Unmarshal([]byte(node.KubeadmConfigPatches[0]), &patch); err != nil {
		t.Fatal(err)
	}
	return patch
}

// TestClusterConfig proves that kind takes the file, and that each node waits for
// a cloud provider under a provider id of its own.
func TestClusterConfig(t *testing.T) {
	c := config(t)
	if c.Name != "clbemu" || c.APIVersion != "kind.x-k8s.io/v1alpha4" || len(c.Nodes) != 3 {
		t.Fatalf("the cluster is %s, %s with %d nodes", c.Name, c.APIVersion, len(c.Nodes))
	}
	seen := make(map[string]bool)
	for _, node := range c.Nodes {
		patch := kubeletOf(t, node)
		if want := map[v1alpha4.NodeRole]string{v1alpha4.ControlPlaneRole: "InitConfiguration", v1alpha4.WorkerRole: "JoinConfiguration"}[node.Role]; patch.Kind != want {
			t.Errorf("the patch of a %s is of %s, want %s", node.Role, patch.Kind, want)
		}
		args := patch.NodeRegistration.KubeletExtraArgs
		if args["cloud-provider"] != "external" || !regexp.MustCompile(`^cn-hangzhou\.i-[a-z0-9]+$`).MatchString(args["provider-id"]) {
			t.Errorf("the kubelet's arguments are %v", args)
		}
		seen[args["provider-id"]] = true
	}
	if len(seen) != len(c.Nodes) {
		t.Errorf("%d nodes have %d provider ids", len(c.Nodes), len(seen))
	}
}

// TestManifests proves that an API server takes all that the kustomizations make,
// in which the image of the CCM is where up.sh replaces it.
func TestManifests(t *testing.T) {
	programs, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Start(t.Context(), programs, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	// A dry run makes no namespace for what comes after it.
	kubectl(t, c, "apply", "--filename", "clbemu/namespace.yaml")
	for folder, objects := range map[string]int{"clbemu": 6, "ccm": 5} {
		out := kubectl(t, c, "apply", "--dry-run=server", "--validate=strict", "--output=name", "--kustomize", folder)
		if n := strings.Count(out, "\n"); n != objects {
			t.Errorf("%s makes %d objects, want %d:\n%s", folder, n, objects, out)
		}
	}
	kubectl(t, c, "apply", "--dry-run=server", "--validate=strict", "--filename", "nlb-service.yaml")
	script, err := os.ReadFile("up.sh")
	if err != nil {
		t.Fatal(err)
	}
	const image = "image: cloud-controller-manager\n"
	if out := kubectl(t, c, "kustomize", "ccm"); strings.Count(out, image) != 1 || !strings.Contains(string(script), `s|`+strings.TrimSpace(image)+`$|`) {
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

// TestWorld proves that the world holds the nodes where Docker puts them, by the
// ids that the CCM is told, and what a Service of a Network Load Balancer names.
func TestWorld(t *testing.T) {
	nodes := filepath.Join(t.TempDir(), "nodes.json")
	if err := os.WriteFile(nodes, nodeList(t), 0o644); err != nil {
		t.Fatal(err)
	}
	c := serveWorld(t)
	out := control(t, c, "world", "import", nodes)
	if want := "instances: 3 created, 0 changed, 0 unchanged\n"; out != want {
		t.Errorf("world import says %q, want %q: nothing is to be made around the nodes", out, want)
	}
	state := control(t, c, "state", "export")
	for _, file := range []string{"ccm/cloud-config.json", "nlb-service.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range regexp.MustCompile(`(vpc|vsw)-bp1[a-z0-9]+`).FindAllString(string(text), -1) {
			if !strings.Contains(state, `"ID":"`+id+`"`) {
				t.Errorf("%s names %s, which the world does not have", file, id)
			}
		}
	}
}

// serveWorld runs clbemu with the cluster's world.
func serveWorld(t *testing.T) *cloud.Cloud {
	t.Helper()
	dir := t.TempDir()
	world, err := filepath.Abs("clbemu/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := cloud.Build(t.Context(), "../..", dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cloud.Start(t.Context(), binary, dir, world)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

// nodeList is what kubectl get nodes prints in such a cluster.
func nodeList(t *testing.T) []byte {
	t.Helper()
	list := corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "List", APIVersion: "v1"}}
	for i, node := range config(t).Nodes {
		list.Items = append(list.Items, corev1.Node{
			TypeMeta:   metav1.TypeMeta{Kind: "Node", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Name: "node-" + string(rune('a'+i))},
			Spec:       corev1.NodeSpec{ProviderID: kubeletOf(t, node).NodeRegistration.KubeletExtraArgs["provider-id"]},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: "172.18.0." + string(rune('2'+i))},
			}},
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func control(t *testing.T, c *cloud.Cloud, args ...string) string {
	t.Helper()
	out, err := c.Control(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
