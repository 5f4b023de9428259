package emulator_test

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// BenchmarkNLB compares NLB's reads and writes with CLB's, in turn, on one emulator
// that keeps its state on disk. A write with a job keeps two rows more than CLB's,
// the job's and that of the sequence of ids.
func BenchmarkNLB(b *testing.B) {
	s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) {
		cfg.World, cfg.Engine, cfg.DataDir = crowdedWorld(b), emulator.Bolt, b.TempDir()
	}))
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
	var n atomic.Int64
	for _, row := range []struct {
		what         string
		ours, theirs string
		parameters   string // with %d for what is different in each call
		target       string
	}{
		{"reads", "GetLoadBalancerAttribute", "DescribeLoadBalancerAttribute", "", "target ratio >= 0.90"},
		{"writes", "UpdateLoadBalancerProtection", "SetLoadBalancerModificationProtection",
			"ModificationProtectionStatus=ConsoleProtection&ModificationProtectionReason=bench-%d", "target ratio >= 0.90"},
		{"jobs", "UpdateLoadBalancerAttribute", "SetLoadBalancerName", "LoadBalancerName=bench-%d", "with a job, which CLB has not, target ratio >= 0.90"},
	} {
		side := func(version, action, id string) func(int) error {
			return func(int) error {
				params := map[string]string{"LoadBalancerId": id}
				for pair := range strings.SplitSeq(row.parameters, "&") {
					if name, value, ok := strings.Cut(pair, "="); ok {
						params[name] = strings.ReplaceAll(value, "%d", strconv.FormatInt(n.Add(1), 10))
					}
				}
				return postTo(client, s.URL(), version, action, params)
			}
		}
		ours, base := compare(b, connections, side(apiclient.Nlb, row.ours, nlb), side(apiclient.Slb, row.theirs, clb))
		report(b, ours/base, row.what, "NLB's %s %.0f/s, CLB's %s %.0f/s, %s", row.ours, ours, row.theirs, base, row.target)
	}
}
