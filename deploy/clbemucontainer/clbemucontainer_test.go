package clbemucontainer_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"github.com/clbemu/clbemu/deploy/clbemucontainer"
)

// docker is the engine of all tests: Testcontainers looks for it once.
var docker = &engine{running: make(map[string]*process)}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clbemucontainer")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "clbemu"), "./cmd/clbemu")
	build.Dir = filepath.Join("..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, text)
		return 1
	}
	docker.dir = dir
	server := httptest.NewServer(docker)
	defer server.Close()
	os.Setenv("DOCKER_HOST", strings.Replace(server.URL, "http", "tcp", 1))
	os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	defer func() {
		for _, p := range docker.running {
			p.end()
		}
	}()
	return m.Run()
}

// start starts a container that ends with the test.
func start(t *testing.T, options ...testcontainers.ContainerCustomizer) *clbemucontainer.Container {
	t.Helper()
	c, err := clbemucontainer.Run(t.Context(), "ghcr.io/clbemu/clbemu:0.1.0", options...)
	testcontainers.CleanupContainer(t, c)
	if err != nil {
		t.Fatal(err)
	}
	known(t)
	return c
}

// known reports calls of Testcontainers that the engine does not know.
func known(t *testing.T) {
	t.Helper()
	docker.mu.Lock()
	defer docker.mu.Unlock()
	if len(docker.unknown) > 0 {
		t.Errorf("the engine does not know %q", docker.unknown)
	}
}

// get reads a path of the control API.
func get(t *testing.T, c *clbemucontainer.Container, path, token string) (status int, body string) {
	t.Helper()
	url, err := c.ControlURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// TestRun proves that a container is ready when Run returns, that both its addresses answer,
// and that its token, and no other, opens the control API.
func TestRun(t *testing.T) {
	c := start(t)
	api, err := c.APIURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.Get(api + "/latest/meta-data/region-id")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, err := io.ReadAll(reply.Body); err != nil || string(text) != clbemucontainer.Region {
		t.Errorf("the region is %q, %v", text, err)
	}
	if status, body := get(t, c, "/v1/world", c.Token()); status != http.StatusOK || !strings.Contains(body, clbemucontainer.AccessKeyID) {
		t.Errorf("the world is %d %s", status, body)
	}
	if status, _ := get(t, c, "/v1/world", "wrong"); status != http.StatusUnauthorized {
		t.Errorf("another token gets %d", status)
	}
	docker.mu.Lock()
	defer docker.mu.Unlock()
	p := docker.running[c.GetContainerID()]
	if env := strings.Join(p.Env, " "); p.Image != "ghcr.io/clbemu/clbemu:0.1.0" || len(p.Cmd) != 0 || len(p.ExposedPorts) != 2 || !strings.Contains(env, "CLBEMU_ENGINE=memory") {
		t.Errorf("the container is %+v", p)
	}
}

// TestOptions proves that a world and fault rules are in force, and that the environment wins
// over what Run sets.
func TestOptions(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(faults, []byte("- {name: busy, match: {action: CreateLoadBalancer}, effect: {error: {code: ServiceUnavailable}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, clbemucontainer.WithWorld("../../examples/world/cluster.yaml"), clbemucontainer.WithFaults(faults),
		testcontainers.WithEnv(map[string]string{"CLBEMU_CONTROL_TOKEN": "mine"}))
	if c.Token() != "mine" {
		t.Errorf("the token is %q", c.Token())
	}
	for path, want := range map[string]string{"/v1/resources?kind=lb": "lb-apiserver", "/v1/faults": `"busy"`} {
		if status, body := get(t, c, path, "mine"); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s is %d %s, want %s", path, status, body, want)
		}
	}
}

// TestNoFile proves that a world file that is not there is an error.
func TestNoFile(t *testing.T) {
	c, err := clbemucontainer.Run(t.Context(), "clbemu", clbemucontainer.WithWorld("nosuch.yaml"))
	testcontainers.CleanupContainer(t, c)
	if err == nil || !strings.Contains(err.Error(), "nosuch.yaml") {
		t.Errorf("the error is %v", err)
	}
}

// TestNode proves that the example in Node starts a container, and makes a load balancer.
func TestNode(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/testcontainers/node")); err != nil {
		t.Fatal(err)
	}
	// Without a network npm tries for a quarter of an hour.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		t.Skipf("its packages can't be had: %v\n%s", err, text)
	}
	node := exec.CommandContext(ctx, "node", "index.mjs")
	node.Dir = dir
	if text, err := node.CombinedOutput(); err != nil || !strings.Contains(string(text), "there are 1\n") {
		t.Errorf("the example says %v, %s", err, text)
	}
	known(t)
}

// TestGo proves that the example in Go starts a container, and makes a load balancer.
func TestGo(t *testing.T) {
	example := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", ".")
	example.Dir = filepath.Join("..", "..", "examples", "testcontainers")
	if text, err := example.CombinedOutput(); err != nil || !strings.Contains(string(text), "--- PASS: TestLoadBalancer") {
		t.Errorf("the example says %v, %s", err, text)
	}
	known(t)
}
