// Package kind holds the files and scripts that put clbemu and a cloud controller
// manager into a kind cluster, and tests of them as far as they go without Docker.
package kind

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/clbemu/clbemu/deploy/cloud"
	"github.com/clbemu/clbemu/deploy/cluster"
	"github.com/clbemu/clbemu/deploy/process"
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

// kubelet holds a node's patch of its kubelet.
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
	for folder, objects := range map[string]int{"clbemu": 10, "ccm": 5} {
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

// TestCorefile proves that CoreDNS asks the address of the Service that leads to where
// clbemu listens, by UDP and TCP.
func TestCorefile(t *testing.T) {
	corefile, services, deployment := read(t, "Corefile"), read(t, "clbemu/service.yaml"), read(t, "clbemu/deployment.yaml")
	address := regexp.MustCompile(`(?s)^# .*nlb\.aliyuncs\.com:53 \{.*forward \. ([0-9.]+)\n`).FindStringSubmatch(corefile)
	if address == nil || !strings.Contains(services, "name: clbemu-dns\nspec:\n  clusterIP: "+address[1]+"\n") {
		t.Errorf("the Service clbemu-dns does not have the address %v", address)
	}
	listen := regexp.MustCompile(`name: CLBEMU_DNS_LISTEN, value: "0\.0\.0\.0:([0-9]+)"`).FindStringSubmatch(deployment)
	for name, protocol := range map[string]string{"dns": ", protocol: UDP", "dns-tcp": ""} {
		if listen == nil || !strings.Contains(deployment, "{name: "+name+", containerPort: "+listen[1]+protocol+"}") ||
			!strings.Contains(services, "{name: "+name+", port: 53, targetPort: "+name+protocol+"}") {
			t.Errorf("the port %s does not lead to where clbemu listens, %v", name, listen)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWorld proves that the world holds the nodes where Docker puts them, by the
// ids that the CCM gets, and what a Service of a Network Load Balancer names.
func TestWorld(t *testing.T) {
	nodes := filepath.Join(t.TempDir(), "nodes.json")
	if err := os.WriteFile(nodes, nodeList(t), 0o644); err != nil {
		t.Fatal(err)
	}
	c := serveWorld(t)
	out := control(t, c, "world", "import", nodes)
	if want := "instances: 3 created, 0 changed, 0 unchanged\ncreated for them: 0 VPCs, 1 vSwitches\n"; out != want {
		t.Errorf("world import says %q, want %q: the nodes' vSwitch is to be made, and no VPC", out, want)
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

// TestWorldIsTheDefault proves that the world is the one that clbemu has by itself,
// so that the library finds in it what it names, but for room for Docker's networks.
func TestWorldIsTheDefault(t *testing.T) {
	text, err := os.ReadFile("clbemu/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var here, everywhere any
	room := "    secondaryCidrBlocks: [172.16.0.0/12]\n"
	if strings.Count(string(text), room) != 1 {
		t.Fatalf("the world does not have %q once", room)
	}
	if err := yaml.Unmarshal([]byte(strings.Replace(string(text), room, "", 1)), &here); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile("../../emulator/world/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &everywhere); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(here, everywhere) {
		t.Error("clbemu/world.yaml is another world than clbemu world show says, beside " + room)
	}
}

// TestWatch proves, with a control plane and the rights that the manifests give, that
// nodes become instances where Docker puts them, that those which join follow, and
// that all come again when the cloud has lost them.
func TestWatch(t *testing.T) {
	programs, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := cluster.Start(t.Context(), programs, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	kubectl(t, plane, "apply", "--filename", "clbemu/namespace.yaml")
	kubectl(t, plane, "apply", "--namespace", "clbemu", "--filename", "clbemu/rbac.yaml")
	join := func(n int) {
		t.Helper()
		node := cluster.NewNode(n, fmt.Sprintf("cn-hangzhou.i-bp1clbemukind000000%d", n), fmt.Sprintf("172.19.0.%d", n+1))
		if err := plane.AddNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	join(1)
	c := serveWorld(t)
	dir := t.TempDir()
	binary, kubeconfig := filepath.Join(dir, "worldwatch"), filepath.Join(dir, "kubeconfig")
	if out, err := exec.Command("go", "build", "-o", binary, "../worldwatch").CombinedOutput(); err != nil {
		t.Fatalf("build worldwatch: %v\n%s", err, out)
	}
	if err := plane.WriteKubeconfig(kubeconfig, "system:serviceaccount:clbemu:clbemu"); err != nil {
		t.Fatal(err)
	}
	watch, err := process.Start(process.Command{Dir: dir, Name: "worldwatch", Path: binary, Args: []string{"--kubeconfig", kubeconfig, "--server", c.ControlURL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Kill)
	await := func(id string) {
		t.Helper()
		if _, err := c.Control(t.Context(), "wait", "--for", "instance="+id); err != nil {
			t.Fatalf("%v\n%s", err, watch.Tail(10))
		}
	}
	await("i-bp1clbemukind0000001")
	join(2)
	await("i-bp1clbemukind0000002")
	control(t, c, "state", "reset")
	await("i-bp1clbemukind0000001")
	await("i-bp1clbemukind0000002")
	if out := control(t, c, "get", "vswitch"); !strings.Contains(out, "172.19.0.0/") {
		t.Errorf("no vSwitch is around the nodes:\n%s", out)
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

// nodeList returns the output of kubectl get nodes in such a cluster.
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
