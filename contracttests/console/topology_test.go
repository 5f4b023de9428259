package console

import (
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

const node1, node2 = "i-bp1clbemu0000000001", "i-bp1clbemu0000000002"

// web makes a load balancer with a listener over a group of a running server and one
// that has no health check to pass.
func (b *tab) web(name string) (lb, group string) {
	b.Helper()
	lb = b.balancer(name)
	group = b.call(emulatortest.Slb, "CreateVServerGroup", "VServerGroupId", "LoadBalancerId", lb, "VServerGroupName", "pods of "+name,
		"BackendServers", `[{"ServerId":"`+node1+`","Port":8080,"Weight":100},{"ServerId":"`+node2+`","Port":8080,"Weight":50}]`)
	b.call(emulatortest.Slb, "CreateLoadBalancerHTTPListener", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80", "Bandwidth", "-1",
		"VServerGroupId", group, "HealthCheck", "on", "HealthCheckURI", "/healthz", "HealthCheckConnectPort", "8080",
		"HealthyThreshold", "3", "UnhealthyThreshold", "3", "HealthCheckTimeout", "5", "HealthCheckInterval", "2", "StickySession", "off")
	b.call(emulatortest.Slb, "StartLoadBalancerListener", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80")
	return lb, group
}

// fast makes a load balancer of NLB with a listener over a group of an instance.
func (b *tab) fast(name string) (lb, group string) {
	b.Helper()
	const vpc = "vpc-bp1clbemu000000000001"
	lb = b.call(emulator.Version("Nlb"), "CreateLoadBalancer", "LoadbalancerId", "AddressType", "Intranet", "LoadBalancerName", name, "VpcId", vpc,
		"ZoneMappings.1.ZoneId", "cn-hangzhou-h", "ZoneMappings.1.VSwitchId", "vsw-bp1clbemu000000000001",
		"ZoneMappings.2.ZoneId", "cn-hangzhou-i", "ZoneMappings.2.VSwitchId", "vsw-bp1clbemu000000000002")
	group = b.call(emulator.Version("Nlb"), "CreateServerGroup", "ServerGroupId", "ServerGroupName", "of "+name, "VpcId", vpc, "Protocol", "TCP")
	b.call(emulator.Version("Nlb"), "AddServersToServerGroup", "RequestId", "ServerGroupId", group, "Servers.1.ServerType", "Ecs", "Servers.1.ServerId", node1,
		"Servers.1.Port", "5432", "Servers.1.Weight", "100")
	b.call(emulator.Version("Nlb"), "CreateListener", "ListenerId", "LoadBalancerId", lb, "ListenerProtocol", "TCP", "ListenerPort", "443", "ServerGroupId", group)
	return lb, group
}

// TestTopologyIsLive proves that the page teaches what to do where there is nothing, and
// that it shows what calls make, change and delete, of both products, with the health of
// servers, without being loaded again.
func TestTopologyIsLive(t *testing.T) {
	b := open(t)
	b.visit("/")
	b.shows("#none", "clbemu call CreateLoadBalancer")
	b.shows("#live", "live")
	value[bool](b, "window.sameDocument = true")

	lb, group := b.web("web")
	b.shows("#balancers tbody tr", "web")
	b.shows("#balancers tbody tr", "2/2")
	b.hides("#none")
	b.click("a.row")
	b.until(fmt.Sprintf("location.search === '?lb=%s'", lb))
	b.shows("#detail", "http:80")
	b.shows("#detail", "pods of web")
	b.shows("#detail td", node2)
	b.weights("100,50")

	b.call(emulatortest.Slb, "SetVServerGroupAttribute", "RequestId", "VServerGroupId", group, "BackendServers", `[{"ServerId":"`+node1+`","Port":8080,"Weight":77}]`)
	b.weights("77,50")
	rule := b.call(emulatortest.Slb, "CreateRules", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80",
		"RuleList", `[{"RuleName":"api","Url":"/api","VServerGroupId":"`+group+`"}]`)
	b.shows("#detail .tree", "/api")
	if rule == "" {
		t.Error("CreateRules has no RequestId")
	}
	b.call(emulatortest.Ecs, "StopInstance", "RequestId", "InstanceId", node2, "ForceStop", "true")
	b.shows("#balancers tbody tr", "1/2")
	b.shows("#detail .badge[data-mood=bad]", "abnormal")

	nlb, _ := b.fast("fast")
	b.shows("#balancers tbody tr:first-child", "NLB")
	b.shows("#balancers tbody tr:first-child", "1/1")
	b.visit("/?lb=" + nlb)
	b.shows("#detail", "tcp:443")
	b.shows("#detail td", "192.168.0.11:5432")
	b.shows("#detail", "in cn-hangzhou-i")

	b.visit("/?unhealthy=only")
	b.shows("#count", "1 of 2")
	b.visit("/?lb=" + lb + "&q=web")
	b.shows("#count", "1 of 2")
	b.shows("#detail", "http:80")
	b.call(emulatortest.Slb, "DeleteLoadBalancer", "RequestId", "LoadBalancerId", lb)
	b.shows("#detail", "there is no lb "+lb)
	b.shows("#none", "matches the search")
}

// TestUncheckedServers proves that servers without a health check are neither healthy nor not,
// in the list, in the detail and for the search, and that a mark of one says what it needs.
func TestUncheckedServers(t *testing.T) {
	b := open(t)
	lb := b.balancer("shop")
	b.call(emulatortest.Slb, "AddBackendServers", "RequestId", "LoadBalancerId", lb, "BackendServers", `[{"ServerId":"`+node1+`"},{"ServerId":"`+node2+`"}]`)
	b.call(emulatortest.Slb, "CreateLoadBalancerHTTPListener", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80", "BackendServerPort", "8080", "Bandwidth", "-1",
		"HealthCheck", "off", "StickySession", "off")
	b.call(emulatortest.Slb, "StartLoadBalancerListener", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80")
	b.visit("/?unhealthy=only")
	b.shows("#none", "matches the search")
	b.visit("/?lb=" + lb)
	b.shows("#balancers tbody tr", "not checked")
	b.shows("#detail td", "not checked")
	b.hides("#balancers .badge[data-mood=odd], #detail td .badge")
	b.do("mark it unhealthy", choose("#detail td select", "abnormal"))
	b.shows("#said", "switch a health check on")
	b.shows("#detail td", "not checked")
}

// TestManyBalancers proves that a thousand load balancers are shown and found. It prints
// how long that takes.
func TestManyBalancers(t *testing.T) {
	b := open(t)
	b.World(t, "quota.slb_quota_instances_num", "2000")
	b.World(t, "quota.slb_quota_backendserver_attached_num", "2000")
	const many = 1000
	for i := range many {
		b.web(fmt.Sprintf("service-%04d", i))
	}
	begin := time.Now()
	b.visit("/")
	b.shows("#count", fmt.Sprint(many))
	shown := time.Since(begin)
	if rows := value[int](b, "document.querySelectorAll('#balancers tbody tr').length"); rows != many {
		t.Errorf("%d rows, want %d", rows, many)
	}
	elements, heap := value[int](b, "document.querySelectorAll('*').length"), value[int](b, "Math.round(performance.memory.usedJSHeapSize / 1024)")
	begin = time.Now()
	b.balancer("newest")
	b.shows("#balancers", "newest")
	changed := time.Since(begin)
	begin = time.Now()
	b.press("/")
	b.typed("service-07")
	b.shows("#count", fmt.Sprintf("100 of %d", many+1))
	t.Logf("%d load balancers are shown after %v, in %d elements and %d KiB of script's heap; another one after %v; searched in %v", many, shown.Round(time.Millisecond),
		elements, heap, changed.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
}
