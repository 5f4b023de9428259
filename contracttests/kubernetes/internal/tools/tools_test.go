package tools_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

// TestBuild proves that every program of the control plane is built and starts,
// and that a second build finds the first.
func TestBuild(t *testing.T) {
	dir, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for program, version := range map[string]string{
		"server": "--version", "kube-apiserver": "--version", "kube-controller-manager": "--version",
		"kube-scheduler": "--version", "kubectl": "--help", "kwok": "--version",
	} {
		if out, err := exec.Command(dir.Path(program), version).CombinedOutput(); err != nil {
			t.Errorf("%s %s: %v\n%s", program, version, err, out)
		}
	}
	if out, err := exec.Command(dir.Path("kube-apiserver"), "--version").Output(); err != nil || string(out) != "Kubernetes v1.33.13\n" {
		t.Errorf("kube-apiserver --version = %q, %v, want the pinned version", out, err)
	}
	if cached, err := tools.Cached(); err != nil || cached != dir {
		t.Errorf("Cached() = %s, %v, want %s", cached, err, dir)
	}
	before, err := os.Stat(dir.Path("kubectl"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := tools.Build(t.Context(), os.Stderr)
	if err != nil || again != dir {
		t.Fatalf("the second build = %s, %v, want %s", again, err, dir)
	}
	if after, err := os.Stat(dir.Path("kubectl")); err != nil || !os.SameFile(before, after) {
		t.Errorf("the second build made kubectl again (%v)", err)
	}
}

// TestCached proves that programs which are not built are reported as missing, and
// that asking builds nothing.
func TestCached(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if dir, err := tools.Cached(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Cached() = %q, %v, want fs.ErrNotExist", dir, err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("the cache has %v (%v), want nothing", left, err)
	}
}
