package main_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// createLoadBalancer returns the id of a new load balancer.
func createLoadBalancer(t *testing.T, c *emulatortest.Client) string {
	t.Helper()
	reply, err := c.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{
		"VSwitchId": "vsw-bp1clbemu000000000001",
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
	t.Parallel()
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
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := binary.Serve(t, "--engine", "memory", "--data-dir", dir)
	createLoadBalancer(t, s.Client())
	s.End(syscall.SIGTERM)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(%s) = %v, want nothing there", dir, err)
	}
}

// TestEndWithinAFault proves that a call which a fault holds does not hold up the
// end, which is a success.
func TestEndWithinAFault(t *testing.T) {
	t.Parallel()
	for _, effect := range []string{"{hang: {}}", "{hang: {for: 1h}}", "{delay: {fixed: 1h}}", "{afterCommit: hang}"} {
		t.Run(effect, func(t *testing.T) {
			s := binary.Serve(t, "--engine", "memory")
			rule := "name: f\nmatch: {action: CreateLoadBalancer}\neffect: " + effect + "\n"
			if status, answer, err := s.Ask("POST", "/v1/faults", []byte(rule)); err != nil || status != http.StatusOK {
				t.Fatalf("POST /v1/faults = %d %s, %v", status, answer, err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := s.Client().Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"AddressType": "internet"})
				ended <- err
			}()
			awaitHit(t, s)
			if code := s.End(syscall.SIGTERM); code != 0 || s.Stderr.Len() > 0 {
				t.Errorf("exit code %d, stderr %q, want 0 and silence", code, s.Stderr.String())
			}
			<-ended
		})
	}
}

// awaitHit waits until the one fault rule has struck.
func awaitHit(t *testing.T, s *binary.Server) {
	t.Helper()
	var list struct{ Faults []struct{ Hits int } }
	await.Until(t, "the fault rule strikes", func() bool {
		status, answer, err := s.Ask("GET", "/v1/faults", nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("GET /v1/faults = %d %s, %v", status, answer, err)
		}
		if err := json.Unmarshal(answer, &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Faults) > 0 && list.Faults[0].Hits > 0
	})
}
