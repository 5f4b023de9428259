package contracttests

import (
	"fmt"
	"testing"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

func description(port int) string { return fmt.Sprintf("k8s/%d/web/default/%s", port, clusterID) }

// createTCP makes a listener as a CCM does, and starts it.
func (c *ccm) createTCP(id string, port int, group string) {
	c.t.Helper()
	r := slb.CreateCreateLoadBalancerTCPListenerRequest()
	r.LoadBalancerId, r.ListenerPort, r.VServerGroupId = id, integer(port), group
	r.Description, r.Scheduler, r.Bandwidth = description(port), "rr", integer(-1)
	call(c.t, c.SLB.CreateLoadBalancerTCPListener, r)
	c.start(id, port, "tcp")
}

func (c *ccm) createUDP(id string, port int, group string) {
	c.t.Helper()
	r := slb.CreateCreateLoadBalancerUDPListenerRequest()
	r.LoadBalancerId, r.ListenerPort, r.VServerGroupId = id, integer(port), group
	r.Description, r.Scheduler, r.Bandwidth = description(port), "rr", integer(-1)
	call(c.t, c.SLB.CreateLoadBalancerUDPListener, r)
	c.start(id, port, "udp")
}

// createHTTP makes a listener without a bandwidth, as a CCM does; one with a
// forward port redirects.
func (c *ccm) createHTTP(id string, port int, group string, forwardPort int) {
	c.t.Helper()
	r := slb.CreateCreateLoadBalancerHTTPListenerRequest()
	r.LoadBalancerId, r.ListenerPort = id, integer(port)
	r.Description, r.Scheduler, r.HealthCheck, r.StickySession = description(port), "rr", "off", "off"
	if forwardPort > 0 {
		r.ListenerForward, r.ForwardPort = "on", integer(forwardPort)
	} else {
		r.VServerGroupId = group
	}
	call(c.t, c.SLB.CreateLoadBalancerHTTPListener, r)
	c.start(id, port, "http")
}

func (c *ccm) createHTTPS(id string, port int, group, certificateID string) {
	c.t.Helper()
	r := slb.CreateCreateLoadBalancerHTTPSListenerRequest()
	r.LoadBalancerId, r.ListenerPort, r.VServerGroupId = id, integer(port), group
	r.Description, r.Scheduler, r.Bandwidth, r.HealthCheck, r.StickySession = description(port), "rr", integer(-1), "off", "off"
	r.ServerCertificateId, r.EnableHttp2, r.TLSCipherPolicy = certificateID, "on", "tls_cipher_policy_1_2"
	call(c.t, c.SLB.CreateLoadBalancerHTTPSListener, r)
	c.start(id, port, "https")
}

func (c *ccm) start(id string, port int, protocol string) {
	c.t.Helper()
	r := slb.CreateStartLoadBalancerListenerRequest()
	r.LoadBalancerId, r.ListenerPort, r.ListenerProtocol = id, integer(port), protocol
	call(c.t, c.SLB.StartLoadBalancerListener, r)
}

func (c *ccm) deleteRequest(id string, port int, protocol string) *slb.DeleteLoadBalancerListenerRequest {
	r := slb.CreateDeleteLoadBalancerListenerRequest()
	r.LoadBalancerId, r.ListenerPort, r.ListenerProtocol = id, integer(port), protocol
	return r
}

func (c *ccm) upload(name string) (certificateID string) {
	c.t.Helper()
	r := slb.CreateUploadServerCertificateRequest()
	r.ServerCertificateName, r.ServerCertificate, r.PrivateKey = name, certificate, privateKey
	return call(c.t, c.SLB.UploadServerCertificate, r).ServerCertificateId
}

// 4. Listeners of every protocol are created, started and listed as a CCM reads
// them.
func TestCCMListeners(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30080))
	c.createTCP(id, 80, group)
	c.createUDP(id, 80, group)
	c.createHTTP(id, 8080, group, 0)
	c.createHTTPS(id, 443, group, c.upload("example"))
	c.createHTTP(id, 8081, "", 443)

	for _, want := range []struct {
		port     int
		protocol string
	}{{80, "tcp"}, {80, "udp"}, {8080, "http"}, {443, "https"}} {
		l := c.listener(id, want.port, want.protocol)
		if l.Status != "running" || l.Description != description(want.port) || l.Scheduler != "rr" || l.VServerGroupId != group || l.Bandwidth != -1 {
			t.Errorf("%s/%d: %+v", want.protocol, want.port, l)
		}
	}
	tcp, udp := c.listener(id, 80, "tcp").TCPListenerConfig, c.listener(id, 80, "udp").UDPListenerConfig
	if tcp.HealthCheckSwitch != "on" || tcp.HealthCheck != "on" || udp.HealthCheckSwitch != "on" || udp.HealthCheck != "on" {
		t.Errorf("health check of tcp %+v, of udp %+v: both names must be answered", tcp, udp)
	}
	// Anything but off would make a CCM recreate a plain HTTP listener each time.
	if plain := c.listener(id, 8080, "http").HTTPListenerConfig; plain.ListenerForward != "off" {
		t.Errorf("ListenerForward = %q, want off", plain.ListenerForward)
	}
	if forward := c.listener(id, 8081, "http").HTTPListenerConfig; forward.ListenerForward != "on" || forward.ForwardPort != 443 {
		t.Errorf("redirect: %+v", forward)
	}
	if https := c.listener(id, 443, "https").HTTPSListenerConfig; https.EnableHttp2 != "on" || https.TLSCipherPolicy != "tls_cipher_policy_1_2" {
		t.Errorf("https: %+v", https)
	}
}

