package examples_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// provider is the folder of a built Terraform provider; read before Main clears such
// settings away.
var provider = os.Getenv("CLBEMU_TERRAFORM_PROVIDER")

// nodeWanted says whether Node is tried, which make node does.
var nodeWanted = os.Getenv("CLBEMU_NODE") != ""

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// needs skips where a tool is missing, and says which.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if tool == "node" && !nodeWanted {
			t.Skip("make node tries Node")
		}
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
}

// copied returns an example in a folder of its own.
func copied(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pointed returns a command in the environment that clbemu env prints.
func pointed(t *testing.T, s *binary.Server, dir string, command ...string) *exec.Cmd {
	t.Helper()
	r := binary.Run(t, "env", "--shell", "dotenv", "--server", s.Control)
	if r.Code != 0 {
		t.Fatalf("clbemu env = %+v", r)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), strings.Fields(r.Stdout)...)
	return cmd
}

func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// withPackages returns an example in Node in a folder of its own, with what it imports.
func withPackages(t *testing.T, name string) string {
	t.Helper()
	dir := copied(t, name)
	// Without a network npm tries for a quarter of an hour.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("its packages can't be had: %v\n%s", err, out)
	}
	return dir
}

// TestNode proves that the client in Node makes a load balancer of the emulator's.
func TestNode(t *testing.T) {
	needs(t, "node", "npm")
	dir := withPackages(t, "node")
	s := binary.Serve(t, "--engine", "memory")
	out := must(t, pointed(t, s, dir, "node", "index.mjs"))
	list := binary.Run(t, "get", "lb", "node", "--server", s.Control)
	if !strings.Contains(out, "there are 1\n") || !strings.Contains(list.Stdout, "(node)") {
		t.Errorf("the client says %q, and the emulator has %+v", out, list)
	}
}

// TestWorld proves that the world of a cluster has the load balancers of its API server and
// its Ingress, and that each which no Service may reuse has the tag that tells a CCM:
// CLB-0459.
func TestWorld(t *testing.T) {
	s := binary.Serve(t, "--engine", "memory", "--world", "world/cluster.yaml")
	for kind, want := range map[string][]string{
		"lb":       {"lb-apiserver", "192.168.0.10", "lb-ingress", "lb-console", "nlb-web"},
		"listener": {" 6443 ", " 80 ", " 443 "},
	} {
		get := binary.Run(t, "get", kind, "--server", s.Control)
		for _, shown := range want {
			if !strings.Contains(get.Stdout, shown) {
				t.Errorf("get %s shows no %q: %s", kind, shown, get.Stdout)
			}
		}
	}
	for call, want := range map[string][]string{
		"DescribeLoadBalancerTCPListenerAttribute LoadBalancerId=lb-apiserver ListenerPort=6443": {`"ListenerPort": 6443`, `"VServerGroupId": "rsp-apiserver"`},
		"DescribeVServerGroupAttribute VServerGroupId=rsp-apiserver":                             {`"ServerId": "i-master1"`, `"ServerId": "i-master2"`, `"Port": 6443`},
	} {
		r := binary.Run(t, append(append([]string{"call"}, strings.Fields(call)...), "--server", s.Control)...)
		for _, shown := range want {
			if r.Code != 0 || !strings.Contains(r.Stdout, shown) {
				t.Errorf("%s: %+v, want %s", call, r, shown)
			}
		}
	}
	for id, refused := range map[string]bool{"lb-apiserver": true, "lb-ingress": true, "lb-console": false} {
		r := binary.Run(t, "call", "ListTagResources", "ResourceType=instance", "ResourceId.1="+id, "--server", s.Control)
		if r.Code != 0 || strings.Contains(r.Stdout, "ack.aliyun.com") != refused {
			t.Errorf("the tags of %s are %+v, want the tag of ACK: %t", id, r, refused)
		}
	}
}

// TestTerraform proves that the configuration is applied, has no difference then, and
// is destroyed.
func TestTerraform(t *testing.T) {
	rc := terraformSettings(t)
	dir, data := copied(t, "terraform"), t.TempDir()
	s := binary.Serve(t, "--data-dir", data, "--tls")
	for _, args := range [][]string{{"apply", "-auto-approve"}, {"plan", "-detailed-exitcode"}, {"destroy", "-auto-approve"}} {
		cmd := pointed(t, s, dir, append([]string{"terraform"}, append(args, "-no-color", "-input=false")...)...)
		cmd.Env = append(cmd.Env, "TF_CLI_CONFIG_FILE="+rc)
		must(t, cmd)
		if list := binary.Run(t, "get", "lb", "--server", s.Control).Stdout; strings.Contains(list, "terraform") != (args[0] != "destroy") {
			t.Errorf("after %s there is %s", args[0], list)
		}
	}
}

