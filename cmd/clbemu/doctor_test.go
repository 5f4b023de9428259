package main_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// examined returns the result of doctor in an environment of its own, without kubectl.
func examined(t *testing.T, environment []string, args ...string) binary.Result {
	t.Helper()
	cmd := exec.Command(binary.Path, append([]string{"doctor"}, args...)...)
	cmd.Env = append([]string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir()}, environment...)
	return binary.Finish(t, cmd)
}

// TestDoctor proves that each thing which would go wrong is found, with what to do,
// and that nothing is found where nothing is wrong.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--data-dir", t.TempDir())
	host := strings.TrimPrefix(s.API, "http://")
	good := []string{"SLB_ENDPOINT=" + host, "VPC_ENDPOINT=" + host, "ALICLOUD_CLIENT_SCHEME=HTTP", "ACCESS_KEY_ID=testid"}
	config := func(text string) string { return writeFile(t, filepath.Join(t.TempDir(), "c.json"), text) }
	const right = `{"Global": {"region": "cn-hangzhou", "vpcid": "vpc-bp1clbemu000000000001", "vswitchid": "cn-hangzhou-h:vsw-bp1clbemu000000000001"}}`
	ccm := func(args ...string) []string { return append([]string{"--", "cloud-controller-manager"}, args...) }
	whole := ccm("--configure-cloud-routes=false", "--controllers", "node,service", "--cloud-config", config(right))
	if r := examined(t, good, append([]string{"--server", s.Control}, whole...)...); r.Code != 0 || strings.Contains(r.Stdout, "note") || strings.Contains(r.Stdout, "problem") || strings.Count(r.Stdout, "ok ") < 8 {
		t.Errorf("where nothing is wrong = %+v", r)
	}
	mustRun(t, "world", "set", "account.arrears=true", "--server", s.Control)
	mustRun(t, "fault", "add", "--server", s.Control, writeFile(t, filepath.Join(t.TempDir(), "rule.yaml"), "{name: mine, match: {action: DescribeZones}, effect: {reset: true}}"))
	if r := examined(t, good, append([]string{"--server", s.Control}, whole...)...); r.Code != 0 || !strings.Contains(oneLine(r.Stdout), "differs from the planted world: account.arrears") || !strings.Contains(oneLine(r.Stdout), "calls fail by rules: mine") {
		t.Errorf("in arrears and with a rule = %+v", r)
	}
	mustRun(t, "state", "reset", "--faults", "--server", s.Control)
	for _, test := range []struct {
		name        string
		environment []string
		args        []string
		code        int
		says        string
	}{
		{"no variables", nil, nil, 0, "no variable points clients here"},
		{"what to do then", nil, nil, 0, `eval "$(clbemu env --server ` + s.Control + `)"`},
		{"scheme", []string{"SLB_ENDPOINT=http://" + host}, nil, 1, "has a scheme"},
		{"another emulator", []string{"VPC_ENDPOINT=127.0.0.1:1"}, nil, 1, "VPC_ENDPOINT=127.0.0.1:1 is not this emulator"},
		{"wrong scheme", append(good, "ALICLOUD_CLIENT_SCHEME=HTTPS"), nil, 1, "ALICLOUD_CLIENT_SCHEME=HTTPS, but the API is HTTP"},
		{"other key", append(good, "ACCESS_KEY_ID=other"), nil, 0, "ACCESS_KEY_ID=other differs from the key"},
		{"unknown key", good, []string{"--access-key-id", "nobody"}, 1, "InvalidAccessKeyId.NotFound"},
		{"proxy", append(good, "http_proxy=http://me:secret@proxy:3128"), nil, 1, "the proxy http_proxy=http://me:xxxxx@proxy:3128"},
		{"proxy that spares", append(good, "HTTP_PROXY=http://proxy:3128", "NO_PROXY=.svc,127.0.0.0/8"), nil, 0, "none intercepts calls"},
		{"other address", good, []string{"--server", s.API}, 1, "the cloud's API answers there"},
		{"API elsewhere", good, []string{"--api", "127.0.0.1:1"}, 1, "the API does not answer at http://127.0.0.1:1"},
		{"no controllers", good, ccm("--controllers=node", "--cloud-config", config(right)), 1, "has neither service nor nlb"},
		{"routes", good, ccm("--cloud-config=" + config(right)), 0, "--configure-cloud-routes=false --network="},
		{"no config", good, ccm("--controllers=service"), 1, "there is no --cloud-config"},
		{"broken config", good, ccm("--cloud-config", config("{")), 1, "is not JSON"},
		{"unknown VPC", good, ccm("--cloud-config", config(strings.Replace(right, "vpc-bp1clbemu000000000001", "vpc-bp1clbemu00000000001", 1))), 1, "do you mean vpc-bp1clbemu000000000001?"},
		{"vSwitch of another zone", good, ccm("--cloud-config", config(strings.Replace(right, "cn-hangzhou-h:", "cn-hangzhou-i:", 1))), 1, "Global.vswitchid is cn-hangzhou-i:vsw-bp1clbemu000000000001, which the emulated cloud does not have"},
		{"no file", good, ccm("--controllers=service", "--kubeconfig", "/nosuch", "--cloud-config", config(right)), 1, "--kubeconfig: stat /nosuch"},
		{"no program", good, []string{"--", "/nosuch/ccm", "--cloud-config", config(right)}, 1, "the program: stat /nosuch/ccm"},
		{"no variables for a program", nil, ccm("--configure-cloud-routes=false", "--cloud-config", config(right)), 1, "no variable points the program here: it calls the real cloud"},
		{"process", nil, []string{"--pid", fmt.Sprint(os.Getpid())}, 1, "there is no --cloud-config"},
		{"no process", good, []string{"--pid", "999999999"}, 1, "can't read process 999999999"},
		{"argument", good, []string{"now"}, 2, `after --, not "now"`},
		{"nobody", nil, []string{"--server", "127.0.0.1:1"}, 1, "no emulator answers at http://127.0.0.1:1"},
		{"folder", nil, []string{"--server", "127.0.0.1:1", "--data-dir", s.Cmd.Args[len(s.Cmd.Args)-1]}, 1, "in use by another process"},
	} {
		args := test.args
		if len(args) == 0 || args[0] != "--server" {
			args = append([]string{"--server", s.Control}, args...)
		}
		r := examined(t, test.environment, args...)
		if r.Code != test.code || !strings.Contains(r.Stdout+r.Stderr, test.says) || strings.Contains(r.Stdout, "secret@") {
			t.Errorf("%s = %+v, want %d with %q", test.name, r, test.code, test.says)
		}
	}
	target, err := url.Parse(s.API)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := httptest.NewServer(httputil.NewSingleHostReverseProxy(target))
	defer elsewhere.Close()
	reached := []string{"CLBEMU_API=" + elsewhere.URL, "SLB_ENDPOINT=" + strings.TrimPrefix(elsewhere.URL, "http://")}
	if r := examined(t, reached, "--server", s.Control); r.Code != 0 || strings.Contains(r.Stdout, "problem") || strings.Contains(r.Stdout, s.API) {
		t.Errorf("where clients reach it by another address = %+v", r)
	}
	mustRun(t, "clock", "freeze", "--server", s.Control)
	if r := examined(t, good, "--server", s.Control); r.Code != 1 || !strings.Contains(r.Stdout, "clbemu clock resume") {
		t.Errorf("with a frozen clock = %+v", r)
	}
}

// TestDoctorCluster proves that doctor reports a kubectl context that is not a cluster
// on this machine.
func TestDoctorCluster(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	for server, want := range map[string]string{"https://127.0.0.1:6443": "a cluster on this machine", "https://prod.example:6443": "a cluster elsewhere: https://prod.example:6443"} {
		bin := t.TempDir()
		writeFile(t, filepath.Join(bin, "kubectl"), "#!/bin/sh\nprintf 'mine\\t"+server+"'\n")
		if err := os.Chmod(filepath.Join(bin, "kubectl"), 0o700); err != nil {
			t.Fatal(err)
		}
		if r := examined(t, []string{"PATH=" + bin + ":/usr/bin:/bin"}, "--server", s.Control); !strings.Contains(r.Stdout, want) {
			t.Errorf("with %s = %+v, want %q", server, r, want)
		}
	}
}
