package console

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlclient"
)

// TestScenario proves that a scenario is played from the page, on an emulator of its own or, if
// asked, on this one, is shown step by step, also by who comes later, and keeps its verdict.
func TestScenario(t *testing.T) {
	b := open(t)
	b.visit("/scenarios")
	b.shows("#detail", "Choose a scenario")
	b.press("/")
	b.typed("reply-lost-after-create")
	b.shows("#count", "1 of")
	b.click("#library a.row")
	b.shows(".text", "client:")
	b.shows("#where", "nothing here changes")
	b.click("#play")
	b.shows("#steps .outcome", "passed")
	b.shows("#steps td", "CreateLoadBalancer")
	b.shows("#library .badge", "passed")
	b.until("document.querySelector('.text li[data-passed=true]')")
	if entries := b.Calls(t); len(entries) != 0 {
		t.Errorf("the play left %d entries in this emulator's journal, such as %+v", len(entries), entries[0])
	}
	b.click("#here")
	b.shows("#where", "changes it")
	b.click("#play")
	b.until("document.querySelector('#steps a[href=journal]')")
	b.shows("#steps .outcome", "passed")
	if calls := b.Calls(t, "action=CreateLoadBalancer"); len(calls) == 0 {
		t.Error("nobody called CreateLoadBalancer")
	}
	b.visit("/scenarios?name=reply-lost-after-create")
	b.shows("#steps .outcome", "passed")
	b.visit("/scenarios?name=arrears")
	b.shows("#detail h2", "arrears")
	b.until("!document.querySelector('#steps').innerText")
}

// TestSymptoms proves that a symptom leads to its causes and cures, and that a cause is
// played from there.
func TestSymptoms(t *testing.T) {
	b := open(t)
	b.visit("/symptoms")
	b.shows("#detail", "Choose a symptom")
	b.click("#symptoms a.row")
	b.shows("#detail h2", "A Service stays pending")
	b.shows("#detail article", "Pay the bill.")
	b.write("#text", "A Service stays pending")
	b.click("#ask button")
	b.click("#detail button.close") // of what the text is about
	b.shows("#detail article", "Pay the bill.")
	b.click("#ask button")
	b.until("document.querySelector('#detail button.close')")
	b.shows("#detail article", "Pay the bill.")
	b.click("[aria-label='Run arrears']")
	b.shows("#steps .outcome", "passed")
	if calls := b.Calls(t); len(calls) != 0 {
		t.Errorf("the play left %d entries in this emulator's journal", len(calls))
	}
	b.visit("/symptoms")
	b.write("#text", "Warning  SyncLoadBalancerFailed  2m  service-controller  Message: The specified VSwitch has no available ip.")
	b.click("#ask button")
	b.shows("#detail h2", "VSwitchAvailableIpNotExist")
	b.shows("#detail li", "Name another vSwitch")
	b.visit("/symptoms?name=nothing")
	b.shows("#detail", "Choose a symptom")
}

// TestScenarioSearch proves that the page finds what clbemu scenario list finds: words of
// Chinese, and an error that a scenario plays.
func TestScenarioSearch(t *testing.T) {
	b := open(t)
	for _, text := range []string{"欠费", "Message: The account is arrearage."} {
		b.visit("/scenarios?q=" + url.QueryEscape(text))
		b.shows("#library", "arrears")
		b.until("!document.querySelector('#library').innerText.includes('rebinding')")
	}
}

const waits = "about: waits\nclient:\n  steps:\n    - call: {action: DescribeRegions}\n" +
	"    - wait: {within: 1h, every: 10ms, call: {action: DescribeLoadBalancers, expect: {fields: {TotalCount: 7}}}}\n"

// TestStop proves that a play begun elsewhere is watched, keeps others from
// beginning, and is stopped on the page.
func TestStop(t *testing.T) {
	b := open(t)
	b.visit("/scenarios?name=arrears")
	b.until("document.querySelector('#play') && !document.querySelector('#play').disabled")
	client := &controlclient.Client{URL: b.ControlURL()}
	if _, err := client.StartScenario(context.Background(), "", []byte(waits)); err != nil {
		t.Fatal(err)
	}
	b.shows("#steps", "scenario is being played")
	b.until("document.querySelector('#play').disabled")
	b.press("s")
	b.until("!document.querySelector('#play').disabled")
	status, err := client.Scenarios(context.Background())
	if err != nil || status.Playing != nil || len(status.Results) != 1 || !strings.Contains(strings.Join(status.Results[0].Notes, " "), "it was stopped") {
		t.Errorf("after it was stopped there is %+v, %v", status, err)
	}
}

// TestFailingScenario proves that a failure is shown with what was expected, seen and is
// to be done, and that a play on an emptied emulator is asked for twice.
func TestFailingScenario(t *testing.T) {
	b := open(t)
	b.balancer("in-the-way")
	b.World(t, "quota.slb_quota_instances_num", "1")
	b.visit("/scenarios?name=reply-lost-after-create")
	b.click("#here")
	b.click("#play")
	b.shows("#steps .outcome .badge[data-mood=bad]", "")
	b.shows("#steps .outcome", "reply-lost-after-create:")
	b.click("#fresh")
	b.click("#play")
	b.shows("dialog.sure", "Delete everything first?")
	b.click("dialog.sure button[value=no]")
	b.hides("dialog.sure")
	if n := len(b.Calls(t, "kind=state")); n != 0 {
		t.Errorf("the state was changed %d times by who did not want that", n)
	}
	b.click("#play")
	b.click("dialog.sure button[value=yes]")
	b.shows("#steps .outcome", "passed")
}
