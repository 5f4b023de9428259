package main_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// createLoadBalancer returns the id of a new load balancer.
func createLoadBalancer(t *testing.T, c *emulatortest.Client) string {
	t.Helper()
	reply, err := c.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{
		"VSwitchId": "vsw-bp1clbemu000000000001", "LoadBalancerSpec": "slb.s1.small",
	})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("CreateLoadBalancer = %v, %v, want success", reply, err)
	}
	return reply.Text("LoadBalancerId")
}

func mustDescribe(t *testing.T, c *emulatortest.Client, id string) {
	t.Helper()
	reply, err := c.Call(emulatortest.Slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
	if err != nil || reply.Status != http.StatusOK || reply.Text("LoadBalancerId") != id {
		t.Errorf("DescribeLoadBalancerAttribute(%s) = %v, %v, want it there", id, reply, err)
	}
}

// TestRestart proves that what was acknowledged is there after a kill, and that
// SIGTERM and SIGINT end the server with success.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.Client())
	if code := s.End(syscall.SIGKILL); code == 0 {
		t.Fatalf("exit code after SIGKILL = %d, want the kill to show", code)
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s = binary.Serve(t, "--data-dir", dir)
		mustDescribe(t, s.Client(), id)
		if code := s.End(signal); code != 0 || s.Stderr.Len() > 0 {
			t.Errorf("after %v: exit code %d, stderr %q, want 0 and silence", signal, code, s.Stderr.String())
		}
	}
	if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 0 {
		t.Errorf("state check = %+v, want 0", r)
	}
}

// TestMemoryEngine proves that a throw-away server leaves nothing behind.
func TestMemoryEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := binary.Serve(t, "--engine", "memory", "--data-dir", dir)
	createLoadBalancer(t, s.Client())
	s.End(syscall.SIGTERM)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(%s) = %v, want nothing there", dir, err)
	}
}
