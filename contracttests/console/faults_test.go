package console

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestFault proves that a rule added on the page breaks a real call, that its
// hits are shown as they come, and that calls go well when it is removed there.
func TestFault(t *testing.T) {
	b := open(t)
	b.visit("/faults")
	b.shows("#none", "There are no fault rules")
	b.do("choose", choose("#template", "refuse"))
	b.write("#action", "DescribeRegions")
	b.until("document.querySelector('#rule').value.includes('action: DescribeRegions')")
	b.click("#add button")
	b.shows("#rules .hits", "changed 0 of 0")
	describe := func(want string) {
		t.Helper()
		reply, err := b.client.Call(emulatortest.Slb, "DescribeRegions", nil)
		if err != nil || reply.Text("Code") != want {
			t.Fatalf("DescribeRegions = %v, %v, want %q", reply.Text("Code"), err, want)
		}
	}
	describe("ServiceUnavailable")
	b.shows("#rules .hits", "changed 1 of 1")
	b.shows("#rules .badge", "spent")
	describe("")
	b.click("#reset")
	b.shows("#rules .hits", "changed 0 of 0")
	b.click("#rules .remove")
	b.shows("#none", "There are no fault rules")
	describe("")

	b.write("#rule", "name: x\nmatch: {action: DescribRegions}\neffect: {reset: true}")
	b.click("#add button")
	b.shows("#problem", "do you mean DescribeRegions?")
	b.Fault(t, "{name: from-elsewhere, effect: {reset: true}}")
	b.visit("/faults?rule=from-elsewhere")
	b.shows("article.current h2", "from-elsewhere")
}

// TestEditFault proves that a rule is switched off and on where it is, with its counters, and
// edited: a wrong text is refused there, and a new name replaces the old one.
func TestEditFault(t *testing.T) {
	b := open(t)
	b.Fault(t, "{name: first, match: {action: DescribeRegions}, effect: {error: {code: ServiceUnavailable}}}")
	b.Fault(t, "{name: second, match: {action: DescribeZones}, effect: {reset: true}}")
	describe := func(want string) {
		t.Helper()
		if reply, err := b.client.Call(emulatortest.Slb, "DescribeRegions", nil); err != nil || reply.Text("Code") != want {
			t.Fatalf("DescribeRegions = %v, %v, want %q", reply.Text("Code"), err, want)
		}
	}
	describe("ServiceUnavailable")
	b.visit("/faults")
	b.click("[aria-label='Switch first off']")
	b.shows("[data-rule=first] .badge", "off")
	describe("")
	b.click("[aria-label='Switch first on']")
	b.shows("[data-rule=first] .switch", "Switch off")
	describe("ServiceUnavailable")
	b.shows("[data-rule=first] .hits", "changed 2 of 2")

	b.click("[aria-label='Edit first']")
	b.write("[data-rule=first] textarea", "name: first\nmatch: {action: DescribRegions}\neffect: {reset: true}")
	b.click("[data-rule=first] .save")
	b.shows("[data-rule=first] .problem", "do you mean DescribeRegions?")
	describe("ServiceUnavailable") // which does not take away what is written
	b.write("[data-rule=first] textarea", "name: renamed\nmatch: {action: DescribeRegions}\neffect: {error: {code: Throttling.User}}")
	b.click("[data-rule=first] .save")
	b.until("[...document.querySelectorAll('article')].map((a) => a.dataset.rule).join() === 'second,renamed'")
	describe("Throttling.User")
	b.click("[aria-label='Edit second']")
	b.write("[data-rule=second] textarea", "name: second\nmatch: {action: DescribeRegions}\neffect: {error: {code: ServiceUnavailable}}")
	b.click("[data-rule=second] .save")
	b.until("!document.querySelector('[data-rule=second] textarea')") // which is when it is saved
	b.until("[...document.querySelectorAll('article')].map((a) => a.dataset.rule).join() === 'second,renamed'")
	describe("ServiceUnavailable")

	// What is written in one stays while another changes or is left.
	const written = "document.querySelector('[data-rule=renamed] textarea')?.value === 'half'"
	b.click("[aria-label='Edit renamed']")
	b.write("[data-rule=renamed] textarea", "half")
	describe("ServiceUnavailable")
	b.shows("[data-rule=second] .hits", "changed 2 of 2")
	b.click("[aria-label='Edit second']")
	b.click("[data-rule=second] .cancel")
	b.until("!document.querySelector('[data-rule=second] textarea')")
	b.Fault(t, "{name: third, match: {action: DescribeZones}, effect: {delay: {fixed: 1ms}}}")
	b.shows("[data-rule=third] h2", "third")
	b.until(written)
	b.click("[data-rule=renamed] .cancel")
	b.shows("[data-rule=renamed] pre", "Throttling.User")
}

// TestTemplates proves that the emulator takes every template as it stands, and one
// about calls for an action that is chosen.
func TestTemplates(t *testing.T) {
	b := open(t)
	b.visit("/faults")
	ids := value[[]string](b, "[...document.querySelector('#template').options].map((o) => o.value)")
	if len(ids) < 5 {
		t.Fatalf("the templates are %q", ids)
	}
	rules, ofPackets := 0, 0
	add := func() {
		b.click("#add button")
		rules++
		b.shows("#count", fmt.Sprint(rules))
	}
	for _, id := range ids {
		b.do("choose", choose("#template", id))
		add()
		if value[bool](b, "document.querySelector('#action').disabled") {
			ofPackets++ // which have no action
			continue
		}
		b.write("#action", "DescribeVpcs")
		add()
	}
	if ofPackets < 3 {
		t.Errorf("%d templates are about packets", ofPackets)
	}
	b.click("#clear")
	b.shows("#none", "There are no fault rules")
	b.visit("/faults?template=lost&action=DeleteLoadBalancer")
	b.until("document.querySelector('#rule').value.includes('lost-deleteloadbalancer')")
}

// TestRefusalStays proves that the reason of a refused change stays on the page when it refreshes.
func TestRefusalStays(t *testing.T) {
	b := open(t)
	b.Fault(t, "{name: busy, match: {action: DescribeVpcs}, effect: {error: {code: ServiceUnavailable}}}")
	b.Fork(t)
	b.visit("/faults")
	b.first(`const real = window.fetch;
		window.looks = 0; // that the page takes after a refusal
		window.fetch = async (url, how) => {
			if (how?.method === 'DELETE') {
				window.looks = 1;
				return Response.json({ error: 'no deletion today' }, { status: 409 });
			}
			const answer = await real(url, how);
			if (window.looks) window.looks++;
			return answer;
		};`)
	for page, clicks := range map[string][]string{
		"/faults": {"[aria-label='Remove busy']"},
		"/clouds": {"[aria-label^='Delete t-']", "dialog.sure button[value=yes]"},
	} {
		b.visit(page)
		for _, at := range clicks {
			b.click(at)
		}
		b.until("window.looks > 1")
		b.until("fetch('/readyz').then(() => fetch('/readyz'))") // the look is drawn meanwhile
		b.shows("#said", "no deletion today")
	}
}
