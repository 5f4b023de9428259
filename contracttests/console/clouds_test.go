package console

import (
	"context"
	"testing"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestClouds proves that a cloud is forked, reset and deleted on the page, and that its
// own pages show and change nothing else.
func TestClouds(t *testing.T) {
	b := open(t)
	b.balancer("shared")
	b.visit("/clouds")
	b.write("#fork input[name=name]", "Team A")
	b.click("#fork button")
	b.shows("#problem", "is not a name for a cloud")
	b.write("#fork input[name=name]", "team-a")
	b.click("#fork button")
	b.shows("#clouds tbody", "team-a")
	b.shows("#count", "2")
	within := &apiclient.Client{URL: b.URL(), AccessKeyID: "team-a." + apiclient.AccessKeyID}
	for _, name := range []string{"its-own", "its-other"} {
		if reply, err := within.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": name, "InstanceChargeType": "PayByCLCU"}); err != nil || reply.Status != 200 {
			t.Fatal(reply, err)
		}
	}
	b.visit("/clouds/team-a/")
	b.shows("#cloud", "cloud team-a")
	b.shows("#balancers", "its-own")
	b.shows("#balancers", "shared")
	b.click("nav a[data-key='2']")
	b.until("location.pathname === '/clouds/team-a/journal' && document.querySelector('nav a[aria-current]').textContent === 'Journal'")
	b.until("document.querySelectorAll('#entries tbody tr').length === 2")
	b.visit("/clouds/team-a/clouds")
	b.click("button[aria-label='Reset team-a']")
	b.click("dialog.sure button[value=yes]")
	b.shows("#said", "team-a is as default now") // who leaves a page cuts off its calls
	b.visit("/clouds/team-a/")
	b.shows("#balancers", "shared")
	b.until("!document.querySelector('#balancers').innerText.includes('its-own')")
	b.visit("/clouds")
	b.click("button[aria-label='Delete team-a']")
	b.click("dialog.sure button[value=yes]")
	b.shows("#count", "1")
	if list, err := (&controlclient.Client{URL: b.ControlURL()}).Clouds(context.Background()); err != nil || len(list) != 1 {
		t.Errorf("the clouds are %+v, %v, want the default one", list, err)
	}
}

// TestCloudsOfReplicas proves that replicas offer no port to a cloud: the page asks one
// emulator, whose description of itself the browser completes.
func TestCloudsOfReplicas(t *testing.T) {
	b := open(t)
	b.visit("/clouds")
	b.shows("#fork", "a port of its own")
	b.first(`const real = window.fetch;
		window.fetch = async (url, ...rest) => {
			const answer = await real(url, ...rest);
			if (!String(url).endsWith('/v1/server')) return answer;
			const server = await answer.json();
			const one = { name: 'one', leads: true };
			return Response.json({ ...server, replicas: { self: 'one', leader: 'one', leads: true, term: 1, all: [one] } });
		};`)
	b.visit("/clouds")
	b.shows("#server", "one of 1 replicas leads")
	b.hides("#port")
	b.shows("#fork", "keep it over restarts")
}

// TestUnopenedCloud proves that the page says why a durable cloud could not be opened, and
// offers only to delete it. The browser completes the emulator's answer.
func TestUnopenedCloud(t *testing.T) {
	b := open(t)
	b.first(`const real = window.fetch;
		window.fetch = async (url, ...rest) => {
			const answer = await real(url, ...rest);
			if (!String(url).endsWith('/v1/clouds')) return answer;
			const { clouds } = await answer.json();
			const hurt = { name: 'hurt', durable: true, resources: 0, calls: 0, problem: 'the durable cloud hurt could not be opened: it is damaged' };
			return Response.json({ clouds: [...clouds, hurt] });
		};`)
	b.visit("/clouds")
	b.shows("#clouds tbody", "could not be opened: it is damaged")
	b.shows("button[aria-label='Delete hurt']", "Delete")
	b.hides("button[aria-label='Reset hurt']")
	b.shows("#clouds", "clbemu env --cloud default")
	b.until("![...document.querySelectorAll('#fork option')].some((o) => o.value === 'hurt')")
}
