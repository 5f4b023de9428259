package clb_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

func ref(port int) gatewaytest.Params {
	return params("LoadBalancerId", lbInternet, "ListenerPort", strconv.Itoa(port))
}

// Each protocol's listener begins stopped, shows the documented
// defaults, and starts at once.
func TestListenerDefaults(t *testing.T) {
	for _, c := range []struct {
		protocol string
		create   gatewaytest.Params
		want     []string
	}{
		{"TCP", createTCP, []string{"Scheduler", "wrr", "PersistenceTimeout", "0", "EstablishedTimeout", "900", "HealthCheck", "on",
			"HealthCheckType", "tcp", "HealthyThreshold", "3", "UnhealthyThreshold", "3", "HealthCheckConnectTimeout", "5", "HealthCheckInterval", "2",
			"SynProxy", "disable", "ConnectionDrain", "off", "ProxyProtocolV2Enabled", "false", "AclStatus", "off", "Bandwidth", "-1", "BackendServerPort", "80",
			"HealthCheckConnectPort", ""}},
		{"UDP", createTCP, []string{"HealthCheck", "on", "HealthyThreshold", "3", "HealthCheckInterval", "5", "HealthCheckConnectTimeout", "5", "ConnectionDrain", "off"}},
		{"HTTP", createHTTP, []string{"Bandwidth", "-1", "XForwardedFor", "on", "XForwardedFor_proto", "off", "Gzip", "on", "IdleTimeout", "15",
			"RequestTimeout", "60", "StickySession", "off", "HealthCheck", "off", "HealthCheckURI", "", "ListenerForward", "off"}},
		{"HTTPS", with(createHTTPS, "HealthCheck", "on"), []string{"EnableHttp2", "on", "TLSCipherPolicy", "tls_cipher_policy_1_0", "ServerCertificateId", "cert-free",
			"HealthCheck", "on", "HealthCheckURI", "/", "HealthCheckMethod", "head", "HealthCheckHttpCode", "http_2xx", "HealthCheckTimeout", "5", "HealthCheckInterval", "2"}},
	} {
		t.Run(c.protocol, func(t *testing.T) {
			client, _ := newClient(t)
			client.Do("CreateLoadBalancer"+c.protocol+"Listener", c.create)
			describe := "DescribeLoadBalancer" + c.protocol + "ListenerAttribute"
			got := client.Do(describe, ref(1000))
			expect(t, got, append(c.want, "Status", "stopped", "LoadBalancerId", lbInternet, "ListenerPort", "1000")...)
			client.Do("StartLoadBalancerListener", ref(1000))
			expect(t, client.Do(describe, ref(1000)), "Status", "running")
			client.Do("StartLoadBalancerListener", ref(1000))
			expect(t, client.Do(describe, ref(1000)), "Status", "running")
			client.Do("StopLoadBalancerListener", ref(1000))
			expect(t, client.Do(describe, ref(1000)), "Status", "stopped")
			client.Do("DeleteLoadBalancerListener", ref(1000))
			if again := client.Call(describe, ref(1000)); again.Code != "InvalidParameter" {
				t.Errorf("%s of a deleted listener = %s, want InvalidParameter", describe, again.Code)
			}
		})
	}
}

