package rehearse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/rehearse"
)

func withTraffic(c *rehearse.Config) { c.Traffic = true }

// TestTraffic proves that clients meet what each fault of a version breaks, in its phase, and nothing else;
// and that what the old version breaks too is no finding.
func TestTraffic(t *testing.T) {
	whole, a := newAccount(t), newAccount(t)
	a.made.call("DeleteLoadBalancerListener", "LoadBalancerId", a.lb, "ListenerPort", "9000")
	const starts, restarts = "upgrade: shop/web tcp 80: ", "the CCM restarts: shop/web tcp 20080: "
	for _, test := range []struct {
		old, next fault
		breaks    []string
	}{
		{next: none},
		{next: schedules},
		{next: forgets},
		{old: startsOver, next: startsOver},
		{next: startsOver, breaks: []string{
			starts + "1 cut, 2 refused, 0 failed, ended (the connection ended)", restarts + "1 cut, 2 refused, 0 failed, ended (the connection ended)"}},
		{next: drains, breaks: []string{starts + "0 cut, 0 refused, 2 failed, still (no answer within 5s)"}},
		{next: empties, breaks: []string{
			starts + "0 cut, 0 refused, 1 failed, ended (no answer within 5s)", restarts + "0 cut, 0 refused, 1 failed, ended (no answer within 5s)"}},
		{next: moves, breaks: []string{
			starts + "1 cut, 2 refused, 0 failed, still (the connection ended)", restarts + "1 cut, 2 refused, 0 failed, still (the connection ended)"}},
	} {
		t.Run(string(test.old+" to "+test.next), func(t *testing.T) {
			t.Parallel()
			meets(t, a, test.old, test.next, test.breaks)
		})
	}
	t.Run("a listener without a server", func(t *testing.T) {
		t.Parallel()
		report := meets(t, whole, none, none, nil)
		if len(report.Notes) != 1 || report.Notes[0] != whole.lb+": no traffic goes to listener tcp 9000, which answers no client on the copy: no answer within 5s" {
			t.Errorf("the notes are %q", report.Notes)
		}
	})
}

// meets proves what clients meet while one version replaces another.
func meets(t *testing.T, a *account, old, next fault, breaks []string) *rehearse.Report {
	t.Helper()
	options := []func(*rehearse.Config){withTraffic}
	if old != none {
		options = append(options, withOld)
	}
	report, err := a.rehearse(old, next, options...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range report.Phases {
		for _, b := range p.Breaks {
			if b.Meant || b.Before {
				continue
			}
			end := "ended"
			if b.Still {
				end = "still"
			}
			if (b.Seconds > 0) != (b.Refused+b.Failed > 0) {
				t.Errorf("%v s without an answer: %s", b.Seconds, b)
			}
			got = append(got, fmt.Sprintf("%s: %s %s: %d cut, %d refused, %d failed, %s (%s)", p.Name, b.Services, b.Listener, b.Cut, b.Refused, b.Failed, end, b.Why))
		}
	}
	if !slices.Equal(got, breaks) {
		t.Errorf("clients met\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(breaks, "\n"))
	}
	return report
}
