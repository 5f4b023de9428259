package rehearse

import (
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestOwners proves which Services a change is of, where several share a load balancer.
func TestOwners(t *testing.T) {
	var services []cluster.Object
	for _, text := range []string{
		`{"kind":"Service","metadata":{"name":"a","namespace":"n"},"spec":{"ports":[{"port":80}]}}`,
		`{"kind":"Service","metadata":{"name":"b","namespace":"n","uid":"1-2-3","annotations":{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-vgroup-port":"rsp-1:81"}},"spec":{"ports":[{"port":81}]}}`,
	} {
		parsed, err := cluster.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		services = append(services, parsed...)
	}
	o := owners{services: services, balancers: map[string][]cluster.Object{"lb-1": services}}
	for _, test := range []struct {
		change Change
		want   string
	}{
		{Change{LoadBalancer: "lb-1", Item: "80"}, "n/a"},
		{Change{LoadBalancer: "lb-1", Item: "mine", group: "rsp-1"}, "n/b"},
		{Change{LoadBalancer: "lb-1", Item: "k8s/30080/a/n/c1", group: "rsp-2"}, "n/a"},
		{Change{Item: "k8s.81.TCP.b.n.c1", group: "sgp-2"}, "n/b"},
		{Change{LoadBalancer: "lb-1"}, "n/a, n/b"},
		{Change{LoadBalancer: "lb-2", Item: "80"}, ""},
		{Change{names: []string{"a123"}}, "n/b"},
	} {
		if got := o.of(&test.change); got != test.want {
			t.Errorf("%+v is of %q, want %q", test.change, got, test.want)
		}
	}
}

// TestTakesOver proves that a manifest may change the listeners of its Services, and no one else's.
func TestTakesOver(t *testing.T) {
	before := &view{listeners: map[string]*controlapi.Resource{
		"l1": {LoadBalancer: "lb-1", Name: "k8s/80/a/n/c1", Fields: map[string]string{"port": "80"}},
		"l2": {LoadBalancer: "lb-1", Name: "mine", Fields: map[string]string{"port": "9000"}},
	}}
	s := scope{services: map[string]bool{"n/a": true}}
	for port, want := range map[string]bool{"80": true, "9000": false, "81": true} {
		if got := s.means(&Change{Services: "n/a", LoadBalancer: "lb-1", Item: port}, before); got != want {
			t.Errorf("a change of the listener %s is meant: %v, want %v", port, got, want)
		}
	}
	if s.means(&Change{Services: "n/b", LoadBalancer: "lb-1", Item: "80"}, before) {
		t.Error("a change of another Service is meant")
	}
}