// TestTerraformInArrears proves that Terraform, started again after it was refused, passes the
// scenario of an account in arrears, and that one start alone fails it.
func TestTerraformInArrears(t *testing.T) {
	t.Setenv("TF_CLI_CONFIG_FILE", terraformSettings(t))
	for restarts, code := range map[string]int{"0": 1, "3": 0} {
		cmd := exec.CommandContext(t.Context(), binary.Path, "scenario", "watch", "arrears", "--restarts", restarts, "--tls", "--", "terraform", "apply", "-auto-approve")
		cmd.Dir = copied(t, "terraform")
		r := binary.Finish(t, cmd)
		if r.Code != code || !strings.Contains(r.Stdout, "ORDER.ARREARAGE") || strings.Contains(r.Stdout, "[0m") {
			t.Errorf("with %s restarts: %+v", restarts, r)
		}
	}
}

// terraformSettings returns a file of settings with the built provider. It skips the test if there
// is none.
func terraformSettings(t *testing.T) string {
	t.Helper()
	needs(t, "terraform")
	if provider == "" {
		t.Skip("no CLBEMU_TERRAFORM_PROVIDER names a built provider")
	}
	rc := filepath.Join(t.TempDir(), "rc")
	if err := os.WriteFile(rc, fmt.Appendf(nil, "provider_installation {\n  dev_overrides { \"aliyun/alicloud\" = %q }\n  direct {}\n}\n", provider), 0o600); err != nil {
		t.Fatal(err)
	}
	return rc
}

// TestCompose proves that the services of the compose file use commands, flags and
// settings that there are, and that they work together: as processes here, which is
// what the image runs.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Build       string
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	server, client := file.Services["clbemu"], file.Services["client"]
	for name, service := range file.Services {
		if _, err := os.Stat(filepath.Join("compose", service.Build, "Dockerfile")); service.Build == "" || err != nil {
			t.Errorf("%s is not built from source: %v", name, err)
		}
	}
	cmd := exec.Command(binary.Path, "serve")
	cmd.Env = append(os.Environ(), "CLBEMU_LISTEN=127.0.0.1:0", "CLBEMU_CONTROL_LISTEN=127.0.0.1:0")
	for name, value := range server.Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	s := binary.Await(t, cmd)
	args := slices.Clone(client.Command)
	for i, arg := range args {
		args[i] = strings.Replace(arg, "http://clbemu:9600", s.API, 1)
	}
	if r := binary.Run(t, args...); r.Code != 0 || !strings.Contains(r.Stdout, "cn-hangzhou") || slices.Equal(args, client.Command) {
		t.Errorf("the client, %q = %+v", args, r)
	}
	if _, err := exec.LookPath("docker"); err == nil {
		if out, err := exec.CommandContext(t.Context(), "docker", "compose", "--file", "compose/compose.yaml", "config", "--quiet").CombinedOutput(); err != nil && !strings.Contains(string(out), "is not a docker command") && !strings.Contains(string(out), "unknown") {
			t.Errorf("docker compose config: %v\n%s", err, out)
		}
	}
}

// TestTestcontainers proves that the example with Testcontainers compiles and vets where
// its modules can be had, and passes where there is Docker with the image.
func TestTestcontainers(t *testing.T) {
	in := func(command ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = "testcontainers"
		return cmd
	}
	if out, err := in("go", "mod", "download").CombinedOutput(); err != nil {
		t.Skipf("its modules can't be had: %v\n%s", err, out)
	}
	must(t, in("go", "vet", "./..."))
	if out, err := in("docker", "image", "inspect", "ghcr.io/clbemu/clbemu:0.1.0").CombinedOutput(); strings.Contains(string(out), "No such image") {
		t.Skipf("it compiles, and Docker has no image to run it with: make image-archive, docker load --input bin/clbemu-image.tar, docker tag clbemu ghcr.io/clbemu/clbemu:0.1.0 (%v)", err)
	}
	out := must(t, in("go", "test", "-count=1", "-v", "./..."))
	if strings.Contains(out, "--- SKIP: TestLoadBalancer") {
		t.Skipf("it compiles, and there is no Docker to run it:\n%s", out)
	}
	if !strings.Contains(out, "--- PASS: TestLoadBalancer") {
		t.Errorf("it says %s", out)
	}
}

