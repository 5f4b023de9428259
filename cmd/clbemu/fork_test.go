package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// A fork serves what the folder holds, and what is done to it goes with it; the
// folder of a running server, or an empty one, can't be forked.
func TestFork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := func(of, why string) {
		t.Helper()
		if r := binary.Run(t, "serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--fork", of); r.Code != 3 || !strings.Contains(r.Stderr, why) {
			t.Errorf("a fork = %+v, want exit code 3 and %q", r, why)
		}
	}
	s := binary.Serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.Client())
	refused(dir, "in use")
	s.End(syscall.SIGTERM)

	fork := binary.Serve(t, "--fork", dir)
	mustDescribe(t, fork.Client(), id)
	reply, err := fork.Client().Call(emulatortest.Slb, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("delete in the fork = %v, %v", reply, err)
	}
	fork.End(syscall.SIGTERM)

	s = binary.Serve(t, "--data-dir", dir)
	mustDescribe(t, s.Client(), id)
	s.End(syscall.SIGTERM)
	refused(t.TempDir(), "no state")
}

// A crash rule ends the process at its point, as a power failure would: what was
// committed is there, the client got no answer, and the rule is spent after the
// restart.
func TestCrashRule(t *testing.T) {
	t.Parallel()
	for point, committed := range map[string]bool{"beforeCommit": false, "afterCommit": true} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			rule := filepath.Join(dir, "crash.yaml")
			text := "name: crash\nmatch: {action: CreateLoadBalancer}\nat: " + point + "\nwhen: {times: 1}\neffect: {crash: true}\n"
			if err := os.WriteFile(rule, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := binary.Serve(t, "--data-dir", dir)
			if r := binary.Run(t, "fault", "add", rule, "--server", s.Control); r.Code != 0 {
				t.Fatalf("fault add = %+v", r)
			}
			create := map[string]string{"InstanceChargeType": "PayByCLCU"}
			if reply, err := s.Client().Call(emulatortest.Slb, "CreateLoadBalancer", create); err == nil {
				t.Errorf("the client got an answer: %v", reply)
			}
			if err := s.Cmd.Wait(); err == nil {
				t.Error("the server ended with success, want it killed")
			}
			s = binary.Serve(t, "--data-dir", dir)
			reply, err := s.Client().Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
			if err != nil || (reply.Body["TotalCount"] == 1.0) != committed {
				t.Errorf("after a crash %s there are %v load balancers (%v), want one: %v", point, reply.Body["TotalCount"], err, committed)
			}
			if r := binary.Run(t, "fault", "list", "--server", s.Control); !strings.Contains(r.Stdout, "crash") || !strings.Contains(r.Stdout, "yes") {
				t.Errorf("after the restart the rule is %q, want it spent", r.Stdout)
			}
			createLoadBalancer(t, s.Client())
			s.End(syscall.SIGTERM)
			if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 0 {
				t.Errorf("state check = %+v", r)
			}
		})
	}
}
