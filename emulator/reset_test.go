package emulator_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/emulator"
)

// TestReset proves that a client whose answer a fault takes away meets a connection that
// was reset, and not one that was closed: by HTTP and by HTTPS.
func TestReset(t *testing.T) {
	for _, secure := range []bool{false, true} {
		dir := t.TempDir()
		cfg := emulator.Config{Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", DataDir: dir}
		scheme, transport := "http", &http.Transport{DisableKeepAlives: true}
		if secure {
			config, err := emulator.GenerateTLS(dir, []string{"127.0.0.1"})
			if err != nil {
				t.Fatal(err)
			}
			cfg.TLS, scheme, transport.TLSClientConfig = config, "https", &tls.Config{RootCAs: authority(t, dir)}
		}
		e := mustNew(t, cfg)
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		control := "http://" + e.ControlAddr()
		added, err := http.Post(control+"/v1/faults", "application/yaml", strings.NewReader("{name: gone, match: {action: DescribeRegions}, effect: {reset: true}}"))
		if err != nil || added.StatusCode != http.StatusOK {
			t.Fatal(added, err)
		}
		added.Body.Close()
		answer, err := (&http.Client{Transport: transport}).Get(scheme + "://" + e.Addr() + "/?Action=DescribeRegions&Version=2014-05-15&Format=JSON")
		if err == nil {
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			t.Fatalf("%s: the answer is %s", scheme, text)
		}
		if op := (*net.OpError)(nil); !errors.As(err, &op) || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: the client meets %v, want a connection that was reset", scheme, err)
		}
	}
}
