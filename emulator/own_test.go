package emulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestListenersAreNoServers proves that a load balancer whose server is one of the
// emulator's own listeners does not lead a client there.
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
	u.make("RequestId", slb, "CreateLoadBalancerHTTPListener", in, "ListenerPort=80", "BackendServerPort=80", "Bandwidth=-1", "StickySession=off", "HealthCheck=off")
	u.make("RequestId", slb, "StartLoadBalancerListener", in, "ListenerPort=80")
	for name, at := range map[string]string{"API listener": e.Addr(), "control listener": e.ControlAddr(), "DNS listener": e.DNSAddr(), "debug listener": debug.Addr().String(),
		"control listener of another emulator": other.ControlAddr()} {
		if _, err := control.SetWorld(t.Context(), controlapi.Change{Settings: []controlapi.Setting{{Name: "instance.i-bp1clbemu0000000001.reachAt", Value: at}}}); err != nil {
			t.Fatal(err)
		}
		listener := strings.TrimSuffix(name, " of another emulator")
		waitFor(t, "a client of the load balancer gets 502 and the reason, for "+name, func() bool {
			traffic, err := control.Traffic(t.Context(), "")
			if err != nil || len(traffic.Listeners) != 1 {
				t.Fatalf("listeners: %+v, %v", traffic, err)
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
	}
}
