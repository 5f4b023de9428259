// Package kind holds the files and scripts that put clbemu and a cloud controller
// manager into a kind cluster, and tests of them as far as they go without Docker.
package kind

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/clbemu/clbemu/contracttests/binary"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// config returns the cluster's configuration, as kind's own package decodes it.
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
			t.Errorf("the patch of a %s is for %s, want %s", node.Role, patch.Kind, want)
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

// TestServices proves that CoreDNS, the CCM and worldwatch ask the addresses of the Services
// that lead to where clbemu listens.
func TestServices(t *testing.T) {
	services, up := read(t, "clbemu/service.yaml"), read(t, "up.sh")
	for _, tt := range []struct{ file, asks, service, ports, endpoints string }{
		{"Corefile", `(?s)^# .*nlb\.aliyuncs\.com:53 \{.*forward \. ([0-9.]+)\n`, "clbemu-dns",
			"    - {name: dns, port: 53, protocol: UDP}\n    - {name: dns-tcp, port: 53}\n", "  - {name: dns, port: 9653, protocol: UDP}\n  - {name: dns-tcp, port: 9653}\n"},
		{"ccm/deployment.yaml", `name: SLB_ENDPOINT, value: "([0-9.]+):9600"`, "clbemu",
			"    - {name: api, port: 9600}\n    - {name: control, port: 9601}\n", "  - {name: api, port: 9600}\n  - {name: control, port: 9601}\n"},
		{"clbemu/worldwatch.yaml", `--server=http://([0-9.]+):9601\]`, "clbemu", "", ""},
	} {
		address := regexp.MustCompile(tt.asks).FindStringSubmatch(read(t, tt.file))
		if address == nil || !strings.Contains(services, "name: "+tt.service+"\nspec:\n  clusterIP: "+address[1]+"\n  ports:\n"+tt.ports) {
			t.Errorf("%s asks %q, which is not the Service %s with\n%s", tt.file, address, tt.service, tt.ports)
		}
		if slice := "labels: {kubernetes.io/service-name: " + tt.service + "}\naddressType: IPv4\nendpoints:\n  - addresses: [192.0.2.1]\nports:\n" + tt.endpoints; !strings.Contains(services, slice) {
			t.Errorf("the Service %s has no endpoint\n%s", tt.service, slice)
		}
	}
	for _, want := range []string{"CLBEMU_DNS_LISTEN=0.0.0.0:9653", `s|192\.0\.2\.1|$address|`} {
		if !strings.Contains(up, want) {
			t.Errorf("up.sh does not have %q", want)
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

// TestWorld proves that the world of up.sh holds the nodes where Docker puts them, by the
// ids that the CCM gets, and what a Service of a Network Load Balancer names.
func TestWorld(t *testing.T) {
	nodes := filepath.Join(t.TempDir(), "nodes.json")
	if err := os.WriteFile(nodes, nodeList(t), 0o644); err != nil {
		t.Fatal(err)
	}
	world := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(world, []byte(binary.Run(t, "world", "show", "--network", "172.18.0.0/16,fc00:f853:ccd:e793::/64,").Stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	server := binary.Serve(t, "--engine", "memory", "--world", world)
	imported := binary.Run(t, "world", "import", nodes, "--server", server.Control)
	if want := "instances: 3 created, 0 changed, 0 unchanged\ncreated for them: 0 VPCs, 1 vSwitches\n"; imported.Stdout != want {
		t.Errorf("world import = %+v, want %q: the nodes' vSwitch is to be made, and no VPC", imported, want)
	}
	state := binary.Run(t, "state", "export", "--server", server.Control).Stdout
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
