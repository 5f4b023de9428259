package clb_test

import (
	"reflect"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// What clients other than a CCM send and expect back.

// wantAbsent fails for a field that an answer has.
func wantAbsent(t *testing.T, r gatewaytest.Reply, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if got := r.Get(path); got != nil {
			t.Errorf("%s = %v, want no such field", path, got)
		}
	}
}

// A UDP listener keeps its draining and persistence, as made and as set.
func TestUDPDrainAndPersistence(t *testing.T) {
	client, _ := newClient(t)
	at := params("LoadBalancerId", lbInternet, "ListenerPort", "1000")
	client.Do("CreateLoadBalancerUDPListener", with(createTCP, "ConnectionDrain", "on", "ConnectionDrainTimeout", "30", "PersistenceTimeout", "3600"))
	expect(t, client.Do("DescribeLoadBalancerUDPListenerAttribute", at),
		"ConnectionDrain", "on", "ConnectionDrainTimeout", "30", "PersistenceTimeout", "3600")
	client.Do("SetLoadBalancerUDPListenerAttribute", with(at, "ConnectionDrainTimeout", "60", "PersistenceTimeout", "0"))
	listed := client.Do("DescribeLoadBalancerListeners", params("LoadBalancerId.1", lbInternet, "ListenerPort", "1000"))
	expect(t, listed, "Listeners.0.UDPListenerConfig.ConnectionDrain", "on", "Listeners.0.UDPListenerConfig.ConnectionDrainTimeout", "60",
		"Listeners.0.UDPListenerConfig.PersistenceTimeout", "0")
	wantCode(t, client, "SetLoadBalancerUDPListenerAttribute", with(at, "PersistenceTimeout", "3601"), "InvalidPersistenceTimeout")
}

// The texts of a TCP listener's check are empty where it sends no request, and
// absent while it is off.
func TestHealthCheckTexts(t *testing.T) {
	client, _ := newClient(t)
	at := params("LoadBalancerId", lbInternet, "ListenerPort", "1000")
	texts := []string{"HealthCheckDomain", "HealthCheckURI", "HealthCheckHttpCode"}
	describe := func() gatewaytest.Reply { return client.Do("DescribeLoadBalancerTCPListenerAttribute", at) }
	client.Do("CreateLoadBalancerTCPListener", with(createTCP, "HealthCheckType", "http", "HealthCheckURI", "/healthz"))
	expect(t, describe(), "HealthCheckDomain", "", "HealthCheckURI", "/healthz", "HealthCheckHttpCode", "http_2xx")
	client.Do("SetLoadBalancerTCPListenerAttribute", with(at, "HealthCheckType", "tcp"))
	for _, name := range texts {
		if got := describe().Get(name); got != "" {
			t.Errorf("%s = %v after the check is one of TCP, want an empty text", name, got)
		}
	}
	client.Do("SetLoadBalancerTCPListenerAttribute", with(at, "HealthCheckSwitch", "off"))
	wantAbsent(t, describe(), texts...)
	wantAbsent(t, client.Do("DescribeLoadBalancerHTTPSListenerAttribute", setHTTPS), texts...)
}

// Terraform sends the settings of a new listener, and parameters of other protocols, with
// each change: they change nothing. An unknown one fails.
func TestParametersOfOtherListeners(t *testing.T) {
	client, _ := newClient(t)
	at := params("LoadBalancerId", lbInternet, "ListenerPort", "1000")
	client.Do("CreateLoadBalancerTCPListener", with(createTCP, "StickySession", "off", "HealthCheck", "off", "Gzip", "on"))
	before := client.Do("DescribeLoadBalancerTCPListenerAttribute", at)
	client.Do("SetLoadBalancerTCPListenerAttribute", with(at, "BackendServerPort", "81", "Gzip", "off", "StickySession", "on", "Tag.1.Key", "a", "Description", "set"))
	after := client.Do("DescribeLoadBalancerTCPListenerAttribute", at)
	expect(t, after, "Description", "set", "BackendServerPort", "80")
	for _, field := range []string{"Gzip", "StickySession", "Tags"} {
		if got, want := after.Get(field), before.Get(field); !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v as before", field, got, want)
		}
	}
	wantCode(t, client, "SetLoadBalancerTCPListenerAttribute", with(at, "Gzipped", "on"), gateway.NotEmulatedCode)
}

