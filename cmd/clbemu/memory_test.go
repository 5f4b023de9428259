package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// repeated returns a document of the given size: a text again and again between two
// others, made as it is read.
func repeated(before, text, between, after string, size int) io.Reader {
	pieces := []io.Reader{strings.NewReader(before + text)}
	many := strings.Repeat(between+text, 64<<10/len(between+text)+1)
	for n := 0; n < size; n += len(many) {
		pieces = append(pieces, strings.NewReader(many))
	}
	return io.MultiReader(append(pieces, strings.NewReader(after))...)
}

// peak returns the most memory, in bytes, of a server that got one call. The collector runs often,
// so that this is about what is kept.
func peak(t *testing.T, method, path string, body io.Reader, want int) int64 {
	t.Helper()
	cmd := binary.Command("--engine", "memory")
	cmd.Env = append(os.Environ(), "GOGC=25")
	s := binary.Await(t, cmd)
	if body != nil {
		request, err := http.NewRequest(method, s.Control+path, body)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s %s = %d %.200s, want %d", method, path, response.StatusCode, text, want)
		}
	}
	// What the kernel counts of a child begins with the memory of its parent.
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if code := s.End(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, %.500s", code, s.Stderr.String())
	}
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(most, &kilobytes); err != nil {
		t.Fatalf("the peak in %s: %v", status, err)
	}
	return kilobytes << 10
}

// TestMemoryOfDocuments proves that a document of the control API takes no more
// than four times its size, whatever is in it.
func TestMemoryOfDocuments(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process's memory is read as Linux tells it")
	}
	const size = 8 << 20
	// A collector that gets no processor lets a process grow for a while. What was
	// wrong here took twenty times as much.
	const noise = 64 << 20
	const state, cluster = "/v1/state", "/v1/world/import"
	base := peak(t, "", "", nil, 0)
	for i, c := range []struct {
		name, method, path string
		body               io.Reader
		status             int
	}{
		{"empty rows", "PUT", state, repeated(`{"SchemaVersion":1,"Tables":{"Tag":[`, `{}`, ",", `]}}`, size), 422},
		{"rows with an id", "PUT", state, repeated(`{"SchemaVersion":1,"Tables":{"Account":[`, `{"ID":"a"}`, ",", `]}}`, size), 422},
		{"empty tables", "PUT", state, repeated(`{"SchemaVersion":1,"Tables":{`, `"Tag":[]`, ",", `}}`, size), 422},
		{"brackets", "PUT", state, repeated(`{"SchemaVersion":1,"Tables":{"Tag":[`, `[`, "", ``, size), 400},
		{"a long text", "PUT", state, repeated(`{"SchemaVersion":1,"Tables":{"Tag":["`, `x`, "", `"]}}`, size), 400},
		{"documents", "PUT", state, repeated("", `{}`, "", "", size), 400},
		{"empty nodes", "POST", cluster, repeated(`{"kind":"NodeList","items":[`, `{}`, ",", `]}`, size), 422},
		{"empty pods", "POST", cluster, repeated(`{"kind":"PodList","items":[`, `{}`, ",", `]}`, size), 200},
		{"nodes with a name", "POST", cluster, repeated(`{"kind":"NodeList","items":[`, `{"metadata":{"name":"a"}}`, ",", `]}`, size), 422},
		{"pods of no node", "POST", cluster, repeated(`{"kind":"PodList","items":[`, `{"status":{"podIP":"10.0.0.1"}}`, ",", `]}`, size), 422},
		{"items in items", "POST", cluster, repeated(`{"kind":"List","items":[`, `{"items":[`, "", ``, size), 400},
		{"addresses", "POST", cluster, repeated(`{"kind":"Node","status":{"addresses":[`, `{}`, ",", `]}}`, size), 400},
		{"documents", "POST", cluster, repeated("", `{}`, "", "", size), 400},
	} {
		if testing.Short() && i%4 != 0 { // rows, texts and nodes
			continue
		}
		t.Run(fmt.Sprintf("%s/%s", c.path[4:], c.name), func(t *testing.T) {
			t.Parallel()
			took := peak(t, c.method, c.path, c.body, c.status) - base
			t.Logf("%d MiB for %d MiB", took>>20, size>>20)
			if took > 4*size+noise {
				t.Errorf("%d MiB of memory for %d MiB of a document, want at most four times as much", took>>20, size>>20)
			}
		})
	}
}
