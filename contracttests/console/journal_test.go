package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
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
	if _, err := b.client.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": "refused", "LoadBalancerSpec": "slb.s1.small", "SourceIp": "10.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	b.shows("#entries tbody tr:first-child .badge", "ORDER.ARREARAGE")
	b.click("#entries tbody tr:first-child a.row")
	for _, want := range []string{"ORDER.ARREARAGE", "⚡ slowly", "refused", "SourceIp", "no handler reads it", "CLB-", "account.arrears", "clbemu explain ORDER.ARREARAGE", "LoadBalancerName=refused"} {
		b.shows("#detail", want)
	}
	b.until("document.querySelector('#detail a[href=\"/faults?rule=slowly\"]')")
	b.shows("#answer", "\"Code\": \"ORDER.ARREARAGE\"")
	entry := value[string](b, "location.search")
	b.visit("/journal" + entry + "&code=OK")
	b.shows("#detail h2", "CreateLoadBalancer") // also when the list does not have it
	b.shows("#count", "1")
	b.visit("/journal")
	b.click("#entries tbody tr:last-child a.row")
	b.shows("#answer", "\"LoadBalancerId\": \"lb-") // of a success as well
}

// TestJournalFilter proves that the filter is that of the control API, stays in the
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