// An update sends the whole remote state back, with the changes on top: what is
// answered must be taken.
func TestCCMUpdateListener(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group, other := c.createGroup(id, description(30080)), c.createGroup(id, description(30081))
	c.createTCP(id, 80, group)

	remote := c.listener(id, 80, "tcp")
	config := remote.TCPListenerConfig
	r := slb.CreateSetLoadBalancerTCPListenerAttributeRequest()
	r.LoadBalancerId, r.ListenerPort = id, integer(80)
	r.Description, r.Scheduler, r.Bandwidth = remote.Description, "wrr", integer(remote.Bandwidth)
	r.VServerGroup, r.VServerGroupId = "on", other
	r.AclStatus = remote.AclStatus
	r.EstablishedTimeout = integer(config.EstablishedTimeout)
	r.HealthCheckSwitch, r.HealthCheckType = config.HealthCheckSwitch, config.HealthCheckType
	r.HealthCheckConnectTimeout, r.HealthCheckInterval = integer(config.HealthCheckConnectTimeout), integer(config.HealthCheckInterval)
	r.HealthyThreshold, r.UnhealthyThreshold = integer(config.HealthyThreshold), integer(config.UnhealthyThreshold)
	if config.HealthCheckConnectPort != 0 {
		r.HealthCheckConnectPort = integer(config.HealthCheckConnectPort)
	}
	r.ConnectionDrain = config.ConnectionDrain
	call(t, c.SLB.SetLoadBalancerTCPListenerAttribute, r)

	remote.Scheduler, remote.VServerGroupId = "wrr", other
	now := c.listener(id, 80, "tcp")
	if now.TCPListenerConfig.HealthCheckInterval != config.HealthCheckInterval || now.Scheduler != "wrr" || now.VServerGroupId != other ||
		now.Description != remote.Description || now.Status != "running" {
		t.Errorf("after the update %+v, want %+v", now, remote)
	}
	stop := slb.CreateStopLoadBalancerListenerRequest()
	stop.LoadBalancerId, stop.ListenerPort, stop.ListenerProtocol = id, integer(80), "tcp"
	call(t, c.SLB.StopLoadBalancerListener, stop)
	if status := c.listener(id, 80, "tcp").Status; status != "stopped" {
		t.Errorf("status %q, want stopped", status)
	}
	c.start(id, 80, "tcp")
}

// A redirecting listener goes before the listener that it redirects to, and comes
// after it.
func TestCCMRedirect(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30443))
	early := slb.CreateCreateLoadBalancerHTTPListenerRequest()
	early.LoadBalancerId, early.ListenerPort, early.HealthCheck, early.StickySession = id, integer(80), "off", "off"
	early.ListenerForward, early.ForwardPort = "on", integer(443)
	refuse(t, c.SLB.CreateLoadBalancerHTTPListener, early, "The specified ListenerPort or ForwardPort is invalid")

	c.createHTTPS(id, 443, group, c.upload("example"))
	c.createHTTP(id, 80, "", 443)
	refuse(t, c.SLB.DeleteLoadBalancerListener, c.deleteRequest(id, 443, "https"), "ListenerForwardExist")
	call(t, c.SLB.DeleteLoadBalancerListener, c.deleteRequest(id, 80, "http"))
	call(t, c.SLB.DeleteLoadBalancerListener, c.deleteRequest(id, 443, "https"))
	if left := c.listeners(id); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// Before a certificate is changed, a CCM looks whether the new one is there and
