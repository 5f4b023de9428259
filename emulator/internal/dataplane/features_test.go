package dataplane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// pair returns a certificate for a name with its key, in PEM.
func pair(t *testing.T, name string) (chain, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}

// presented returns the name in the certificate that an address shows to a client who asks for a
// name.
func presented(address, name string) string {
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, ServerName: name})
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// An HTTPS listener shows its certificate, or a domain extension's to a client that asks
// for the domain; a renewed one at once, and none without a private key.
func TestHTTPS(t *testing.T) {
	f := planed(t, nil)
	certificate := func(id, name string) {
		chain, key := pair(t, name)
		f.put(func(tx *state.Tx) {
			kinds.ServerCertificates.Put(tx, &kinds.ServerCertificate{Owner: owner, ID: id, CertificateContent: kinds.CertificateContent{PEM: chain}, PrivateKey: key})
		})
	}
	certificate("default", "default.example.com")
	certificate("extension", "shop.example.com")
	f.listen(kinds.HTTPS, 443, []kinds.BackendServer{f.eni(1, web(t, "a"))}, func(l *kinds.Listener) { l.ServerCertificateID = "default" })
	f.put(func(tx *state.Tx) {
		kinds.DomainExtensions.Put(tx, &kinds.DomainExtension{Owner: owner, ID: "de-1", LoadBalancerID: "lb-1", ListenerPort: 443, Domain: "shop.example.com", ServerCertificateID: "extension"})
	})
	address := f.at(kinds.HTTPS, 443)
	for asked, want := range map[string]string{"any.example.com": "default.example.com", "shop.example.com": "shop.example.com"} {
		if got := presented(address, asked); got != want {
			t.Errorf("to %s: %s, want %s", asked, got, want)
		}
	}
	if got := get(address); got != "400" {
		t.Errorf("plain HTTP is answered with %q, want 400", got)
	}
	certificate("default", "renewed.example.com")
	if got := presented(address, "any.example.com"); got != "renewed.example.com" {
		t.Errorf("after a renewal: %s", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.ServerCertificates.Edit(tx, "default", func(c *kinds.ServerCertificate) error { c.PrivateKey = ""; return nil })
	})
	if at, problem := f.plane.Reached("lb-1_https_443"); at != "" || !strings.Contains(problem, "no private key here: upload it again") {
		t.Errorf("without a private key: %q, %q", at, problem)
	}
}

// A server that fails its checks gets no more requests once it is abnormal, and gets them
// again when it is well. The emulated clock speeds the checks up.
func TestFailedCheck(t *testing.T) {
	f := planed(t, nil)
	if err := f.store.AdjustClock(0, 1000); err != nil {
		t.Fatal(err)
	}
	sick := make(chan bool, 1)
	sick <- true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isSick := <-sick
		sick <- isSick
		if r.Method == http.MethodHead && isSick {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "b")
	}))
	defer server.Close()
	a, b := f.eni(1, web(t, "a")), f.eni(2, strings.TrimPrefix(server.URL, "http://"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{b, a}, func(l *kinds.Listener) {
		l.HealthCheck = kinds.HealthCheck{Switch: kinds.On, Type: "http", Timeout: 5, Interval: 2, HealthyThreshold: 3, UnhealthyThreshold: 3}
	})
	address := f.at(kinds.HTTP, 80)
	f.await(func() bool { health, _ := f.health(80); return health == topology.Abnormal })
	f.settle()
	// On this clock an answer or a check has 200 ms, which a busy machine may not meet: asked again.
	f.await(func() bool { return several(3, address) == "a a a " })
	f.await(func() bool {
		_, trouble := f.health(80)
		return strings.Contains(trouble, "answers the check of / with 500")
	})
	<-sick
	sick <- false
	f.await(func() bool { return strings.Contains(several(2, address), "b") })
}

// await asks until something holds.
func (f *fixture) await(holds func() bool) {
	f.Helper()
	await.Until(f, "what the test wants holds", holds)
}

