package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// posted returns an unsigned call of Who with a body of JSON.
func posted(body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", body)
	for name, value := range map[string]string{"Authorization": "ACS3-HMAC-SHA256 x", "x-acs-action": "Who", "x-acs-version": version,
		"Content-Type": "application/json"} {
		r.Header.Set(name, value)
	}
	return r
}

// repeated returns JSON as large as a body can be: piece again and again between before and after.
func repeated(before, piece, after string) string {
	return before + strings.Repeat(piece, (gateway.MaxBody-len(before)-len(after))/len(piece)) + after
}

// No body costs a multiple of its size, whatever is in it, before it is known who
// sent it. The gateway refuses bodies at the first value too many.
func TestHostileBodies(t *testing.T) {
	bodies := map[string]string{
		"numbers":         repeated(`{"a":[1`, `,1`, `]}`),
		"lists":           repeated(`{"a":[[]`, `,[]`, `]}`),
		"objects":         repeated(`{"a":[{}`, `,{}`, `]}`),
		"nulls":           repeated(`{"a":[null`, `,null`, `]}`),
		"fields":          repeated(`{"":1`, `,"":1`, `}`),
		"deep lists":      repeated(`{"a":`, `[`, ``),
		"deep objects":    repeated(``, `{"":`, ``),
		"long name":       repeated(`{"`, `a`, `":1}`),
		"long names":      repeated(`{"a":1`, `,"`+strings.Repeat("a", 190)+`":1`, `}`),
		"deep long names": repeated(strings.Repeat(`{"aaaaa":`, 31)+`[1`, `,1`, `]`+strings.Repeat("}", 31)),
	}
	g := newTestServer(t, strict)
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := g.do(posted(strings.NewReader(body)))
			runtime.ReadMemStats(&after)
			if a.Code != http.StatusBadRequest || !strings.HasPrefix(a.code(t), "Invalid") {
				t.Errorf("answer %d %.200s", a.Code, a.body)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 8*gateway.MaxBody {
				t.Errorf("a body of %d bytes takes %d", len(body), took)
			}
		})
	}
}

// A parameter of JSON costs no multiple of its size either.
func TestHostileJSONText(t *testing.T) {
	action := gateway.Write("Decode", func(*state.Tx, *jsonTextRequest) (*gateway.Empty, error) { return &gateway.Empty{}, nil })
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Products = []*gateway.Product{{Version: version, Actions: []gateway.Action{action}, Errors: decodeErrors}}
	})
	for name, value := range map[string]string{"Servers": "[{}" + strings.Repeat(",{}", 300_000) + "]", "IDs": "[1" + strings.Repeat(",1", 400_000) + "]"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := httptest.NewRequest(http.MethodPost, "/?Action=Decode&Version="+version, strings.NewReader(name+"="+value))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		a := g.do(r)
		runtime.ReadMemStats(&after)
		if a.Code != http.StatusBadRequest || a.code(t) != "Invalid"+name {
			t.Errorf("%s = %d %.200s", name, a.Code, a.body)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 10*gateway.MaxBody {
			t.Errorf("%s of %d bytes takes %d", name, len(value), took)
		}
	}
}

type jsonTextRequest struct {
	Servers []backendServer `rpc:"Servers,json"`
	IDs     []string        `rpc:"IDs"`
}

// A form has as many parameters as a query.
func TestManyParameters(t *testing.T) {
	g := newTestServer(t, nil)
	list := func(n int) string { return `{"a":[` + strings.Repeat("1,", n-1) + `1]}` }
	for n, want := range map[int]string{9_998: "", 9_999: "InvalidParameter"} { // beside the list and the object
		if a := g.do(posted(strings.NewReader(list(n)))); a.code(t) != want {
			t.Errorf("%d values = %d %.200s, want %q", n, a.Code, a.body, want)
		}
	}
}

// slowBody is a body whose rest waits for release.
type slowBody struct {
	begun   *atomic.Int64
	release chan struct{}
	counted bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	if !b.counted {
		b.counted = true
		b.begun.Add(1)
		return copy(p, `{"`), nil
	}
	<-b.release
	return 0, io.EOF
}

// Large bodies wait for each other before they are read, and not for ever; other
// calls do not wait for them.
func TestLargeBodiesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newTestServer(t, nil)
		const clients = 60
		var begun, answered, busy atomic.Int64
		release := make(chan struct{})
		for range clients {
			go func() {
				r := posted(&slowBody{begun: &begun, release: release})
				if a := g.do(r); a.Code == http.StatusServiceUnavailable {
					busy.Add(1)
				}
				answered.Add(1)
			}()
		}
		synctest.Wait()
		if n := begun.Load(); n != 16 {
			t.Errorf("%d bodies of unknown length are read at a time, want 16", n)
		}
		if a := g.do(posted(strings.NewReader(`{"Name":"x"}`))); a.Code != http.StatusOK {
			t.Errorf("a small body meanwhile = %d %s", a.Code, a.body)
		}
		time.Sleep(time.Minute) // of the test's clock
		if n := busy.Load(); n != clients-16 || answered.Load() != n {
			t.Errorf("%d calls are refused as busy, want %d", n, clients-16)
		}
		close(release)
		synctest.Wait()
		if n := answered.Load(); n != clients {
			t.Errorf("%d calls are answered, want %d", n, clients)
		}
		if a := g.do(posted(&slowBody{begun: &begun, release: release})); a.Code != http.StatusBadRequest {
			t.Errorf("a large body after that = %d %s", a.Code, a.body)
		}
	})
}
