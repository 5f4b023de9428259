package emulator_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
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
		if struck := reply.Status == 503; struck != c.struck || struck != (s.Hits("r") == 1) {
			t.Errorf("match %s: the call of %q is struck: %v (hits %d), want %v", c.match, c.agent, struck, s.Hits("r"), c.struck)
		}
	}
}
