//go:build unix

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestExploreForks proves that what a program started ends with it, when the program does
// not end on its own.
func TestExploreForks(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	file := writeScenario(t, "about: a\nexplore: {quiet: 1s, within: 5s, off: [rest]}\nprogram: {steps: [{start: true}]}\n")
	program := `curl --silent "http://$SLB_ENDPOINT/" >/dev/null; sleep 1000 & echo $! >> ` + pids + `; wait`
	code, stdout, problems := executed(t, "explore", file, "--plays", "1", "--", "sh", "-c", program)
	text, err := os.ReadFile(pids)
	if err != nil || len(text) == 0 {
		t.Fatalf("= %d, %s%s, and no child was started: %v", code, stdout, problems, err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		// Whoever inherits it takes a moment to see its end.
		await.Until(t, fmt.Sprintf("the child %d ends", pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// TestExploreInterrupted proves that Ctrl-C keeps the results so far, and says so.
func TestExploreInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	ctx, cancel := context.WithCancel(t.Context())
	var stdout, problems bytes.Buffer
	done := make(chan int)
	file := writeScenario(t, strings.Replace(explored, " TOKEN", "", 1))
	go func() {
		done <- plain.run(ctx, []string{"explore", file, "--out", out, "--parallel", "1"}, &stdout, &problems)
	}()
	for kept := 0; kept < 3 && t.Context().Err() == nil; runtime.Gosched() {
		text, _ := os.ReadFile(filepath.Join(out, playsFile)) // there is none at first
		kept = bytes.Count(text, []byte("\n"))
	}
	cancel()
	if code := <-done; code != exitCannot || !strings.Contains(problems.String(), "it was interrupted") || !strings.Contains(stdout.String(), "CreateLoadBalancer") {
		t.Errorf("= %d, %s\n%s", code, problems.String(), stdout.String())
	}
	if _, err := os.Stat(filepath.Join(out, "report.json")); err != nil {
		t.Error(err)
	}
}

// TestInterrupted proves that a command which Ctrl-C ends says just that.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, problems bytes.Buffer
	if code := plain.run(ctx, []string{"explore", "--", "sleep", "1000"}, &stdout, &problems); code != exitCannot || problems.String() != "clbemu: interrupted\n" {
		t.Errorf("= %d, %s", code, problems.String())
	}
}

// TestExploreControlPlanes proves that the control planes that explore starts lead it to
// their clusters, that they end with it, and that one which does not start is said.
func TestExploreControlPlanes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	t.Setenv("PATH", os.Getenv("PATH"))
	pids, asked := filepath.Join(dir, "pids"), filepath.Join(dir, "asked")
	write("kubectl", `echo "$2" >> `+asked+`; exit 1`)
	plane := write("plane", `echo $$ >> `+pids+`; echo building; echo "  export KUBECONFIG=`+dir+`/$$.kubeconfig PATH=`+dir+`:\$PATH"; exec sleep 1000`)
	dies := write("dies", "exit 7\n")
	service := writeScenario(t, "about: a\nkubernetes: {steps: [{rest: {quiet: 1s}}]}\n")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--control-plane", plane, "--control-planes", "2"}, exitCannot, "kubectl get: exit status 1"},
		{[]string{"--control-plane", dies, "--control-planes", "2"}, exitCannot, "ended with status 7 before it printed KUBECONFIG=FILE"},
		{[]string{"--control-plane", "no-such-command", "--control-planes", "1"}, exitCannot, "start a control plane"},
		{[]string{"--control-plane", " ", "--control-planes", "1"}, exitUsage, "--control-plane is the command"},
		{[]string{"--control-planes", "17"}, exitUsage, "--control-planes is 1 to 16"},
		{[]string{"--control-planes", "-1"}, exitUsage, "--control-planes is 1 to 16"},
		{[]string{"--control-planes", "1", "--kubeconfig", "a"}, exitUsage, "not both"},
	} {
		code, _, problems := executed(t, append(append([]string{"explore", service}, tt.args...), "--", "true")...)
		if code != tt.code || !strings.Contains(problems, tt.says) {
			t.Errorf("%q = %d, %s, want %d and %q", tt.args, code, problems, tt.code, tt.says)
		}
	}
	text, err := os.ReadFile(pids)
	started := strings.Fields(string(text))
	if err != nil || len(started) != 2 {
		t.Fatalf("control planes %q were started, %v, want 2", started, err)
	}
	for _, word := range started {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("the control plane %d still runs", pid)
		}
	}
	if text, err = os.ReadFile(asked); err != nil || !strings.Contains(string(text), started[0]+".kubeconfig") {
		t.Errorf("kubectl was asked for %q, %v", text, err)
	}
}

