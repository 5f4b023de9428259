package emulator_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// startDurable runs an emulator that keeps its state on disk.
func startDurable(b *testing.B) *emulatortest.Server {
	return emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) {
		cfg.World, cfg.Engine, cfg.DataDir = crowdedWorld(b), emulator.Bolt, b.TempDir()
	}))
}

// BenchmarkNLB compares NLB's reads and writes with CLB's, in turn, on one emulator.
// The write with a job is the lightest that there is, to which the job's row adds most.
func BenchmarkNLB(b *testing.B) {
	s := startDurable(b)
	clb := crowd(b, s.Store(), few)
	made, err := s.Client().Call(emulator.Version("Nlb"), "CreateLoadBalancer", map[string]string{
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
		{"jobs", "UpdateLoadBalancerAttribute", "SetLoadBalancerName", "LoadBalancerName=bench-%d", "with a job, which CLB has not"},
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
		ours, base := compare(b, connections, side(emulator.Version("Nlb"), row.ours, nlb), side(emulator.Version("Slb"), row.theirs, clb))
		report(b, ours/base, row.what, "NLB's %s %.0f/s, CLB's %s %.0f/s, %s", row.ours, ours, row.theirs, base, row.target)
	}
}

// BenchmarkNLBService compares what a CCM writes for a port of a Service, and when it
// is gone: a group with three servers, a listener, and the end of both. Each of NLB's
// calls has a job, which CLB has not.
func BenchmarkNLBService(b *testing.B) {
	s := startDurable(b)
	raiseQuotas(b, s.Store())
	const workers = 16
	client := keepAlive(workers)
	do := func(version, action, parameters string, args ...any) (made map[string]any, err error) {
		params := make(map[string]string)
		for pair := range strings.SplitSeq(fmt.Sprintf(parameters, args...), "&") {
			name, value, _ := strings.Cut(pair, "=")
			params[name] = value
		}
		answer, err := answerTo(client, s.URL(), version, action, params)
		if err == nil {
			err = json.Unmarshal(answer, &made)
		}
		return made, err
	}
	var nlbs, clbs [workers]string
	for i := range workers {
		clbs[i] = crowd(b, s.Store(), 1)
		made, err := do(emulator.Version("Nlb"), "CreateLoadBalancer", "AddressType=Internet&VpcId=vpc-bp1clbemu000000000001&"+
			"ZoneMappings.1.ZoneId=cn-hangzhou-h&ZoneMappings.1.VSwitchId=vsw-bp1clbemu000000000001&"+
			"ZoneMappings.2.ZoneId=cn-hangzhou-i&ZoneMappings.2.VSwitchId=vsw-bp1clbemu000000000002")
		if err != nil {
			b.Fatal(err)
		}
		nlbs[i] = made["LoadbalancerId"].(string)
	}
	ours := func(worker int) error {
		var group, listener map[string]any
		return inTurn(
			func() (err error) {
				group, err = do(emulator.Version("Nlb"), "CreateServerGroup", "ServerGroupName=bench-%d&VpcId=vpc-bp1clbemu000000000001&Protocol=TCP", worker)
				return err
			},
			func() error {
				_, err := do(emulator.Version("Nlb"), "AddServersToServerGroup", "ServerGroupId=%v&"+
					"Servers.1.ServerType=Ecs&Servers.1.ServerId=i-bp1clbemu0000000001&Servers.1.Port=30080&Servers.1.Weight=100&"+
					"Servers.2.ServerType=Ecs&Servers.2.ServerId=i-bp1clbemu0000000002&Servers.2.Port=30080&Servers.2.Weight=100&"+
					"Servers.3.ServerType=Ecs&Servers.3.ServerId=i-bp1clbemu0000000003&Servers.3.Port=30080&Servers.3.Weight=100", group["ServerGroupId"])
				return err
			},
			func() (err error) {
				listener, err = do(emulator.Version("Nlb"), "CreateListener", "LoadBalancerId=%s&ListenerProtocol=TCP&ListenerPort=80&ServerGroupId=%v", nlbs[worker], group["ServerGroupId"])
				return err
			},
			func() error {
				_, err := do(emulator.Version("Nlb"), "DeleteListener", "ListenerId=%v", listener["ListenerId"])
				return err
			},
			func() error {
				_, err := do(emulator.Version("Nlb"), "DeleteServerGroup", "ServerGroupId=%v", group["ServerGroupId"])
				return err
			})
	}
	theirs := func(worker int) error {
		var group map[string]any
		return inTurn(
			func() (err error) {
				group, err = do(emulator.Version("Slb"), "CreateVServerGroup", "LoadBalancerId=%s&VServerGroupName=bench-%d&BackendServers=%s", clbs[worker], worker,
					`[{"ServerId":"i-bp1clbemu0000000001","Port":"30080","Weight":"100"},`+
						`{"ServerId":"i-bp1clbemu0000000002","Port":"30080","Weight":"100"},{"ServerId":"i-bp1clbemu0000000003","Port":"30080","Weight":"100"}]`)
				return err
			},
			func() error {
				_, err := do(emulator.Version("Slb"), "CreateLoadBalancerTCPListener", "LoadBalancerId=%s&ListenerPort=80&VServerGroupId=%v&Bandwidth=-1", clbs[worker], group["VServerGroupId"])
				return err
			},
			func() error {
				_, err := do(emulator.Version("Slb"), "StartLoadBalancerListener", "LoadBalancerId=%s&ListenerPort=80", clbs[worker])
				return err
			},
			func() error {
				_, err := do(emulator.Version("Slb"), "DeleteLoadBalancerListener", "LoadBalancerId=%s&ListenerPort=80&ListenerProtocol=tcp", clbs[worker])
				return err
			},
			func() error {
				_, err := do(emulator.Version("Slb"), "DeleteVServerGroup", "VServerGroupId=%v", group["VServerGroupId"])
				return err
			})
	}
	nlb, clb := compare(b, workers, ours, theirs)
	report(b, nlb/clb, "ratio", "a port of a Service made and deleted, five writes each: NLB %.0f/s, CLB %.0f/s, target ratio >= 0.90", nlb, clb)
}

// inTurn does one after the other, until one fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
