package emulator_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// BenchmarkDataPlane compares calls of an emulator whose load balancers answer with those
// of one whose load balancers don't: reads, and changes of a listener that answers.
func BenchmarkDataPlane(b *testing.B) {
	const connections = 8
	client := keepAlive(connections)
	started := func(plane emulator.DataPlane) (read, change func(int) error) {
		s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World, cfg.DataPlane = crowdedWorld(b), plane }))
		params := map[string]string{"LoadBalancerId": crowd(b, s.Store(), few)}
		if err := post(client, s.URL(), "CreateLoadBalancerTCPListener", map[string]string{"LoadBalancerId": params["LoadBalancerId"], "ListenerPort": "80", "BackendServerPort": "80", "Bandwidth": "-1"}); err != nil {
			b.Fatal(err)
		}
		if err := post(client, s.URL(), "StartLoadBalancerListener", map[string]string{"LoadBalancerId": params["LoadBalancerId"], "ListenerPort": "80"}); err != nil {
			b.Fatal(err)
		}
		read = func(int) error { return post(client, s.URL(), "DescribeLoadBalancerAttribute", params) }
		change = func(worker int) error {
			return post(client, s.URL(), "SetLoadBalancerTCPListenerAttribute", map[string]string{"LoadBalancerId": params["LoadBalancerId"], "ListenerPort": "80", "EstablishedTimeout": fmt.Sprint(100 + worker)})
		}
		return read, change
	}
	readWith, changeWith := started(emulator.Ports)
	readWithout, changeWithout := started(emulator.NoPackets)
	with, without := compare(b, connections, readWith, readWithout)
	changesWith, changesWithout := compare(b, connections, changeWith, changeWithout)
	report(b, with/without, "ratio", "signed DescribeLoadBalancerAttribute with a data plane %.0f/s, without %.0f/s, target ratio >= 0.95; changes of a listener %.0f/s and %.0f/s, ratio %.2f",
		with, without, changesWith, changesWithout, changesWith/changesWithout)
}
