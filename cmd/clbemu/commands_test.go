package main_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// TestEnv proves that a shell that evaluates the output has the variables that
// clients read: hosts without a scheme, URLs where clients want those. CLB-0452.
func TestEnv(t *testing.T) {
	t.Parallel()
	r := binary.Finish(t, exec.Command("sh", "-c", `eval "$("$0" env --api https://[::1]:9700 --access-key-secret "it's \$5")" && env`, binary.Path))
	if r.Code != 0 {
		t.Fatalf("env = %+v", r)
	}
	for _, want := range []string{
		"SLB_ENDPOINT=[::1]:9700", "VPC_ENDPOINT=[::1]:9700", "ECS_ENDPOINT=[::1]:9700", "NLB_ENDPOINT=[::1]:9700",
		"STS_ENDPOINT=[::1]:9700", "RESOURCEMANAGER_ENDPOINT=[::1]:9700", "CAS_ENDPOINT=[::1]:9700",
		"ALICLOUD_CLIENT_SCHEME=HTTPS", "METADATA_ENDPOINT=https://[::1]:9700",
		"ACCESS_KEY_ID=testid", "ACCESS_KEY_SECRET=it's $5", "ALICLOUD_SECRET_KEY=it's $5", "ALICLOUD_REGION=cn-hangzhou", "ALIBABA_CLOUD_REGION_ID=cn-hangzhou", "ALIBABA_CLOUD_ACCOUNT_TYPE=Domestic",
	} {
		if !strings.Contains("\n"+r.Stdout, "\n"+want+"\n") {
			t.Errorf("the environment has no %s", want)
		}
	}
	// What reaches the real cloud is named: CLB-0453.
	for _, name := range []string{"PrivateZone", "ALB", "SLS", "CAS", "ESS", "aliyun CLI", "Terraform creates listeners over HTTPS only"} {
		if help := binary.Run(t, "env", "--help").Stdout; !strings.Contains(help, name) {
			t.Errorf("the help does not warn of %s: %q", name, help)
		}
	}
}

// TestEnvShells proves the spelling of each shell.
func TestEnvShells(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{
		"sh":         "export SLB_ENDPOINT='127.0.0.1:9600'\n",
		"fish":       "set -gx SLB_ENDPOINT '127.0.0.1:9600'\n",
		"powershell": "$Env:SLB_ENDPOINT = '127.0.0.1:9600'\n",
		"dotenv":     "SLB_ENDPOINT=127.0.0.1:9600\n",
	} {
		if r := binary.Run(t, "env", "--api", "127.0.0.1:9600", "--shell", shell); r.Code != 0 || !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("env --shell %s = %+v, want it to start with %q", shell, r, want)
		}
	}
	r := binary.Run(t, "env", "--kind", "--shell", "dotenv")
	for _, want := range []string{"SLB_ENDPOINT=127.0.0.1:9610\n", "CLBEMU_API=http://127.0.0.1:9610\n", "CLBEMU_SERVER=http://127.0.0.1:9611\n", "CLBEMU_CONTROL_TOKEN=clbemu\n"} {
		if r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("env --kind = %d, %q, want %q in it", r.Code, r.Stdout, want)
		}
	}
	// What the command prints is what the cluster has.
	for file, pattern := range map[string]string{
		"up.sh":                     `--publish 127.0.0.1:9610:9600 --publish 127.0.0.1:9611:9601`,
		"clbemu/kustomization.yaml": `literals: \[token=clbemu\]`,
	} {
		text, err := os.ReadFile("../../deploy/kind/" + file)
		if err != nil || !regexp.MustCompile(pattern).Match(text) {
			t.Errorf("deploy/kind/%s has no %s, which env --kind builds on: %v", file, pattern, err)
		}
	}
	if r := binary.Run(t, "env", "--kind", "--api", "127.0.0.1:9600"); r.Code != 2 {
		t.Errorf("env --kind --api = %d, want 2", r.Code)
	}
	if r := binary.Run(t, "env", "--shell", "tcsh"); r.Code != 2 {
		t.Errorf("env --shell tcsh = %+v, want 2", r)
	}
}

