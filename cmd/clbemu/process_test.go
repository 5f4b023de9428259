package main_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	// The settings of this environment are not those of the tests.
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); strings.HasPrefix(name, "CLBEMU_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clbemu-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "clbemu")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// timeout bounds every wait for a process.
const timeout = time.Minute

// result is how a command ended.
type result struct {
	code           int
	stdout, stderr string
}

// clbemu runs a command to its end.
func clbemu(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// serving is a running clbemu serve.
type serving struct {
	t            *testing.T
	cmd          *exec.Cmd
	api, control string
	stderr       bytes.Buffer
}

// serve starts the binary on free ports and waits until it says where.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	return await(t, exec.Command(binary, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, args...)...))
}

func await(t *testing.T, cmd *exec.Cmd) *serving {
	t.Helper()
	s := &serving{t: t, cmd: cmd}
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "To point clients here") {
			s.api, s.control = urlAfter("API", said.String()), urlAfter("control", said.String())
			return s
		}
	}
	s.cmd.Wait()
	t.Fatalf("%v said %q and %q, and ended", cmd.Args, said.String(), s.stderr.String())
	return nil
}

func urlAfter(word, text string) string {
	found := regexp.MustCompile(word + `\s+(https?://\S+)`).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// end sends the signal and returns the exit code.
func (s *serving) end(signal os.Signal) int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(timeout):
		s.t.Fatalf("clbemu ignores %v", signal)
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *serving) client() *emulatortest.Client { return &emulatortest.Client{URL: s.api} }

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
	s := serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.client())
	if code := s.end(syscall.SIGKILL); code == 0 {
		t.Fatalf("exit code after SIGKILL = %d, want the kill to show", code)
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s = serve(t, "--data-dir", dir)
		mustDescribe(t, s.client(), id)
		if code := s.end(signal); code != 0 || s.stderr.Len() > 0 {
			t.Errorf("after %v: exit code %d, stderr %q, want 0 and silence", signal, code, s.stderr.String())
		}
	}
	if r := clbemu(t, "state", "check", "--data-dir", dir); r.code != 0 {
		t.Errorf("state check = %+v, want 0", r)
	}
}

// TestMemoryEngine proves that a throw-away server leaves nothing behind.
func TestMemoryEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--engine", "memory", "--data-dir", dir)
	createLoadBalancer(t, s.client())
	s.end(syscall.SIGTERM)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(%s) = %v, want nothing there", dir, err)
	}
}
