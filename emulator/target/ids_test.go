package target_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// unchecked are the parameters that end like ids and are not held against the world: what
// they name is no resource, or of a kind with ids that are not the world's alone.
var unchecked = []string{
	"AdditionalCertificateId", "AliCloudCertificateId", "AliCloudCertificateRegionId", "ApplicationId", "AssociatedInstanceId", "BandwidthPackageId",
	"CaCertificateId", "CertId", "CertificateId", "DestGroupId", "DestGroupOwnerId", "DestPrefixListId", "DhcpOptionsSetId", "DiskId", "EipId",
	"HpcClusterId", "ImageId", "InstanceRegionId", "IpInstanceId", "Ipv6GatewayId", "JobId",
	"LaunchTemplateId", "NextHopId", "PublicIpAddressPoolId", "RouteEntryId", "RouterId", "SecurityGroupRuleId", "SecurityPolicyId", "SegmentInstanceId",
	"SnapshotId", "SourceGroupId", "SourceGroupOwnerId", "SourcePrefixListId", "TLSCipherPolicyId", "VRouterId", "VSwitchOwnerId",
	"VpcOwnerId",
}

var endsInID = regexp.MustCompile(`(^|[.\]])([A-Za-z0-9]*Id)s?(\.N)?$`)

// TestIDsOfNothing proves that each field of a scenario that names something by its id, of
// every action and elsewhere, is refused if the world has nothing with that id.
func TestIDsOfNothing(t *testing.T) {
	names := target.NewNames(emulator.NamesIn(world.Default()))
	refused := func(what, text string) {
		t.Helper()
		if _, err := scenarios.Load("f.yaml", []byte("about: a\n"+text), scenarios.Options{Names: names}); err == nil || !strings.Contains(err.Error(), "the world has no nosuch") || !strings.Contains(err.Error(), "f.yaml:") {
			t.Errorf("%s: %v, want it refused, since the world has no nosuch", what, err)
		}
	}
	tried, idle := 0, slices.Clone(unchecked)
	for _, a := range names.Actions() {
		for _, p := range a.Parameters {
			found := endsInID.FindStringSubmatch(p)
			if found == nil || !a.Emulated {
				continue
			}
			if slices.Contains(unchecked, found[2]) {
				idle = slices.DeleteFunc(idle, func(name string) bool { return name == found[2] })
				continue
			}
			tried++
			name, value := strings.ReplaceAll(p, ".N", ".1"), "nosuch"
			if list, field, ok := strings.Cut(p, "[]."); ok {
				name, value = strings.ReplaceAll(list, ".N", ".1"), fmt.Sprintf("[{%s: nosuch}]", field)
			}
			refused(a.Product+" "+a.Name+" "+p, fmt.Sprintf("client: {steps: [{call: {product: %s, action: %s, params: {%s: %s}}}]}", a.Product, a.Name, name, value))
		}
	}
	if tried < 500 {
		t.Errorf("%d parameters hold ids, want hundreds", tried)
	}
	for _, name := range idle {
		t.Errorf("no parameter is called %s", name)
	}
	for _, text := range []string{
		"given: {world: {vswitch.nosuch.freeAddresses: 0}}\nclient: {steps: [{clock: {advance: 1s}}]}",
		"given: {servers: [{id: nosuch}]}\nclient: {steps: [{clock: {advance: 1s}}]}",
		"given: {state: [{action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: nosuch}}]}\nclient: {steps: [{clock: {advance: 1s}}]}",
		"client: {steps: [{set: {instance.nosuch.reachAt: '127.0.0.1:1'}}]}", "client: {steps: [{set: {server.nosuch.health: normal}}]}",
		"client: {steps: [{set: {stock.nosuch.internet: soldout}}]}",
		"program: {command: [a], steps: [{wait: {within: 1s, call: {action: DescribeLoadBalancerAttribute, params: {LoadBalancerId: nosuch}}}}]}",
		"client: {steps: [{clock: {advance: 1s}}], expect: [{addresses: {vSwitch: nosuch, free: 1}}]}",
		"client: {steps: [{clock: {advance: 1s}}], expect: [{quota: {name: slb_quota_listeners_num, holder: nosuch, used: 1}}]}",
		"client: {steps: [{clock: {advance: 1s}}], expect: [{resource: {action: DescribeVSwitches, product: Vpc, params: {VSwitchId: nosuch}}}]}",
	} {
		refused(text, text)
	}
}

// TestIDsOfTheWorld proves that ids of the world are taken, that the nearest one is
// suggested, and that calls which are to be refused and the cluster's world are left alone.
func TestIDsOfTheWorld(t *testing.T) {
	names := target.NewNames(emulator.NamesIn(world.Default()))
	const call = "client:\n  steps:\n    - call: "
	for _, test := range []struct{ text, want string }{
		{call + "{action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: vsw-bp1clbemu000000000001}}", ""},
		{call + "{action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: vsw-bp1clbemu00000000001}}", "f.yaml:4:85: client.steps[0].call.params.VSwitchId: the world has no vsw-bp1clbemu00000000001: do you mean vsw-bp1clbemu000000000001?"},
		{call + "{action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: vpc-bp1clbemu000000000001}}", "the world has no vpc-bp1clbemu000000000001"},
		{call + "{action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: vsw-nosuch}, expect: {code: VSwitchNotExist}}", ""},
		{call + "{product: Nlb, action: CreateServerGroup, params: {ServerGroupName: aa, VpcId: vpc-bp1clbemu000000000001}, save: {g: ServerGroupId}}\n    - call: {product: Nlb, action: AddServersToServerGroup, params: {ServerGroupId: '{{g}}', Servers.1.ServerId: 192.168.0.11}}", ""},
		{call + "{product: Ecs, action: DescribeInstances, params: {InstanceIds: '[\"i-bp1clbemu0000000001\", \"i-bp1clbemu0000000002\"]'}}", ""},
		{call + "{product: Ecs, action: DescribeInstances, params: {InstanceIds: '[\"i-bp1clbemu0000000001\", \"i-nosuch\"]'}}", "the world has no i-nosuch"},
		{"kubernetes:\n  steps:\n    - call: {action: CreateLoadBalancer, params: {AddressType: intranet, VSwitchId: vsw-nosuch}}", ""},
	} {
		_, err := scenarios.Load("f.yaml", []byte("about: a\n"+test.text+"\n"), scenarios.Options{Names: names})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		}
	}
}
