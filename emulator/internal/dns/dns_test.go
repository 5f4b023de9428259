package dns_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/miekg/dns"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// start serves a world with three load balancers: a public one of both protocols, of
// which a zone is shifted, a private one, and one with as many zones as there can be.
func start(t *testing.T) (address string) {
	t.Helper()
	ctx := t.Context()
	store, err := state.Open(ctx, state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}})
	if err != nil {
		t.Fatal(err)
	}
	owner := state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}
	err = store.Update(state.Owner{}, func(tx *state.Tx) error {
		if err := world.Default().Plant(tx); err != nil {
			return err
		}
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-public", ZoneMappings: []kinds.NLBZoneMapping{
			{Status: kinds.NLBZoneActive, PrivateIPv4Address: "192.168.0.7", PublicIPv4Address: "198.18.0.7", IPv6Address: "2001:db8::7"},
			{Status: kinds.NLBZoneShifted, PrivateIPv4Address: "192.168.1.7", PublicIPv4Address: "198.18.1.7", IPv6Address: "2001:db8::1:7"},
			{Status: kinds.NLBZoneActive, PrivateIPv4Address: "192.168.2.7", PublicIPv4Address: "198.18.2.7", IPv6Address: "2001:db8::2:7"},
		}})
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-private", ZoneMappings: []kinds.NLBZoneMapping{
			{Status: kinds.NLBZoneActive, PrivateIPv4Address: "192.168.0.8"},
		}})
		wide := &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-wide"}
		for n := range 10 {
			ip := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(n)})
			wide.ZoneMappings = append(wide.ZoneMappings, kinds.NLBZoneMapping{Status: kinds.NLBZoneActive, IPv6Address: ip.String()})
		}
		kinds.NLBLoadBalancers.Put(tx, wide)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := dns.Start("127.0.0.1:0", store, []string{kinds.NLBApex}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Close(context.Background()), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return server.Addr()
}

// patient waits longer than the library does by itself.
var patient = client.Client{Timeout: await.Patience}

// ask asks one question by a network.
func ask(t *testing.T, network, address, name string, kind uint16) *client.Msg {
	t.Helper()
	reply, _, err := (&client.Client{Net: network, Timeout: await.Patience}).Exchange(new(client.Msg).SetQuestion(name, kind), address)
	if err != nil {
		t.Fatalf("%s by %s: %v", name, network, err)
	}
	return reply
}

