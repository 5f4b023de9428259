package terraform_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/clbemu/clbemu/contracttests/internal/usage"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
)

// providerVariable names the folder of the built provider.
const providerVariable = "CLBEMU_TERRAFORM_PROVIDER"

var update = flag.Bool("update", false, "keep what the provider sends, for the tests that have none")

const header = `
terraform {
  required_providers {
    alicloud = { source = "aliyun/alicloud" }
  }
}
provider "alicloud" {}
variable "server_certificate" {}
variable "private_key" {}
variable "other_certificate" {}
variable "other_key" {}
variable "ca_certificate" {}
`

// TestConfigurations proves of each configuration that it is applied, changed,
// imported and destroyed, that no plan afterwards finds a difference, and that
// nothing of it is left.
func TestConfigurations(t *testing.T) {
	provider := os.Getenv(providerVariable)
	if provider == "" {
		t.Skipf("no %s: Terraform is not played", providerVariable)
	}
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("configurations: %v, %v", files, err)
	}
	sent := &sending{lines: make(map[string]bool), calls: new(usage.Calls)}
	t.Cleanup(func() { sent.write(t) })
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := start(t, provider)
			play(t, c, archive)
			sent.add(c.server.Calls(t))
		})
	}
}

func play(t *testing.T, c *client, archive *txtar.Archive) {
	parts := make(map[string]string)
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	if year, ok := parts["year"]; ok { // of the cloud, for load balancers that are no longer sold
		c.server.World(t, "cloud.year", strings.TrimSpace(year))
	}
	before := c.rows(t)
	c.apply(t, "apply.tf", parts["apply.tf"])
	last := parts["apply.tf"]
	if change, ok := parts["change.tf"]; ok {
		last = change
		c.changeInPlace(t, change)
	}
	c.imports(t, last, ignoredOf(parts["ignored"]))
	c.must(t, "destroy", "-auto-approve")
	if after := c.rows(t); !slices.Equal(before, after) {
		t.Errorf("rows before %v, after destroy %v", before, after)
	}
	for _, call := range c.server.Calls(t, "code="+emulator.NotEmulatedCode) {
		t.Errorf("%s %s is not emulated", call.Product, call.Action)
	}
}

// sending collects the parameters that the provider sends with calls that change something.
type sending struct {
	mu    sync.Mutex
	lines map[string]bool
	calls *usage.Calls
}

// number is a number in the name of a parameter.
var number = regexp.MustCompile(`\.[0-9]+`)

func (s *sending) add(calls []*journal.Entry) {
	s.calls.Add(calls)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range calls {
		if !changes(call) {
			continue
		}
		for _, p := range call.Parameters {
			line := call.Product + " " + call.Action + " " + number.ReplaceAllString(p.Name, ".1")
			if slices.Contains(call.Unread, p.Name) && p.Name != "ClientToken" && !strings.ContainsAny(p.Value, " \n") { // which is another each time
				line += "=" + p.Value
			}
			s.lines[line] = true
		}
	}
}

// changes reports whether the action of a call changes something.
func changes(call *journal.Entry) bool {
	for _, p := range products.All() {
		if p.Name == call.Product {
			return slices.ContainsFunc(p.Actions, func(a products.Action) bool { return a.Name == call.Action && a.Mutates })
		}
	}
	return false
}

// write keeps what was sent for the tests that have no provider.
func (s *sending) write(t *testing.T) {
	if t.Failed() || !*update {
		return
	}
	text := strings.Join(slices.Sorted(maps.Keys(s.lines)), "\n") + "\n"
	if err := os.WriteFile("../testdata/terraform.txt", []byte(text), 0o644); err != nil {
		t.Error(err)
	}
	if err := s.calls.Write("../../emulator/fidelity/usage.tsv", "terraform"); err != nil {
		t.Error(err)
	}
}

// client is a terraform with its folder, and the emulator that it is pointed at.
type client struct {
	server *emulatortest.Server
	dir    string
	env    []string
}

func start(t *testing.T, provider string) *client {
	t.Helper()
	keys := t.TempDir()
	config, err := emulator.GenerateTLS(keys, []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.TLS = config }))
	rc := filepath.Join(keys, "terraformrc")
	text := fmt.Sprintf("provider_installation {\n  dev_overrides { \"aliyun/alicloud\" = %q }\n  direct {}\n}\n", provider)
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &client{server: s, dir: t.TempDir(), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + keys, "TMPDIR=" + os.TempDir(),
		"TF_CLI_CONFIG_FILE=" + rc, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"SSL_CERT_FILE=" + filepath.Join(keys, emulator.CAFile),
		"ALICLOUD_ACCESS_KEY=" + emulatortest.AccessKeyID, "ALICLOUD_SECRET_KEY=" + emulatortest.AccessKeySecret,
		"ALICLOUD_REGION=cn-hangzhou", "ALIBABA_CLOUD_ACCOUNT_TYPE=Domestic", "ALICLOUD_CLIENT_SCHEME=HTTPS",
	}}
	for _, product := range []string{"SLB", "NLB", "VPC", "ECS", "STS", "RESOURCEMANAGER", "CAS"} {
		c.env = append(c.env, product+"_ENDPOINT="+s.Host())
	}
	server, key := certificate(t, "www.example.com", false)
	other, otherKey := certificate(t, "www.example.org", false)
	authority, _ := certificate(t, "an authority", true)
	c.env = append(c.env, "TF_VAR_server_certificate="+server, "TF_VAR_private_key="+key,
		"TF_VAR_other_certificate="+other, "TF_VAR_other_key="+otherKey, "TF_VAR_ca_certificate="+authority)
	return c
}

