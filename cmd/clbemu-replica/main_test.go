package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestBadStarts proves that an error that keeps a replica from starting is one line that
// names the cause, with the exit code of its sort.
func TestBadStarts(t *testing.T) {
	const etcd = "http://127.0.0.1:1"
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"etcd without an address", []string{"--engine", "etcd"}, 2, "--engine etcd needs --etcd-endpoints"},
		{"etcd that is not there", []string{"--engine", "etcd", "--etcd-endpoints", etcd}, 3, "check --etcd-endpoints"},
		{"address of etcd for a file", []string{"--etcd-endpoints", etcd}, 2, "--etcd-endpoints needs --engine etcd\n"},
		{"unreachable replica", []string{"--engine", "etcd", "--etcd-endpoints", etcd, "--listen", "0.0.0.0:0"}, 2, "name one with --advertise"},
		{"part of a certificate", []string{"--engine", "etcd", "--etcd-endpoints", etcd, "--etcd-cert", "c.pem"}, 2, "--etcd-cert and --etcd-key go together"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0",
				"--data-dir", filepath.Join(t.TempDir(), "data")}, test.args...)
			r := binary.Finish(t, exec.CommandContext(t.Context(), binary.Replica(t), args...))
			if r.Code != test.code || !strings.HasPrefix(r.Stderr, "clbemu-replica: ") || !strings.Contains(r.Stderr, test.want) || strings.Count(r.Stderr, "\n") != 1 {
				t.Errorf("clbemu-replica %v = %d, %q, want %d and one line with %q", args, r.Code, r.Stderr, test.code, test.want)
			}
			if r.Stdout != "" {
				t.Errorf("clbemu-replica %v says %q, want nothing on standard output", args, r.Stdout)
			}
		})
	}
}

// TestIsClbemu proves that it is clbemu by another name: it serves a folder, and its help
// and its version name it.
func TestIsClbemu(t *testing.T) {
	path := binary.Replica(t)
	for argument, want := range map[string]string{"version": "clbemu-replica ", "--help": "clbemu-replica [command]"} {
		if r := binary.Finish(t, exec.CommandContext(t.Context(), path, argument)); r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("clbemu-replica %s = %+v, want %q", argument, r, want)
		}
	}
	s := binary.Await(t, exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--data-dir", t.TempDir()))
	if r := binary.Finish(t, exec.CommandContext(t.Context(), path, "wait", "--for", "ready", "--server", s.Control)); r.Code != 0 {
		t.Errorf("clbemu-replica wait = %+v", r)
	}
}