// A redirecting listener answers nothing of one that forwards, and one without
// access control no list of it.
func TestAbsentOfListeners(t *testing.T) {
	client, _ := newClient(t)
	client.Do("CreateLoadBalancerHTTPListener", params("LoadBalancerId", lbInternet, "ListenerPort", "1000", "StickySession", "off", "HealthCheck", "off",
		"ListenerForward", "on", "ForwardPort", "443"))
	got := client.Do("DescribeLoadBalancerHTTPListenerAttribute", params("LoadBalancerId", lbInternet, "ListenerPort", "1000"))
	expect(t, got, "ListenerForward", "on", "ForwardPort", "443", "AclStatus", "off")
	wantAbsent(t, got, "Bandwidth", "HealthCheck", "StickySession", "Gzip", "IdleTimeout", "RequestTimeout", "AclType", "AclId")
	expect(t, client.Do("DescribeLoadBalancerTCPListenerAttribute", setTCP), "AclType", "white", "AclId", "acl-used")
}

// CA certificates take tags as certificates, next to server certificates.
func TestTagCACertificates(t *testing.T) {
	client, _ := newClient(t)
	both := params("ResourceType", "certificate", "ResourceId.1", "ca-free", "ResourceId.2", "cert-free")
	client.Do("TagResources", with(both, "Tag.1.Key", "app", "Tag.1.Value", "web"))
	expect(t, client.Do("DescribeCACertificates", params("CACertificateId", "ca-free")), "CACertificates.CACertificate.0.Tags.Tag.0.TagKey", "app")
	for name, p := range map[string]gatewaytest.Params{"ByID": both, "ByTag": params("ResourceType", "certificate", "Tag.1.Key", "app")} {
		listed := client.Do("ListTagResources", p)
		if n := listed.Len("TagResources.TagResource"); n != 2 {
			t.Errorf("%s: %d tags, want 2: %v", name, n, listed)
		}
		expect(t, listed, "TagResources.TagResource.0.ResourceId", "ca-free", "TagResources.TagResource.0.ResourceType", "certificate")
	}
	client.Do("UntagResources", with(both, "TagKey.1", "app"))
	if n := client.Do("ListTagResources", both).Len("TagResources.TagResource"); n != 0 {
		t.Errorf("%d tags are left, want none", n)
	}
}

// A resource group that does not exist has no lists in it.
func TestListsOfUnknownGroup(t *testing.T) {
	client, _ := newClient(t)
	expect(t, client.Do("DescribeAccessControlLists", params("ResourceGroupId", "rg-none")), "TotalCount", "0")
}

// The cloud accepts an expired certificate, unless the account refuses them.
func TestExpiredCertificate(t *testing.T) {
	expired := newPairUntil(t, gatewaytest.Start)
	client, store := newClient(t)
	upload := params("ServerCertificate", expired.certificate, "PrivateKey", expired.key)
	expect(t, client.Do("UploadServerCertificate", upload), "ExpireTime", "2026-01-02T03:04:05Z")
	tell(t, store, func(a *kinds.Account) { a.RefusesExpiredCertificates = true })
	wantCode(t, client, "UploadServerCertificate", upload, "InvalidParameter")
}

// A member added to the default group again stays as it is, and fails
// for an account that refuses them.
func TestAddBackendServersAgain(t *testing.T) {
	client, store := newClient(t)
	add := func(weight string) gatewaytest.Params {
		return params("LoadBalancerId", lbInternet, "BackendServers", `[{"ServerId":"`+instance1+`","Weight":"`+weight+`"}]`)
	}
	client.Do("AddBackendServers", add("30"))
	expect(t, client.Do("AddBackendServers", add("70")), "BackendServers.BackendServer.0.Weight", "30")
	tell(t, store, func(a *kinds.Account) { a.RefusesAttachedBackends = true })
	wantCode(t, client, "AddBackendServers", add("70"), "InvalidParameter")
}

func tell(t *testing.T, store *state.Store, change func(*kinds.Account)) {
	t.Helper()
	if err := store.Update(state.Owner{}, editAccount(change)); err != nil {
		t.Fatal(err)
	}
}
