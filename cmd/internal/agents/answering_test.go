package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/clbemu/clbemu/cmd/internal/agents"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// greeting is what a client says first.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestLastWords proves that a client that has left, or that sends what is no message, gets
// the answers of its requests before that.
func TestLastWords(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_scenarios"}}` + "\n"
	for name, test := range map[string]struct{ last, wrong string }{
		"left":            {"", ""},
		"no JSON":         {"nonsense\n", "invalid character"},
		"no message":      {`{"a":1}` + "\n", "invalid message"},
		"half a message":  {`{"jsonrpc":`, "unexpected EOF"},
		"too much":        {`"` + strings.Repeat("x", 17<<20), "maximum line length"},
		"the same id":     {strings.Replace(call, "list_scenarios", "explain_error", 1), ""},
		"a cancelled one": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			err := served(t.Context(), nil, strings.NewReader(greeting+call+test.last), &said)
			if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
				t.Errorf("Serve = %v, want %q", err, test.wrong)
			}
			answers := map[int]bool{}
			for line := range strings.Lines(said.String()) {
				var answer struct{ ID int }
				if err := json.Unmarshal([]byte(line), &answer); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				answers[answer.ID] = true
			}
			if !answers[1] || !answers[2] {
				t.Errorf("answered are %v, want 1 and 2", answers)
			}
		})
	}
}

// TestNeverAnswered proves that an emulator that never answers keeps no session of a client
// that has left for long, nor one that is to end.
func TestNeverAnswered(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_clouds"}}` + "\n"
	for name, test := range map[string]struct {
		answers io.Writer
		ends    time.Duration
		took    time.Duration
	}{
		"left":                     {io.Discard, time.Hour, 10 * time.Second},
		"to end":                   {io.Discard, time.Second, time.Second},
		"the client reads no more": {broken{}, time.Hour, 0},
		"to end before all":        {io.Discard, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.ends)
				defer cancel()
				start := time.Now()
				_ = served(ctx, never{}, strings.NewReader(greeting+call), test.answers) // how long it takes is what counts
				if took := time.Since(start); took != test.took {
					t.Errorf("Serve took %s, want %s", took, test.took)
				}
			})
		})
	}
}

// never is an emulator that never answers.
type never struct{}

func (never) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// served serves a client that says all of said at once.
func served(ctx context.Context, emulated http.RoundTripper, said io.Reader, answers io.Writer) error {
	return agents.Serve(ctx, agents.Config{Names: emulator.Names(), Version: "test",
		Client: func(string) (*controlclient.Client, error) {
			return &controlclient.Client{URL: "http://127.0.0.1:9601", HTTP: &http.Client{Transport: emulated}}, nil
		},
	}, &mcp.IOTransport{Reader: io.NopCloser(said), Writer: closer{answers}})
}

type closer struct{ io.Writer }

func (closer) Close() error { return nil }
