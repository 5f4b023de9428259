package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestCallAction proves that a call is signed, that its answer is printed, and that a
// refusal, a misspelt name and a missing server get different errors.
func TestCallAction(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	// What a replica answers while there is no leader.
	leaderless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"Code": "ServiceUnavailable", "Message": "no replica leads", "error": "no replica leads"}`)
	}))
	defer leaderless.Close()
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"CreateLoadBalancer", "AddressType=internet", "Tag.1.Key=team", "Tag.1.Value=a=b&c"}, 0, `"LoadBalancerId": "lb-`, ""},
		{[]string{"DescribeLoadBalancers", `Tags=[{"TagKey":"team","TagValue":"a=b&c"}]`}, 0, `"TagValue": "a=b&c"`, ""},
		{[]string{"DescribeLoadBalancers", "RegionId=cn-shanghai"}, 0, `"TotalCount": 0`, ""},
		{[]string{"DescribeRegions", "--product", "Nlb"}, 0, `"LocalName"`, ""},
		{[]string{"DeleteLoadBalancer", "LoadBalancerId=lb-none"}, 1, `"Code": "InvalidLoadBalancerId.NotFound"`, "DeleteLoadBalancer was refused with 404 InvalidLoadBalancerId.NotFound"},
		{[]string{"DescribeRegions", "--access-key-secret", "wrong"}, 1, `"Code": "SignatureDoesNotMatch"`, "SignatureDoesNotMatch"},
		{[]string{"ModifyDisk"}, 2, "", "clbemu knows no action ModifyDisk"},
		{[]string{"DescribeLoadBalancer"}, 2, "", "clbemu knows no action DescribeLoadBalancer: do you mean DescribeLoadBalancers?"},
		{[]string{"DescribeLoadBalancers", "--field", "TotalCount"}, 0, "1\n", ""},
		{[]string{"DescribeLoadBalancers", "--field", "LoadBalancers"}, 1, "", "no field LoadBalancers with a single value"},
		{[]string{"DeleteLoadBalancer", "LoadBalancerId=lb-none", "--field", "RequestId"}, 1, "", "DeleteLoadBalancer was refused with 404 InvalidLoadBalancerId.NotFound"},
		{[]string{"ListLoadBalancers", "--product", "slb"}, 2, "", "ListLoadBalancers is an action of Nlb: leave --product out, or use --product Nlb"},
		{[]string{"CreateVpc", "--product", "Vpcs"}, 2, "", "unknown product Vpcs: do you mean Vpc?"},
		{[]string{"CreateVpc", "Cidrblock=10.0.0.0/8"}, 2, "", "CreateVpc has no parameter Cidrblock: do you mean CidrBlock?"},
		{[]string{"CreateVpc", "CidrBlock"}, 2, "", `"CidrBlock" is not a parameter: write it as NAME=VALUE`},
		{[]string{"CreateVpc", "VpcName=a", "VpcName=b"}, 2, "", "VpcName is given twice"},
		{[]string{"AddTags", "--product", "Ecs", "Action=CreateLoadBalancer"}, 2, "", `"Action" is a parameter of the protocol, which clbemu sets itself`},
		{[]string{"DescribeRegions", "AccessKeyId=other.testid"}, 2, "", "DescribeRegions has no parameter AccessKeyId"},
		{nil, 2, "", "call needs an action"},
		{[]string{"DescribeRegions", "--api", "http://127.0.0.1:1"}, 3, "", "http://127.0.0.1:1 does not answer"},
		{[]string{"DescribeRegions", "--api", leaderless.URL}, 1, `"Code": "ServiceUnavailable"`, "was refused with 503 ServiceUnavailable: no replica leads"},
	} {
		r := binary.Run(t, append([]string{"call", "--server", s.Control}, test.args...)...)
		if r.Code != test.code || !strings.Contains(r.Stdout, test.stdout) || !strings.Contains(oneLine(r.Stderr), test.stderr) || (test.stdout == "") != (r.Stdout == "") {
			t.Errorf("call %q = %+v", test.args, r)
		}
		if strings.Contains(r.Stderr, "Signature=") {
			t.Errorf("call %q tells its signature: %s", test.args, r.Stderr)
		}
	}
}

