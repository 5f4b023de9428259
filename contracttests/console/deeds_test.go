package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// byConsole waits until the journal has calls of an action by the console, and returns
// the parameters of the last.
func (b *tab) byConsole(action, code string) map[string]string {
	b.Helper()
	b.until(fmt.Sprintf("fetch('/v1/journal?userAgent=console&action=%s&code=%s').then((r) => r.json()).then((j) => j.entries.length > 0)", action, code))
	calls := b.Calls(b.T, "userAgent=console", "action="+action, "code="+code)
	last := calls[len(calls)-1]
	if last.AccessKeyID != emulatortest.AccessKeyID {
		b.Errorf("%s is signed by %q, want the key of the account", action, last.AccessKeyID)
	}
	sent := make(map[string]string)
	for _, p := range last.Parameters {
		sent[p.Name] = p.Value
	}
	return sent
}

// weights waits for the weights that the fields show.
func (b *tab) weights(want string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll('#detail input[name=weight]')].map((f) => f.value).join() === %q", want))
}

// TestDeeds proves that what the pages tell their reader to do in the cloud's console can
// be done here, for both products, by calls that the journal shows as the console's.
func TestDeeds(t *testing.T) {
	b := open(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.StrictAuth = true }))
	clb, group := b.web("web")
	nlb, servers := b.fast("fast")
	for _, c := range []struct {
		id, listener, start, stop, remove, weigh string
		group                                    string
	}{
		{clb, "http:80", "StartLoadBalancerListener", "StopLoadBalancerListener", "DeleteLoadBalancerListener", "SetVServerGroupAttribute", group},
		{nlb, "tcp:443", "StartListener", "StopListener", "DeleteListener", "UpdateServerGroupServersAttribute", servers},
	} {
		b.visit("/?lb=" + c.id)
		b.click(fmt.Sprintf("[aria-label='Stop the listener %s']", c.listener))
		b.byConsole(c.stop, "OK")
		b.click(fmt.Sprintf("[aria-label='Start the listener %s']", c.listener))
		b.byConsole(c.start, "OK")
		b.shows(fmt.Sprintf("[aria-label='Stop the listener %s']", c.listener), "Stop")

		b.write("#tag [name=key]", "team")
		b.write("#tag [name=value]", "web")
		b.press("Enter")
		b.shows(".tags", "team=web")
		b.write("#tag [name=key]", "team")
		b.write("#tag [name=value]", "api")
		b.press("Enter")
		b.shows(".tags", "team=api")
		b.click("[aria-label='Remove the tag team']")
		b.until("!document.querySelector('.tags')")
		b.byConsole("UntagResources", "OK")

		b.write(fmt.Sprintf("[aria-label^='Weight of %s/%s']", c.group, node1), "7")
		b.press("Enter")
		if sent := b.byConsole(c.weigh, "OK"); !strings.Contains(fmt.Sprint(sent), node1) {
			t.Errorf("%s sent %v", c.weigh, sent)
		}
		b.until(fmt.Sprintf("document.querySelector(\"[aria-label^='Weight of %s/%s']\").defaultValue === '7'", c.group, node1))

		health := fmt.Sprintf("[aria-label^='What health checks find of %s/%s']", c.group, node1)
		b.do("mark it unhealthy", choose(health, "abnormal"))
		b.shows("#detail .badge[data-mood=bad]", "abnormal")
		b.until(fmt.Sprintf("document.querySelector(%q).value === 'abnormal'", health))
		b.do("leave it to the checks", choose(health, "default"))
		b.hides("#detail .badge[data-mood=bad]")

		b.click(fmt.Sprintf("[aria-label='Delete the listener %s']", c.listener))
		b.click("dialog.sure button[value=no]")
		b.click(fmt.Sprintf("[aria-label='Delete the listener %s']", c.listener))
		b.click("dialog.sure button[value=yes]")
		b.byConsole(c.remove, "OK")
		b.shows("#detail", "It has no listeners.")
	}
	if calls := b.Calls(t, "userAgent=console", "action=DeleteLoadBalancerListener"); len(calls) != 1 {
		t.Errorf("%d calls delete the listener, want the one that was confirmed", len(calls))
	}
}