// TestTestcontainersNode proves that the example with Testcontainers for Node comes as far as
// the container, and passes where there is Docker with the image.
func TestTestcontainersNode(t *testing.T) {
	needs(t, "node", "npm")
	cmd := exec.CommandContext(t.Context(), "node", "index.mjs")
	cmd.Dir = withPackages(t, "testcontainers/node")
	switch out, err := cmd.CombinedOutput(); {
	case err == nil && strings.Contains(string(out), "there are 1\n"):
	case strings.Contains(string(out), "working container runtime") || strings.Contains(string(out), "No such image") || strings.Contains(string(out), "pull access denied"):
		t.Skipf("it starts, and there is no Docker with the image to run it:\n%s", out)
	default:
		t.Errorf("it says %s, %v", out, err)
	}
}

// TestTestcontainersJava proves that the example in Java has no mistake but that the compiler
// is not given its libraries, which come from Maven.
func TestTestcontainersJava(t *testing.T) {
	needs(t, "javac")
	out, err := exec.CommandContext(t.Context(), "javac", "-proc:none", "-Xmaxerrs", "1000", "-d", t.TempDir(), "testcontainers/java/Example.java").CombinedOutput()
	if err == nil {
		return // the libraries are on the class path
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		if _, mistake, ok := strings.Cut(line, "error: "); ok {
			if seen++; !strings.HasPrefix(mistake, "package com.aliyuncs") && !strings.HasPrefix(mistake, "package org.testcontainers") && !strings.HasPrefix(mistake, "cannot find symbol") {
				t.Error(line)
			}
		}
	}
	if seen == 0 {
		t.Errorf("javac says %s, %v", out, err)
	}
}

// TestExplore proves that the lives can be read, and that each begins with a command that
// explore takes: it comes as far as the control plane, and disturbs calls that there are.
// The page of what was explored has each.
func TestExplore(t *testing.T) {
	lives, err := filepath.Glob("explore/*.yaml")
	if err != nil || len(lives) == 0 {
		t.Fatalf("lives: %q, %v", lives, err)
	}
	page, err := os.ReadFile("explore/README.md")
	if err != nil {
		t.Fatal(err)
	}
	actions := target.NewNames(emulator.Names()).Actions()
	for _, life := range lives {
		if r := binary.Run(t, "scenario", "lint", life); r.Code != 0 {
			t.Errorf("%s: %+v", life, r)
		}
		if !strings.Contains(string(page), "("+filepath.Base(life)+")") {
			t.Errorf("explore/README.md does not say what %s found", life)
		}
		text, err := os.ReadFile(life)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		command, ok := strings.CutPrefix(line, "# clbemu explore ")
		if !ok || !strings.HasPrefix(command, "examples/"+filepath.ToSlash(life)+" ") {
			t.Errorf("%s does not begin with the command that plays it, but with %q", life, line)
			continue
		}
		cmd := exec.Command("sh", "-c", `"$CLBEMU" explore --control-plane false `+command)
		cmd.Dir, cmd.Env = "..", append(os.Environ(), "CLBEMU="+binary.Path)
		if r := binary.Finish(t, cmd); !strings.Contains(r.Stderr, "ended with status 1 before it printed KUBECONFIG=FILE") {
			t.Errorf("%s: %s: %+v", life, command, r)
		}
		_, calls, _ := strings.Cut(command, "--calls '")
		calls, _, _ = strings.Cut(calls, "'")
		if _, idle := glob.Select(glob.Split(calls), actions, func(a scenarios.Action) string { return a.Name }); idle != "" {
			t.Errorf("%s disturbs calls of %s, and no action is called so", life, idle)
		}
	}
}

// TestExamplesAreListed proves that the page has every example.
func TestExamplesAreListed(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := fs.ReadDir(os.DirFS("."), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(string(page), "["+f.Name()+"]("+f.Name()+")") {
			t.Errorf("the page does not have %s", f.Name())
		}
	}
}
