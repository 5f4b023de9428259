// Package clbemucontainer starts clbemu, a local emulator of Alibaba Cloud's load balancers,
// in a container, as a module of Testcontainers.
package clbemucontainer

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// The access key of the default world, and its region.
const (
	AccessKeyID     = "testid"
	AccessKeySecret = "testsecret"
	Region          = "cn-hangzhou"
)

const (
	apiPort     = "9600/tcp"
	controlPort = "9601/tcp"
	tokenEnv    = "CLBEMU_CONTROL_TOKEN"
)

// Container is a running clbemu.
type Container struct {
	testcontainers.Container
	token string
}

// Run starts a container of an image, such as ghcr.io/clbemu/clbemu:0.1.0, and waits until
// clbemu is ready. Its state ends with the container.
func Run(ctx context.Context, img string, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	var token string
	all := []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(apiPort, controlPort),
		testcontainers.WithEnv(map[string]string{"CLBEMU_ENGINE": "memory", tokenEnv: rand.Text()}),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/readyz").WithPort(controlPort)),
	}
	all = append(all, opts...)
	all = append(all, testcontainers.CustomizeRequestOption(func(req *testcontainers.GenericContainerRequest) error {
		token = req.Env[tokenEnv]
		return nil
	}))
	ctr, err := testcontainers.Run(ctx, img, all...)
	var c *Container
	if ctr != nil {
		c = &Container{Container: ctr, token: token}
	}
	if err != nil {
		return c, fmt.Errorf("run clbemu: %w", err)
	}
	return c, nil
}

// WithWorld plants a world file of this machine.
func WithWorld(file string) testcontainers.CustomizeRequestOption {
	return withFile("CLBEMU_WORLD", file, "/world.yaml")
}

// WithFaults puts the fault rules of a file on this machine in force before the first call.
func WithFaults(file string) testcontainers.CustomizeRequestOption {
	return withFile("CLBEMU_FAULTS", file, "/faults.yaml")
}

// withFile copies a file into the container, and names it in a setting.
func withFile(setting, file, to string) testcontainers.CustomizeRequestOption {
	return func(req *testcontainers.GenericContainerRequest) error {
		copied := testcontainers.ContainerFile{HostFilePath: file, ContainerFilePath: to, FileMode: 0o644}
		if err := testcontainers.WithFiles(copied)(req); err != nil {
			return err
		}
		return testcontainers.WithEnv(map[string]string{setting: to})(req)
	}
}

// APIURL returns the address of the cloud's API, which SDKs take without its scheme.
func (c *Container) APIURL(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, apiPort, "http")
}

// ControlURL returns the address of the control API, and in a browser of the console.
func (c *Container) ControlURL(ctx context.Context) (string, error) {
	return c.PortEndpoint(ctx, controlPort, "http")
}

// Token returns the token of the control API: a random one, unless the environment of the
// container has CLBEMU_CONTROL_TOKEN.
func (c *Container) Token() string { return c.token }
