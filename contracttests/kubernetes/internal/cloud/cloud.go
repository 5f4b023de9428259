// Package cloud runs the clbemu binary next to a test, with a world in which the
// cluster's nodes are instances, and looks at it from outside: by its commands,
// its metrics and the cloud's own SDK. It knows nothing of Kubernetes.
package cloud

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// The access key of the default world.
const (
	AccessKeyID     = "testid"
	AccessKeySecret = "testsecret"
)

// Cloud is clbemu with a state that outlives the process.
type Cloud struct {
	t          testing.TB
	dir, world string
	program    string
	flags      []string // the first ones say where the state is
	// Env is added to the environment of commands.
	Env []string
	// Endpoint is the host:port of the API, the same after every restart.
	Endpoint string
	control  string
	server   *binary.Server
}

// Start serves the world of a file, with its state in a fresh folder.
func Start(t testing.TB, dir, world string, flags ...string) *Cloud {
	t.Helper()
	return start(t, dir, world, binary.Path, append([]string{"--data-dir", filepath.Join(dir, "data")}, flags...)...)
}

// StartReplicas serves the world of a file by some emulators that share their state in an
// etcd, below a prefix.
func StartReplicas(t testing.TB, n int, dir, world, etcd, prefix string) (all []*Cloud) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("r%d", i)
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		all = append(all, start(t, filepath.Join(dir, name), world, binary.Replica(t), "--engine", "etcd", "--etcd-endpoints", etcd, "--etcd-prefix", prefix, "--replica", name))
	}
	return all
}

func start(t testing.TB, dir, world, program string, flags ...string) *Cloud {
	t.Helper()
	ports, err := process.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cloud{t: t, dir: dir, world: world, program: program, flags: flags,
		Endpoint: fmt.Sprintf("127.0.0.1:%d", ports[0]), control: fmt.Sprintf("127.0.0.1:%d", ports[1])}
	c.Restart()
	return c
}

// Leads reports whether it is the one among replicas that writes.
func (c *Cloud) Leads(ctx context.Context) (bool, error) {
	server, err := (&controlclient.Client{URL: c.ControlURL()}).Server(ctx)
	return err == nil && server.Replicas != nil && server.Replicas.Leads, err
}

// Restart serves the state again after a Kill, at the same addresses.
func (c *Cloud) Restart() {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "clbemu.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	serve := binary.Command(append([]string{"--listen", c.Endpoint, "--control-listen", c.control, "--world", c.world}, c.flags...)...)
	serve.Path, serve.Stderr, serve.Env = c.program, log, append(os.Environ(), Mutant(c.t))
	process.EndWithParent(serve)
	if c.server == nil {
		c.server = binary.Await(c.t, serve)
	} else {
		c.server.Restart(serve)
	}
}

// ControlURL returns the URL of the control API.
func (c *Cloud) ControlURL() string { return "http://" + c.control }

// Kill ends the process without notice. Its state is what it had acknowledged.
func (c *Cloud) Kill() { c.server.End(syscall.SIGKILL) }

// Stop ends the process as SIGTERM does, and returns its exit code.
func (c *Cloud) Stop() int { return c.server.End(syscall.SIGTERM) }

// Control runs a command of the binary on the running server. An error has what
// the command says, and its exit status.
func (c *Cloud) Control(ctx context.Context, args ...string) (string, error) {
	return command(ctx, append(c.Env, Mutant(c.t)), append(args, "--server", c.ControlURL())...)
}

func command(ctx context.Context, env []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary.Path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	process.EndWithParent(cmd)
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("clbemu %v: %w: %s%s", args, err, stderr.String(), stdout.String())
	}
	return stdout.String(), nil
}

// Check runs `clbemu state check`.
func (c *Cloud) Check(ctx context.Context) error {
	_, err := c.Control(ctx, "state", "check")
	return err
}
