package console

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// submit sends the form that is open, and waits until it is gone.
func (b *tab) submit() {
	b.Helper()
	b.click("dialog.create button.primary")
	b.until("!document.querySelector('dialog.create')")
}

// pick chooses the options of the open form whose texts contain one of these.
func (b *tab) pick(field string, texts ...string) {
	b.Helper()
	for _, text := range texts {
		option := fmt.Sprintf("[...document.querySelectorAll('dialog.create [name=%s] option')].find((o) => o.text.includes(%q))", field, text)
		b.until(option)
		b.until(fmt.Sprintf("(%s.selected = true, document.querySelector('dialog.create [name=%s]').dispatchEvent(new Event('change', {bubbles: true})), true)", option, field))
	}
}

// TestCreate proves that a load balancer of each product, with a group, a server and a
// listener, is created on the page by calls of the console, and that a refusal stays in the
// form and says why.
func TestCreate(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		product, listener             string
		vSwitches                     []string
		createListener, add, addGroup string
	}{
		{"CLB", "http", nil, "CreateLoadBalancerHTTPListener", "AddVServerGroupBackendServers", "CreateVServerGroup"},
		{"NLB", "TCP", []string{"vsw-bp1clbemu000000000001", "vsw-bp1clbemu000000000002"}, "CreateListener", "AddServersToServerGroup", "CreateServerGroup"},
	} {
		b.visit("/")
		b.hides("#loading")
		b.click("#create")
		b.pick("product", c.product)
		b.write("dialog.create [name=name]", "made-"+c.product)
		if c.vSwitches == nil {
			b.hides("dialog.create [name=vSwitches]")
		} else {
			b.pick("vSwitches", c.vSwitches...)
		}
		b.submit()
		b.shows("#detail h2", "made-"+c.product)
		for _, id := range c.vSwitches { // each on a line of its own, if need be
			b.until("[...document.querySelectorAll('#detail .whole')].some((e) => e.textContent === '" + id + "')")
		}
		b.byConsole("CreateLoadBalancer", "OK")

		b.click("#detail .bar button:nth-of-type(2)") // a server group
		b.write("dialog.create [name=name]", "servers")
		b.submit()
		b.byConsole(c.addGroup, "OK")

		b.click("#detail .bar button:nth-of-type(1):not(.bar:first-child button)") // a listener
		b.pick("protocol", c.listener)
		b.write("dialog.create [name=port]", "8080")
		b.pick("group", "servers")
		b.submit()
		b.byConsole(c.createListener, "OK")
		b.shows("#detail .node", ":8080")
		b.shows("#detail .node .badge", "unning")

		b.click("[aria-label^='Add a server to']")
		b.pick("server", node1)
		b.write("dialog.create [name=port]", "80")
		b.submit()
		b.byConsole(c.add, "OK")
		b.shows("#detail td", node1)
	}
	b.World(t, "account.arrears", "true")
	b.visit("/")
	b.hides("#loading")
	b.press("c")
	b.click("dialog.create button.primary")
	b.shows("dialog.create #said", "ORDER.ARREARAGE")
	b.click("dialog.create button[type=button]:not(.primary)")
	b.until("!document.querySelector('dialog.create') && document.querySelector('body > #said')")
	// The page does not keep what the form said.
	b.press("c")
	b.click("dialog.create button.primary")
	b.shows("dialog.create #said", "ORDER.ARREARAGE")
	b.World(t, "account.arrears", "false")
	b.submit()
	b.hides("body > #said")

	acl := b.call(emulatortest.Slb, "CreateAccessControlList", "AclId", "AclName", "offices")
	b.visit("/resources?kind=acl&id=" + acl)
	b.click("#detail [data-focus=entry]")
	b.write("dialog.create [name=entry]", "192.0.2.0/24")
	b.submit()
	b.shows("#detail dd", "192.0.2.0/24")
}

// names waits for the names that the list shows, in their order.
func (b *tab) names(want string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll('#balancers a.row')].map((a) => a.textContent).join() === %q", want))
}

