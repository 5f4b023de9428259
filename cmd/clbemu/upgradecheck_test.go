package main_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestUpgradeCheck proves the way of its help text: what a client tries against a
// copy is reported against the stored state, which stays as it is.
func TestUpgradeCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	if r := binary.Run(t, "world", "set", "cloud.year=2024", "--server", s.Control); r.Code != 0 {
		t.Fatalf("world set = %+v", r)
	}
	made, err := s.Client().Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"LoadBalancerSpec": "slb.s1.small"})
	if err != nil || made.Status != http.StatusOK {
		t.Fatalf("CreateLoadBalancer = %v, %v", made, err)
	}
	id := made.Text("LoadBalancerId")
	s.End(syscall.SIGTERM)

	fork := binary.Serve(t, "--fork", dir)
	check := func(args ...string) binary.Result {
		return binary.Run(t, append([]string{"upgrade-check", "--server", fork.Control, "--data-dir", dir}, args...)...)
	}
	if r := binary.Run(t, "journal", "mark", "before", "--server", fork.Control); r.Code != 0 {
		t.Fatalf("journal mark = %+v", r)
	}
	mustDescribe(t, fork.Client(), id)
	if r := check("--since-mark", "before"); r.Code != 0 || r.Stdout != "the client tried no changes\n" {
		t.Errorf("upgradecheck after a read = %+v", r)
	}
	for _, call := range []struct {
		action string
		params map[string]string
	}{
		{"ModifyLoadBalancerInstanceSpec", map[string]string{"LoadBalancerId": id, "LoadBalancerSpec": "slb.s3.small"}},
		{"CreateVServerGroup", map[string]string{"LoadBalancerId": id, "VServerGroupName": "new"}},
		{"AddBackendServers", map[string]string{"LoadBalancerId": id, "BackendServers": `[{"ServerId":"i-bp1clbemu0000000001","Weight":100}]`}},
		{"RemoveBackendServers", map[string]string{"LoadBalancerId": id, "BackendServers": `[{"ServerId":"i-bp1clbemu0000000002"}]`}},
		{"StopLoadBalancerListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80"}},
	} {
		if _, err := fork.Client().Call(emulator.Version("Slb"), call.action, call.params); err != nil {
			t.Fatal(err)
		}
	}
	r := check("--since-mark", "before")
	if r.Code != 1 || !strings.Contains(r.Stderr, "5 changes") {
		t.Errorf("upgradecheck after five changes = %+v", r)
	}
	for _, want := range []string{
		id + " (", "\n  modify the slb instance spec\n    LoadBalancerSpec: slb.s3.small, stored: slb.s1.small\n", "\n  create VServerGroup\n    VServerGroupName: new\n",
		"\n  add backend servers\n", "\n  remove backend servers\n", "\n  stop listener 80, refused with ",
	} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("upgradecheck says %q, want %q in it", r.Stdout, want)
		}
	}
	if r := check("--since-mark", "befor"); r.Code != 2 || !strings.Contains(r.Stderr, "do you mean before?") {
		t.Errorf("upgradecheck since a misspelt mark = %+v, want no finding but wrong usage", r)
	}
	if r := binary.Run(t, "upgrade-check", "--server", fork.Control, "--data-dir", t.TempDir()); r.Code != 3 {
		t.Errorf("upgradecheck without a state = %+v, want 3", r)
	}
}