// TestTLS proves that a client that trusts ca.pem is served by HTTPS, that the
// key is readable by its owner only, and that a restart keeps the certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir, "--tls")
	authority, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := s.Client()
	client.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	if !strings.HasPrefix(s.API, "https://") {
		t.Errorf("the API is at %s, want https", s.API)
	}
	server, err := url.Parse(s.API)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"slb.aliyuncs.com", "nlb.cn-hangzhou.aliyuncs.com", "vpc.cn-shanghai.aliyuncs.com"} {
		conn, err := tls.Dial("tcp", server.Host, &tls.Config{RootCAs: pool, ServerName: host})
		if err != nil {
			t.Errorf("the certificate is not good for %s: %v", host, err)
			continue
		}
		conn.Close()
	}
	id := createLoadBalancer(t, client)
	info, err := os.Stat(filepath.Join(dir, "tls-key.pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the key = %v, %v, want 0600", info.Mode(), err)
	}
	s.End(syscall.SIGTERM)
	s = binary.Serve(t, "--data-dir", dir, "--tls")
	client.URL = s.API
	mustDescribe(t, client, id)
}

// TestProxy proves that clbemu env --proxy brings a program to the emulator under the
// cloud's own names, and that one that is no proxy is not named as one.
func TestProxy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir, "--proxy", "--auth", "off")
	r := binary.Run(t, "env", "--proxy", "--shell", "dotenv", "--server", s.Control)
	variables := make(map[string]string)
	for line := range strings.Lines(r.Stdout) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		variables[name] = value
	}
	if r.Code != 0 || variables["SLB_ENDPOINT"] != "" || variables["HTTP_PROXY"] != s.API || variables["SSL_CERT_FILE"] != filepath.Join(dir, "ca.pem") {
		t.Fatalf("env --proxy = %d: %v", r.Code, variables)
	}
	authority, err := os.ReadFile(variables["SSL_CERT_FILE"])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	proxy, err := url.Parse(variables["HTTPS_PROXY"])
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	client := s.Client()
	client.URL, client.HTTP = "https://slb.cn-hangzhou.aliyuncs.com", &http.Client{Transport: transport}
	createLoadBalancer(t, client)
	plain := binary.Serve(t, "--data-dir", t.TempDir())
	if r := binary.Run(t, "env", "--proxy", "--server", plain.Control); r.Code == 0 || !strings.Contains(r.Stderr, "clbemu serve --proxy") {
		t.Errorf("env --proxy of one that is none = %+v", r)
	}
}

// TestTraces proves that serve sends the spans of its last calls before it ends.
func TestTraces(t *testing.T) {
	got := make(chan string, 8)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + string(body)
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_SERVICE_NAME", "my-cloud")
	s := binary.Serve(t, "--engine", "memory", "--auth", "off")
	createLoadBalancer(t, s.Client())
	s.End(syscall.SIGTERM)
	select {
	case sent := <-got:
		for _, part := range []string{"/v1/traces ", `"name":"CreateLoadBalancer"`, `"stringValue":"my-cloud"`} {
			if !strings.Contains(sent, part) {
				t.Errorf("the collector got %s, without %s", sent, part)
			}
		}
	default:
		t.Error("the collector got nothing")
	}
}

// next is the count of the ids that were minted, in an export.
var next = regexp.MustCompile(`"Next":(\d+)`)

func nextOf(t *testing.T, export string) int {
	t.Helper()
	found := next.FindStringSubmatch(export)
	if found == nil {
		t.Fatalf("the export has no sequence: %s", export)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestState proves that each command does to a folder and to a running server
// what it says.
func TestState(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "state.json")
	s := binary.Serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.Client())
	server := []string{"--server", s.Control}

	if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 3 || !strings.Contains(r.Stderr, "leave out --data-dir") {
		t.Errorf("state check on a locked folder = %+v, want 3 and a way on", r)
	}
	running := binary.Run(t, append([]string{"state", "export"}, server...)...)
	if running.Code != 0 || !strings.Contains(running.Stdout, id) {
		t.Fatalf("state export = %d, %q, want the load balancer in it", running.Code, running.Stderr)
	}
	writeFile(t, file, running.Stdout)
	for _, command := range [][]string{{"reset"}, {"import", file}, {"check"}} {
		if r := binary.Run(t, append(append([]string{"state"}, command...), server...)...); r.Code != 0 {
			t.Errorf("state %v = %+v, want 0", command, r)
		}
	}
	mustDescribe(t, s.Client(), id)
	s.End(syscall.SIGTERM)

	for _, command := range [][]string{{"reset"}, {"import", file}, {"check"}} {
		if r := binary.Run(t, append(append([]string{"state"}, command...), "--data-dir", dir)...); r.Code != 0 {
			t.Errorf("state %v = %+v, want 0", command, r)
		}
	}
	stopped := binary.Run(t, "state", "export", "--data-dir", dir)
	// An import keeps the higher sequence, so that no id is minted twice.
	if got, want := next.ReplaceAllString(stopped.Stdout, ""), next.ReplaceAllString(running.Stdout, ""); got != want {
		t.Errorf("the state after export and import differs:\n%s\nwant\n%s", got, want)
	}
	if got, want := nextOf(t, stopped.Stdout), nextOf(t, running.Stdout); got < want {
		t.Errorf("the next id after export and import is the %dth, want at least the %dth", got, want)
	}
}

