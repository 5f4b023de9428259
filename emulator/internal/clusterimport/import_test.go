package clusterimport_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/clusterimport"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// node and pod are objects as kubectl get -o json prints them, with the fields
// that an import must pass over too.
func node(name, providerID, address string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Node",
		"metadata": {"name": %q, "uid": "u", "labels": {"node.kubernetes.io/instance-type": "ecs.c7.large"}},
		"spec": {"providerID": %q, "podCIDR": "10.244.0.0/24"},
		"status": {"addresses": [{"type": "Hostname", "address": %[1]q}, {"type": "InternalIP", "address": %[3]q}]}}`,
		name, providerID, address)
}

func pod(name, nodeName, ip, more string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q, "namespace": "default"},
		"spec": {"nodeName": %q%s}, "status": {"phase": "Running", "podIP": %q}}`, name, nodeName, more, ip)
}

func list(items ...string) string {
	return `{"apiVersion": "v1", "kind": "List", "items": [` + strings.Join(items, ",") + `]}`
}

func importInto(store *state.Store, text string) (done controlapi.Imported, err error) {
	cluster, err := clusterimport.Read(strings.NewReader(text))
	if err != nil {
		return done, err
	}
	err = store.Update(state.Owner{}, func(tx *state.Tx) error {
		done, err = cluster.Import(tx, controlapi.Where{})
		return err
	})
	return done, err
}

func mustImport(t *testing.T, store *state.Store, text string, want controlapi.Imported) {
	t.Helper()
	got, err := importInto(store, text)
	if err != nil {
		t.Fatalf("Import = %v", err)
	}
	if got != want {
		t.Errorf("Import did %+v, want %+v", got, want)
	}
}

// addressesOf returns the private addresses of an instance's interfaces, the primary one's first.
func addressesOf(t *testing.T, store *state.Store, instanceID string) (addresses []string) {
	t.Helper()
	v := store.View(state.Owner{})
	for _, kind := range []string{kinds.NetworkInterfacePrimary, kinds.NetworkInterfaceSecondary} {
		for n := range kinds.NetworkInterfacesByInstance.List(v, instanceID, kind) {
			addresses = append(addresses, n.PrivateIPAddresses...)
		}
	}
	return addresses
}

// A cluster comes in with all that its nodes and pods need, and coming in again
// changes nothing.
func TestImportCluster(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	nodes := list(
		node("kind-control-plane", "cn-hangzhou.i-kind1", "172.18.0.2"),
		node("kind-worker", "alicloud://cn-hangzhou.i-kind2", "172.18.0.3"),
		node("node-1", "cn-hangzhou.i-bp1clbemu0000000001", "192.168.0.11"), // the default world's
		node("elsewhere", "cn-shanghai.i-kind3", "172.18.0.4"),
	)
	mustImport(t, store, nodes, controlapi.Imported{
		Instances: controlapi.Count{Created: 3, Unchanged: 1}, VPCs: 2, VSwitches: 2,
	})
	mustImport(t, store, nodes, controlapi.Imported{Instances: controlapi.Count{Unchanged: 4}})

	pods := list(
		pod("web-1", "kind-worker", "10.244.1.2", ""),
		pod("web-2", "kind-worker", "10.244.1.3", ""),
		pod("kube-proxy", "kind-worker", "172.18.0.3", `, "hostNetwork": true`),
		strings.Replace(pod("job", "kind-worker", "10.244.1.2", ""), "Running", "Succeeded", 1),
		pod("pending", "", "", ""),
	)
	mustImport(t, store, pods, controlapi.Imported{
		NetworkInterfaces: controlapi.Count{Created: 2}, VSwitches: 1, SkippedPods: 3,
	})
	mustImport(t, store, pods, controlapi.Imported{NetworkInterfaces: controlapi.Count{Unchanged: 2}, SkippedPods: 3})
	if got, want := addressesOf(t, store, "i-kind2"), []string{"172.18.0.3", "10.244.1.2", "10.244.1.3"}; !slices.Equal(got, want) {
		t.Errorf("i-kind2 has the addresses %q, want %q", got, want)
	}
	v := store.View(state.Owner{})
	i, err := kinds.Instances.Get(v, "i-kind2")
	if err != nil {
		t.Fatal(err)
	}
	vpc, err := kinds.VPCs.Get(v, i.VPCID)
	if err != nil {
		t.Fatal(err)
	}
	if i.HostName != "kind-worker" || i.InstanceType != "ecs.c7.large" || vpc.CIDRBlock != "172.18.0.0/16" ||
		!slices.Equal(vpc.SecondaryCIDRBlocks, []string{"10.244.0.0/16"}) {
		t.Errorf("the node became %+v in %+v", i, vpc)
	}
}

