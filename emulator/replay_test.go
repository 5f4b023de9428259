package emulator_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// TestReplayAfterRestart proves that a restart forgets nonces and nothing else of the
// state: a signed call that comes again is executed again, beside what it made before.
func TestReplayAfterRestart(t *testing.T) {
	dir := t.TempDir()
	used := (&apiclient.Client{}).Sign(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"AddressType": "internet"})
	for run := range 2 {
		e := mustNew(t, emulator.Config{DataDir: dir, StrictAuth: true})
		for _, code := range []string{"", "SignatureNonceUsed"} {
			if a := send(e, used); !strings.Contains(a.Body.String(), code) || (a.Code == http.StatusOK) != (code == "") {
				t.Errorf("run %d: answer %d %s, want %q", run, a.Code, a.Body, code)
			}
		}
		if n := loadBalancers(t, e); n != run+1 {
			t.Errorf("run %d: there are %d load balancers, want %d", run, n, run+1)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestReplayAfterReset proves what docs/clouds.md says of signed calls: a cloud takes each
// once, each cloud does, and one that was reset does again.
func TestReplayAfterReset(t *testing.T) {
	e, control := running(t, emulator.Config{StrictAuth: true})
	query := (&apiclient.Client{}).Sign(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"AddressType": "internet"})
	made := mustFork(t, control, "a", controlapi.NewCloud{Port: true})
	want := func(url, code string) {
		t.Helper()
		response, err := http.Post(url+"/?"+query, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || (response.StatusCode == http.StatusOK) != (code == "") || !strings.Contains(string(text), code) {
			t.Errorf("answer %d %s, want %q", response.StatusCode, text, code)
		}
	}
	for _, url := range []string{"http://" + e.Addr(), made.API} {
		want(url, "")
		want(url, "SignatureNonceUsed")
	}
	if _, err := control.ResetCloud(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	want(made.API, "")
	want(made.API, "SignatureNonceUsed")
	want("http://"+e.Addr(), "SignatureNonceUsed")
}

// send makes a call of a signed query.
func send(e *emulator.Emulator, query string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://127.0.0.1:9600/?"+query, nil))
	return w
}

func loadBalancers(t *testing.T, e *emulator.Emulator) (n int) {
	t.Helper()
	v := e.Store().View(state.Owner{})
	for range kinds.LoadBalancers.All(v) {
		n++
	}
	return n
}
