package cloud

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/journal"
)

// trace makes the span of a call that was answered, as a part of the caller's trace if its
// headers have one.
func (c *Cloud) trace(call *gateway.Call, e *journal.Entry, outcome gateway.Outcome) {
	if c.cfg.Tracer == nil {
		return
	}
	end := time.Now()
	of := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(call.Headers()))
	about := []attribute.KeyValue{
		attribute.String("rpc.service", kept(e.Product)), attribute.String("rpc.method", kept(e.Action)),
		attribute.Int("http.response.status_code", e.Status),
		attribute.String("cloud.region", kept(e.Region)),
		attribute.String("clbemu.cloud", cmp.Or(c.cfg.Name, controlapi.DefaultCloud)), attribute.String("clbemu.request_id", e.RequestID),
	}
	if ids := resourcesOf(e); len(ids) > 0 {
		about = append(about, attribute.StringSlice("clbemu.resources", ids))
	}
	if len(e.Faults) > 0 {
		about = append(about, attribute.StringSlice("clbemu.faults", e.Faults[:min(len(e.Faults), mostKept)]))
	}
	if e.Code != "" {
		about = append(about, attribute.String("error.type", kept(e.Code)))
	}
	_, span := c.cfg.Tracer.Start(of, cmp.Or(kept(e.Action), "unreadable call"), trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(end.Add(-outcome.Duration)), trace.WithAttributes(about...))
	if outcome.Status >= http.StatusBadRequest {
		span.SetStatus(codes.Error, kept(e.Code))
	}
	span.End(trace.WithTimestamp(end))
}

// The bounds of a span's texts, in bytes, and lists. It outlives its call, whose texts
// share the memory of the request.
const maxKept, mostKept = 256, 32

func kept(text string) string {
	return strings.Clone(strings.ToValidUTF8(text[:min(len(text), maxKept)], ""))
}

// resourcesOf lists the ids that a call is about and those that it made.
func resourcesOf(e *journal.Entry) (ids []string) {
	for _, id := range slices.Concat([]string{e.Resource, e.Made}, e.Also, e.AlsoMade) {
		if id != "" && len(ids) < mostKept {
			ids = append(ids, kept(id))
		}
	}
	return ids
}