// TestStateReset proves that a reset deletes what was made and plants the world
// that is named.
func TestStateReset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	id := createLoadBalancer(t, s.Client())
	s.End(syscall.SIGTERM)
	world := strings.ReplaceAll(binary.Run(t, "world", "show").Stdout, "i-bp1clbemu0000000004", "i-renamed")
	file := writeFile(t, filepath.Join(t.TempDir(), "w.yaml"), world)
	if r := binary.Run(t, "state", "reset", "--data-dir", dir, "--world", file); r.Code != 0 {
		t.Fatalf("state reset = %+v", r)
	}
	r := binary.Run(t, "state", "export", "--data-dir", dir)
	if strings.Contains(r.Stdout, id) || !strings.Contains(r.Stdout, "i-renamed") {
		t.Errorf("the state after a reset has the load balancer or not the new world: %s", r.Stdout)
	}
}

// TestStateRefusals proves that what can't be done changes nothing and exits
// with the code of its sort.
func TestStateRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	s.End(syscall.SIGTERM)
	before := binary.Run(t, "state", "export", "--data-dir", dir)
	inconsistent := strings.ReplaceAll(before.Stdout, `"VPCID":"vpc-bp1clbemu000000000002"`, `"VPCID":"vpc-none"`)
	file := writeFile(t, filepath.Join(t.TempDir(), "bad.json"), inconsistent)
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"import", "--data-dir", dir, file}, 1, "vpc-none"},
		{[]string{"import", "--data-dir", dir, writeFile(t, file+"2", "{}")}, 1, "schema version"},
		{[]string{"import", "--data-dir", dir, "none.json"}, 2, "none.json"},
		{[]string{"import", "--data-dir", dir}, 2, "the file to import"},
		{[]string{"check", "--data-dir", filepath.Join(dir, "none")}, 3, "there is no state"},
		{[]string{"check", "--server", "http://127.0.0.1:1"}, 3, "is clbemu running"},
		{[]string{"reset", "--data-dir", dir, "--world", "none.yaml"}, 2, "none.yaml"},
		{[]string{"reset", "--server", "http://127.0.0.1:1", "--world", "w.yaml"}, 2, "--world needs --data-dir"},
		{[]string{"check", "--data-dir", dir, "--server", "127.0.0.1:9601"}, 2, "can't be used together"},
		{[]string{"undo"}, 2, `state has no command "undo"`},
		{[]string{"exprot"}, 2, "do you mean export?"},
	}
	for _, test := range tests {
		r := binary.Run(t, append([]string{"state"}, test.args...)...)
		if r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("state %v = %d, %q, want %d and %q", test.args, r.Code, r.Stderr, test.code, test.want)
		}
	}
	if after := binary.Run(t, "state", "export", "--data-dir", dir); after.Stdout != before.Stdout {
		t.Error("a refused command changed the state")
	}
}

// TestStateCheckFinds proves that check exits with 1 and names the problem: a
// reference that leads nowhere, and then a value that is not what was written.
func TestStateCheckFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	s.End(syscall.SIGTERM)
	e, err := bolt.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	lost := engine.Change{Table: "VPC", ID: "vpc-bp1clbemu000000000002"}
	if err := errors.Join(e.Commit(t.Context(), []engine.ChangeSet{{lost}}), e.Close()); err != nil {
		t.Fatal(err)
	}
	if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 1 ||
		!strings.Contains(r.Stdout, "VPC vpc-bp1clbemu000000000002, which does not exist") {
		t.Errorf("state check of an inconsistent state = %+v, want 1 and the reference that leads nowhere", r)
	}
	path := filepath.Join(dir, bolt.FileName)
	database, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(bytes.ReplaceAll(database, []byte(`"Secret":"testsecret"`), []byte(`"Secret":"testsecreT"`))))
	if r := binary.Run(t, "state", "check", "--data-dir", dir); r.Code != 1 || !strings.Contains(r.Stderr, `AccessKey "testid" does not have its checksum`) {
		t.Errorf("state check of a damaged database = %+v, want 1 and the value", r)
	}
}