// TestExploreInterface proves that a pod's network interface is gone for a while, and is
// there again as it was.
func TestExploreInterface(t *testing.T) {
	file := writeScenario(t, `about: a
given:
  state:
    - {product: Ecs, action: CreateNetworkInterface, params: {VSwitchId: vsw-bp1clbemu000000000001, SecurityGroupId: sg-bp1clbemu0000000001, PrimaryIpAddress: 192.168.0.111}}
explore:
  quiet: 3s
  within: 10s
  timeout: 2s
  known: [{rule: ends, disturbance: hang, why: the command waits for long}]
program: {steps: [{start: true}]}
`)
	code, stdout, problems := executed(t, "explore", file, "-o", "json", "--", binary.Command().Path,
		"call", "--product", "Ecs", "DescribeNetworkInterfaces", "PrivateIpAddress.1=192.168.0.111")
	var report explore.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != exitOK {
		t.Fatalf("= %d, %s, %v\n%s", code, problems, err, stdout)
	}
	for _, o := range report.Outcomes {
		if o.ID == "condition podWithoutInterface at DescribeNetworkInterfaces" && o.Verdict == explore.Fine {
			return
		}
	}
	t.Errorf("the outcomes are %+v, want a pod without interface that is fine", report.Outcomes)
}

// TestExploreAgain proves that a program which starts again where all is done may not delete a
// load balancer, nor leave a listener without its backends for a while.
func TestExploreAgain(t *testing.T) {
	const begin = `c() { CLBEMU call "$@" 2>/dev/null; }
lb=$(c DescribeLoadBalancers LoadBalancerName=web | grep -o '"lb-[a-z0-9]*"' | tr -d '"' | head -1)
create() { c CreateLoadBalancer AddressType=internet InstanceChargeType=PayByCLCU LoadBalancerName=web --field LoadBalancerId; }
servers='[{"ServerId":"i-bp1clbemu0000000001"}]'
`
	// At rest is a program that has ended, however late it makes its next call.
	file := writeScenario(t, "about: a\nexplore: {quiet: 5m, within: 5m}\nprogram: {steps: [{start: true}]}\n")
	for name, test := range map[string]struct{ program, want string }{
		"right":     {`test -n "$lb" || create >/dev/null`, ""},
		"replaces":  {`create >/dev/null; test -z "$lb" || c DeleteLoadBalancer LoadBalancerId=$lb >/dev/null`, "violation of replaced: again at rest"},
		"each time": {`test -z "$lb" || c DeleteLoadBalancer LoadBalancerId=$lb >/dev/null; lb=$(create); c DeleteLoadBalancer LoadBalancerId=$lb >/dev/null`, ""},
		"empties": {`if test -z "$lb"; then lb=$(create)
c AddBackendServers LoadBalancerId=$lb BackendServers="$servers" >/dev/null
c CreateLoadBalancerTCPListener LoadBalancerId=$lb ListenerPort=80 BackendServerPort=80 Bandwidth=-1 >/dev/null
c StartLoadBalancerListener LoadBalancerId=$lb ListenerPort=80 >/dev/null
else c RemoveBackendServers LoadBalancerId=$lb BackendServers="$servers" >/dev/null; sleep 2
c AddBackendServers LoadBalancerId=$lb BackendServers="$servers" >/dev/null; fi`, "violation of outage: again at rest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, stdout, problems := executed(t, "explore", file, "--disturbances", "again", "--", "sh", "-c", strings.ReplaceAll(begin, "CLBEMU", binary.Command().Path)+test.program)
			if found, _, _ := strings.Cut(stdout[max(strings.Index(stdout, "violation of"), 0):], "\n"); test.want == "" && strings.Contains(stdout, "violation of") || test.want != "" && found != test.want {
				t.Errorf("%s%s, want %q", stdout, problems, test.want)
			}
			if !strings.Contains(stdout, "1 plays in") {
				t.Errorf("%s%s, want that one play was played", stdout, problems)
			}
		})
	}
}