// A staged condition wins over what a check finds.
func TestStagedHealth(t *testing.T) {
	f := planed(t, nil)
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a, b}, func(l *kinds.Listener) { l.HealthCheck.Switch = kinds.On })
	f.put(func(tx *state.Tx) {
		kinds.StagedHealths.Put(tx, &kinds.StagedHealth{Owner: owner, ServerID: "eni-1", Health: topology.Abnormal})
	})
	if got := several(3, f.at(kinds.HTTP, 80)); got != "b b b " {
		t.Errorf("answers = %q, want b alone", got)
	}
}

// A client whom the access control list refuses gets no answer.
func TestAccessControl(t *testing.T) {
	f := planed(t, nil)
	f.put(func(tx *state.Tx) {
		kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: owner, ID: "acl-1", Entries: []kinds.AccessControlListEntry{{Entry: "127.0.0.1/32"}}})
	})
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, func(l *kinds.Listener) {
		l.AclStatus, l.AclType, l.AclIDs = kinds.On, "black", []string{"acl-1"}
	})
	if got := get(f.at(kinds.HTTP, 80)); got != "no answer" {
		t.Errorf("a refused client gets %q", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.AccessControlLists.Edit(tx, "acl-1", func(a *kinds.AccessControlList) error { a.Entries = nil; return nil })
	})
	if got := get(f.at(kinds.HTTP, 80)); got != "a" {
		t.Errorf("after the entry is gone the client gets %q", got)
	}
}

// A list of 300 entries, as many as there may be, admits those that it has, and the
// listener obeys each of many changes.
func TestLongAccessControl(t *testing.T) {
	f := planed(t, nil)
	entries := make([]kinds.AccessControlListEntry, 300)
	for n := range entries {
		entries[n].Entry = fmt.Sprintf("10.%d.%d.0/24", n/256, n%256)
	}
	f.put(func(tx *state.Tx) {
		kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: owner, ID: "acl-1", Entries: entries})
	})
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{f.eni(1, web(t, "a"))}, func(l *kinds.Listener) {
		l.AclStatus, l.AclType, l.AclIDs = kinds.On, "white", []string{"acl-1"}
	})
	address := f.at(kinds.HTTP, 80)
	for n := range 20 {
		want := "no answer"
		if n%2 == 1 {
			want = "a"
		}
		f.put(func(tx *state.Tx) {
			kinds.AccessControlLists.Edit(tx, "acl-1", func(a *kinds.AccessControlList) error {
				a.Entries = slices.Clone(a.Entries)
				a.Entries[299].Entry = map[string]string{"a": "127.0.0.1/32", "no answer": "127.0.0.2/32"}[want]
				return nil
			})
		})
		if got := get(address); got != want {
			t.Fatalf("after change %d a client gets %q, want %q", n, got, want)
		}
	}
}

// A rule sends the requests of its domain and path to its own group.
func TestRules(t *testing.T) {
	f := planed(t, nil)
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a}, nil)
	f.put(func(tx *state.Tx) {
		kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-b", LoadBalancerID: "lb-1", BackendServers: []kinds.BackendServer{b}})
		kinds.Rules.Put(tx, &kinds.Rule{Owner: owner, ID: "rule-1", LoadBalancerID: "lb-1", ListenerID: "lb-1_http_80", URL: "/b", VServerGroupID: "rsp-b", ListenerSync: kinds.On})
	})
	address := f.at(kinds.HTTP, 80)
	if got := get(address); got != "a" {
		t.Errorf("/ = %q", got)
	}
	if got := get(address + "/b"); got != "b" {
		t.Errorf("/b = %q", got)
	}
}

