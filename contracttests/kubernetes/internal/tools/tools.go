package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// Dir is the folder of the built programs. The etcd server is called server there,
// after its package; the files of the modules are there by their own names.
type Dir string

// Path returns the path of a program or a file.
func (d Dir) Path(name string) string { return filepath.Join(string(d), name) }

// cacheRoot returns the folder with the programs of all versions. All clones on a machine share it.
func cacheRoot() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache for the built programs: %w", err)
	}
	return filepath.Join(cache, "clbemu-e2e"), nil
}

// Cached returns the programs if they are built; otherwise the error is
// fs.ErrNotExist.
func Cached() (Dir, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, pins())
	_, err = os.Stat(dir)
	return Dir(dir), err
}

// Build returns the programs, and builds them if the cache has none of these
// pins; it says so on progress, because that takes minutes.
func Build(ctx context.Context, progress io.Writer) (Dir, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	unlock, err := binary.Lock(filepath.Join(root, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	dir, err := Cached()
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	fmt.Fprintf(progress, "building the Kubernetes control plane into %s: this takes minutes, once\n", dir)
	return dir, buildInto(ctx, root, string(dir), progress)
}

// buildInto makes dir appear with everything in it, or not at all.
func buildInto(ctx context.Context, root, dir string, progress io.Writer) error {
	work, err := os.MkdirTemp(root, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	out := filepath.Join(work, "out")
	for i, b := range builds {
		source := filepath.Join(work, fmt.Sprint(i))
		what := fmt.Sprintf("  %s %s, %d of %d", b.module, b.version, i+1, len(builds))
		if err := during(progress, what, func() error { return b.run(ctx, source, out) }); err != nil {
			return fmt.Errorf("build %s %s: %w", b.module, b.version, err)
		}
	}
	return os.Rename(out, dir)
}

// run builds the programs in their own module at source.
func (b build) run(ctx context.Context, source, out string) error {
	if err := os.MkdirAll(source, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(source, "go.mod"), []byte(b.goMod()), 0o644); err != nil {
		return err
	}
	args := []string{"build", "-mod=mod", "-trimpath", "-ldflags", b.ldflags(), "-o", out + "/"}
	if _, err := goTool(ctx, source, append(args, b.packages...)...); err != nil {
		return err
	}
	return b.copyFiles(ctx, source, out)
}

func (b build) copyFiles(ctx context.Context, source, out string) error {
	if len(b.files) == 0 {
		return nil
	}
	dir, err := goTool(ctx, source, "list", "-mod=mod", "-m", "-f", "{{.Dir}}", b.module)
	if err != nil {
		return err
	}
	for _, name := range b.files {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goTool runs the go command in a folder, whatever the caller's own module says.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, exit.Stderr)
	}
	return string(out), err
}