// TestSortAndSelect proves that a list is sorted by the column that is chosen, as the address
// says, and that what is selected is deleted together after one question.
func TestSortAndSelect(t *testing.T) {
	b := open(t)
	b.web("bb")
	b.balancer("aa")
	b.fast("cc")
	b.visit("/")
	b.names("aa,bb,cc")
	b.click("[data-focus='sort name']")
	b.names("aa,bb,cc")
	b.click("[data-focus='sort name']")
	b.names("cc,bb,aa")
	b.until("location.search === '?sort=-name'")
	b.click("[data-focus='sort servers']")
	b.names("aa,cc,bb")
	b.visit("/?sort=-servers")
	b.names("bb,cc,aa")
	b.until("document.querySelector('[aria-sort=descending]').textContent === 'Servers'")
	b.click("[aria-label='Select aa']")
	b.click("[aria-label='Select cc']")
	b.shows("#chosen", "2 selected")
	b.click("#drop")
	b.shows("dialog.sure", "Delete 2 load balancers?")
	b.click("dialog.sure button[value=yes]")
	b.names("bb")
	b.hides("#chosen")
	b.visit("/resources?kind=instance&sort=-address")
	b.until("document.querySelector('#resources tbody a.row').textContent === '" + "i-bp1clbemu0000000003" + "'")
}

// TestNoSuchPage proves that an address without a page has one in a browser.
func TestNoSuchPage(t *testing.T) {
	b := open(t)
	for _, path := range []string{"/nosuch", "/v1/nosuch", "/clouds/gone/journal"} {
		b.visit(path)
		b.shows("h1", "No such page")
		b.shows("#live", "live")
		b.click("nav a[data-key='2']")
		b.shows("h1", "Journal")
	}
}

var developed = emulatortest.WithConfig(func(cfg *emulator.Config) {
	cfg.Version = controlapi.Version{Version: "v0.0.0-20261126063135-54af5e12c0de+dirty"}
})

// TestSortNarrow proves that a list of cards can be sorted, and that an unknown kind of
// resource in the address shows another.
func TestSortNarrow(t *testing.T) {
	b := open(t)
	b.balancer("aa")
	b.balancer("bb")
	b.size(400, 860)
	b.visit("/")
	b.names("aa,bb")
	b.until("document.querySelector(\"[data-focus='sort name']\").checkVisibility() && document.querySelector(\"[data-focus='sort name']\").getBoundingClientRect().width > 20")
	b.click("[data-focus='sort name']")
	b.click("[data-focus='sort name']")
	b.names("bb,aa")
	b.visit("/resources?kind=VSwitch")
	b.until("document.querySelector('#kind').value === 'vswitch' && document.querySelectorAll('#resources tbody tr').length > 1")
	b.visit("/resources?kind=nosuch")
	b.until("document.querySelector('#kind').value === 'vswitch' && document.querySelectorAll('#resources tbody tr').length > 1")
}

// TestHead proves that the head is one line in a window of 1,280 pixels, in both languages,
// also with the long version of a development build.
func TestHead(t *testing.T) {
	b := open(t, developed)
	for _, language := range []string{"en", "zh-CN"} {
		b.visit("/journal")
		b.until(fmt.Sprintf("(document.cookie = 'clbemu-language=%s; path=/', true)", language))
		b.visit("/journal")
		b.shows("#server", "v0.0.0-")
		if height := value[float64](b, "document.querySelector('header').getBoundingClientRect().height"); height > 60 {
			t.Errorf("in %s the head is %v pixels high", language, height)
		}
		const address = `(() => { const all = document.querySelector('#server'), text = all.firstChild, r = document.createRange();
			r.setStart(text, 0); r.setEnd(text, text.data.indexOf(' · ')); return r.getBoundingClientRect().right - all.getBoundingClientRect().right })()`
		if over := value[float64](b, address); over > -10 {
			t.Errorf("in %s the address of the API ends %v pixels behind what is shown of it", language, over)
		}
	}
}
