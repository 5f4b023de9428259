package rehearse

import (
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
)

// TestOwners proves which Services a change is of, where several share a load balancer.
func TestOwners(t *testing.T) {
	var services []cluster.Object
	for _, text := range []string{
		`{"kind":"Service","metadata":{"name":"a","namespace":"n"},"spec":{"ports":[{"port":80}]}}`,
		`{"kind":"Service","metadata":{"name":"b","namespace":"n","annotations":{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-vgroup-port":"rsp-1:81"}},"spec":{"ports":[{"port":81}]}}`,
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
	} {
		if got := o.of(&test.change); got != test.want {
			t.Errorf("%+v is of %q, want %q", test.change, got, test.want)
		}
	}
}
