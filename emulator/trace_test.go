package emulator_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/clbemu/clbemu/emulator"
)

// TestTrace proves that each call is a span, in the caller's trace if it has one, with its
// action, resources, faults, code and cloud, and that hostile texts stay small.
func TestTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	e := mustNew(t, emulator.Config{Tracer: provider.Tracer("test")})
	t.Cleanup(func() { _ = e.Close(t.Context()) })
	if _, err := e.AddFaults([]byte("{name: busy, match: {action: CreateVServerGroup}, effect: {error: {code: ServiceUnavailable}}}")); err != nil {
		t.Fatal(err)
	}
	call := func(parameters url.Values) sdktrace.ReadOnlySpan {
		t.Helper()
		before := len(recorder.Ended())
		r := httptest.NewRequest(http.MethodGet, "http://localhost/?"+parameters.Encode(), nil)
		r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		e.Handler().ServeHTTP(httptest.NewRecorder(), r)
		ended := recorder.Ended()
		if len(ended) != before+1 {
			t.Fatalf("%v makes %d spans", parameters, len(ended)-before)
		}
		return ended[before]
	}
	about := func(s sdktrace.ReadOnlySpan, key string) attribute.Value {
		at := slices.IndexFunc(s.Attributes(), func(a attribute.KeyValue) bool { return string(a.Key) == key })
		if at < 0 {
			return attribute.Value{}
		}
		return s.Attributes()[at].Value
	}
	made := call(url.Values{"Action": {"CreateLoadBalancer"}, "Version": {slbVersion}, "RegionId": {"cn-hangzhou"}, "InstanceChargeType": {"PayByCLCU"}})
	lb := about(made, "clbemu.resources").AsStringSlice()
	if len(lb) == 0 {
		t.Fatalf("the span of a creation is %v", made.Attributes())
	}
	if made.Name() != "CreateLoadBalancer" || made.Parent().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || made.SpanContext().TraceID() != made.Parent().TraceID() ||
		about(made, "rpc.service").AsString() != "Slb" || about(made, "clbemu.cloud").AsString() != "default" || !strings.HasPrefix(lb[0], "lb-") || made.Status().Code == codes.Error {
		t.Errorf("the span is %s %v, %v", made.Name(), made.Parent(), made.Attributes())
	}
	refused := call(url.Values{"Action": {"CreateVServerGroup"}, "Version": {slbVersion}, "RegionId": {"cn-hangzhou"}, "LoadBalancerId": {lb[0]}})
	if about(refused, "error.type").AsString() != "ServiceUnavailable" || refused.Status().Code != codes.Error || !slices.Equal(about(refused, "clbemu.faults").AsStringSlice(), []string{"busy"}) {
		t.Errorf("the span of a refusal is %v, %v", refused.Status(), refused.Attributes())
	}
	hostile := call(url.Values{"Action": {strings.Repeat("A\xff", 100_000)}, "Version": {slbVersion}})
	if n := len(hostile.Name()); n > 256 {
		t.Errorf("a hostile action makes a name of %d bytes", n)
	}
}
