package emulator_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
)

// TestMatchers proves on the wire that each condition of a rule lets it strike the
// calls that it describes and no others.
func TestMatchers(t *testing.T) {
	s := emulatortest.Start(t)
	lb, err := s.Client().Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{
		"InstanceChargeType": "PayByCLCU", "LoadBalancerName": "web",
	})
	if err != nil || lb.Status != 200 {
		t.Fatalf("CreateLoadBalancer = %v, %v", lb, err)
	}
	id := lb.Text("LoadBalancerId")
	const describe = "DescribeLoadBalancerAttribute"
	for _, c := range []struct {
		match, agent string
		struck       bool
	}{
		{`{}`, "", true},
		{`{action: DescribeLoadBalancerAttribute}`, "", true},
		{`{action: DescribeLoadBalancers}`, "", false},
		{`{action: 'Describe*Attribute, Create*'}`, "", true},
		{`{action: 'Create*'}`, "", false},
		{`{region: cn-hangzhou}`, "", true},
		{`{region: cn-shanghai}`, "", false},
		{`{accessKeyId: testid}`, "", true},
		{`{accessKeyId: other}`, "", false},
		{`{userAgent: {matches: ack\.ccm}}`, "go ack.ccm/1", true},
		{`{userAgent: {matches: ack\.ccm}}`, "terraform", false},
		{`{params.LoadBalancerId: {matches: '^lb-'}}`, "", true},
		{`{params.LoadBalancerId: lb-other}`, "", false},
		{`{params.LoadBalancerName: {absent: true}}`, "", true},
		{`{params.LoadBalancerId: {absent: true}}`, "", false},
		{`{resource.name: web}`, "", true},
		{`{resource.name: other}`, "", false},
		{`{action: 'Describe*', region: cn-hangzhou, resource.name: {equals: web}}`, "", true},
		{`{action: 'Describe*', region: cn-shanghai, resource.name: {equals: web}}`, "", false},
	} {
		s.Fault(t, "{name: r, match: "+c.match+", effect: {error: {code: ServiceUnavailable, httpStatus: 503}}}")
		client := &apiclient.Client{URL: s.URL(), UserAgent: c.agent}
		reply, err := client.Call(emulatortest.Slb, describe, map[string]string{"LoadBalancerId": id})
		if err != nil {
			t.Fatal(err)
		}
		if struck := reply.Status == 503; struck != c.struck || struck != (s.Hits(t, "r") == 1) {
			t.Errorf("match %s: the call of %q is struck: %v (hits %d), want %v", c.match, c.agent, struck, s.Hits(t, "r"), c.struck)
		}
	}
}

// TestResourceMatchers proves of each product that a rule on a field of the stored
// object strikes the calls about it, and that a field that it has not is refused
// with the one that was meant.
func TestResourceMatchers(t *testing.T) {
	s := emulatortest.Start(t)
	client := s.Client()
	acl, err := client.Call(emulatortest.Slb, "CreateAccessControlList", map[string]string{"AclName": "allowed"})
	if err != nil || acl.Status != 200 {
		t.Fatalf("CreateAccessControlList = %v, %v", acl, err)
	}
	for _, c := range []struct{ version, action, parameter, id, field, value, misspelt string }{
		{emulatortest.Slb, "DescribeAccessControlListAttribute", "AclId", acl.Text("AclId"), "Name", "allowed", "Nmae"},
		{emulatortest.Vpc, "DescribeVpcAttribute", "VpcId", "vpc-bp1clbemu000000000001", "CIDRBlock", "192.168.0.0/16", "CIDRBlok"},
		{emulatortest.Ecs, "DeleteInstance", "InstanceId", "i-bp1clbemu0000000001", "Status", "Running", "Statuss"},
	} {
		rule := func(field string) string {
			return "{name: r, match: {action: " + c.action + ", resource." + field + ": " + c.value + "}, effect: {error: {code: ServiceUnavailable, httpStatus: 503}}}"
		}
		refusal, err := http.Post(s.ControlURL()+"/v1/faults", "application/yaml", strings.NewReader(rule(c.misspelt)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(refusal.Body)
		if refusal.Body.Close(); err != nil || refusal.StatusCode != 422 || !strings.Contains(string(text), "do you mean "+c.field+"?") {
			t.Errorf("a rule about resource.%s of %s = %s (%v), want %s to be meant", c.misspelt, c.action, text, err, c.field)
		}
		s.Fault(t, rule(c.field))
		if reply, err := client.Call(c.version, c.action, map[string]string{c.parameter: c.id}); err != nil || reply.Status != 503 {
			t.Errorf("%s = %v, %v, want it struck", c.action, reply, err)
		}
	}
}

// TestResourcesHaveTables proves that each parameter that names what a call is
// about says where that is stored: a rule on resource.<field> would be silent.
func TestResourcesHaveTables(t *testing.T) {
	for _, p := range products.All() {
		if len(p.Resources) == 0 && p.Name != "Sts" { // whose calls are about roles, which the state does not keep
			t.Errorf("calls of %s are about nothing", p.Name)
		}
		for _, r := range p.Resources {
			if len(kinds.Schema.FieldNames(r.Kind)) == 0 {
				t.Errorf("%s: what %s names is in no table", p.Name, r.Parameter)
			}
		}
	}
}
