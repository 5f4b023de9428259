package target_test

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// known returns the names of this emulator.
func known(t *testing.T) *target.Names {
	t.Helper()
	return target.NewNames(emulator.Names())
}

// TestNames proves that a name that nothing has is refused before a scenario is
// played, with its line and the one that was meant, and that those which there are
// are taken.
func TestNames(t *testing.T) {
	const call, calls, resource = "client:\n  steps:\n    - call: ", "client:\n  steps: [{set: {account.arrears: true}}]\n  expect:\n    - calls: ", "client:\n  steps: [{set: {account.arrears: true}}]\n  expect:\n    - resource: "
	const fault = "client:\n  steps:\n    - fault: {name: f, effect: {reset: true}, match: "
	const apply = "kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer}}}\n"
	names := known(t)
	tests := []struct{ text, want string }{
		{call + "{action: CreateLoadBalancer, params: {AddressType: internet, Tag.12.Key: a, RegionId: cn-hangzhou}}", ""},
		{call + "{action: ListTagResources, params: {ResourceType: instance, ResourceId.1: a}}", ""},
		{call + "{action: DeleteLoadBalancer}", "f.yaml:4:13: client.steps[0].call: DeleteLoadBalancer needs LoadBalancerId: if the cloud is to refuse the call, expect its code"},
		{call + "{action: DeleteLoadBalancer, expect: {status: 400}}", ""},
		{call + "{action: DeleteLoadBalancer, params: {loadbalancerid: a}}", ""},
		{resource + "{action: DescribeLoadBalancerAttribute, fields: {Status: a}}", "DescribeLoadBalancerAttribute needs LoadBalancerId"},
		{call + "{action: StartLoadBalancerListener, params: {LoadBalancerId: a, ListenerPort: 70000}}", "call.params.ListenerPort: 70000 is not in 1..65535: if the cloud is to refuse it, expect its code"},
		{call + "{action: StartLoadBalancerListener, params: {LoadBalancerId: a, ListenerPort: 443}}", ""},
		{call + "{action: CreateLoadBalancers}", "call.action: no emulated action of Slb is called CreateLoadBalancers: do you mean CreateLoadBalancer?"},
		{call + "{action: CreateLoadBalancer, product: Vpc}", "CreateLoadBalancer is an action of Slb: add product: Slb"},
		{call + "{action: CreateLoadBalancer, product: Slbb}", "call.product: there is no product Slbb: do you mean Slb?"},
		{call + "{action: CreateVpnGateway}", "no emulated action of Slb is called CreateVpnGateway"},
		{call + "{action: CreateLoadBalancer, params: {AdressType: internet}}", "call.params.AdressType: CreateLoadBalancer has no such parameter: do you mean AddressType?"},
		{call + "{action: AddVServerGroupBackendServers, params: {BackendServers: [{ServerId: a, Prot: 80}]}}", "[0].Prot: there is no such field: do you mean Port?"},
		{call + "{action: AddVServerGroupBackendServers, params: {VServerGroupId: a, BackendServers: just text}}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: VSwitchAvailableIpNotExist}}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: ORDER.ARREARAGE}}", ""},
		{call + "{action: DeleteVServerGroup, expect: {code: ORDER.ARREARAGE}}", "f.yaml:4:57: client.steps[0].call.expect.code: no such call is refused with ORDER.ARREARAGE, unless a fault rule of the scenario does it"},
		{"client:\n  steps:\n    - fault: {name: f, match: {action: DeleteVServerGroup}, effect: {error: {code: ORDER.ARREARAGE, httpStatus: 400, message: m}}}\n    - call: {action: DeleteVServerGroup, expect: {code: ORDER.ARREARAGE}}", ""},
		{calls + "{action: DeleteVServerGroup, code: ORDER.ARREARAGE, none: true}", "no such call is refused with ORDER.ARREARAGE"},
		{calls + "{action: '*LoadBalancer,DeleteVServerGroup', code: ORDER.ARREARAGE, none: true}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: VSwitchAvailableIpNotExists}}", "do you mean VSwitchAvailableIpNotExist?"},
		{call + "{action: CreateLoadBalancer, expect: {code: ServiceUnavailable}}", "expect.code: no such call is refused with ServiceUnavailable, unless a fault rule"},
		{call + "{action: CreateLoadBalancer, expect: {code: {matches: '^Trottling'}}}", `no code of such a call matches "^Trottling"`},
		{call + "{action: CreateLoadBalancer, expect: {code: {matches: '^Throttling'}}}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: InvalidBandwidth}}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: InvalidBandwith}}", "do you mean InvalidBandwidth?"},
		{call + "{action: CreateLoadBalancer, expect: {code: InvalidTag.1.Key}}", ""},
		{call + "{action: CreateLoadBalancer, expect: {status: 4000}}", "no answer has the status 4000"},
		{resource + "{action: DescribeLoadBalancers, fields: {LoadBalancers.LoadBalancer: {count: 0}, LoadBalancers.LoadBalancer.0.Address: a, Code: {absent: true}}}", ""},
		{resource + "{action: DescribeLoadBalancers, fields: {LoadBalancer.LoadBalancer: {count: 0}}}", "fields.LoadBalancer.LoadBalancer: DescribeLoadBalancers answers it not"},
		{resource + "{action: DescribeLoadBalancers, fields: {LoadBalancers.LoadBalancer.Address: a}}", "do you mean LoadBalancers.LoadBalancer.0.Address?"},
		{resource + "{action: DescribeLoadBalancers, fields: {TotalCount.0: a}}", "do you mean TotalCount?"},
		{resource + "{action: DescribeLoadBalancers, fields: {TotalCount: {count: 0}}}", "it is not a list"},
		{resource + "{action: DescribeLoadBalancerListeners, fields: {Listeners.0.Statsu: a}}", "do you mean Listeners.0.Status?"},
		{calls + "{action: DeleteLoadBalancr, none: true}", "calls.action: no action is called DeleteLoadBalancr: do you mean DeleteLoadBalancer?"},
		{calls + "{action: 'Delete*,Crate*', none: true}", "no action is called Crate*: do you mean Create*?"},
		{calls + "{action: CreateVpnGateway, code: InvalidAction.NotEmulated, none: true}", ""},
		{calls + "{action: CreateVpc, params: {CidrBlok: a}, none: true}", "do you mean CidrBlock?"},
		{calls + "{action: CreateVpc, params: {CidrBlock: {count: 1}}, none: true}", "it is a text"},
		{calls + "{action: UploadServerCertificate, params: {PrivateKey: {matches: a}}, none: true}", "the journal keeps no secrets"},
		{calls + "{action: CreateVpc, code: Throtling, none: true}", "do you mean Throttling?"},
		{calls + "{action: CreateVpc, code: OK, none: true}", ""},
		{call + "{action: CreateLoadBalancer, expect: {code: OK}}", ""},
		{call + "{action: CreateLoadBalancer, params: {AddressType: intarnet}}", "params.AddressType: intarnet is none of internet, intranet: if the cloud is to refuse it, expect its code"},
		{call + "{action: CreateLoadBalancer, params: {AddressType: intarnet}, expect: {status: 400}}", ""},
		{call + "{action: CreateLoadBalancer, params: {AddressType: ''}}", ""},
		{call + "{product: Nlb, action: CreateListener, params: {LoadBalancerId: a, ListenerPort: 80, ListenerProtocol: tcp}}", ""},
		{resource + "{action: DeleteLoadBalancer, params: {LoadBalancerId: lb-a}, code: X}", "resource.action: DeleteLoadBalancer changes something, and an expectation only looks"},
		{calls + "{code: RspoolVipExist, none: true}", ""},
		{calls + "{action: CreateVpc, code: RspoolVipExist, none: true}", "no such call is refused with RspoolVipExist"},
		{calls + "{order: [CreateVpc, CreateVpd]}", "calls.order[1]: no action is called CreateVpd: do you mean CreateVpc?"},
		{calls + "{order: []}", "order is empty"},
		{calls + "{atLeast: 0}", "atLeast is always so"},
		{calls + "{atLeast: 3, atMost: 2}", "that is never so"},
		{calls + "{exactly: -1}", "never fewer than 0"},
		{"client:\n  steps: [{set: {account.arrears: true}}]\n  expect:\n    - quota: {name: slb_quota_instances_nun, used: 1}", "quota.name: there is no quota slb_quota_instances_nun: do you mean slb_quota_instances_num?"},
		{call + "{product: Nlb, action: CreateLoadBalancer, params: {AddressType: Internet, VpcId: a, ZoneMappings: [{ZoneId: a, VSwitchId: b}, {ZoneId: c, VSwitchId: d}], Tag: [{Key: k, Value: v}]}}", ""},
		{call + "{product: Nlb, action: CreateLoadBalancer, params: {ZoneMappings: [{ZonId: a}]}}", "params.ZoneMappings.1.ZonId: CreateLoadBalancer has no such parameter"},
		{call + "{action: ListLoadBalancers}", "call.action: ListLoadBalancers is an action of Nlb: add product: Nlb"},
		{"client:\n  steps:\n    - set: {account.arrears: maybe}", "account.arrears=maybe: want true or false"},
		{"client:\n  steps:\n    - set: {life.profile: realstic}", "want instant or realistic"},
		{"client:\n  steps:\n    - set: {quota.slb_quota_listeners_num: -4}", "want a number that is not negative, or default"},
		{"client:\n  steps:\n    - set: {throttle.account: many}", "want calls a second"},
		{"client:\n  steps:\n    - set: {account.arears: true}", "do you mean account.arrears?"},
		{"client:\n  steps:\n    - set: {quota.slb_quota_instances_nun: 1}", "do you mean quota.slb_quota_instances_num?"},
		{"client:\n  steps:\n    - set: {throttle.action.DescribeRegion: 1/1}", "do you mean throttle.action.DescribeRegions?"},
		{"client:\n  steps:\n    - set: {life.nonsense: 1s}", "there is no condition life.nonsense"},
		{"client:\n  steps:\n    - set: {policy.key.testid: {Version: '1', Statement: [{Effect: Deny, Action: 'slb:CreateLoadBalancr', Resource: '*'}]}}", "do you mean slb:CreateLoadBalancer?"},
		{"client:\n  steps:\n    - set: {policy.key.testid: {Version: '1', Statement: [{Effect: Deny, Action: 'oss:Get*', Resource: '*'}]}}", "no call is oss:Get*"},
		{"client:\n  steps:\n    - set: {policy.key.testid: {Version: '1', Statement: [{Effect: Allow, Action: ['oss:Get*', 'slb:*'], Resource: '*'}]}}", ""},
		{"client:\n  steps:\n    - set: {stock.cn-hangzhou-g.internet: soldout, vswitch.vsw-1.freeAddresses: 1, policy.key.testid: none}", ""},
		{fault + "{action: Create*}}", ""},
		{fault + "{action: Fly}}", "no emulated action is called Fly"},
		{fault + "{action: DeleteVpc, resource.Statuss: Available}}", "what these actions are about has no field Statuss: there are AccountID, CIDRBlock"},
		{fault + "{action: DeleteVpc, resource.CIDRBlok: a}}", "do you mean CIDRBlock?"},
		{fault + "{action: DeleteVpc, resource.cidrblock: a}}", ""},
		{fault + "{action: DescribeRegions, resource.Status: Available}}", "no action that the rule matches names a stored object"},
		{"client:\n  steps:\n    - fault: {name: f, match: {action: CreateVpc}, effect: {error: {code: InvalidCidrBlok}}}", "effect.error.code: the cloud does not answer InvalidCidrBlok to these actions"},
		{"client:\n  steps:\n    - fault: {name: f, match: {action: CreateVpc}, effect: {error: {code: ServiceUnavailable}}}\n    - call: {product: Vpc, action: CreateVpc, expect: {code: ServiceUnavailable}}", ""},
		{"client:\n  steps:\n    - fault: {name: f, match: {action: DeleteVpc}, effect: {error: {code: ServiceUnavailable}}}\n    - call: {product: Vpc, action: CreateVpc, expect: {code: ServiceUnavailable}}", "no such call is refused with ServiceUnavailable"},
		{"client:\n  steps:\n    - call: {action: DescribeRegions, save: {a: RequestId}}\n    - call: {action: '{{a}}'}", "it is not known before the scenario runs"},
		{apply + "    - kubectl: {patch: {object: service/web, merge: {spec: {ports: [{port: 80, targetPort: http}]}}}}", ""},
		{apply + "    - kubectl: {patch: {object: service/web, merge: {spec: {ports: [{prot: 80}]}}}}", "patch.merge.spec.ports[0].prot: there is no such field: do you mean port?"},
		{apply + "    - kubectl: {patch: {object: service/web, merge: {spec: {type: LoadBalancr}}}}", "spec.type: LoadBalancr is no spec.type of a Service: do you mean LoadBalancer?"},
		{apply + "    - kubectl: {patch: {object: service/web, merge: {spec: {ports: [{port: 80, protocol: tcp}]}}}}", "tcp is no spec.ports.0.protocol of a Service: do you mean TCP?"},
		{apply + "    - kubectl: {patch: {object: service/web, merge: {spec: {externalTrafficPolicy: null}}}}", ""},
		{apply + "    - kubectl: {patch: {object: service/wbe, merge: {spec: {type: NodePort}}}}", "do you mean service default/web?"},
		{apply + "    - kubectl: {patch: {object: service/web, namespace: other, merge: {spec: {type: NodePort}}}}", "no earlier step applies the service other/web"},
		{apply + "    - kubectl: {patch: {object: node/worker, merge: {spec: {unschedulable: true}}}}", "given.cluster does not list it"},
		{"given: {cluster: [{kind: Node, name: worker}]}\n" + apply + "    - kubectl: {patch: {object: node/worker, merge: {spec: {unschedulable: true}}}}", ""},
		{"given: {cluster: [{kind: Nod, name: worker}]}\n" + apply, "do you mean Node?"},
		{apply + "    - kubectl: {delete: {kind: Service, metadata: {name: web}}}", ""},
		{apply + "    - kubectl: {delete: {kind: Service, metadata: {name: wep}}}", "do you mean service default/web?"},
		{"kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: v1, kind: Srvice, metadata: {name: web}}}", "apply.kind: there is no kind Srvice: do you mean Service?"},
		{"kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: v2, kind: Service, metadata: {name: web}}}", "a Service is one of v1, not of v2"},
		{"kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: alibabacloud.com/v1, kind: AlbConfig, metadata: {name: web}, spec: {any: thing}}}", ""},
		{"kubernetes:\n  steps:\n    - kubectl:\n        apply: |\n          apiVersion: v1\n          kind: Service\n          metadata: {name: web}\n          spec: {tpye: LoadBalancer}", "f.yaml:9: kubernetes.steps[0].kubectl.apply.spec.tpye: there is no such field: do you mean type?"},
		{"kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: web, annotations: {service.beta.kubernetes.io/alibaba-cloud-loadbalancer-adress-type: intranet}}}}", "do you mean service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type?"},
		{"kubernetes:\n  steps:\n    - kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: web, annotations: {example.com/mine: a}}}}", ""},
		{apply + "  expect:\n    - event: {object: Service/web, reason: EnsuredLoadBalancer}", ""},
		{apply + "  expect:\n    - event: {object: Service/web, reason: EnsuredLoadBalancr, absent: true}", "do you mean EnsuredLoadBalancer?"},
		{apply + "  expect:\n    - event: {object: Service/web, reason: MineAlone, custom: true}", ""},
		{apply + "  expect:\n    - event: {object: service/web, reason: EnsuredLoadBalancer, absent: true}", "there is no kind service: do you mean Service?"},
		{apply + "  expect:\n    - event: {object: Service/wbe, reason: EnsuredLoadBalancer, absent: true}", "do you mean service default/web?"},
		{apply + "  expect:\n    - service: {name: web, fields: {status.loadBalancer.ingress.0.ip: a, metadata.annotations.a\\.b/c: d}}", ""},
		{apply + "  expect:\n    - service: {name: web, fields: {status.loadBalancer.ingres: {absent: true}}}", "do you mean status.loadBalancer.ingress?"},
		{apply + "  expect:\n    - service: {name: web, fields: {status.loadBalancer.ingress.ip: a}}", "do you mean status.loadBalancer.ingress.0.ip?"},
		{apply + "  expect:\n    - service: {name: wbe, fields: {status.loadBalancer.ingress: {count: 1}}}", "do you mean service default/web?"},
		{apply + "  expect:\n    - finalizer: {object: service/web, name: service.k8s.alibaba/resource, absent: true}", "do you mean service.k8s.alibaba/resources?"},
		{apply + "  expect:\n    - finalizer: {object: service/wbe, name: service.k8s.alibaba/resources, absent: true}", "do you mean service default/web?"},
		{apply + "  expect:\n    - finalizer: {object: service/web, name: example.com/mine, absent: true, custom: true}", ""},
		{"kubernetes:\n  steps:\n    - repeat:\n        times: 3\n        steps: [{kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: 'web-{{n}}'}}}}]\n  expect:\n    - service: {name: web-2, fields: {spec.type: a}}", ""},
		{"kubernetes:\n  steps:\n    - repeat:\n        times: 3\n        steps: [{kubectl: {apply: {apiVersion: v1, kind: Service, metadata: {name: 'web-{{n}}'}}}}]\n  expect:\n    - service: {name: web-x, fields: {spec.type: a}}", "no earlier step applies"},
		{"values: {a: CreateVpd}\nclient:\n  steps:\n    - call: {product: Vpc, action: '{{a}}'}", "do you mean CreateVpc?"},
	}
	for _, test := range tests {
		_, err := scenarios.Load("f.yaml", []byte("about: a\n"+test.text+"\n"), scenarios.Options{Names: names})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s\nis refused with %v, want it taken", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s\nis answered with %v, want %q", test.text, err, test.want)
		}
	}
}

