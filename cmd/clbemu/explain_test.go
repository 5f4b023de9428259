package main_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/explain"
)

// TestExplain proves that a code and an action are explained, and that a misspelt one
// is refused with what was meant.
func TestExplain(t *testing.T) {
	for name, want := range map[string][]string{
		"ORDER.ARREARAGE":    {"400 ORDER.ARREARAGE: The account is arrearage.", "`clbemu world set account.arrears=true`", "`clbemu world set account.arrears=false`", "evidence  CLB-"},
		"DeleteVServerGroup": {"requires  RegionId, VServerGroupId", "because   Server group used by a listener: RspoolVipExist", "`DeleteLoadBalancerListener` with"},
		"ServiceUnavailable": {"only when a fault rule says so", "effect: {error: {code: ServiceUnavailable}}}' | clbemu fault add -"},
		"CreateVpnGateway":   {"clbemu does not emulate: it answers InvalidAction.NotEmulated"},
		"MissingVSwitchId":   {"VSwitchId is mandatory for this action."},
	} {
		r := binary.Run(t, "explain", name)
		for _, w := range want {
			if r.Code != 0 || !strings.Contains(r.Stdout, w) {
				t.Errorf("explain %s = %+v, want %s", name, r, w)
			}
		}
	}
	for words, want := range map[string][]string{
		"there are vips associating with this vServer group": {"RspoolVipExist  400 there are vips", "scenario  override-removed, rspool-vip-exist, rspool-vip-exist-reused"},
		"ARREARS":            {"ORDER.ARREARAGE  400", "`clbemu world set account.arrears=true`", "scenario  arrears"},
		"vswitch ip exhaust": nil,
		"quota":              {"InstanceBackendServerNumberOverLimit  400", "ListenerNumberOverLimit  400"},
	} {
		r := binary.Run(t, append([]string{"explain"}, strings.Fields(words)...)...)
		if (r.Code == 0) != (want != nil) {
			t.Errorf("explain %s = %+v", words, r)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout, w) {
				t.Errorf("explain %s has no %q:\n%s", words, w, r.Stdout)
			}
		}
	}
	// Several actions have the same answer.
	if r := binary.Run(t, "explain", "quota"); strings.Count(r.Stdout, "OverQuota  400 The Total") != 1 {
		t.Errorf("explain quota = %+v, want OverQuota once", r)
	}
	// Only CLB has server groups that this code is about.
	if r := binary.Run(t, "explain", "RspoolVipExist"); strings.Count(r.Stdout, "  answer  ") != 1 || !strings.Contains(r.Stdout, "Slb)") {
		t.Errorf("explain RspoolVipExist = %+v, want the answer of one product", r)
	}
	for name, want := range map[string]string{"ORDER.AREARAGE": "do you mean ORDER.ARREARAGE?", "DeleteVServerGroups": "do you mean DeleteVServerGroup?"} {
		if r := binary.Run(t, "explain", name); r.Code != 2 || !strings.Contains(r.Stderr, want) {
			t.Errorf("explain %s = %+v, want %s", name, r, want)
		}
	}
}

// TestExplainStatements proves that words find what the documents about Services say, beside
// the errors that they find, and that programs get both.
func TestExplainStatements(t *testing.T) {
	for words, want := range map[string][]string{
		// A cure that no error's text has, an error of the CCM itself, one in the words of a
		// translation, and an annotation.
		"evict master":                            {"The pods are on master nodes", "  played by scenario no-available-pods, kubernetes half\n", "  said in   faq-2025, faq-ja, troubleshooting\n"},
		"can not change ResourceGroupId once":     {"  played by scenario resource-group-change, kubernetes half\n"},
		"CANNOT REUSE A LOAD BALANCER CREATED BY": {"  played by scenario reuse-controller-made, kubernetes half\n"},
		"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-connection-drain-timeout": {"turn connection draining on"},
		"no document says so":      nil,
		"status.loadBalancer":      {"  note      the CCM does so only when the Service has another change too"},
		"nlb:ListAsynJobs":         {"  played by scenario nlb-permission-missing, kubernetes half\n"},
		"check fails again ticket": {"  played by nothing: about a ticket\n"},
		"pay the bill":             {"  played by scenario arrears, kubernetes half\n"},
		"no available ip":          {"VSwitchAvailableIpNotExist  400 The specified VSwitch has no available ip.", "  played by scenario vswitch-exhausted, kubernetes half\n"},
	} {
		r := binary.Run(t, append([]string{"explain"}, strings.Fields(words)...)...)
		if (r.Code == 0) != (len(want) > 0) {
			t.Errorf("explain %s = %+v", words, r)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout, w) {
				t.Errorf("explain %s has no %q:\n%s", words, w, r.Stdout)
			}
		}
	}
	for words, want := range map[string]string{"no available ip": "VSwitchAvailableIpNotExist vswitch-exhausted", "evict": " no-available-pods"} {
		var got struct {
			Refusals   []struct{ Code string }
			Statements []explain.Statement
		}
		r := binary.Run(t, append([]string{"explain", "--json"}, strings.Fields(words)...)...)
		if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Refusals == nil || len(got.Statements) != 1 {
			t.Fatalf("explain --json %s = %+v, %v", words, r, err)
		}
		code := ""
		if len(got.Refusals) > 0 {
			code = got.Refusals[0].Code
		}
		if name, _, _ := got.Statements[0].By.Scenario(); code+" "+name != want {
			t.Errorf("explain --json %s finds %s %s, want %s", words, code, name, want)
		}
	}
}

