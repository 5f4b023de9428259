package emulator_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// answering returns a server that says its name.
func answering(t *testing.T, name string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// reachAt says where this machine finds the first instance.
func reachAt(t *testing.T, control *controlclient.Client, address string) {
	t.Helper()
	change := controlapi.Change{Settings: []controlapi.Setting{{Name: "instance.i-bp1clbemu0000000001.reachAt", Value: address}}}
	if _, err := control.SetWorld(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}

// TestForksAnswer proves that a fork with a port of its own answers packets and names at
// ports of its own: those of its servers, also after a reset, and until it is deleted. One
// without a port answers none.
func TestForksAnswer(t *testing.T) {
	t.Run("memory", func(t *testing.T) { forksAnswer(t, "", controlapi.NewCloud{Port: true}) })
	t.Run("durable", func(t *testing.T) { forksAnswer(t, t.TempDir(), controlapi.NewCloud{Port: true, Durable: true}) })
}

func forksAnswer(t *testing.T, dir string, made controlapi.NewCloud) {
	e, control := running(t, emulator.Config{DataPlane: emulator.Ports, DNSListen: "127.0.0.1:0", DataDir: dir})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	said := func(control *controlclient.Client) string {
		traffic, err := control.Traffic(t.Context(), "")
		if err != nil || len(traffic.Listeners) != 1 || traffic.Listeners[0].AnswersAt == "" {
			return ""
		}
		response, err := client.Get("http://" + traffic.Listeners[0].AnswersAt)
		if err != nil {
			return ""
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return string(text)
	}
	waitForAnswer := func(control *controlclient.Client, want string) {
		t.Helper()
		await.Until(t, "the listener answers as "+want, func() bool { return said(control) == want })
	}
	api := caller(e, "")
	lb := makeBalancer(t, api)
	for _, call := range [][]string{
		{"AddBackendServers", "BackendServers", `[{"ServerId":"i-bp1clbemu0000000001"}]`},
		{"CreateLoadBalancerHTTPListener", "ListenerPort", "80", "BackendServerPort", "80", "Bandwidth", "-1", "StickySession", "off", "HealthCheck", "off"},
		{"StartLoadBalancerListener", "ListenerPort", "80"},
	} {
		params := map[string]string{"RegionId": "cn-hangzhou", "LoadBalancerId": lb}
		for pair := range slices.Chunk(call[1:], 2) {
			params[pair[0]] = pair[1]
		}
		if reply, err := api.Call(emulator.Version("Slb"), call[0], params); err != nil || reply.Status != http.StatusOK {
			t.Fatalf("%s = %v, %v", call[0], reply, err)
		}
	}
	reachAt(t, control, answering(t, "origin"))
	waitForAnswer(control, "origin")

	forked := mustFork(t, control, "a", made)
	fork := within(control, "a")
	waitForAnswer(fork, "origin")
	reachAt(t, fork, answering(t, "fork"))
	waitForAnswer(fork, "fork")
	waitForAnswer(control, "origin")
	resolvesIn(t, caller(e, "a"), forked.DNS, e.DNSAddr())

	if _, err := control.ResetCloud(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	waitForAnswer(fork, "origin")
	traffic, err := fork.Traffic(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := control.DeleteCloud(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", traffic.Listeners[0].AnswersAt); err == nil {
		conn.Close()
		t.Error("a listener of a deleted cloud takes connections")
	}
	silent := mustFork(t, control, "silent", controlapi.NewCloud{Durable: made.Durable})
	if traffic, err := within(control, "silent").Traffic(t.Context(), ""); silent.DNS != "" || err == nil && len(traffic.Listeners) > 0 {
		t.Errorf("a cloud without a port answers at %v and %q", traffic.Listeners, silent.DNS)
	}
}

// resolvesIn proves that a name of the cloud leads to an address at the DNS server, and not
// at another's.
func resolvesIn(t *testing.T, api *apiclient.Client, at, elsewhere string) {
	t.Helper()
	nlb := emulator.Version("Nlb")
	made, err := api.Call(nlb, "CreateLoadBalancer", map[string]string{"RegionId": "cn-hangzhou", "AddressType": "Internet", "VpcId": "vpc-bp1clbemu000000000001",
		"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": "vsw-bp1clbemu000000000001",
		"ZoneMappings.2.ZoneId": "cn-hangzhou-i", "ZoneMappings.2.VSwitchId": "vsw-bp1clbemu000000000002"})
	if err != nil || made.Status != http.StatusOK {
		t.Fatalf("create = %v, %v", made, err)
	}
	shown, err := api.Call(nlb, "GetLoadBalancerAttribute", map[string]string{"RegionId": "cn-hangzhou", "LoadBalancerId": made.Text("LoadbalancerId")})
	if err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]int{at: 2, elsewhere: 0} {
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server)
		}}
		addresses, err := resolver.LookupHost(t.Context(), shown.Text("DNSName"))
		for os.IsTimeout(err) { // Go's resolver gives up after ten seconds
			addresses, err = resolver.LookupHost(t.Context(), shown.Text("DNSName"))
		}
		if len(addresses) != want {
			t.Errorf("%s leads to %v at %s (%v), want %d addresses", shown.Text("DNSName"), addresses, server, err, want)
		}
	}
}