// A rule with a health check of its own is checked by that alone, whatever the listener
// does.
func TestRuleChecks(t *testing.T) {
	f := planed(t, nil)
	if err := f.store.AdjustClock(0, 1000); err != nil {
		t.Fatal(err)
	}
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "b")
	}))
	defer failing.Close()
	a, b := f.eni(1, web(t, "a")), f.eni(2, strings.TrimPrefix(failing.URL, "http://"))
	check := kinds.HealthCheck{Switch: kinds.On, Type: "http", Timeout: 5, Interval: 2, HealthyThreshold: 3, UnhealthyThreshold: 3}
	put := func(listeners, rules kinds.HealthCheck) {
		f.listen(kinds.HTTP, 80, []kinds.BackendServer{a, b}, func(l *kinds.Listener) { l.HealthCheck = listeners })
		f.put(func(tx *state.Tx) {
			kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-b", LoadBalancerID: "lb-1", BackendServers: []kinds.BackendServer{b}})
			kinds.Rules.Put(tx, &kinds.Rule{Owner: owner, ID: "rule-1", LoadBalancerID: "lb-1", ListenerID: "lb-1_http_80", URL: "/b", VServerGroupID: "rsp-b",
				ListenerSync: kinds.Off, Scheduler: "wrr", HealthCheck: rules})
		})
	}
	put(kinds.HealthCheck{Switch: kinds.Off}, check)
	address := f.at(kinds.HTTP, 80)
	f.await(func() bool { return get(address+"/b") == "503" })
	f.await(func() bool { return strings.Count(several(4, address), "b") == 2 }) // the listener has no check
	health := func() (status topology.Status) {
		v := f.store.View(owner)
		frontend, _ := state.FindShown[topology.Frontend](v, "lb-1_http_80")
		g, _ := state.FindShown[topology.Group](v, "rsp-b")
		status = f.plane.Health().Of(v, frontend.For(&g), &g, &g.Members[0])
		return status
	}
	if got := health(); got != topology.Abnormal {
		t.Errorf("the rule's server is %s", got)
	}
	put(check, kinds.HealthCheck{Switch: kinds.Off})
	f.await(func() bool { return several(3, address) == "a a a " })
	f.await(func() bool { return get(address+"/b") == "b" }) // the rule has no check
	if got := health(); got != topology.Unavailable {
		t.Errorf("the rule's server is %s", got)
	}
}

// A Network Load Balancer terminates TLS, and its security groups admit clients.
func TestNLB(t *testing.T) {
	f := planed(t, nil)
	chain, key := pair(t, "nlb.example.com")
	s := f.eni(1, web(t, "a"))
	f.put(func(tx *state.Tx) {
		certificate := &kinds.UserCertificate{AccountID: owner.AccountID, ID: 7, CertificateContent: kinds.CertificateContent{PEM: chain}, PrivateKey: key}
		kinds.UserCertificates.Put(tx, certificate)
		kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: "sg-1"})
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Status: kinds.NLBActive})
		kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp-1", Status: kinds.NLBGroupAvailable, Scheduler: "Wrr",
			Servers: []kinds.NLBServer{{Type: kinds.NLBServerENI, ID: s.ServerID, IP: s.ServerIP, Port: 80, Weight: 100}}})
		kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: kinds.NLBTCPSSL, Port: 443, ServerGroupID: "sgp-1",
			Status: kinds.NLBListenerRunning, CertificateIDs: []string{certificate.Identifier()}})
	})
	address, problem := f.plane.Reached("lsn-1")
	if problem != "" {
		t.Fatal(problem)
	}
	if got := presented(address, "nlb.example.com"); got != "nlb.example.com" {
		t.Errorf("the listener presents %s", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.NLBLoadBalancers.Edit(tx, "nlb-1", func(lb *kinds.NLBLoadBalancer) error { lb.SecurityGroupIDs = []string{"sg-1"}; return nil })
	})
	if got := presented(address, "nlb.example.com"); got != "nlb.example.com" {
		t.Errorf("a security group without a rule refuses a client: %s", got)
	}
	f.put(func(tx *state.Tx) {
		kinds.SecurityGroups.Edit(tx, "sg-1", func(g *kinds.SecurityGroup) error {
			g.Permissions = []kinds.SecurityGroupPermission{{Direction: "ingress", Policy: "Drop", Priority: "100", IPProtocol: "ALL", PortRange: "-1/-1", SourceCIDR: "0.0.0.0/0"}}
			return nil
		})
	})
	if got := presented(address, "nlb.example.com"); got == "nlb.example.com" {
		t.Error("a client whom a rule of the security group refuses got an answer")
	}
}