func (c *client) run(args ...string) (string, error) {
	cmd := exec.Command("terraform", append(args, "-no-color")...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *client) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.run(args...)
	if err != nil {
		t.Fatalf("terraform %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *client) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// apply applies a configuration, and wants no difference afterwards.
func (c *client) apply(t *testing.T, name, text string) {
	t.Helper()
	c.write(t, "main.tf", header+text)
	c.must(t, "apply", "-auto-approve")
	c.unchanged(t, name)
}

func (c *client) unchanged(t *testing.T, name string) {
	t.Helper()
	out, err := c.run("plan", "-detailed-exitcode")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 {
		t.Fatalf("%s leaves a difference:\n%s", name, out)
	}
	if err != nil {
		t.Fatalf("%s: plan: %v\n%s", name, err, out)
	}
}

// resourceChange holds a plan's change of a resource.
type resourceChange struct {
	Address string `json:"address"`
	Mode    string `json:"mode"`
	Type    string `json:"type"`
	Change  struct {
		Actions []string       `json:"actions"`
		Before  map[string]any `json:"before"`
		After   map[string]any `json:"after"`
		Unknown map[string]any `json:"after_unknown"`
		// ReplacedFor are the attributes that can't be changed in place.
		ReplacedFor []any `json:"replace_paths"`
	} `json:"change"`
}

func (c *client) plan(t *testing.T) (changes []resourceChange) {
	t.Helper()
	c.must(t, "plan", "-out", "plan")
	var plan struct {
		Changes []resourceChange `json:"resource_changes"`
	}
	c.show(t, &plan, "plan")
	return plan.Changes
}

func (c *client) show(t *testing.T, v any, args ...string) {
	t.Helper()
	cmd := exec.Command("terraform", append([]string{"show", "-json"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, v)
	}
	if err != nil {
		t.Fatalf("terraform show: %v\n%s", err, out)
	}
}

// changeInPlace applies what nothing is replaced for.
func (c *client) changeInPlace(t *testing.T, text string) {
	t.Helper()
	c.write(t, "main.tf", header+text)
	changed := 0
	for _, r := range c.plan(t) {
		if slices.Contains(r.Change.Actions, "delete") {
			t.Errorf("change.tf replaces %s for %v", r.Address, r.Change.ReplacedFor)
		}
		if slices.Contains(r.Change.Actions, "update") {
			changed++
		}
	}
	if changed == 0 {
		t.Error("change.tf changes nothing in place")
	}
	c.must(t, "apply", "-auto-approve", "plan")
	c.unchanged(t, "change.tf")
}

// imports reads everything made into a new state, and wants the resources to
// match the configuration.
func (c *client) imports(t *testing.T, text string, ignored map[string]bool) {
	t.Helper()
	var made struct {
		Values struct {
			Root struct {
				Resources []struct {
					Address, Mode, Type string
					Values              map[string]any
				}
			} `json:"root_module"`
		}
	}
	c.show(t, &made)
	imports := ""
	for _, r := range made.Values.Root.Resources {
		if r.Mode == "managed" && !ignored[r.Type] {
			imports += fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", r.Address, r.Values["id"])
		}
	}
	fresh := &client{server: c.server, dir: t.TempDir(), env: c.env}
	fresh.write(t, "main.tf", header+text+imports)
	for _, r := range fresh.plan(t) {
		if r.Mode != "managed" || ignored[r.Type] {
			continue
		}
		if r.Change.Before == nil {
			t.Errorf("%s is not imported: %v", r.Address, r.Change.Actions)
		}
		for name, before := range r.Change.Before {
			after, kept := r.Change.After[name]
			if r.Change.Unknown[name] != nil || ignored["*."+name] || ignored[r.Type+"."+name] {
				continue
			}
			if !kept && before != nil || !same(before, after) {
				t.Errorf("%s: %s is imported as %v, the configuration says %v", r.Address, name, before, after)
			}
		}
	}
}

// same reports whether two values are one to the provider, to which what is not
// there is false, empty or 0.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || isZero(a) && isZero(b)
}

func isZero(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.IsZero() || (r.Kind() == reflect.Map || r.Kind() == reflect.Slice) && r.Len() == 0
}

// ignoredOf reads what an import can't tell.
func ignoredOf(text string) map[string]bool {
	ignored := map[string]bool{"*.timeouts": true} // an argument of the provider
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			ignored[name] = true
		}
	}
	return ignored
}

// rows counts what is in the emulated cloud, but for what a cloud remembers of
// calls.
func (c *client) rows(t *testing.T) (rows []string) {
	t.Helper()
	for kind, n := range c.server.Store().View(state.Owner{}).Counts() {
		rows = append(rows, fmt.Sprintf("%s: %d", kind, n))
	}
	slices.Sort(rows)
	return rows
}

// certificate makes a key and a certificate of it, in PEM.
func certificate(t *testing.T, name string, authority bool) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: authority, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: kept}))
}