// is good for some time yet.
func TestCCMCertificate(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30443))
	old, next := c.upload("old"), c.upload("new")
	c.createHTTPS(id, 443, group, old)

	find := slb.CreateDescribeServerCertificatesRequest()
	find.ServerCertificateId = next
	found := call(t, c.SLB.DescribeServerCertificates, find).ServerCertificates.ServerCertificate
	if len(found) != 1 || found[0].ServerCertificateId != next || found[0].ExpireTimeStamp < time.Now().UnixMilli() || found[0].CreateTimeStamp == 0 {
		t.Errorf("the new certificate: %+v", found)
	}
	find.ServerCertificateId = "1234567890123456_0_0_0"
	if none := call(t, c.SLB.DescribeServerCertificates, find).ServerCertificates.ServerCertificate; len(none) != 0 {
		t.Errorf("an unknown certificate: %+v", none)
	}
	set := slb.CreateSetLoadBalancerHTTPSListenerAttributeRequest()
	set.LoadBalancerId, set.ListenerPort, set.ServerCertificateId = id, integer(443), next
	set.VServerGroup, set.VServerGroupId, set.HealthCheck, set.StickySession = "on", group, "off", "off"
	call(t, c.SLB.SetLoadBalancerHTTPSListenerAttribute, set)
	if got := c.listener(id, 443, "https").HTTPSListenerConfig.ServerCertificateId; got != next {
		t.Errorf("certificate %s, want %s", got, next)
	}
}

// Domain extensions are listed, made, and deleted by the id that the list gives.
func TestCCMDomainExtensions(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	cert := c.upload("example")
	c.createHTTPS(id, 443, c.createGroup(id, description(30443)), cert)
	list := slb.CreateDescribeDomainExtensionsRequest()
	list.LoadBalancerId, list.ListenerPort = id, integer(443)
	if none := call(t, c.SLB.DescribeDomainExtensions, list).DomainExtensions.DomainExtension; len(none) != 0 {
		t.Fatalf("extensions: %v", none)
	}
	create := slb.CreateCreateDomainExtensionRequest()
	create.LoadBalancerId, create.ListenerPort, create.Domain, create.ServerCertificateId = id, integer(443), "*.example.com", cert
	call(t, c.SLB.CreateDomainExtension, create)
	made := call(t, c.SLB.DescribeDomainExtensions, list).DomainExtensions.DomainExtension
	if len(made) != 1 || made[0].Domain != "*.example.com" || made[0].ServerCertificateId != cert {
		t.Fatalf("extensions: %+v", made)
	}
	// A CCM sends an empty id when it wants to change an extension.
	set := slb.CreateSetDomainExtensionAttributeRequest()
	set.ServerCertificateId = cert
	refuse(t, c.SLB.SetDomainExtensionAttribute, set, "MissingDomainExtensionId")
	remove := slb.CreateDeleteDomainExtensionRequest()
	remove.DomainExtensionId = made[0].DomainExtensionId
	call(t, c.SLB.DeleteDomainExtension, remove)
	if left := call(t, c.SLB.DescribeDomainExtensions, list).DomainExtensions.DomainExtension; len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// More listeners than a page holds are all listed, and none twice.
func TestCCMListsAllListeners(t *testing.T) {
	c := newCCM(t)
	id := c.create()
	group := c.createGroup(id, description(30080))
	for port := 1; port <= 50; port++ {
		c.createTCP(id, port, group)
	}
	r := slb.CreateDescribeLoadBalancerListenersRequest()
	r.LoadBalancerId, r.MaxResults = &[]string{id}, integer(20)
	seen := make(map[int]bool)
	for pages := 1; ; pages++ {
		page := call(t, c.SLB.DescribeLoadBalancerListeners, r)
		for _, l := range page.Listeners {
			seen[l.ListenerPort] = true
		}
		if r.NextToken = page.NextToken; r.NextToken == "" {
			if pages != 3 || len(seen) != 50 {
				t.Errorf("%d listeners on %d pages, want 50 on 3", len(seen), pages)
			}
			return
		}
	}
}