// TestAllAtOnce proves that what can't be read hides no name that nothing has, that each
// problem is reported once, and that nothing is called missing which the unreadable part
// may define.
func TestAllAtOnce(t *testing.T) {
	const text = `about: a
client:
  steps:
    - clock: {advance: 1day}
    - call: {action: CreateLoadBalancr}
    - call: {action: CreateLoadBalancer, save: {lb: LoadBalancerId}, timeout: soon}
    - call: {action: DescribeLoadBalancerAttribute, params: {LoadBalancerId: "{{lb}}", LoadBalancerIdd: x}}
    - set: {account.arrears: maybe}
    - clear: lost
  expect:
    - event: {object: Service/web, reason: Failed, within: 6x}
`
	_, err := scenarios.Load("f.yaml", []byte(text), scenarios.Options{Names: known(t)})
	if err == nil {
		t.Fatal("the scenario is taken")
	}
	for _, want := range []string{
		`f.yaml:4:24: client.steps[0].clock.advance: "1day" is not a duration`, "f.yaml:5:22: client.steps[1].call.action: no emulated action",
		`f.yaml:6:`, "f.yaml:7:", "do you mean LoadBalancerId?", "account.arrears=maybe: want true or false", "expect[0].event.within: there is no such field",
	} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("the problems have %q %d times, want it once:\n%v", want, strings.Count(err.Error(), want), err)
		}
	}
	for _, not := range []string{"no earlier step", "nothing uses", "there is no value"} {
		if strings.Contains(err.Error(), not) {
			t.Errorf("the problems have %q, which the parts that can't be read may define:\n%v", not, err)
		}
	}
}