// TestMarkElsewhere proves that to mark a server where nothing checks it says what the mark
// acts on.
func TestMarkElsewhere(t *testing.T) {
	b := open(t)
	lb, _ := b.web("web")
	idle := b.call(emulatortest.Slb, "CreateVServerGroup", "VServerGroupId", "LoadBalancerId", lb, "BackendServers", `[{"ServerId":"`+node1+`","Port":9090}]`)
	b.visit("/?lb=" + lb)
	health := fmt.Sprintf("[aria-label^='What health checks find of %s/%s']", idle, node1)
	b.until(fmt.Sprintf("document.querySelector(%q)", health))
	b.do("mark it unhealthy", choose(health, "abnormal"))
	b.shows("#said", "the mark acts in its other groups")
	b.shows("#detail .badge[data-mood=bad]", "abnormal")
}

// TestDropProtected proves that a load balancer is deleted after a question, and one that
// is protected after another.
func TestDropProtected(t *testing.T) {
	b := open(t)
	plain, clb := b.balancer("plain"), b.balancer("protected")
	nlb, _ := b.fast("fast")
	b.call(emulatortest.Slb, "SetLoadBalancerDeleteProtection", "RequestId", "LoadBalancerId", clb, "DeleteProtection", "on")
	b.call(emulator.Version("Nlb"), "UpdateLoadBalancerProtection", "RequestId", "LoadBalancerId", nlb, "DeletionProtectionEnabled", "true")
	b.visit("/?lb=" + plain)
	b.click("#detail .bar button")
	b.click("dialog.sure button[value=yes]")
	b.shows("#detail", "there is no lb "+plain)
	for _, id := range []string{clb, nlb} {
		b.visit("/?lb=" + id)
		b.click("#detail .bar button")
		b.click("dialog.sure button[value=yes]")
		b.shows("dialog.sure", "protected against deletion")
		b.click("dialog.sure button[value=no]")
		b.hides("dialog.sure")
		b.shows("#detail h3", "Listeners")
		b.click("#detail .bar button")
		b.click("dialog.sure button[value=yes]")
		b.shows("dialog.sure", "protected against deletion")
		b.click("dialog.sure button[value=yes]")
		b.shows("#detail", "there is no lb "+id)
	}
}

// TestRefusedDeed proves that a deed which the cloud refuses changes nothing, and says why.
func TestRefusedDeed(t *testing.T) {
	b := open(t)
	clb, _ := b.web("web")
	b.Fault(t, "{name: busy, match: {action: StopLoadBalancerListener}, effect: {error: {code: ServiceIsStopping}}}")
	b.visit("/?lb=" + clb)
	b.click("[aria-label='Stop the listener http:80']")
	b.shows("#said", "The cloud refused StopLoadBalancerListener: 409 ServiceIsStopping")
	b.shows("[aria-label='Stop the listener http:80']", "Stop")
}

// TestFindService proves that a load balancer is found by its EXTERNAL-IP, and by the
// Service that a Cloud Controller Manager created it for.
func TestFindService(t *testing.T) {
	b := open(t)
	clb, group := b.web("a5f0c1d2e3b4a5968778695a4b3c2d1e")
	b.call(emulatortest.Slb, "SetVServerGroupAttribute", "RequestId", "VServerGroupId", group, "VServerGroupName", "k8s/30080/nginx-ingress-lb/kube-system/c1")
	nlb, _ := b.fast("ab")
	listener := b.call(emulator.Version("Nlb"), "CreateListener", "ListenerId", "LoadBalancerId", nlb, "ListenerProtocol", "TCP", "ListenerPort", "80",
		"ServerGroupId", b.call(emulator.Version("Nlb"), "CreateServerGroup", "ServerGroupId", "ServerGroupName", "other", "VpcId", "vpc-bp1clbemu000000000001", "Protocol", "TCP"),
		"ListenerDescription", "k8s.80.TCP.web.shop.c1")
	b.balancer("other")
	b.visit("/")
	b.shows("#count", "3")
	address := b.call(emulatortest.Slb, "DescribeLoadBalancerAttribute", "Address", "LoadBalancerId", clb)
	for search, want := range map[string]string{address: clb, "kube-system/nginx-ingress-lb": clb, "shop/web": nlb} {
		b.write("#search", search)
		b.shows("#count", "1 of 3")
		b.shows("#balancers tbody tr", want)
	}
	b.visit("/?lb=" + clb)
	b.shows("#detail dd", "kube-system/nginx-ingress-lb")
	b.visit("/?lb=" + nlb)
	b.shows("#detail dd", "shop/web")
	if listener == "" {
		t.Error("CreateListener has no ListenerId")
	}
}
