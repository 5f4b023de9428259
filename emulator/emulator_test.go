package emulator_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// TestCall proves that a signed call reaches its product and its store, and that
// the control API counts it.
func TestCall(t *testing.T) {
	s := emulatortest.Start(t)
	reply, err := s.Client().Call(emulatortest.Vpc, "CreateVpc", map[string]string{"Description": "a b*c~é+&="})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("CreateVpc = %v, %v", reply, err)
	}
	v := s.Store().View(state.Owner{})
	vpc, err := kinds.VPCs.Get(v, reply.Text("VpcId"))
	if err == nil && vpc.Description != "a b*c~é+&=" {
		t.Errorf("description = %q, want it as it was sent", vpc.Description)
	}
	if err != nil {
		t.Error(err)
	}
	got := get(t, s.ControlURL()+"/metrics")
	for _, figure := range []string{`action="CreateVpc",code="OK"`, "go_goroutines ", "go_memstats_heap_alloc_bytes ", "process_start_time_seconds "} {
		if !strings.Contains(got, figure) {
			t.Errorf("the metrics have no %s: %s", figure, got)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestMetadata proves that the metadata of the instance are served next to the API.
func TestMetadata(t *testing.T) {
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.InstanceID = "i-bp1clbemu0000000003" }))
	if got := get(t, s.URL()+"/latest/meta-data/private-ipv4"); got != "192.168.1.11" {
		t.Errorf("private-ipv4 = %q, want the third instance's", got)
	}
}

// TestSeed proves that the same seed gives the same ids and RequestIds, and
// another seed others.
func TestSeed(t *testing.T) {
	create := func(seed uint64) (loadBalancer, request string) {
		reply, err := emulatortest.Start(t, emulatortest.WithSeed(seed)).Client().Call(emulatortest.Slb, "CreateLoadBalancer",
			map[string]string{"AddressType": "internet"})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Text("LoadBalancerId"), reply.Text("RequestId")
	}
	lb1, request1 := create(7)
	lb2, request2 := create(7)
	lb3, request3 := create(8)
	if lb1 != lb2 || request1 != request2 {
		t.Errorf("seed 7 gives %s, %s and then %s, %s, want the same", lb1, request1, lb2, request2)
	}
	if lb1 == lb3 || request1 == request3 {
		t.Errorf("seeds 7 and 8 both give %s, %s", lb1, request1)
	}
}

