package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const listed = `{"kind":"List","apiVersion":"v1","items":[
{"kind":"Service","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u","managedFields":[{}]},"spec":{"type":"LoadBalancer","clusterIP":"172.21.5.6","ports":[{"port":80,"nodePort":31000}]}},
{"kind":"Service","apiVersion":"v1","metadata":{"name":"kept","namespace":"shop","finalizers":["service.k8s.alibaba/resources"]},"spec":{"type":"ClusterIP","clusterIP":"172.22.0.9"}},
{"kind":"Service","apiVersion":"v1","metadata":{"name":"inner","namespace":"shop"},"spec":{"type":"ClusterIP","clusterIP":"10.1.1.1"}},
{"kind":"EndpointSlice","metadata":{"name":"web-1","namespace":"shop","labels":{"kubernetes.io/service-name":"web"}},"endpoints":[]},
{"kind":"EndpointSlice","metadata":{"name":"inner-1","namespace":"shop","labels":{"kubernetes.io/service-name":"inner"}},"endpoints":[]},
{"kind":"Endpoints","metadata":{"name":"inner","namespace":"shop"}},
{"kind":"Secret","metadata":{"name":"token","namespace":"shop"},"data":{"password":"aHVudGVyMg=="}},
{"kind":"ConfigMap","metadata":{"name":"cloud-config","namespace":"kube-system"},"data":{"cloud-config.conf":"{\"Global\":{\"accessKeyID\":\"hunter1\",\"accessKeySecret\":\"hunter2\",\"AccessKeyId\":\"hunter4\",\"inner\":{\"securityToken\":\"hunter5\"},\"region\":\"cn-hangzhou\",\"clusterID\":\"c1\"}}"}},
{"kind":"DaemonSet","metadata":{"name":"cloud-controller-manager","namespace":"kube-system"},"spec":{"template":{"spec":{"containers":[{"name":"c","command":["/ccm","--leader-elect=true"],"args":["--controllers","service","--v=4"],"env":[{"name":"KEY","value":"hunter3"}]}]}}}}]}`

// TestRead proves what is kept of a cluster, that keys and Secrets are not, and that numbers stay as they
// are.
func TestRead(t *testing.T) {
	c := &Copy{}
	if err := errors.Join(read(c, listed+"\n"+`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`), c.Trim()); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) != 2 || len(c.Slices) != 1 || len(c.Endpoints) != 0 || len(c.Nodes) != 1 || c.Nodes[0].Kind() != "Node" {
		t.Errorf("kept %d Services, %d slices, %d Endpoints and the nodes %v, want 2, 1, 0 and n1", len(c.Services), len(c.Slices), len(c.Endpoints), c.Nodes)
	}
	if got := fmt.Sprint(c.Config, c.Args); got != "map[clusterID:c1 inner:map[] region:cn-hangzhou] [--leader-elect=true --controllers=service --v=4]" {
		t.Errorf("the CCM is %s", got)
	}
	if all := fmt.Sprint(*c); strings.Contains(all, "hunter") || strings.Contains(all, "aHVudGVyMg") || strings.Contains(all, "managedFields") {
		t.Errorf("the copy has what it should not: %s", all)
	}
	if len(c.Notes) != 1 || c.Notes[0] != "Secret shop/token: not read, as no Secret is" {
		t.Errorf("the notes are %q", c.Notes)
	}
	if block, ports := c.serviceBlock(), c.nodePorts(); block != "172.20.0.0/14" || ports != "30000-32767" {
		t.Errorf("the Services are in %s and have NodePorts in %s", block, ports)
	}
}

// TestReadBadly gives what is no cluster.
func TestReadBadly(t *testing.T) {
	for text, want := range map[string]string{
		"{":                            "not what kubectl get -o json prints",
		"":                             "there is no object of Kubernetes",
		`{"items": []}`:                "an object has no kind",
		`{"kind":"List","items":[{}]}`: "an object has no kind",
		"kind: [":                      "did not find expected node content",
		`{"kind":"Pod"} x`:             "not what kubectl get -o json prints",
		"superSecret":                  "a document is no object of Kubernetes",
		"- kind: Service":              "a document is no object of Kubernetes",
		"kind: Pod\nspec: {1: 2}":      "keys that are no texts",
		`{"kind":"List","items":[{"kind":"ConfigMap","metadata":{"name":"cloud-config"},"data":{"x":"["}}]}`: "",
	} {
		c := &Copy{}
		err := read(c, text)
		if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "super")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err := c.Trim(); !errors.Is(err, ErrNoServices) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// kubectl answers by the first argument after get.
type kubectl map[string]string

func (k kubectl) Kubectl(_ context.Context, _ string, args ...string) ([]byte, error) {
	if args[0] != "get" {
		return nil, errors.New("it must only read")
	}
	text, has := k[args[1]]
	if !has {
		return nil, errors.New("forbidden")
	}
	return []byte(text), nil
}

// TestFrom proves that a cluster is only read, that what may not be read is noted, and that a cluster that
// is dead is an error.
func TestFrom(t *testing.T) {
	c, err := From(t.Context(), kubectl{"services,nodes": listed, "endpointslices": `{"kind":"List","items":[]}`, "configmap": "", "deployment,daemonset": ""})
	if err != nil || len(c.Services) != 2 || len(c.Notes) != 2 || c.Notes[1] != "endpoints: not read: forbidden" {
		t.Errorf("%v, %+v", err, c)
	}
	if _, err := From(t.Context(), kubectl{}); err == nil || err.Error() != "forbidden" {
		t.Errorf("a dead cluster: %v", err)
	}
}

// TestPrograms proves that the error of a machine without the programs says how to get them.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER"} {
		t.Setenv(name, "")
	}
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	if _, _, err := Programs(); !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), "setup-envtest") {
		t.Errorf("without the programs: %v", err)
	}
}

func read(c *Copy, text string) error {
	objects, err := Parse([]byte(text))
	c.Add(objects...)
	return err
}
