package process_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
)

func start(t *testing.T, script string) *process.Process {
	t.Helper()
	p, err := process.Start(process.Command{Dir: t.TempDir(), Name: "script", Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"WORD=hello"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// await waits until the program has written the text.
func await(t *testing.T, p *process.Process, text string) {
	t.Helper()
	timeout := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(p.Log(), text) {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("the log is %q, want %q in it", p.Log(), text)
		}
	}
}

// TestStopped proves that a program which is stopped says no more until it goes on.
func TestStopped(t *testing.T) {
	p := start(t, "while :; do echo $WORD; done")
	await(t, p, "hello")
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := p.Log()
	<-time.After(100 * time.Millisecond) // in which nothing should come
	if after := p.Log(); after != before {
		t.Errorf("a program that is stopped said %d bytes", len(after)-len(before))
	}
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, p, before+"hello")
}

// TestStop proves that Stop reports how a program ended.
func TestStop(t *testing.T) {
	tests := []struct {
		name, script, want string
	}{
		{"ends well", `trap 'exit 0' TERM; echo $WORD; while :; do sleep 0.01; done`, ""},
		{"ends badly", `trap 'exit 3' TERM; echo $WORD; while :; do sleep 0.01; done`, "exit status 3"},
		{"had ended badly", `trap 'exit 4' TERM; echo $WORD; exit 4`, "exit status 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, test.script)
			await(t, p, "hello")
			err := p.Stop()
			if got := errorText(err); test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("Stop() = %q, want %q", got, test.want)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestKillGroup proves that what a program has started does not outlive it.
func TestKillGroup(t *testing.T) {
	p := start(t, `sleep 1000 & echo "child $!."; wait`)
	await(t, p, ".\n")
	child, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(p.Tail(1), "child "), "."))
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	timeout := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	// An orphan is gone when whoever inherits it has taken note: until then it is
	// there, but no process that runs.
	for !errors.Is(syscall.Kill(child, 0), syscall.ESRCH) && !zombie(child) {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("process %d still runs", child)
		}
	}
}

// TestFreePorts proves that the ports differ, also those of two calls, and can be
// listened on, that other processes of tests are kept from them, and that the system does not
// give them to connections.
func TestFreePorts(t *testing.T) {
	ports, err := process.FreePorts(5)
	more, err2 := process.FreePorts(500)
	if err := errors.Join(err, err2); err != nil || len(ports) != 5 || len(more) != 500 {
		t.Fatalf("FreePorts(5) = %v, FreePorts(500) = %v, %v", ports, more, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	ephemeral := 32768 // Linux's own
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		fmt.Sscan(string(text), &ephemeral)
	}
	for _, port := range append(ports, more...) {
		if port >= ephemeral {
			t.Errorf("port %d is among those of connections, from %d on", port, ephemeral)
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatalf("port %d of %v: %v", port, ports, err)
		}
		defer listener.Close()
		lock, err := os.Open(filepath.Join(cache, "clbemu-ports", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Fatalf("another process may take port %d: %v", port, err)
		}
	}
}

// zombie reports whether a process has ended and only its entry is left.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