// Nodes that swapped their addresses, as kind's do when they restart,
// and a pod's address that another node's pod has now.
func TestImportFollowsAddresses(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	mustImport(t, store, list(node("a", "cn-hangzhou.i-a", "172.18.0.2"), node("b", "cn-hangzhou.i-b", "172.18.0.3")),
		controlapi.Imported{Instances: controlapi.Count{Created: 2}, VPCs: 1, VSwitches: 1})
	mustImport(t, store, pod("p", "a", "172.18.1.9", ""), controlapi.Imported{NetworkInterfaces: controlapi.Count{Created: 1}})

	mustImport(t, store, list(node("a", "cn-hangzhou.i-a", "172.18.0.3"), node("b", "cn-hangzhou.i-b", "172.18.0.2")),
		controlapi.Imported{Instances: controlapi.Count{Changed: 2}})
	mustImport(t, store, pod("q", "b", "172.18.1.9", ""), controlapi.Imported{NetworkInterfaces: controlapi.Count{Changed: 1}})

	if got := addressesOf(t, store, "i-a"); !slices.Equal(got, []string{"172.18.0.3"}) {
		t.Errorf("i-a has the addresses %q", got)
	}
	if got := addressesOf(t, store, "i-b"); !slices.Equal(got, []string{"172.18.0.2", "172.18.1.9"}) {
		t.Errorf("i-b has the addresses %q", got)
	}
}

// A node has its name wherever the instance had another, or another instance had
// the name: the pods of the node come in.
func TestImportNamesNodes(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	nodes := list(
		node("first", "cn-hangzhou.i-bp1clbemu0000000001", "192.168.0.11"), // was node-1
		node("node-2", "cn-hangzhou.i-new", "192.168.0.20"),                // another is node-2
	)
	mustImport(t, store, nodes, controlapi.Imported{Instances: controlapi.Count{Created: 1, Changed: 1}})
	mustImport(t, store, nodes, controlapi.Imported{Instances: controlapi.Count{Unchanged: 2}})
	mustImport(t, store, list(pod("p", "first", "192.168.0.50", ""), pod("q", "node-2", "192.168.0.51", "")),
		controlapi.Imported{NetworkInterfaces: controlapi.Count{Created: 2}})
	if got := addressesOf(t, store, "i-bp1clbemu0000000001"); !slices.Equal(got, []string{"192.168.0.11", "192.168.0.50"}) {
		t.Errorf("the node first has the addresses %q", got)
	}
	if got := addressesOf(t, store, "i-new"); !slices.Equal(got, []string{"192.168.0.20", "192.168.0.51"}) {
		t.Errorf("node-2 has the addresses %q", got)
	}
}