// Set changes the given values and keeps the rest.
func TestSetListener(t *testing.T) {
	client, _ := newClient(t)
	client.Do("CreateLoadBalancerTCPListener", with(createTCP, "VServerGroupId", "rsp-free", "PersistenceTimeout", "100", "HealthCheckType", "http",
		"HealthCheckURI", "/up", "Description", "first", "ConnectionDrain", "on", "ConnectionDrainTimeout", "30"))
	client.Do("SetLoadBalancerTCPListenerAttribute", with(ref(1000), "Scheduler", "wlc", "HealthCheckConnectPort", "8081", "SynProxy", "enable"))
	got := client.Do("DescribeLoadBalancerTCPListenerAttribute", ref(1000))
	expect(t, got, "Scheduler", "wlc", "HealthCheckConnectPort", "8081", "PersistenceTimeout", "100", "HealthCheckURI", "/up", "Description", "first",
		"HealthCheckHttpCode", "http_2xx", "VServerGroupId", "rsp-free", "ConnectionDrain", "on", "ConnectionDrainTimeout", "30", "SynProxy", "enable")
	client.Do("SetLoadBalancerTCPListenerAttribute", with(ref(1000), "HealthCheckConnectPort", "-520"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", ref(1000)), "HealthCheckConnectPort", "")

	client.Do("SetLoadBalancerTCPListenerAttribute", with(ref(1000), "VServerGroupId", "rsp-none"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", ref(1000)), "VServerGroupId", "rsp-free")
	client.Do("SetLoadBalancerTCPListenerAttribute", with(ref(1000), "VServerGroup", "on", "VServerGroupId", "rsp-used"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", ref(1000)), "VServerGroupId", "rsp-used")
	client.Do("SetLoadBalancerTCPListenerAttribute", with(ref(1000), "VServerGroup", "off"))
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", ref(1000)), "VServerGroupId", "", "BackendServerPort", "80")
}

// Stickiness shows what its kind uses and forgets what it does not.
func TestSticky(t *testing.T) {
	client, _ := newClient(t)
	set := func(pairs ...string) gatewaytest.Reply {
		t.Helper()
		client.Do("SetLoadBalancerHTTPListenerAttribute", with(setHTTP, pairs...))
		return client.Do("DescribeLoadBalancerHTTPListenerAttribute", setHTTP)
	}
	expect(t, set("StickySession", "on", "StickySessionType", "insert", "CookieTimeout", "60"), "CookieTimeout", "60", "Cookie", "")
	expect(t, set("StickySessionType", "server", "Cookie", "B10"), "CookieTimeout", "", "Cookie", "B10")
	expect(t, set("StickySession", "off"), "StickySessionType", "", "Cookie", "")
}

// Several ACLs bind to a listener, come back as they went in, and let go when
// access control goes off.
func TestListenerAccessControl(t *testing.T) {
	client, _ := newClient(t)
	client.Do("CreateLoadBalancerUDPListener", with(createTCP, "AclStatus", "on", "AclType", "black", "AclId", "acl-free,acl-used"))
	got := client.Do("DescribeLoadBalancerUDPListenerAttribute", ref(1000))
	expect(t, got, "AclId", "acl-free,acl-used", "AclIds.AclId.1", "acl-used", "AclType", "black")
	client.Do("SetLoadBalancerUDPListenerAttribute", with(ref(1000), "AclStatus", "on"))
	client.Do("SetLoadBalancerUDPListenerAttribute", with(ref(1000), "AclStatus", "off"))
	expect(t, client.Do("DescribeLoadBalancerUDPListenerAttribute", ref(1000)), "AclId", "", "AclStatus", "off")
	client.Do("DeleteAccessControlList", params("AclId", "acl-free"))
}

// A redirecting listener has no backend, and clients replace it rather than set it.
func TestRedirect(t *testing.T) {
	client, _ := newClient(t)
	client.Do("CreateLoadBalancerHTTPListener", with(createHTTP, "BackendServerPort", "", "ListenerForward", "on", "ForwardPort", "443"))
	expect(t, client.Do("DescribeLoadBalancerHTTPListenerAttribute", ref(1000)), "ListenerForward", "on", "ForwardPort", "443", "VServerGroupId", "")
	client.Do("DeleteLoadBalancerListener", ref(1000))
	client.Do("DeleteLoadBalancerListener", ref(8080))
	client.Do("DeleteLoadBalancerListener", ref(443))
}

// The list pages by token, filters, and shows each protocol's own part with
// bare lists.
func TestDescribeLoadBalancerListeners(t *testing.T) {
	client, _ := newClient(t, func(tx *state.Tx) error {
		state.SetTag(tx.In(owner), kinds.TagListener, kinds.ListenerID(lbInternet, kinds.TCP, 80), "k", "v")
		return nil
	})
	var seen []string
	token := ""
	for {
		got := client.Do("DescribeLoadBalancerListeners", params("LoadBalancerId.1", lbInternet, "MaxResults", "2", "NextToken", token))
		expect(t, got, "TotalCount", "5", "MaxResults", "2")
		for i, port := range texts(got, "Listeners", "ListenerPort") {
			seen = append(seen, texts(got, "Listeners", "ListenerProtocol")[i]+port)
		}
		if token = got.Text("NextToken"); token == "" {
			break
		}
	}
	if want := []string{"tcp80", "udp80", "http81", "https443", "http8080"}; !slices.Equal(seen, want) {
		t.Errorf("pages = %q, want %q", seen, want)
	}
	tcp := client.Do("DescribeLoadBalancerListeners", params("Tag.1.Key", "k", "Tag.1.Value", "v"))
	expect(t, tcp, "TotalCount", "1", "Listeners.0.AclIds.0", "acl-used", "Listeners.0.Tags.0.TagKey", "k",
		"Listeners.0.TCPListenerConfig.ProxyProtocolV2Enabled", "false", "Listeners.0.VServerGroupId", "rsp-used")
	if tcp.Get("Listeners.0.HTTPListenerConfig") != nil {
		t.Error("a TCP listener has an HTTPListenerConfig")
	}
	expect(t, client.Do("DescribeLoadBalancerListeners", params("ListenerProtocol", "http", "ListenerPort", "81")),
		"Listeners.0.HTTPListenerConfig.ListenerForward", "off")
	expect(t, client.Do("DescribeLoadBalancerListeners", params("ListenerProtocol", "https")),
		"Listeners.0.HTTPSListenerConfig.ServerCertificateId", "cert-used")
	if other := client.Call("DescribeLoadBalancerListeners", params("LoadBalancerId.1", "lb-none")); other.Code != "InvalidLoadBalancerId.NotFound" {
		t.Errorf("listeners of an unknown load balancer = %s, want InvalidLoadBalancerId.NotFound", other.Code)
	}
}

// A set of listener tags and a domain extension go with the listener.
func TestDeleteListenerCascade(t *testing.T) {
	client, _ := newClient(t)
	client.Do("CreateLoadBalancerHTTPSListener", with(createHTTPS, "Tag.1.Key", "k"))
	made := client.Do("CreateDomainExtension", with(extension, "ListenerPort", "1000"))
	client.Do("SetDomainExtensionAttribute", params("DomainExtensionId", made.Text("DomainExtensionId"), "ServerCertificateId", "cert-used"))
	expect(t, client.Do("DescribeDomainExtensions", ref(1000)), "DomainExtensions.DomainExtension.0.ServerCertificateId", "cert-used",
		"DomainExtensions.DomainExtension.0.Domain", "b.example.com")
	expect(t, client.Do("DescribeDomainExtensionAttribute", params("DomainExtensionId", made.Text("DomainExtensionId"))),
		"Domain", "b.example.com", "ServerCertificateId", "cert-used", "LoadBalancerId", lbInternet, "ListenerPort", "1000")
	expect(t, client.Do("DescribeLoadBalancerHTTPSListenerAttribute", ref(1000)), "DomainExtensions.DomainExtension.0.DomainExtensionId", made.Text("DomainExtensionId"))
	client.Do("DeleteLoadBalancerListener", ref(1000))
	if got := client.Call("DeleteDomainExtension", params("DomainExtensionId", made.Text("DomainExtensionId"))); got.Code == "" {
		t.Error("the domain extension outlives its listener")
	}
	client.Do("DeleteDomainExtension", params("DomainExtensionId", "de-used"))
	client.Do("DeleteServerCertificate", params("ServerCertificateId", "cert-extension"))
}
