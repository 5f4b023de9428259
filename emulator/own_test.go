package emulator_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestListenersAreNoServers proves that a load balancer whose server is one of the
// emulator's own listeners does not lead a client there, and that a condition that names
// one is refused.
func TestListenersAreNoServers(t *testing.T) {
	e, control := running(t, emulator.Config{Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", DNSListen: "127.0.0.1:0", DataPlane: emulator.Ports})
	other, _ := running(t, emulator.Config{})
	debug, err := emulator.Listen("debug listener", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { debug.Close() })
	u := unsigned{t, e}
	slb := emulator.Version("Slb")
	lb := u.make("LoadBalancerId", slb, "CreateLoadBalancer", "InstanceChargeType=PayByCLCU")
	in := "LoadBalancerId=" + lb
	u.make("RequestId", slb, "AddBackendServers", in, `BackendServers=[{"ServerId":"i-bp1clbemu0000000001"}]`)
	for name, at := range map[string]string{"API listener": e.Addr(), "control listener": e.ControlAddr(), "DNS listener": e.DNSAddr(), "debug listener": debug.Addr().String(),
		"control listener of another emulator": other.ControlAddr()} {
		listener := strings.TrimSuffix(name, " of another emulator")
		reachAt := func(at string) error {
			_, err := control.SetWorld(t.Context(), controlapi.Change{Settings: []controlapi.Setting{{Name: "instance.i-bp1clbemu0000000001.reachAt", Value: at}}})
			return err
		}
		if err := reachAt(at); !strings.HasPrefix(name, "DNS") && (err == nil || !strings.Contains(err.Error(), "clbemu's "+listener)) {
			t.Errorf("reachAt at the %s: %v, want that it is clbemu's own", name, err)
		}
		// Without a port, it is the listener that names the port.
		host, port, _ := net.SplitHostPort(at)
		if err := reachAt(host); err != nil {
			t.Fatal(err)
		}
		u.make("RequestId", slb, "CreateLoadBalancerHTTPListener", in, "ListenerPort="+port, "BackendServerPort="+port, "Bandwidth=-1", "StickySession=off", "HealthCheck=off")
		u.make("RequestId", slb, "StartLoadBalancerListener", in, "ListenerPort="+port)
		await.Until(t, "a client of the load balancer gets 502 and the reason, for "+name, func() bool {
			traffic, err := control.Traffic(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if len(traffic.Listeners) != 1 {
				return false // it, or its end, does not show yet
			}
			response, err := http.Get("http://" + traffic.Listeners[0].AnswersAt + "/v1/state")
			if err != nil {
				return false // it does not listen yet
			}
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				t.Fatalf("%s answers through the load balancer", name)
			}
			return response.StatusCode == http.StatusBadGateway && strings.Contains(response.Header.Get("X-Clbemu-Reason"), listener)
		})
		u.make("RequestId", slb, "DeleteLoadBalancerListener", in, "ListenerPort="+port)
	}
}
