package main_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestCrashRuleOfFirstProcess proves that a crash rule ends the first process of a
// container too, whom its own signals don't end.
func TestCrashRuleOfFirstProcess(t *testing.T) {
	t.Parallel()
	probe := exec.Command("true")
	probe.SysProcAttr = rootOfOwn(syscall.CLONE_NEWPID)
	finished(t, probe) // or skips
	cmd := binary.Command("--data-dir", t.TempDir())
	cmd.SysProcAttr = rootOfOwn(syscall.CLONE_NEWPID)
	server := binary.Await(t, cmd)
	rule := exec.Command(binary.Path, "fault", "add", "-", "--server", server.Control)
	rule.Stdin = strings.NewReader("name: crash\nmatch: {action: CreateLoadBalancer}\neffect: {crash: true}\n")
	if out, err := rule.CombinedOutput(); err != nil {
		t.Fatalf("fault add: %v\n%s", err, out)
	}
	if reply, err := server.Client().Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU"}); err == nil {
		t.Errorf("the client got an answer: %v", reply)
	}
	if err := server.Cmd.Wait(); cmd.ProcessState.ExitCode() != 137 {
		t.Errorf("the server ended with %v, want 137", err)
	}
}