// TestReadingWritesNothing proves that what only reads a folder works where
// nothing can be written, and changes nothing.
func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	s.End(syscall.SIGTERM)
	path := filepath.Join(dir, bolt.FileName)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, dir} {
		if err := os.Chmod(name, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) }) // so that it can be removed
	for _, args := range [][]string{{"state", "check"}, {"state", "export"}} {
		if r := binary.Run(t, append(args, "--data-dir", dir)...); r.Code != 0 {
			t.Errorf("%v in a folder to be read = %+v", args, r)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading changed the database (%v)", err)
	}
}

// TestControlToken proves that the commands send the token, and report a wrong
// one.
func TestControlToken(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory", "--control-token", "secret")
	if r := binary.Run(t, "state", "check", "--server", s.Control, "--control-token", "secret"); r.Code != 0 {
		t.Errorf("state check with the token = %+v, want 0", r)
	}
	if r := binary.Run(t, "state", "check", "--server", s.Control, "--control-token", "guess"); r.Code != 3 || !strings.Contains(r.Stderr, "401") {
		t.Errorf("state check with a wrong token = %+v, want 3 and the refusal", r)
	}
}

// TestWorld proves that the default world is valid as a file, and that a wrong
// file exits with 1 and all its problems.
func TestWorld(t *testing.T) {
	t.Parallel()
	file := writeFile(t, filepath.Join(t.TempDir(), "w.yaml"), binary.Run(t, "world", "show", "--network", "172.18.0.0/16").Stdout)
	for network, want := range map[string]string{"172.18.0.1/16": "is not a CIDR block", "172.18.0.0/30": "too few addresses"} {
		if r := binary.Run(t, "world", "show", "--network", network); r.Code != 2 || !strings.Contains(r.Stderr, want) || r.Stdout != "" {
			t.Errorf("world show --network %s = %+v, want 2 and %q", network, r, want)
		}
	}
	if r := binary.Run(t, "world", "validate", file); r.Code != 0 {
		t.Errorf("world validate = %+v, want 0", r)
	}
	writeFile(t, file, "a: 1\nb: 2\n")
	if r := binary.Run(t, "world", "validate", file); r.Code != 1 || !strings.Contains(r.Stderr, "w.yaml:1:1: a: there is no such field") || !strings.Contains(r.Stderr, "w.yaml:2:1: b: there is no such field") {
		t.Errorf("world validate = %+v, want 1 and both problems", r)
	}
	if r := binary.Run(t, "world", "validate", file+"none"); r.Code != 2 {
		t.Errorf("world validate of no file = %+v, want 2", r)
	}
}

// TestActions proves that the list has every product and says what is not
// emulated, in both forms.
func TestActions(t *testing.T) {
	t.Parallel()
	var listed struct {
		Actions []struct {
			Product, Action string
			Emulated        bool
		}
	}
	r := binary.Run(t, "actions", "--json")
	if err := json.Unmarshal([]byte(r.Stdout), &listed); err != nil {
		t.Fatalf("actions --json = %v", err)
	}
	rows := listed.Actions
	emulated := make(map[string]bool)
	for _, row := range rows {
		emulated[row.Product+" "+row.Action] = row.Emulated
	}
	if !emulated["Slb CreateLoadBalancer"] || emulated["Vpc CreateVpnGateway"] || !emulated["Vpc DescribeVSwitches"] {
		t.Errorf("%d actions, want the emulated ones marked", len(emulated))
	}
	if lines := strings.Count(binary.Run(t, "actions").Stdout, "\n"); lines != len(rows)+1 {
		t.Errorf("actions prints %d lines, want a title and %d rows", lines, len(rows))
	}
}

// TestStrictAuth proves that a call with a wrong secret is refused by default.
func TestStrictAuth(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	query := strings.Replace(emulatortest.Sign(emulatortest.Slb, "DescribeRegions", nil), "Signature=", "Signature=x", 1)
	response, err := http.Post(s.API+"/?"+query, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("call with a wrong signature = %s, want 400", response.Status)
	}
}
