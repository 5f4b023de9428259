package main_test

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
)

// TestJobSurvivesKill proves that a job of NLB that was answered goes on after the
// process was killed, and ends at its time.
func TestJobSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	world := func(args ...string) {
		t.Helper()
		if r := binary.Run(t, append(args, "--server", s.Control)...); r.Code != 0 {
			t.Fatalf("%v = %+v, want success", args, r)
		}
	}
	call := func(action string, params map[string]string, field string) string {
		t.Helper()
		reply, err := s.Client().Call(emulator.Version("Nlb"), action, params)
		if err != nil || reply.Status != http.StatusOK {
			t.Fatalf("%s = %v, %v, want success", action, reply, err)
		}
		return reply.Text(field)
	}
	world("world", "set", "life.nlb.job=1h")
	job := call("CreateServerGroup", map[string]string{"ServerGroupName": "web", "VpcId": "vpc-bp1clbemu000000000001"}, "JobId")
	s.End(syscall.SIGKILL)

	s = binary.Serve(t, "--data-dir", dir)
	for _, want := range []string{"Processing", "Succeeded"} {
		if got := call("GetJobStatus", map[string]string{"JobId": job}, "Status"); got != want {
			t.Errorf("the job is %q after the kill, want %q", got, want)
		}
		world("clock", "advance", "2h")
	}
}
