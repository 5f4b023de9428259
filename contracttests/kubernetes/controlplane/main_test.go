package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

// TestControlPlane proves that what is printed reaches the nodes from a shell, and
// that an interrupt leaves nothing behind.
func TestControlPlane(t *testing.T) {
	programs, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	told, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, programs, 2, out)
		out.CloseWithError(err)
		ended <- err
	}()
	printed := make([]byte, 4096)
	n, err := told.Read(printed)
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^  .*$`).FindAllString(string(printed[:n]), -1)
	var refused bytes.Buffer
	shell := exec.Command("sh", "-ec", strings.Join(commands, "\n"))
	shell.Stderr = &refused
	nodes, err := shell.Output()
	if err != nil || strings.Count(string(nodes), " Ready ") != 2 {
		t.Errorf("%q says %q (%v, %s), want two nodes that are Ready", commands, nodes, err, &refused)
	}
	interrupt()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after an interrupt: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
