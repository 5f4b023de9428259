package console

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestPressed proves of every page that what a pointer is down on stays where it is, so that the
// click is not lost, and that what happened meanwhile is drawn afterwards.
func TestPressed(t *testing.T) {
	b := open(t)
	paths := b.scripted()
	// Pages that hold a change back wait for the end of the press.
	b.first(`window.held = 0;
		const listen = window.addEventListener;
		window.addEventListener = (event, ...how) => {
			if (event === 'released') held++;
			listen.call(window, event, ...how);
		};`)
	control := &controlclient.Client{URL: b.ControlURL()}
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const played = "reply-lost-after-backend-add"
	ends := []string{"pointerup", "pointercancel", "contextmenu"} // of a press
	for i, page := range pages {
		row, known := map[string]struct {
			pressed string
			change  func()
			shown   string
		}{
			"topology":   {"#balancers a.row", func() { b.World(t, "quota.slb_quota_instances_num", "10"); b.balancer("before") }, "document.querySelector('#balancers a.row').innerText === 'before'"},
			"journal":    {"#entries a.row", func() { b.call(emulatortest.Slb, "DescribeTags", "RequestId") }, "document.querySelector('#entries a.row').innerText === 'DescribeTags'"},
			"faults":     {".edit", func() { b.Fault(t, "{name: later, effect: {reset: true}, disabled: true}") }, "document.querySelector('[data-rule=later]')"},
			"conditions": {"#zones button", func() { b.World(t, "stock.cn-hangzhou-h", "soldout") }, "document.querySelectorAll('#zones [data-mood=bad]').length === 2"},
			"scenarios":  {"#library a.row", func() { _, err := control.RunScenario(ctx, played, nil); must(err) }, "document.querySelector('[data-name=" + played + "] .badge')"},
			"symptoms": {"#detail article button", func() {
				_, err := control.StartScenario(ctx, "", []byte(waits))
				must(err)
			}, "document.querySelector('#detail article button:disabled')"},
			"clouds": {"#clouds button", func() { _, err := control.CreateCloud(ctx, "later", controlapi.NewCloud{}); must(err) }, "document.querySelector('[aria-label=\"Delete later\"]')"},
			"explore": {"#cells a", func() {
				var results map[string]json.RawMessage
				must(control.Exploration(ctx, &results))
				results["columns"] = json.RawMessage(fmt.Sprintf("[%q]", "later"))
				must(control.PutExploration(ctx, results))
			}, "[...document.querySelectorAll('#cells th')].some((th) => th.innerText === 'later')"},
			"resources": {"#resources a.row", func() { b.call(emulatortest.Ecs, "StartInstance", "RequestId", "InstanceId", node2) }, "document.querySelectorAll('#resources [data-mood=good]').length === 4"},
		}[page.name]
		if !known {
			t.Errorf("nothing is pressed on the page %s", page.name)
			continue
		}
		b.visit(paths[page.name])
		b.until(page.ready)
		b.shows("#live", "live")
		b.until("!document.querySelector('article button:disabled')") // as while the page hears of the last play
		if value[bool](b, "Boolean("+row.shown+")") {
			t.Errorf("%s shows what is still to come", page.name)
		}
		value[bool](b, fmt.Sprintf(`(() => {
			window.pressed = document.querySelector(%q);
			window.before = pressed.getBoundingClientRect().top;
			window.held = 0;
			return pressed.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
		})()`, row.pressed))
		row.change()
		const stays = "(pressed.isConnected && pressed.getBoundingClientRect().top === before)"
		b.until("held || !" + stays)
		if !value[bool](b, stays) {
			t.Errorf("%s draws %s again while a pointer is down on it", page.name, row.pressed)
		}
		value[bool](b, "pressed.dispatchEvent(new PointerEvent('"+ends[i%len(ends)]+"', { bubbles: true }))")
		b.until(row.shown)
	}
}

// TestOpenedList proves that a list of options stays open while what is around it changes, which
// is drawn when the list is closed.
func TestOpenedList(t *testing.T) {
	b := open(t)
	lb, _ := b.web("web")
	b.first(`window.looks = 0; // at the load balancer; the next one begins when what the last one found is drawn
		const real = window.fetch;
		window.fetch = async (url, how) => {
			const answer = await real(url, how);
			if (String(url).includes('/v1/loadbalancers/')) window.looks++;
			return answer;
		};`)
	b.visit("/?lb=" + lb)
	b.click("#detail select")
	for _, name := range []string{"renamed", "twice", "again"} {
		looks := value[int](b, "looks")
		b.call(emulatortest.Slb, "SetLoadBalancerName", "RequestId", "LoadBalancerId", lb, "LoadBalancerName", name)
		b.until(fmt.Sprintf("looks > %d", looks))
	}
	if !value[bool](b, "document.querySelector('#detail select').matches(':open') && document.querySelector('#detail h2').innerText === 'web'") {
		t.Error("the list was closed")
	}
	b.press("Escape")
	b.shows("#detail h2", "again")
}
