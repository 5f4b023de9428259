package main_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var debugAddress = regexp.MustCompile(`debug +(http://127\.0\.0\.1:\d+)/debug/pprof/`)

// TestDebugListen proves that profiles are served where they are asked for, to callers on
// this machine, without the command line, and nowhere else.
func TestDebugListen(t *testing.T) {
	t.Parallel()
	s, said := binary.Launch(t, binary.Command("--engine", "memory",
		"--control-token", "secret", "--debug-listen", "127.0.0.1:0"))
	found := debugAddress.FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("clbemu serve says %q, want the address of the profiles", said)
	}
	for _, c := range []struct {
		url, host string
		want      int
		body      string
	}{
		{found[1] + "/debug/pprof/", "", http.StatusOK, "goroutine"},
		{found[1] + "/debug/pprof/goroutine?debug=1", "", http.StatusOK, "goroutine profile:"},
		{found[1] + "/debug/pprof/heap", "localhost:6060", http.StatusOK, "\x1f\x8b"},
		{found[1] + "/debug/pprof/trace?seconds=0.01", "", http.StatusOK, "go 1."},
		{found[1] + "/debug/pprof/cmdline", "", http.StatusNotFound, ""},
		{found[1] + "/debug/pprof/", "evil.example:80", http.StatusForbidden, "loopback"},
		{found[1] + "/", "", http.StatusNotFound, ""},
		{s.API + "/debug/pprof/", "", http.StatusBadRequest, "MissingAccessKeyId"},
		{s.Control + "/debug/pprof/", "", http.StatusNotFound, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != c.want || !bytes.Contains(body, []byte(c.body)) || bytes.Contains(body, []byte("secret")) {
			t.Errorf("GET %s for %q = %d %.200q, %v, want %d with %q and no token", c.url, c.host, reply.StatusCode, body, err, c.want, c.body)
		}
	}
}
