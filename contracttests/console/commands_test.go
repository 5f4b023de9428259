package console

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestCommands proves that the commands which the pages show work as they stand there,
// against this emulator.
func TestCommands(t *testing.T) {
	b := open(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "faults.yaml"), []byte("{name: f, match: {action: DescribeZones}, effect: {reset: true}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A command about a cluster works if it comes so far as to ask the cluster, which is none.
	cluster := filepath.Join(dir, "asked")
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\necho \"$@\" >>"+cluster+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	ran := make(map[string]bool)
	run := func(page, ready string, wants ...string) {
		t.Helper()
		b.visit(page)
		b.until(ready)
		shown := value[[]string](b, "[...document.querySelectorAll('.command code')].filter((e) => e.checkVisibility()).map((e) => e.textContent)")
		for _, want := range wants {
			if !slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%s shows %q, want %s", page, shown, want)
			}
		}
		for _, command := range shown {
			// These want a program, or a minute.
			if strings.Contains(command, "go test") || command == "clbemu scenario run" || ran[command] {
				continue
			}
			ran[command] = true
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"))
			r := binary.Finish(t, cmd)
			if strings.Contains(command, "--kubeconfig") {
				if _, err := os.Stat(cluster); err != nil {
					t.Errorf("%s shows %s, which asks no cluster: %s%s", page, command, r.Stdout, r.Stderr)
				}
			} else if r.Code != 0 {
				t.Errorf("%s shows %s, which exits with %d: %s", page, command, r.Code, r.Stderr)
			}
		}
	}
	run("/journal", "document.querySelector('#none').checkVisibility()", "clbemu call DescribeLoadBalancers", "clbemu env")
	run("/", "document.querySelector('#none').checkVisibility()", "clbemu call CreateLoadBalancer", "clbemu scenario run reply-lost", "clbemu env")
	run("/faults", "document.querySelector('#none').checkVisibility()", "clbemu fault add", "clbemu scenario list")
	reply, err := b.client.Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
	if err != nil || reply.Body["TotalCount"] != 1.0 || b.Hits(t, "f") != 0 {
		t.Fatalf("after the commands there is %v, %v", reply.Body, err)
	}
	lb := reply.Body["LoadBalancers"].(map[string]any)["LoadBalancer"].([]any)[0].(map[string]any)["LoadBalancerId"].(string)
	run("/?lb="+lb, "document.querySelector('#detail h3')", "clbemu call CreateLoadBalancerTCPListener", "clbemu get lb")
	b.call(emulatortest.Slb, "SetLoadBalancerName", "RequestId", "LoadBalancerId", lb, "LoadBalancerName", "it_s")
	run("/journal?entry="+sequence(b, "SetLoadBalancerName"), "document.querySelector('#detail .command')", "clbemu call SetLoadBalancerName")
	b.call(emulatortest.Ecs, "DescribeInstances", "RequestId", "InstanceName", "it's $HOME")
	run("/journal?entry="+sequence(b, "DescribeInstances"), "document.querySelector('#detail .command')", "clbemu call DescribeInstances")
	if again := b.Calls(t, "action=DescribeInstances", "params.InstanceName=it's $HOME"); len(again) != 2 {
		t.Errorf("the call was made %d times with its parameter, want 2", len(again))
	}
	b.World(t, "account.arrears", "true")
	b.refuses("ORDER.ARREARAGE")
	b.visit("/journal?code=ORDER.ARREARAGE&entry=" + sequence(b, "CreateLoadBalancer"))
	b.shows("#detail .command", "clbemu explain ORDER.ARREARAGE")
	b.shows("#unusual", "in arrears")
	b.World(t, "account.arrears", "false")
	run("/scenarios?name=arrears", "document.querySelector('#detail .command')", "clbemu scenario run arrears", "clbemu scenario run arrears --part kubernetes --server ")
}

// sequence returns the sequence of the newest call of an action.
func sequence(b *tab, action string) string {
	b.Helper()
	calls := b.Calls(b.T, "action="+action)
	return strconv.FormatUint(calls[len(calls)-1].Sequence, 10)
}
