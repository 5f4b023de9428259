package control_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
)

// TestServer proves that clients get an API address that they can reach: one on all
// addresses is at the host that the call of the control API named.
func TestServer(t *testing.T) {
	for _, test := range []struct{ listens, called, want string }{
		{"http://127.0.0.1:9600", "localhost:9601", "http://127.0.0.1:9600"},
		{"https://0.0.0.0:9600", "127.0.0.1:9601", "https://127.0.0.1:9600"},
		{"http://[::]:9600", "[::1]:9601", "http://[::1]:9600"},
		{"http://[::]:9600", "clbemu.test:9601", "http://clbemu.test:9600"},
		{"", "localhost", ""},
	} {
		f := newFixture(t, func(cfg *control.Config) {
			cfg.Host = "clbemu.test"
			cfg.Server = func() controlapi.Server { return controlapi.Server{API: test.listens, Auth: controlapi.AuthOff} }
		})
		request, answer := httptest.NewRequest("GET", "/v1/server", nil), httptest.NewRecorder()
		request.Host = test.called
		f.handler.ServeHTTP(answer, request)
		var got controlapi.Server
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || got.API != test.want || got.Version.Version != "v1" {
			t.Errorf("called by %s, an API on %s is at %q (%v), want %q", test.called, test.listens, got.API, err, test.want)
		}
		mustConform(t, request, answer.Result(), answer.Body.Bytes())
	}
}
