// Package spans sends spans to a collector of OpenTelemetry, where its usual variables ask
// for that. It owns the JSON of OTLP over HTTP: the SDK's own exporter would add the
// whole of gRPC, 8 MB, to a program that is small otherwise. It must not know what the
// spans are about.
package spans

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Provider returns a provider whose spans go where the environment says, or nil if it names no
// collector. The SDK reads the variables about service, resource, sampling and batches by itself. A
// collector that begins to fail is reported to failed.
func Provider(getenv func(string) string, service, version string, failed func(error)) (*sdktrace.TracerProvider, error) {
	at, err := endpoint(getenv)
	if at == "" || err != nil {
		return nil, err
	}
	headers, err := headersOf(cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	if err != nil {
		return nil, err
	}
	timeout := 10 * time.Second
	if text := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"), getenv("OTEL_EXPORTER_OTLP_TIMEOUT")); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is a number of milliseconds, not %q", text)
		}
		timeout = time.Duration(milliseconds) * time.Millisecond
	}
	// The environment's own name of the service goes first.
	named, err := resource.New(context.Background(), resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	e := &exporter{at: at, headers: headers, client: &http.Client{Timeout: timeout}, failed: failed}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(e), sdktrace.WithResource(named)), nil
}

// endpoint returns the URL that takes spans, or "" if none is asked for.
func endpoint(getenv func(string) string) (string, error) {
	base, own := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base == "" && own == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", nil
	}
	switch protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL")); protocol {
	case "", "http/json", "http/protobuf": // which collectors take at one address
	default:
		return "", fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL: clbemu sends spans by http/json, not by %q: unset it, and name the collector's HTTP address, usually port 4318", protocol)
	}
	at, err := url.Parse(cmp.Or(own, base))
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return "", fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is a URL such as http://127.0.0.1:4318, not %q", cmp.Or(own, base))
	}
	if own == "" {
		at = at.JoinPath("v1/traces")
	}
	return at.String(), nil
}

// headersOf reads name=value pairs, separated by commas and escaped as in URLs.
func headersOf(text string) (http.Header, error) {
	headers := make(http.Header)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS has name=value pairs, separated by commas") // it may hold a secret
		}
		headers.Set(strings.TrimSpace(name), value)
	}
	return headers, nil
}

// exporter implements sdktrace.SpanExporter.
type exporter struct {
	at      string
	headers http.Header
	client  *http.Client
	failed  func(error)
	failing bool // since the last report; the SDK exports one batch at a time
}

var _ sdktrace.SpanExporter = (*exporter)(nil)

// ExportSpans sends a batch. One that can't be sent is lost, and the first of several in a
// row is reported.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	err := e.send(ctx, spans)
	if err != nil && !e.failing {
		e.failed(fmt.Errorf("%d spans are lost, and those that follow until the collector takes some: %w", len(spans), err))
	}
	e.failing = err != nil
	return nil
}

func (e *exporter) send(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := json.Marshal(requestOf(spans))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = e.headers.Clone()
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s", e.at, response.Status)
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The JSON of an ExportTraceServiceRequest, by
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: ids are in hex, and
// 64-bit numbers text.
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []span `json:"spans"`
	}
	span struct {
		TraceID      string     `json:"traceId"`
		SpanID       string     `json:"spanId"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		TraceState   string     `json:"traceState,omitempty"`
		Flags        uint32     `json:"flags"`
		Name         string     `json:"name"`
		Kind         int        `json:"kind"`
		Start        string     `json:"startTimeUnixNano"`
		End          string     `json:"endTimeUnixNano"`
		Attributes   []keyValue `json:"attributes"`
		Status       status     `json:"status"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	}
)

func requestOf(spans []sdktrace.ReadOnlySpan) exportRequest {
	var of resourceSpans
	of.Resource.Attributes = attributesOf(spans[0].Resource().Attributes()) // all are of one provider
	var scope scopeSpans
	scope.Scope.Name = spans[0].InstrumentationScope().Name
	for _, s := range spans {
		scope.Spans = append(scope.Spans, spanOf(s))
	}
	of.ScopeSpans = []scopeSpans{scope}
	return exportRequest{[]resourceSpans{of}}
}

func spanOf(s sdktrace.ReadOnlySpan) span {
	trace, id, parent := s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
	out := span{
		TraceID: hex.EncodeToString(trace[:]), SpanID: hex.EncodeToString(id[:]), TraceState: s.SpanContext().TraceState().String(),
		Flags: uint32(s.SpanContext().TraceFlags()), Name: s.Name(), Kind: int(s.SpanKind()), // numbered alike
		Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10),
		Attributes: attributesOf(s.Attributes()), Status: status{Message: s.Status().Description},
	}
	if s.Parent().HasSpanID() {
		out.ParentSpanID = hex.EncodeToString(parent[:])
	}
	switch s.Status().Code.String() {
	case "Ok":
		out.Status.Code = 1
	case "Error":
		out.Status.Code = 2
	}
	return out
}

func attributesOf(attributes []attribute.KeyValue) []keyValue {
	list := make([]keyValue, len(attributes))
	for i, a := range attributes {
		list[i] = keyValue{string(a.Key), valueOf(a.Value)}
	}
	return list
}

// valueOf returns an AnyValue: a number or a list of texts as such, all else as a text.
func valueOf(v attribute.Value) any {
	switch v.Type() {
	case attribute.INT64:
		return map[string]string{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.STRINGSLICE:
		list := []any{}
		for _, text := range v.AsStringSlice() {
			list = append(list, map[string]string{"stringValue": text})
		}
		return map[string]any{"arrayValue": map[string]any{"values": list}}
	}
	return map[string]string{"stringValue": v.String()}
}
