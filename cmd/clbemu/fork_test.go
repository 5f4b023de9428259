package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// A fork serves what the folder holds, and what is done to it goes with it; the
// folder of a running server, or an empty one, can't be forked.
func TestFork(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.client())
	if r := clbemu(t, "serve", "--fork", dir); r.code != 3 || !strings.Contains(r.stderr, "in use") {
		t.Errorf("a fork of what is served = %+v, want exit code 3 and why", r)
	}
	s.end(syscall.SIGTERM)

	fork := serve(t, "--fork", dir)
	mustDescribe(t, fork.client(), id)
	reply, err := fork.client().Call(emulatortest.Slb, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("delete in the fork = %v, %v", reply, err)
	}
	fork.end(syscall.SIGTERM)

	s = serve(t, "--data-dir", dir)
	mustDescribe(t, s.client(), id)
	s.end(syscall.SIGTERM)
	if r := clbemu(t, "serve", "--fork", t.TempDir()); r.code != 3 || !strings.Contains(r.stderr, "no state") {
		t.Errorf("a fork of nothing = %+v, want exit code 3 and why", r)
	}
}

// A crash rule ends the process at its point, as a power failure would: what was
// committed is there, the client got no answer, and the rule is spent after the
// restart.
func TestCrashRule(t *testing.T) {
	for point, committed := range map[string]bool{"beforeCommit": false, "afterCommit": true} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			rule := filepath.Join(dir, "crash.yaml")
			text := "name: crash\nmatch: {action: CreateLoadBalancer}\nat: " + point + "\nwhen: {times: 1}\neffect: {crash: true}\n"
			if err := os.WriteFile(rule, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := serve(t, "--data-dir", dir)
			if r := clbemu(t, "fault", "add", rule, "--server", s.control); r.code != 0 {
				t.Fatalf("fault add = %+v", r)
			}
			create := map[string]string{"InstanceChargeType": "PayByCLCU"}
			if reply, err := s.client().Call(emulatortest.Slb, "CreateLoadBalancer", create); err == nil {
				t.Errorf("the client got an answer: %v", reply)
			}
			if err := s.cmd.Wait(); err == nil {
				t.Error("the server ended with success, want it killed")
			}
			s = serve(t, "--data-dir", dir)
			reply, err := s.client().Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
			if err != nil || (reply.Body["TotalCount"] == 1.0) != committed {
				t.Errorf("after a crash %s there are %v load balancers (%v), want one: %v", point, reply.Body["TotalCount"], err, committed)
			}
			if r := clbemu(t, "fault", "list", "--server", s.control); !strings.Contains(r.stdout, "crash") || !strings.Contains(r.stdout, "true") {
				t.Errorf("after the restart the rule is %q, want it spent", r.stdout)
			}
			createLoadBalancer(t, s.client())
			s.end(syscall.SIGTERM)
			if r := clbemu(t, "state", "check", "--data-dir", dir); r.code != 0 {
				t.Errorf("state check = %+v", r)
			}
		})
	}
}