// A Network Load Balancer whose servers all fail their checks forwards to all of them, and
// to the healthy ones alone while there are any: NLB-0043. CLB does not: CLB-0603.
func TestBestEffort(t *testing.T) {
	f := planed(t, nil)
	var servers []kinds.NLBServer
	for n, name := range []string{"a", "b"} {
		s := f.eni(n+1, web(t, name))
		servers = append(servers, kinds.NLBServer{Type: kinds.NLBServerENI, ID: s.ServerID, IP: s.ServerIP, Port: 80, Weight: 100})
	}
	check := kinds.NLBHealthCheck{Enabled: true, Type: "TCP", ConnectTimeout: 5, Interval: 10, HealthyThreshold: 2, UnhealthyThreshold: 2}
	f.put(func(tx *state.Tx) {
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Status: kinds.NLBActive, CrossZoneEnabled: true})
		kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp-1", Status: kinds.NLBGroupAvailable, Scheduler: "Wrr", Servers: servers, HealthCheck: check})
		kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: "lsn-1", LoadBalancerID: "nlb-1", Protocol: kinds.NLBTCP, Port: 80, ServerGroupID: "sgp-1", Status: kinds.NLBListenerRunning})
	})
	address, problem := f.plane.Reached("lsn-1")
	if problem != "" {
		t.Fatal(problem)
	}
	fail := func(ids ...string) {
		f.put(func(tx *state.Tx) {
			for _, id := range ids {
				kinds.StagedHealths.Put(tx, &kinds.StagedHealth{Owner: owner, ServerID: id, Health: topology.Abnormal})
			}
		})
	}
	fail("eni-1")
	if got := several(3, address); got != "b b b " {
		t.Errorf("one is unhealthy, and the listener answers %q", got)
	}
	fail("eni-2")
	if got := several(4, address); strings.Count(got, "a") != 2 || strings.Count(got, "b") != 2 {
		t.Errorf("all are unhealthy, and the listener answers %q", got)
	}
	f.listen(kinds.HTTP, 81, []kinds.BackendServer{f.eni(1, web(t, "a"))}, func(l *kinds.Listener) { l.HealthCheck.Switch = kinds.On })
	if got := get(f.at(kinds.HTTP, 81)); got != "503" {
		t.Errorf("all servers of CLB are unhealthy, and the listener answers %q", got)
	}
}

// Changes that come in quick succession all hold in the end, while clients call.
func TestChangesUnderLoad(t *testing.T) {
	f := planed(t, nil)
	a, b := f.eni(1, web(t, "a")), f.eni(2, web(t, "b"))
	f.listen(kinds.HTTP, 80, []kinds.BackendServer{a, b}, nil)
	address := f.at(kinds.HTTP, 80)
	answers := make(chan string)
	for range 4 {
		go func() {
			list := ""
			for range 50 {
				list += get(address)
			}
			answers <- list
		}()
	}
	for n := range 50 {
		a.Weight, b.Weight = n%2*100, (n+1)%2*100
		if err := f.store.Update(owner, func(tx *state.Tx) error {
			kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-80", LoadBalancerID: "lb-1", BackendServers: []kinds.BackendServer{a, b}})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		if list := <-answers; strings.Trim(list, "ab") != "" || len(list) != 50 {
			t.Errorf("answers = %q, want 50 of a and b", list)
		}
	}
	f.put(func(*state.Tx) {})
	if got := several(3, address); got != "a a a " {
		t.Errorf("answers = %q after the last change, want a alone", got)
	}
}