// TestWorldIsPlantedOnce proves that a store that has a world keeps it, whatever
// the next start brings.
func TestWorldIsPlantedOnce(t *testing.T) {
	dir := t.TempDir()
	renamed, err := world.Parse("w.yaml", []byte(strings.ReplaceAll(string(world.DefaultText), "name: node-1", "name: renamed")))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []*world.World{nil, renamed} {
		var log bytes.Buffer
		e := mustNew(t, emulator.Config{DataDir: dir, World: w, Log: zerolog.New(&log)})
		v := e.Store().View(state.Owner{})
		i, err := kinds.Instances.Get(v, "i-bp1clbemu0000000001")
		if err == nil && i.Name != "node-1" {
			t.Errorf("name = %s, want the first world's", i.Name)
		}
		if err != nil {
			t.Error(err)
		}
		if warned := strings.Contains(log.String(), "keeps it"); warned != (w != nil) {
			t.Errorf("log = %q, want a warning when a world is not used", log.String())
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func mustNew(t *testing.T, cfg emulator.Config) *emulator.Emulator {
	t.Helper()
	e, err := emulator.New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNewRefusals proves that a wrong configuration is an error, and that a
// failed start releases the folder and the ports.
func TestNewRefusals(t *testing.T) {
	if _, err := emulator.New(context.Background(), emulator.Config{Engine: emulator.Bolt}); err == nil {
		t.Error("New without a folder for bbolt = nil, want an error")
	}
	if _, err := emulator.New(context.Background(), emulator.Config{Engine: "etcd"}); err == nil || !strings.Contains(err.Error(), "etcd") {
		t.Errorf("New with an unknown engine = %v, want its name", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	free := "127.0.0.1:0"
	e := mustNew(t, emulator.Config{DataDir: dir, Listen: free, ControlListen: taken.Addr().String()})
	if err := e.Start(); err == nil || !strings.Contains(err.Error(), "control listener") {
		t.Errorf("Start on a taken port = %v, want an error that names the listener", err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := mustNew(t, emulator.Config{DataDir: dir}).Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestControlListener proves that a control API which other machines reach
// needs a token.
func TestControlListener(t *testing.T) {
	for _, test := range []struct {
		listen, token string
		ok            bool
	}{
		{"127.0.0.1:0", "", true}, {"localhost:0", "", true}, {"0.0.0.0:0", "", false}, {":0", "", false}, {"0.0.0.0:0", "t", true},
	} {
		e := mustNew(t, emulator.Config{Listen: "127.0.0.1:0", ControlListen: test.listen, ControlToken: test.token})
		if err := e.Start(); (err == nil) != test.ok {
			t.Errorf("Start with control on %s and token %q = %v, want success %t", test.listen, test.token, err, test.ok)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// signal is an empty reader that signals when it is read.
type signal struct{ started chan struct{} }

func (s signal) Read([]byte) (int, error) {
	close(s.started)
	return 0, io.EOF
}

// TestReadyz proves that a closing emulator says that it is not ready.
func TestReadyz(t *testing.T) {
	e := mustNew(t, emulator.Config{})
	handler := e.ControlHandler()
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		request, _ := http.NewRequest("GET", "http://localhost/readyz", nil)
		handler.ServeHTTP(w, request)
		if w.Code != want {
			t.Errorf("GET /readyz = %d, want %d", w.Code, want)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// authority returns a pool that trusts the certificates of a data folder.
func authority(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// TestGenerateTLS proves that the certificate is good for the hosts, kept while
// it is, replaced when it is not, and that a broken file is an error.
func TestGenerateTLS(t *testing.T) {
	dir := t.TempDir()
	serial := func(hosts ...string) string {
		t.Helper()
		config, err := emulator.GenerateTLS(dir, hosts)
		if err != nil {
			t.Fatal(err)
		}
		pool := authority(t, dir)
		for _, host := range hosts {
			if _, err := config.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: host}); err != nil {
				t.Errorf("the certificate is not good for %s: %v", host, err)
			}
		}
		return config.Certificates[0].Leaf.SerialNumber.String()
	}
	first := serial("localhost", "127.0.0.1")
	if again := serial("localhost"); again != first {
		t.Error("a certificate that is good was replaced")
	}
	if wider := serial("localhost", "clb.test"); wider == first {
		t.Error("a certificate that is not good for a host was kept")
	}
	for _, text := range []string{"", "x", foreignAuthority(t)} {
		kept := serial("localhost")
		path := filepath.Join(dir, emulator.CAFile)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if serial("localhost") == kept {
			t.Errorf("a certificate was kept that %s with %.30q in it does not vouch for", emulator.CAFile, text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tls-cert.pem"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := emulator.GenerateTLS(dir, nil); err == nil || !strings.Contains(err.Error(), "delete") {
		t.Errorf("GenerateTLS over a broken file = %v, want what to do", err)
	}
}

// foreignAuthority returns the authority of another folder.
func foreignAuthority(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := emulator.GenerateTLS(dir, []string{"localhost"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGenerateTLSRenews proves that a certificate near its end is replaced.
func TestGenerateTLSRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		serial := func() string {
			config, err := emulator.GenerateTLS(dir, []string{"localhost"})
			if err != nil {
				t.Fatal(err)
			}
			return config.Certificates[0].Leaf.SerialNumber.String()
		}
		first := serial()
		<-time.After(690 * 24 * time.Hour)
		if serial() != first {
			t.Error("a certificate with forty days to go was replaced")
		}
		<-time.After(20 * 24 * time.Hour)
		if serial() == first {
			t.Error("a certificate with twenty days to go was kept")
		}
	})
}
