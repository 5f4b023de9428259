package console

import (
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// create buys a load balancer, which conditions are about, and returns the code of a refusal.
func (b *tab) create(pairs ...string) string {
	b.Helper()
	params := map[string]string{"AddressType": "internet"}
	for i := 0; i < len(pairs); i += 2 {
		params[pairs[i]] = pairs[i+1]
	}
	reply, err := b.client.Call(emulatortest.Slb, "CreateLoadBalancer", params)
	if err != nil {
		b.Fatal(err)
	}
	return reply.Text("Code")
}

func (b *tab) refuses(code string, pairs ...string) {
	b.Helper()
	if got := b.create(pairs...); got != code {
		b.Errorf("CreateLoadBalancer with %q is answered with %q, want %q", pairs, got, code)
	}
}

// labelled returns the selector of the button for a condition.
func labelled(name string) string { return fmt.Sprintf("button[data-focus=%q]", name) }

// TestConditions proves that what is set on the page acts on calls and is shown, and that
// what is set elsewhere is shown too: arrears, stock, free addresses and quotas.
func TestConditions(t *testing.T) {
	b := open(t)
	b.visit("/conditions")
	b.shows("#account", "has paid")
	b.click(labelled("account.arrears"))
	b.shows("#account", "is in arrears")
	b.refuses("ORDER.ARREARAGE")
	b.World(t, "account.arrears", "false")
	// The journal records this, so that the page reads the conditions again. It may do so for the
	// refusal as well, and move the button while a mouse goes there.
	b.until(fmt.Sprintf("(document.querySelector(%q).click(), true)", labelled("stock.cn-hangzhou-g")))
	b.shows("#account", "has paid")
	b.shows("#zones", "sold out: internet, intranet")
	b.refuses("OperationFailed.ZoneResourceLimit", "MasterZoneId", "cn-hangzhou-g", "SlaveZoneId", "cn-hangzhou-h")
	b.click(labelled("stock.cn-hangzhou-g"))
	b.until("!document.querySelector('#zones').innerText.includes('sold out')")
	b.refuses("", "MasterZoneId", "cn-hangzhou-g", "SlaveZoneId", "cn-hangzhou-h")

	const vSwitch = "vsw-bp1clbemu000000000001"
	free := "vswitch." + vSwitch + ".freeAddresses"
	b.write(`input[aria-label="`+free+`"]`, "0")
	b.click(labelled(free + " set"))
	b.shows("#vswitches .badge[data-mood=bad]", "0")
	b.refuses("VSwitchAvailableIpNotExist", "AddressType", "intranet", "VSwitchId", vSwitch)
	b.click(labelled(free + " unset"))
	b.until("!document.querySelector('#vswitches .badge[data-mood=bad]')")
	b.refuses("", "AddressType", "intranet", "VSwitchId", vSwitch)

	const quota = "quota.slb_quota_instances_num"
	b.write("#search", "instances_num")
	b.shows("#quotas", "2 of")
	b.write(`input[aria-label="`+quota+`"]`, "2")
	b.press("Enter")
	b.shows("#quotas .badge[data-mood=bad]", "2 of 2")
	b.refuses("ORDER.QUANTITY_INVALID")
	b.click(labelled(quota + " unset"))
	b.until("!document.querySelector('#quotas .badge[data-mood=bad]')")
	b.refuses("")
	b.shows("#quotas", "3 of")
}

// TestAnyCondition proves that every condition can be set by its name, with its help, and
// that a wrong one is refused with the reason.
func TestAnyCondition(t *testing.T) {
	b := open(t)
	b.visit("/conditions?set=throttle.action.DescribeRegions")
	b.shows("#help-of", "calls per second of an action")
	b.write("#set input[name=value]", "1/1")
	b.press("Enter")
	b.shows("#all summary", "in force")
	b.click("#all summary")
	b.shows("#all td", "throttle.action.DescribeRegions")
	b.write("#set input[name=name]", "throttle.action.DescribRegions")
	b.press("Enter")
	b.shows("#said", "do you mean throttle.action.DescribeRegions?")
	b.do("choose", choose("#region", "cn-shanghai"))
	b.shows("#zones", "cn-shanghai-b")
	b.until("!document.querySelector('#zones').innerText.includes('cn-hangzhou')")
	b.click(labelled("stock.cn-shanghai-b"))
	b.shows("#zones", "sold out")
	b.do("choose", choose("#region", "cn-hangzhou"))
	b.until("document.querySelector('#zones').innerText.includes('cn-hangzhou-g') && !document.querySelector('#zones').innerText.includes('sold out')")
	b.visit("/conditions")
	b.click(labelled("stock.cn-shanghai-b"))
	b.until("document.querySelector('#zones').innerText.includes('cn-shanghai-b') && !document.querySelector('#zones').innerText.includes('sold out')")
}

// TestWriting proves that news does not take away what the user is typing.
func TestWriting(t *testing.T) {
	b := open(t)
	b.visit("/conditions")
	b.shows("#all summary", "in force")
	b.click("#all summary")
	b.shows("#account", "Balance")
	field := `input[aria-label="account.balance"]`
	b.write(field, "12")
	b.World(t, "account.balance", "5000")
	b.balancer("web")
	b.shows("#quotas", "1 of")
	if kept := value[string](b, "document.activeElement.value"); kept != "12" {
		t.Errorf("the field holds %q, want what was written", kept)
	}
	b.press("Enter")
	b.until("document.querySelector('#all').innerText.includes('12')")

	// A selection survives a redraw of the field.
	days := `input[aria-label="account.graceDays"]`
	b.until(fmt.Sprintf("(document.querySelector(%[1]q).focus(), document.querySelector(%[1]q).select(), true)", days))
	b.World(t, "account.graceDays", "30")
	b.refuses("PAY.INSUFFICIENT_BALANCE") // which the journal records
	b.until(fmt.Sprintf("document.querySelector(%q).value === '30'", days))
	b.typed("9")
	if now := value[string](b, "document.activeElement.value"); now != "9" {
		t.Errorf("the field holds %q, want what was written over it", now)
	}
}

// TestClock proves that the clock is shown and moved.
func TestClock(t *testing.T) {
	b := open(t)
	b.visit("/conditions")
	b.shows("#pace", "real time")
	b.click("[data-scale='0']")
	b.shows("#pace", "frozen")
	before := b.Store().Now()
	b.click("[data-advance='168h']")
	b.shows("#now", before.Add(7*24*time.Hour).Format("2006-01-02 15:04:05"))
	b.write("#advance input", "36h")
	b.press("Enter")
	b.shows("#now", before.Add((7*24+36)*time.Hour).Format("2006-01-02 15:04:05"))
	if now := b.Store().Now(); !now.Equal(before.Add((7*24 + 36) * time.Hour)) {
		t.Errorf("it is %v, want 8.5 days after %v", now, before)
	}
	b.write("#advance input", "36")
	b.press("Enter")
	b.shows("#said", "want a duration")
}

// TestConditionOfAddress proves that the condition which an address names is in sight,
// with its help, once the page is drawn.
func TestConditionOfAddress(t *testing.T) {
	b := open(t)
	for _, width := range []int64{1280, 400} {
		b.size(width, 700)
		b.visit("/conditions?set=life.profile")
		b.until("document.querySelectorAll('#quotas tr').length > 4 && document.activeElement.name === 'value'")
		b.shows("#help-of", "of the")
		b.until("(() => { const r = document.activeElement.getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight })()")
		if name := value[string](b, "document.querySelector('#set').elements.name.value"); name != "life.profile" {
			t.Errorf("%d wide, the field is about %s", width, name)
		}
	}
}
