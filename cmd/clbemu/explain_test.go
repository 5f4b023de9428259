package main_test

import (
	"encoding/json"
	"os/exec"
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
	t.Parallel()
	for name, want := range map[string][]string{
		"ORDER.ARREARAGE":    {"400 ORDER.ARREARAGE: The account is arrearage.", "  cure      Pay the bill.\n", "  scenario  arrears\n", "  said in   Service FAQ", "`clbemu world set account.arrears=true`", "`clbemu world set account.arrears=false`", "evidence  CLB-"},
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

// TestExplainText proves that a text shows what happened, the cure, how it begins and ends,
// what plays it and where it is documented, in this order, and the next answers in a line.
func TestExplainText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Error syncing load balancer []: Message: The account is arrearage.": {"ORDER.ARREARAGE  400 The account is arrearage.\n", "  happened  The account has an unpaid bill.\n", "  cure      Pay the bill.\n", "  because   Account in arrears (CreateLoadBalancer)\n",
			"    begin   `clbemu world set account.arrears=true`\n", "    end     `clbemu world set account.arrears=false`\n", "  scenario  arrears\n", "  said in   Service FAQ of ACK", "  more      clbemu explain ORDER.ARREARAGE\n"},
		"ARREARS": {"ORDER.ARREARAGE  400", "  cure      Pay the bill.\n", "  or        "},
		"欠费":      {"ORDER.ARREARAGE  400", "  cure      缴清欠费。\n", "  or        "},
		"ErrorCode: ORDER.QUANTITY_INVALID, Message: The maximum number of SLB instances is exceeded.": {"  happened  The account has as many CLB instances as its quota allows", "  cure      Apply for a higher quota"},
		"Code: OperationDenied.Foo Message: The operation is not allowed because of Foo.":              {"OperationDenied.Foo", "  guess     by the name of the code"},
		"502 Bad Gateway": {"A client gets 502 Bad Gateway\n", "  cause     ", "  cure      Call the pod at its target port"},
		"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-connection-drain-timeout": {"  happened  Seconds for which removed backends keep", "  cure      Set service.beta.kubernetes.io/alibaba-cloud-loadbalancer-connection-drain to", "  or        How connections end gracefully"},
		"status.loadBalancer":      {"  scenario  status-removed\n", "  today     the CCM does so only when the Service has another change too"},
		"nlb:ListAsynJobs":         {"  scenario  nlb-permission-missing\n"},
		"check fails again ticket": {"  played by nothing: about a ticket\n"},
		"no available ip":          {"VSwitchAvailableIpNotExist  400 The specified VSwitch has no available ip.", "  scenario  vswitch-exhausted"},
	} {
		r := binary.Run(t, "explain", text)
		rest := r.Stdout
		for _, w := range want {
			_, after, ok := strings.Cut(rest, w)
			if rest = after; r.Code != 0 || !ok {
				t.Fatalf("explain %s = %+v, want %q in its place", text, r, w)
			}
		}
	}
	for text, want := range map[string]string{"no document says so": "nothing known matches the text", "evict the neighbours from the house": "nothing known matches the text; the nearest is ", "": "type clbemu explain"} {
		if r := binary.Run(t, append([]string{"explain"}, strings.Fields(text)...)...); r.Code != 2 || !strings.Contains(r.Stderr, want) {
			t.Errorf("explain %s = %+v, want %s", text, r, want)
		}
	}
	var got explain.Found
	r := binary.Run(t, "explain", "--json", "no", "available", "ip")
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Best.Code != "VSwitchAvailableIpNotExist" || len(got.Best.Causes) == 0 || strings.Contains(r.Stdout, "null") {
		t.Errorf("explain --json = %+v, %v", r, err)
	}
}

// TestExplainInput proves that standard input is read, up to a bound, whatever is in it.
func TestExplainInput(t *testing.T) {
	t.Parallel()
	event := "Events:\n  Type     Reason                  Age  From                Message\n  ----     ------                  ---  ----                -------\n" +
		"  Warning  SyncLoadBalancerFailed  2m   service-controller  Error syncing load balancer [lb-bp1q]: Message: there are vips associating with this vServer group.\n"
	for input, want := range map[string]struct {
		code int
		text string
	}{
		event:                           {0, "RspoolVipExist  400"},
		"order.arrearage\n":             {0, "Pay the bill."},
		"":                              {2, "the text is empty"},
		" \n\t ":                        {2, "the text is empty"},
		"\x1b]0;title\a\x1b[31mzzz":     {2, "there is no code"},
		"\xff\xfe\x00\x01":              {2, ""},
		strings.Repeat("q", 1<<20):      {2, ""},
		strings.Repeat("quota ", 2<<20): {2, "longer than 1 MiB"},
	} {
		for _, args := range [][]string{{"explain"}, {"explain", "-"}} {
			cmd := exec.Command(binary.Path, args...)
			cmd.Stdin = strings.NewReader(input)
			if r := binary.Finish(t, cmd); r.Code != want.code || !strings.Contains(r.Stdout+r.Stderr, want.text) || strings.ContainsAny(r.Stderr, "\x1b\a") || len(r.Stderr) > 1000 {
				t.Errorf("%q of %.60q = %d %.300s%.300s, want %+v", args, input, r.Code, r.Stdout, r.Stderr, want)
			}
		}
	}
}

// TestEverythingIsExplained proves that every code with which a call can be refused,
// and every action, has an explanation that says something of it.
func TestEverythingIsExplained(t *testing.T) {
	t.Parallel()
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

// TestCallHintIsOfTheMessage proves that a refused call gets no cause of another message with
// its code.
func TestCallHintIsOfTheMessage(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	r := binary.Run(t, "call", "--product", "Nlb", "CreateServerGroup", "VpcId=vpc-bp1clbemu000000000001", "ServerGroupName=g1", "Protocol=TCP", "Scheduler=Qch", "--server", s.Control)
	if r.Code != 1 || !strings.Contains(r.Stderr, "IllegalParam: ") || strings.Contains(r.Stderr, "because") {
		t.Errorf("a call with an illegal scheduler = %+v", r)
	}
}

// TestCallHint proves that a failed call prints how to cause the error and
// ended, and a program is not.
func TestCallHint(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	mustRun(t, "world", "set", "account.arrears=true", "--server", s.Control)
	args := []string{"call", "CreateLoadBalancer", "--server", s.Control}
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
