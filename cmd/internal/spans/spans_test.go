package spans_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/clbemu/clbemu/cmd/internal/spans"
)

// sent is what a collector got.
type sent struct {
	path, kind, key string
	body            map[string]any
}

func collector(t *testing.T) (url string, got chan sent) {
	got = make(chan sent, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		is := sent{path: r.URL.Path, kind: r.Header.Get("Content-Type"), key: r.Header.Get("X-Key")}
		if err = errors.Join(err, json.Unmarshal(body, &is.body)); err != nil {
			t.Error(err)
		}
		got <- is
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestProvider proves that spans arrive at the collector of the environment, in the JSON
// of OTLP.
func TestProvider(t *testing.T) {
	url, got := collector(t)
	p, err := spans.Provider(environment("OTEL_EXPORTER_OTLP_ENDPOINT", url+"/in", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b"), "clbemu", "v1", func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true})
	_, s := p.Tracer("t").Start(trace.ContextWithRemoteSpanContext(t.Context(), parent), "CreateLoadBalancer", trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.Int("status", 400), attribute.StringSlice("ids", []string{"lb-1"}), attribute.String("action", "C")))
	s.SetStatus(codes.Error, "Busy")
	s.End()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	is := <-got
	text, err := json.Marshal(is.body)
	if err != nil || is.path != "/in/v1/traces" || is.kind != "application/json" || is.key != "a b" {
		t.Errorf("the collector got %+v, %v", is, err)
	}
	for _, part := range []string{`"traceId":"01000000000000000000000000000000"`, `"parentSpanId":"0200000000000000"`, `"name":"CreateLoadBalancer"`, `"kind":2`, `"startTimeUnixNano":"1`,
		`{"key":"status","value":{"intValue":"400"}}`, `{"arrayValue":{"values":[{"stringValue":"lb-1"}]}}`, `"status":{"code":2,"message":"Busy"}`, `{"key":"service.name","value":{"stringValue":"clbemu"}}`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the spans lack %s: %s", part, text)
		}
	}
}

// TestFailingCollector proves that a collector that fails, hangs or is not there is reported
// once, again only after it has taken spans.
func TestFailingCollector(t *testing.T) {
	status := make(chan int, 4)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if code := <-status; code > 0 {
			w.WriteHeader(code)
			return
		}
		<-r.Context().Done() // the client gives up
	}))
	t.Cleanup(s.Close)
	var lost []string
	p, err := spans.Provider(environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", s.URL, "OTEL_EXPORTER_OTLP_TIMEOUT", "2000"), "clbemu", "v1", func(err error) { lost = append(lost, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	send := func(code int) {
		t.Helper()
		status <- code
		_, s := p.Tracer("t").Start(t.Context(), "x")
		s.End()
		if err := p.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, code := range []int{http.StatusServiceUnavailable, http.StatusNotFound, 0, http.StatusOK, 0, http.StatusServiceUnavailable} {
		send(code)
	}
	s.Close()
	_, last := p.Tracer("t").Start(t.Context(), "x")
	last.End()
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(lost) != 2 || !strings.Contains(lost[0], "1 spans are lost") || !strings.Contains(lost[0], "503") || !strings.Contains(lost[1], "Timeout") {
		t.Errorf("reported is %q, want the 503 and the time-out", lost)
	}
}

// TestEnvironment proves that nothing is sent unless a collector is named, and that
// what can't be understood is refused by the name of its variable.
func TestEnvironment(t *testing.T) {
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, off := range [][]string{{}, {at, "http://127.0.0.1:1", "OTEL_SDK_DISABLED", "true"}, {at, "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER", "none"}} {
		if p, err := spans.Provider(environment(off...), "clbemu", "v1", nil); p != nil || err != nil {
			t.Errorf("%v = %v, %v, want none", off, p, err)
		}
	}
	for _, wrong := range [][]string{{at, "127.0.0.1:4317"}, {at, "ftp://here"}, {at, "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
		{at, "http://h", "OTEL_EXPORTER_OTLP_HEADERS", "secret"}, {at, "http://h", "OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}} {
		p, err := spans.Provider(environment(wrong...), "clbemu", "v1", nil)
		if p != nil || err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v = %v, %v, want a refusal", wrong, p, err)
		}
	}
}