// TestEverythingIsExplained proves that every code with which a call can be refused,
// and every action, has an explanation that says something of it.
func TestEverythingIsExplained(t *testing.T) {
	known := emulator.Names()
	codes := known.AllCodes()
	for _, code := range codes {
		e, err := explain.Name(known, code)
		if err != nil || len(e.Answers)+len(e.Causes) == 0 && e.Fault == "" && e.Action == nil && !gatewayCode(code) {
			t.Errorf("%s: %+v, %v", code, e, err)
		}
	}
	for _, a := range known.Actions() {
		if e, err := explain.Name(known, a.Name); err != nil || e.Action == nil {
			t.Errorf("%s: %+v, %v", a.Name, e, err)
		}
	}
	placeholder := regexp.MustCompile(`\{[A-Za-z]+\}`)
	for _, a := range known.Actions() {
		e, _ := explain.Name(known, a.Name)
		for _, c := range e.Causes {
			if found := placeholder.FindString(c.Begin + c.End); found != "" {
				t.Errorf("%s: the cause or remedy of %s names %s, which a reader can't fill in", a.Name, c.Code, found)
			}
		}
	}
	if len(codes) < 300 {
		t.Errorf("there are %d codes", len(codes))
	}
}

// gatewayCode reports whether the gateway answers a code before it knows whose action
// is called.
func gatewayCode(code string) bool {
	for _, a := range emulator.Names().Actions() {
		if !a.Emulated {
			for _, c := range a.Codes() {
				if c == code {
					return true
				}
			}
			return false
		}
	}
	return false
}

// TestCallHint proves that a failed call prints how to cause the error and
// ended, and a program is not.
func TestCallHint(t *testing.T) {
	s := binary.Serve(t, "--engine", "memory")
	mustRun(t, "world", "set", "account.arrears=true", "--server", s.Control)
	args := []string{"call", "CreateLoadBalancer", "LoadBalancerSpec=slb.s1.small", "--server", s.Control}
	r := binary.Run(t, args...)
	if r.Code != 1 || !strings.Contains(r.Stderr, "because   Account in arrears\n") || !strings.Contains(r.Stderr, "  end     `clbemu world set account.arrears=false`") {
		t.Errorf("a refused call = %+v", r)
	}
	// The gateway's own errors have the same cause for every action.
	mustRun(t, "world", "set", "account.arrears=false", "throttle.key=0.001/1", "--server", s.Control)
	binary.Run(t, "call", "DescribeZones", "--server", s.Control)
	if r := binary.Run(t, "call", "DescribeZones", "--server", s.Control); !strings.Contains(r.Stderr, "because   Call rate of an access key\n") {
		t.Errorf("a throttled call = %+v", r)
	}
	mustRun(t, "world", "set", "account.arrears=true", "throttle.key=default", "--server", s.Control)
	if r := binary.Run(t, append(args, "--json")...); r.Code != 1 || strings.Contains(r.Stderr, "because") || !strings.Contains(r.Stdout, "ORDER.ARREARAGE") {
		t.Errorf("a refused call for a program = %+v", r)
	}
}
