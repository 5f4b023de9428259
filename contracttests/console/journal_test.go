package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/state"
)

// TestJournalIsLive proves that calls and changes are shown as they come, newest first,
// and one of them with its parameters, its answer, how that is known, its cause, and the
// rule that struck it.
func TestJournalIsLive(t *testing.T) {
	b := open(t)
	b.visit("/journal")
	b.shows("#none", "There are no calls yet")
	b.balancer("web")
	b.shows("#entries tbody tr:first-child", "CreateLoadBalancer")
	b.shows("#entries tbody tr:first-child", "testid")
	b.shows("#entries tbody tr:first-child .badge", "OK")

	b.World(t, "account.arrears", "true")
	b.Fault(t, "{name: slowly, match: {action: CreateLoadBalancer}, effect: {delay: {fixed: 1ms}}}")
	if _, err := b.client.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": "refused", "SourceIp": "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	b.shows("#entries tbody tr:first-child .badge", "ORDER.ARREARAGE")
	b.click("#entries tbody tr:first-child a.row")
	for _, want := range []string{"ORDER.ARREARAGE", "⚡ slowly", "refused", "SourceIp", "no handler reads it", "CLB-", "account.arrears", "clbemu explain ORDER.ARREARAGE", "LoadBalancerName=refused"} {
		b.shows("#detail", want)
	}
	b.until("document.querySelector('#detail a[href=\"faults?rule=slowly\"]')")
	b.shows("#answer", "\"Code\": \"ORDER.ARREARAGE\"")
	entry := value[string](b, "location.search")
	b.visit("/journal" + entry + "&code=OK")
	b.shows("#detail h2", "CreateLoadBalancer") // also when the list does not have it
	b.shows("#count", "1")
	b.visit("/journal")
	b.click("#entries tbody tr:last-child")
	b.shows("#answer", "\"LoadBalancerId\": \"lb-") // of a success as well
}

// TestJournalNamesTheRule proves that a refusal which a fault rule made is explained by the rule
// and how to end it, and not by what did not cause it.
func TestJournalNamesTheRule(t *testing.T) {
	b := open(t)
	b.Fault(t, "{name: halted, match: {action: CreateLoadBalancer}, effect: {error: {code: ShareSlbHaltSales}}}")
	if _, err := b.client.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": "refused"}); err != nil {
		t.Fatal(err)
	}
	b.visit("/journal")
	b.click("#entries tbody tr:first-child a.row")
	b.shows("#detail", "clbemu fault delete halted")
	b.until("!document.querySelector('#detail').innerText.includes('cloud.year')")
}

// TestJournalFilter proves that the filter is the control API's, stays in the
// address, goes on for what comes, and says what is misspelt.
func TestJournalFilter(t *testing.T) {
	b := open(t)
	lb := b.balancer("web")
	b.call(emulatortest.Slb, "DescribeLoadBalancers", "RequestId")
	b.visit("/journal")
	b.shows("#count", "2")
	b.press("/")
	b.typed("Describe*")
	b.press("Enter")
	b.until("location.search === '?action=Describe*' || location.search === '?action=Describe%2A'")
	b.shows("#count", "1")
	b.call(emulatortest.Slb, "DescribeLoadBalancers", "RequestId")
	b.shows("#count", "2")
	b.call(emulatortest.Slb, "DeleteLoadBalancer", "RequestId", "LoadBalancerId", lb)
	b.call(emulatortest.Slb, "DescribeRegions", "RequestId")
	b.shows("#count", "3")
	if all := value[string](b, "document.querySelector('#entries').innerText"); strings.Contains(all, "Delete") {
		t.Errorf("the filter lets through %s", all)
	}
	b.write("#search", "Descrbe*")
	b.press("Enter")
	b.shows("#problem", "do you mean Describe*?")
	b.until("!document.querySelector('#none').checkVisibility()") // one thing is said
	b.do("go back", back)
	b.shows("#count", "3")
	b.visit("/journal?resource=" + lb + "&action=Delete*")
	b.shows("#entries tbody tr", "DeleteLoadBalancer")
	b.shows("#count", "1")
}

// TestJournalPause proves that nothing moves while it is paused, and nothing is lost.
func TestJournalPause(t *testing.T) {
	b := open(t)
	b.balancer("web")
	b.visit("/journal")
	b.shows("#count", "1")
	b.press("p")
	for i := range 3 {
		b.balancer(fmt.Sprint("more-", i))
	}
	b.shows("#count", "3 wait")
	if rows := value[int](b, "document.querySelectorAll('#entries tbody tr').length"); rows != 1 {
		t.Errorf("%d rows while it is paused, want 1", rows)
	}
	b.press("p")
	b.until("document.querySelectorAll('#entries tbody tr').length === 4")
}

// TestJournalSearch proves that entries are found by any text, by refusal and by time.
func TestJournalSearch(t *testing.T) {
	b := open(t, emulatortest.WithClock(state.NewManualClock(time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC))))
	b.balancer("web")
	b.Advance(t, time.Hour)
	b.balancer("shop")
	if _, err := b.client.Call(emulatortest.Slb, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": "lb-none"}); err != nil {
		t.Fatal(err)
	}
	b.visit("/journal")
	b.shows("#count", "4") // with that of the clock
	for field, want := range map[string]string{"text=SHOP": "CreateLoadBalancer", "refused=true": "DeleteLoadBalancer", "to=2026-11-20T10:00:00": "CreateLoadBalancer"} {
		b.visit("/journal?" + field)
		b.shows("#count", "1")
		b.shows("#entries tbody tr", want)
	}
	b.visit("/journal?from=2026-11-20T10:00:00")
	b.shows("#count", "3")
	b.until("document.querySelector('[name=from]').value.startsWith('2026-11-20T10:00')")
	b.visit("/journal")
	b.click("[name=refused]")
	b.click("#filter button.primary")
	b.until("location.search === '?refused=true'")
	b.shows("#count", "1")
}

// TestJournalPages proves that one comes to the end of the journal page by page, and that
// what comes meanwhile stays on top.
func TestJournalPages(t *testing.T) {
	b := open(t)
	const calls = 1100
	for range calls {
		b.call(emulatortest.Slb, "DescribeRegions", "RequestId")
	}
	b.visit("/journal")
	b.shows("#count", "the last 500")
	b.click("#older")
	b.shows("#count", "the last 1000")
	b.balancer("newest")
	b.shows("#entries tbody tr:first-child", "CreateLoadBalancer")
	b.click("#older")
	b.until("!document.querySelector('#older').checkVisibility()")
	rows := value[[]string](b, "[...document.querySelectorAll('#entries tbody tr')].map((r) => r.dataset.sequence)")
	if len(rows) < calls || rows[len(rows)-1] != "1" {
		t.Errorf("%d rows, the last is %s, want them to the first call", len(rows), rows[len(rows)-1])
	}
	for i := range rows[1:] {
		if rows[i] == rows[i+1] {
			t.Errorf("entry %s is there twice", rows[i])
		}
	}
}
