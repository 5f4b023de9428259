// Package cloud runs the clbemu binary beside a test, with a world in which the
// cluster's nodes are instances, and looks at it from outside: by its commands,
// its metrics and the cloud's own SDK. It knows nothing of Kubernetes.
package cloud

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/clbemu/clbemu/deploy/process"
)

// The access key of the default world.
const (
	AccessKeyID     = "testid"
	AccessKeySecret = "testsecret"
)

const (
	startTime = 30 * time.Second
	pollEvery = 20 * time.Millisecond
)

// Cloud is clbemu with its state in a folder, which outlives the process.
type Cloud struct {
	binary, dir, world string
	// Env is added to the environment of commands.
	Env []string
	// Endpoint is the host:port of the API, the same after every restart.
	Endpoint string
	control  string
	server   *process.Process
}

// Build builds the binary from the main module's sources at root.
func Build(ctx context.Context, root, dir string) (binary string, err error) {
	binary = filepath.Join(dir, "clbemu")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/clbemu")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build clbemu: %w\n%s", err, out)
	}
	return binary, nil
}

// Start serves the world of a file, with its state in a fresh folder.
func Start(ctx context.Context, binary, dir, world string) (*Cloud, error) {
	ports, err := process.FreePorts(2)
	if err != nil {
		return nil, err
	}
	c := &Cloud{binary: binary, dir: dir, world: world,
		Endpoint: fmt.Sprintf("127.0.0.1:%d", ports[0]), control: fmt.Sprintf("127.0.0.1:%d", ports[1])}
	return c, c.Restart(ctx)
}

// Restart serves the folder's state again after a Kill.
func (c *Cloud) Restart(ctx context.Context) (err error) {
	c.server, err = process.Start(process.Command{Dir: c.dir, Name: "clbemu", Path: c.binary, Args: []string{
		"serve", "--listen", c.Endpoint, "--control-listen", c.control, "--data-dir", filepath.Join(c.dir, "data"), "--world", c.world,
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for !c.ready(ctx) {
		select {
		case <-tick.C:
		case <-c.server.Done():
			return fmt.Errorf("clbemu ended: %s", c.server.Tail(5))
		case <-ctx.Done():
			c.server.Kill()
			return fmt.Errorf("clbemu does not get ready: %s", c.server.Tail(5))
		}
	}
	return nil
}

func (c *Cloud) ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ControlURL()+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// ControlURL returns the URL of the control API.
func (c *Cloud) ControlURL() string { return "http://" + c.control }

// Kill ends the process without notice. Its state is what it had acknowledged.
func (c *Cloud) Kill() { c.server.Kill() }

// Stop ends the process as SIGTERM does; an error is an exit code but 0.
func (c *Cloud) Stop() error { return c.server.Stop() }

// Control runs a command of the binary on the running server. An error has what
// the command says, and its exit status.
func (c *Cloud) Control(ctx context.Context, args ...string) (string, error) {
	return command(ctx, c.binary, c.Env, append(args, "--server", c.ControlURL())...)
}

func command(ctx context.Context, binary string, env []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	process.EndWithParent(cmd)
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("clbemu %v: %w: %s%s", args, err, stderr.String(), stdout.String())
	}
	return stdout.String(), nil
}

// Check is `clbemu state check`.
func (c *Cloud) Check(ctx context.Context) error {
	_, err := c.Control(ctx, "state", "check")
	return err
}
