package emulatortest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// What a controller's test does: the cloud goes wrong in a chosen way, the
// controller's calls are made, and what became of it is looked at.
func TestReplyLostAfterCreate(t *testing.T) {
	cloud := emulatortest.Start(t)
	cloud.Fault(t, `{name: lost, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {afterCommit: reset}}`)
	client := cloud.Client()
	create := map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "ClientToken": "once"}
	if _, err := client.Call(emulatortest.Slb, "CreateLoadBalancer", create); err == nil {
		t.Error("the reply arrived, want it lost")
	}
	if reply, err := client.Call(emulatortest.Slb, "CreateLoadBalancer", create); err != nil || reply.Status != 200 {
		t.Fatalf("the second try = %v, %v, want success", reply, err)
	}
	reply, err := client.Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
	if err != nil || reply.Body["TotalCount"] != 1.0 {
		t.Errorf("load balancers = %v, %v, want one", reply.Body["TotalCount"], err)
	}
	if n := cloud.Hits(t, "lost"); n != 1 {
		t.Errorf("the rule struck %d times, want once", n)
	}
}

// Conditions and time are a test's to change.
func TestArrearsLockLoadBalancers(t *testing.T) {
	cloud := emulatortest.Start(t)
	client := cloud.Client()
	made, err := client.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU"})
	if err != nil || made.Status != 200 {
		t.Fatalf("create = %v, %v", made, err)
	}
	rename := map[string]string{"LoadBalancerId": made.Text("LoadBalancerId"), "LoadBalancerName": "renamed"}
	for _, step := range []struct {
		owing   string
		advance time.Duration
		want    string
	}{{"true", 14 * 24 * time.Hour, ""}, {"true", 24 * time.Hour, "ActionNotAllowed"}, {"false", 0, ""}} {
		cloud.World(t, "account.arrears", step.owing)
		cloud.Advance(t, step.advance)
		if reply, err := client.Call(emulatortest.Slb, "SetLoadBalancerName", rename); err != nil || reply.Text("Code") != step.want {
			t.Errorf("arrears %s after %s: %v, %v, want %q", step.owing, step.advance, reply, err, step.want)
		}
	}
}

// spy is a test that remembers that it failed.
type spy struct {
	testing.TB
	told string
}

func (s *spy) Helper() {}

func (s *spy) Fatalf(format string, args ...any) {
	s.told = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestNames proves that a test fails that asks about what nothing is called, as
// it would pass for good.
func TestNames(t *testing.T) {
	server := emulatortest.Start(t)
	server.Fault(t, "{name: busy, effect: {delay: {fixed: 1ms}}}")
	for want, do := range map[string]func(t testing.TB){
		"do you mean DeleteLoadBalancer?":                 func(t testing.TB) { server.Calls(t, "action=DeleteLoadBalancr") },
		"do you mean Throttling?":                         func(t testing.TB) { server.Calls(t, "code=Throtling") },
		"is not a condition":                              func(t testing.TB) { server.Calls(t, "Throttling") },
		"do you mean busy?":                               func(t testing.TB) { server.Hits(t, "bsy") },
		"do you mean account.arrears?":                    func(t testing.TB) { server.World(t, "account.arears", "true") },
		"do you mean throttle.action.CreateLoadBalancer?": func(t testing.TB) { server.World(t, "throttle.action.CreateLoadBalancr", "1") },
	} {
		s, done := &spy{TB: t}, make(chan struct{})
		go func() { defer close(done); do(s) }()
		if <-done; !strings.Contains(s.told, want) {
			t.Errorf("the test got %q, want %q", s.told, want)
		}
	}
	if n := server.Hits(t, "busy"); n != 0 || len(server.Calls(t, "action=Delete*")) != 0 {
		t.Errorf("%d hits, want none", n)
	}
}