// oneLine undoes the wrapping of what is said to a person.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestCallCompletes proves that a shell is offered actions and then their parameters.
func TestCallCompletes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want, not string }{
		{"", "DescribeLoadBalancers\n", "ModifyDisk"},
		{"--product Nlb ", "GetJobStatus\n", "DescribeLoadBalancers"},
		{"CreateLoadBalancer ", "AddressType=\n", "Tag.N"},
		{"Nonsense ", ":4\n", "="},
	} {
		args := append([]string{"__complete", "call"}, strings.Split(test.args, " ")...)
		if r := binary.Run(t, args...); !strings.Contains(r.Stdout, test.want) || strings.Contains(r.Stdout, test.not) {
			t.Errorf("%q completes to %s", test.args, r.Stdout)
		}
	}
}

// TestCallNamesTheRule proves that a call which a fault rule struck names the rule, whatever
// the effect did to the answer.
func TestCallNamesTheRule(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	for _, effect := range []string{"reset: true", "empty: true", "truncate: {bytes: 5}", "malformed: true", "error: {code: Throttling.User}", "delay: {fixed: 1ms}"} {
		mustRun(t, "fault", "add", "--server", s.Control, writeFile(t, filepath.Join(t.TempDir(), "rule.yaml"), "{name: mine, match: {action: DescribeRegions}, effect: {"+effect+"}}"))
		r := binary.Run(t, "call", "DescribeRegions", "--server", s.Control)
		if want := map[bool]int{true: 0, false: 1}[effect == "delay: {fixed: 1ms}"]; r.Code != want || !strings.Contains(oneLine(r.Stderr), "fault delete mine") || !strings.Contains(oneLine(r.Stderr), "the fault rule mine struck ") {
			t.Errorf("a call under %s = %+v, want code %d and the rule", effect, r, want)
		}
		if strings.Contains(r.Stderr, "clbemu serve") {
			t.Errorf("a call under %s asks for an emulator: %s", effect, r.Stderr)
		}
	}
	mustRun(t, "fault", "add", "--server", s.Control, writeFile(t, filepath.Join(t.TempDir(), "rule.yaml"), "{name: mine, match: {action: DescribeRegions}, effect: {hang: true}}"))
	call := exec.Command(binary.Path, "call", "DescribeRegions", "--server", s.Control)
	var stderr bytes.Buffer
	call.Stderr = &stderr
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	awaitHit(t, s)
	if err := call.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = call.Wait()
	if code := call.ProcessState.ExitCode(); code != 1 || !strings.Contains(oneLine(stderr.String()), "the fault rule mine struck it (interrupted)") {
		t.Errorf("an interrupted call under hang = %d, %s", code, stderr.String())
	}
}

// TestEnvLeadsThere proves that a shell which evaluates env goes where env went: calls reach
// that emulator and that cloud, with that key.
func TestEnvLeadsThere(t *testing.T) {
	t.Parallel()
	one, two := binary.Serve(t, "--engine", "memory"), binary.Serve(t, "--engine", "memory", "--control-token", "s3cret")
	mustRun(t, "cloud", "create", "mine", "--server", one.Control)
	file := writeFile(t, filepath.Join(t.TempDir(), "token"), "s3cret\n")
	for name, test := range map[string]struct {
		flags  []string
		server *binary.Server
	}{
		"server": {[]string{"--server", one.Control}, one}, "cloud": {[]string{"--server", one.Control, "--cloud", "mine"}, one},
		"token": {[]string{"--server", two.Control, "--control-token", "s3cret"}, two}, "token file": {[]string{"--server", two.Control, "--control-token-file", file}, two},
		"key": {[]string{"--server", one.Control, "--access-key-id", "testid", "--access-key-secret", "testsecret"}, one},
		"api": {[]string{"--server", one.Control, "--api", one.API}, one},
	} {
		t.Run(name, func(t *testing.T) {
			shell := exec.Command("sh", append([]string{"-c", `set -e; eval "$("$0" env "$@")"; "$0" call AllocateEipAddress Name=by-env; "$0" get eip; "$0" journal; "$0" world`, binary.Path}, test.flags...)...)
			shell.Dir = t.TempDir()
			shell.Env = []string{"PATH=/usr/bin:/bin", "CLBEMU_SERVER=http://127.0.0.1:1", "CLBEMU_CLOUD=default", "CLBEMU_CONTROL_TOKEN=" + map[bool]string{true: "s3cret"}[name == "token"]}
			out, err := shell.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "by-env") {
				t.Errorf("after env %q: %v\n%s", test.flags, err, out)
			}
			list := binary.Run(t, "get", "eip", "--server", test.server.Control, "--control-token", "s3cret", "--cloud", map[bool]string{true: "mine", false: "default"}[name == "cloud"])
			if !strings.Contains(list.Stdout, "by-env") {
				t.Errorf("the address is not where env led: %+v", list)
			}
		})
	}
}
