package emulator_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// BenchmarkNLB compares NLB's reads and writes with CLB's, in turn, on one emulator.
func BenchmarkNLB(b *testing.B) {
	s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
	clb := crowd(b, s.Store(), few)
	made, err := s.Client().Call(apiclient.Nlb, "CreateLoadBalancer", map[string]string{
		"AddressType": "Internet", "VpcId": "vpc-bp1clbemu000000000001",
		"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": "vsw-bp1clbemu000000000001",
		"ZoneMappings.2.ZoneId": "cn-hangzhou-i", "ZoneMappings.2.VSwitchId": "vsw-bp1clbemu000000000002"})
	if err != nil || made.Text("LoadbalancerId") == "" {
		b.Fatalf("CreateLoadBalancer = %v, %v", made, err)
	}
	nlb := made.Text("LoadbalancerId")
	const connections = 16
	client := keepAlive(connections)
	for _, row := range []struct{ what, ours, theirs string }{
		{"reads", "GetLoadBalancerAttribute", "DescribeLoadBalancerAttribute"},
		{"writes", "UpdateLoadBalancerAttribute", "SetLoadBalancerName"},
	} {
		ours, base := compare(b, connections,
			func(int) error {
				return postTo(client, s.URL(), apiclient.Nlb, row.ours, map[string]string{"LoadBalancerId": nlb, "LoadBalancerName": "bench"})
			},
			func(int) error {
				return postTo(client, s.URL(), apiclient.Slb, row.theirs, map[string]string{"LoadBalancerId": clb, "LoadBalancerName": "bench"})
			})
		report(b, ours/base, row.what, "NLB's %s %.0f/s, CLB's %.0f/s, target ratio >= 0.90", row.what, ours, base)
	}
}