// TestAnswers proves what is answered to each kind of question, by UDP and TCP.
func TestAnswers(t *testing.T) {
	address := start(t)
	for _, c := range []struct {
		name  string
		kind  uint16
		rcode int
		want  string // the addresses
	}{
		{"nlb-public.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA, client.RcodeSuccess, "198.18.0.7 198.18.2.7"},
		{"nlb-public.cn-hangzhou.nlb.aliyuncs.com.", client.TypeAAAA, client.RcodeSuccess, "2001:db8::7 2001:db8::2:7"},
		{"NLB-Public.cn-HANGZHOU.nlb.aliyuncs.com.", client.TypeA, client.RcodeSuccess, "198.18.0.7 198.18.2.7"},
		{"nlb-private.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA, client.RcodeSuccess, "192.168.0.8"},
		{"nlb-private.cn-hangzhou.nlb.aliyuncs.com.", client.TypeAAAA, client.RcodeSuccess, ""},
		{"nlb-private.cn-hangzhou.nlb.aliyuncs.com.", client.TypeTXT, client.RcodeSuccess, ""},
		{"nlb-private.cn-shanghai.nlb.aliyuncs.com.", client.TypeA, client.RcodeNameError, ""},
		{"nlb-nobody.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA, client.RcodeNameError, ""},
		{"a.nlb-private.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA, client.RcodeNameError, ""},
		{"cn-hangzhou.nlb.aliyuncs.com.", client.TypeA, client.RcodeSuccess, ""},
		{"cn-nowhere.nlb.aliyuncs.com.", client.TypeA, client.RcodeNameError, ""},
		{"nlb.aliyuncs.com.", client.TypeA, client.RcodeSuccess, ""},
		{"notnlb.aliyuncs.com.", client.TypeA, client.RcodeRefused, ""},
		{"example.com.", client.TypeA, client.RcodeRefused, ""},
		{".", client.TypeNS, client.RcodeRefused, ""},
	} {
		for _, network := range []string{"udp", "tcp"} {
			reply := ask(t, network, address, c.name, c.kind)
			var got []string
			for _, rr := range reply.Answer {
				switch rr := rr.(type) {
				case *client.A:
					got = append(got, rr.A.String())
				case *client.AAAA:
					got = append(got, rr.AAAA.String())
				}
				if rr.Header().Ttl != 60 {
					t.Errorf("%s may be kept for %d s, want 60", c.name, rr.Header().Ttl)
				}
			}
			if reply.Rcode != c.rcode || strings.Join(got, " ") != c.want {
				t.Errorf("%s %s by %s = %s %v, want %s %s", c.name, client.TypeToString[c.kind], network,
					client.RcodeToString[reply.Rcode], got, client.RcodeToString[c.rcode], c.want)
			}
			if ours := c.rcode != client.RcodeRefused; reply.Authoritative != ours || ours && c.want == "" && len(reply.Ns) != 1 {
				t.Errorf("%s: authoritative %t, with %d records about the zone", c.name, reply.Authoritative, len(reply.Ns))
			}
		}
	}
	soa := ask(t, "udp", address, "nlb.aliyuncs.com.", client.TypeSOA)
	if len(soa.Answer) != 1 || soa.Answer[0].Header().Rrtype != client.TypeSOA {
		t.Errorf("the SOA of the zone is %v", soa.Answer)
	}
}

// TestSizes proves that no answer is longer than a client takes, and that one that
// was cut says so.
func TestSizes(t *testing.T) {
	address := start(t)
	// Ten zones fit even into the least that a client takes.
	if reply := ask(t, "udp", address, "nlb-wide.cn-hangzhou.nlb.aliyuncs.com.", client.TypeAAAA); len(reply.Answer) != 10 || reply.Truncated {
		t.Errorf("of ten addresses come %d, truncated: %t", len(reply.Answer), reply.Truncated)
	}
	question := new(client.Msg).SetQuestion("nlb-wide.cn-hangzhou.nlb.aliyuncs.com.", client.TypeAAAA)
	question.SetEdns0(1232, false)
	reply, _, err := patient.Exchange(question, address)
	if err != nil || reply.IsEdns0() == nil || len(reply.Answer) != 10 {
		t.Errorf("with EDNS the answer is %v, %v", reply, err)
	}
}

// TestBadQuestions proves that what is no question is answered by an error or not
// at all, and the next one is served.
func TestBadQuestions(t *testing.T) {
	address := start(t)
	two := new(client.Msg).SetQuestion("nlb-public.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA)
	two.Question = append(two.Question, two.Question[0])
	none := new(client.Msg)
	update := new(client.Msg).SetUpdate("nlb.aliyuncs.com.")
	for _, c := range []struct {
		name     string
		question *client.Msg
	}{{"two questions", two}, {"none", none}, {"an update", update}} {
		if reply, _, err := patient.Exchange(c.question, address); err != nil || reply.Rcode == client.RcodeSuccess {
			t.Errorf("%s = %v, %v, want an error code", c.name, reply, err)
		}
	}
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("no message")); err != nil {
		t.Fatal(err)
	}
	chaos := new(client.Msg).SetQuestion("nlb-public.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA)
	chaos.Question[0].Qclass = client.ClassCHAOS
	if reply, _, err := patient.Exchange(chaos, address); err != nil || reply.Rcode != client.RcodeRefused {
		t.Errorf("another class = %v, %v, want REFUSED", reply, err)
	}
}

// TestConnections proves that no more than 64 connections are served at once, by UDP
// meanwhile as always, and that the next one is when one of them ends.
func TestConnections(t *testing.T) {
	address := start(t)
	const most = 64
	question := new(client.Msg).SetQuestion("nlb-private.cn-hangzhou.nlb.aliyuncs.com.", client.TypeA)
	idle := make([]net.Conn, most)
	for i := range idle {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle[i] = conn
	}
	impatient := &client.Client{Net: "tcp", Timeout: 300 * time.Millisecond} // for what does not come
	if reply, _, err := impatient.Exchange(question, address); err == nil {
		t.Errorf("beside %d connections one more is answered: %v", most, reply)
	}
	if reply, _, err := patient.Exchange(question, address); err != nil || len(reply.Answer) != 1 {
		t.Errorf("by UDP beside idle connections: %v, %v", reply, err)
	}
	for _, conn := range idle[:2] { // the one that gave up may have its turn first
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if reply := ask(t, "tcp", address, question.Question[0].Name, client.TypeA); len(reply.Answer) != 1 {
		t.Errorf("after two have ended: %v", reply)
	}
}

// TestFollowsState proves that the DNSName of a load balancer leads to the addresses
// that the API shows, from when it is made until it is deleted, with the resolver
// that Go programs have.
func TestFollowsState(t *testing.T) {
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.DNSListen = ":0" }))
	if host, _, err := net.SplitHostPort(s.DNSAddr()); err != nil || host != "127.0.0.1" {
		t.Fatalf("without a host names are resolved at %s (%v), want loopback", s.DNSAddr(), err)
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.DNSAddr())
	}}
	call := func(action string, params map[string]string) apiclient.Reply {
		t.Helper()
		reply, err := s.Client().Call(emulator.Version("Nlb"), action, params)
		if err != nil || reply.Status != 200 {
			t.Fatalf("%s = %v, %v", action, reply, err)
		}
		return reply
	}
	const zoneH, zoneI = "cn-hangzhou-h", "cn-hangzhou-i"
	const vSwitchH, vSwitchI = "vsw-bp1clbemu000000000001", "vsw-bp1clbemu000000000002"
	of := map[string]string{"LoadBalancerId": call("CreateLoadBalancer", map[string]string{
		"AddressType": "Internet", "VpcId": "vpc-bp1clbemu000000000001",
		"ZoneMappings.1.ZoneId": zoneH, "ZoneMappings.1.VSwitchId": vSwitchH,
		"ZoneMappings.2.ZoneId": zoneI, "ZoneMappings.2.VSwitchId": vSwitchI}).Text("LoadbalancerId")}
	name := call("GetLoadBalancerAttribute", of).Text("DNSName")

	// shown are the addresses of a field, of the zones that are in use.
	shown := func(field string) (list []string) {
		t.Helper()
		for _, zone := range call("GetLoadBalancerAttribute", of).Body["ZoneMappings"].([]any) {
			z := zone.(map[string]any)
			if z["Status"] == "Active" {
				list = append(list, z["LoadBalancerAddresses"].([]any)[0].(map[string]any)[field].(string))
			}
		}
		return list
	}
	lookup := func() (addresses []string, err error) {
		t.Helper()
		await.Until(t, "the name is looked up", func() bool { // which Go's resolver gives up after 10 s
			addresses, err = resolver.LookupHost(t.Context(), name+".")
			return !os.IsTimeout(err)
		})
		return addresses, err
	}
	check := func(when, field string, n int) {
		t.Helper()
		got, err := lookup()
		want := shown(field)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || len(want) != n || !slices.Equal(got, want) {
			t.Errorf("%s: %s leads to %v (%v), want %v, which are %d", when, name, got, err, want, n)
		}
	}
	check("made", "PublicIPv4Address", 2)
	shifted := map[string]string{"LoadBalancerId": of["LoadBalancerId"], "ZoneMappings.1.ZoneId": zoneH, "ZoneMappings.1.VSwitchId": vSwitchH}
	call("StartShiftLoadBalancerZones", shifted)
	check("with a zone shifted away", "PublicIPv4Address", 1)
	call("CancelShiftLoadBalancerZones", shifted)
	call("UpdateLoadBalancerAddressTypeConfig", map[string]string{"LoadBalancerId": of["LoadBalancerId"], "AddressType": "Intranet"})
	check("private", "PrivateIPv4Address", 2)
	call("DeleteLoadBalancer", of)
	var gone *net.DNSError
	if _, err := lookup(); !errors.As(err, &gone) || !gone.IsNotFound {
		t.Errorf("after its end the name gives %v, want that there is no such host", err)
	}
}

// TestBadAddresses proves that an address that can't be used is reported, and that an
// emulator without one has none.
func TestBadAddresses(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "127.0.0.1:notaport", "203.0.113.1:0"} {
		if _, err := dns.Start(address, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "DNS listener") {
			t.Errorf("%s = %v, want an error that names the DNS listener", address, err)
		}
	}
	if address := emulatortest.Start(t).DNSAddr(); address != "" {
		t.Errorf("without being asked for it, names are resolved at %s", address)
	}
}