// Bad input is named, all of it, and nothing of it stays.
func TestImportErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no JSON", `nodes`, "this is not what kubectl get -o json prints: invalid character 'o' in literal null (expecting 'u')"},
		{"wrong kind", `{"kind": "Service"}`, `kind "Service" is neither Node nor Pod nor a list of them`},
		{"wrong item", list(`{"kind": "Service"}`), `items[0]: kind "Service" is neither Node nor Pod`},
		{"no provider", node("n", "", "10.0.0.9"),
			"node n: spec.providerID: it is missing: start the kubelet with --provider-id=<region>.<instance id>"},
		{"another provider", node("n", "kind://docker/kind/n", "10.0.0.9"),
			`node n: spec.providerID: "kind://docker/kind/n" is not of the form <region>.<instance id>, such as cn-hangzhou.i-bp1node1`},
		{"no such region", node("n", "mars-north.i-n", "10.0.0.9"), "node n: spec.providerID: there is no Region mars-north"},
		{"no address", node("n", "cn-hangzhou.i-n", "fd00::1"), "node n: status.addresses: there is no InternalIP of IPv4"},
		{"an address taken", node("n", "cn-hangzhou.i-n", "192.168.0.11"),
			"node n: status.addresses: 192.168.0.11 is taken by NetworkInterface eni-bp1clbemu000000001"},
		{"outside its vSwitch", node("node-1", "cn-hangzhou.i-bp1clbemu0000000001", "192.168.1.99"),
			"node node-1: status.addresses: 192.168.1.99 is outside vSwitch vsw-bp1clbemu000000000001 (192.168.0.0/24), " +
				"where instance i-bp1clbemu0000000001 is: instances do not move between vSwitches"},
		{"another region's", node("n", "cn-shanghai.i-bp1clbemu0000000001", "192.168.0.11"),
			"node n: spec.providerID: instance i-bp1clbemu0000000001 belongs to account 1234567890123456 in cn-hangzhou"},
		{"two of one", list(node("n", "cn-hangzhou.i-n", "10.0.0.9"), node("m", "cn-hangzhou.i-n", "10.0.0.10")),
			"node m: spec.providerID: another node is on instance i-n"},
		{"two of one name", list(node("n", "cn-hangzhou.i-n", "10.0.0.9"), node("n", "cn-hangzhou.i-m", "10.0.0.10")),
			"node n: metadata.name: another node has this name"},
		{"no node", pod("p", "nowhere", "10.244.0.2", ""),
			"pod default/p: spec.nodeName: there is no instance of node nowhere: import the nodes first"},
		{"a pod with a node's address", pod("p", "node-1", "192.168.0.12", ""),
			"pod default/p: status.podIP: 192.168.0.12 is the address of instance i-bp1clbemu0000000002 itself"},
		{"two problems", list(node("n", "", "10.0.0.9"), node("m", "", "10.0.0.9")),
			"node n: spec.providerID: it is missing: start the kubelet with --provider-id=<region>.<instance id>\n" +
				"node m: spec.providerID: it is missing: start the kubelet with --provider-id=<region>.<instance id>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := gatewaytest.Store(t, world.Default().Plant)
			before := export(t, store)
			if _, err := importInto(store, test.text); err == nil || err.Error() != test.want {
				t.Errorf("Import = %v\nwant %s", err, test.want)
			}
			if export(t, store) != before {
				t.Error("something of the input stayed")
			}
		})
	}
}

func export(t testing.TB, store *state.Store) string {
	t.Helper()
	e, err := store.Export()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What comes in, however odd, leaves the state consistent, which the store's
// check at the end proves; when it comes again, it changes nothing.
func FuzzImport(f *testing.F) {
	f.Add(list(node("a", "cn-hangzhou.i-a", "172.18.0.2"), pod("p", "a", "10.244.0.5", ""), pod("q", "a", "172.18.0.9", "")))
	f.Add(list(node("a", "cn-hangzhou.i-a", "192.168.0.20"), node("b", "cn-hangzhou.i-bp1clbemu0000000001", "192.168.0.30")))
	f.Add(pod("p", "node-1", "192.168.0.77", ""))
	f.Add(pod("p", "node-1", "255.255.255.255", ""))
	f.Fuzz(func(t *testing.T, text string) {
		store := gatewaytest.Store(t, world.Default().Plant)
		if _, err := importInto(store, text); err != nil {
			return
		}
		before := export(t, store)
		if _, err := importInto(store, text); err != nil {
			t.Fatalf("the import works once, and then: %v\n%s", err, text)
		}
		if export(t, store) != before {
			t.Errorf("the second import changed the state\n%s", text)
		}
	})
}
