package nlb_test

import "testing"

// TestLoadBalancerAttributes proves that what is changed is what is read, and that
// what is not named stays.
func TestLoadBalancerAttributes(t *testing.T) {
	c, _, _ := newClient(t)
	of := params("LoadBalancerId", c.Do("CreateLoadBalancer", create).Text("LoadbalancerId"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "true", "Cps", "")
	c.Do("UpdateLoadBalancerAttribute", with(of, "Cps", "1000", "CrossZoneEnabled", "false"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "false", "Cps", "1000")
	c.Do("UpdateLoadBalancerAttribute", with(of, "LoadBalancerName", "renamed"))
	expect(t, c, "GetLoadBalancerAttribute", of, "CrossZoneEnabled", "false", "Cps", "1000", "LoadBalancerName", "renamed")
}

// TestALPNOff proves that turning ALPN off takes its policy away.
func TestALPNOff(t *testing.T) {
	c, _, _ := newClient(t)
	id := c.Do("CreateListener", with(listenTLS, "AlpnEnabled", "true", "AlpnPolicy", "HTTP2Optional")).Text("ListenerId")
	of := params("ListenerId", id)
	expect(t, c, "GetListenerAttribute", of, "AlpnEnabled", "true", "AlpnPolicy", "HTTP2Optional")
	c.Do("UpdateListenerAttribute", with(of, "AlpnEnabled", "false"))
	expect(t, c, "GetListenerAttribute", of, "AlpnEnabled", "false", "AlpnPolicy", "")
}
