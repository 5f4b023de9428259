// Package metrics counts calls and resources for Prometheus. It must not know how calls
// reach it.
package metrics

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// Metrics counts calls and resources, in its own registry.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	products []*gateway.Product

	mu     sync.RWMutex
	codes  map[string]bool
	series map[labels]series
}

// labels holds the labels of an outcome.
type labels struct{ product, action, code string }

// series holds the series that count an outcome. They are kept, as most calls have one
// that was seen before.
type series struct {
	calls    prometheus.Counter
	duration prometheus.Observer
}

// New returns metrics over the store and the products' calls.
func New(store *state.Store, products []*gateway.Product) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "clbemu_calls_total", Help: "Calls answered. The code of a success is OK.",
		}, []string{"product", "action", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "clbemu_call_duration_seconds", Help: "Time from a call's arrival to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"product", "action"}),
		products: products,
		codes:    make(map[string]bool),
		series:   make(map[labels]series),
	}
	failing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "clbemu_writes_refused", Help: "1 while the state can't be written and every write is refused.",
	}, func() float64 {
		if store.Failing() != nil {
			return 1
		}
		return 0
	})
	m.registry.MustRegister(m.calls, m.duration, failing, &resourceCounts{store: store})
	return m
}

// Add adds the metrics of another part.
func (m *Metrics) Add(more prometheus.Collector) { m.registry.MustRegister(more) }

// Observe counts a call when it is answered.
func (m *Metrics) Observe(call *gateway.Call, outcome gateway.Outcome) {
	seen := labels{call.Product(), call.ActionName, outcome.Code}
	m.mu.RLock()
	counted, known := m.series[seen]
	m.mu.RUnlock()
	if !known {
		counted = m.seriesOf(seen)
	}
	counted.calls.Inc()
	counted.duration.Observe(outcome.Duration.Seconds())
}

// other stands for what clients invent: names that they choose would make the
// number of time series theirs to choose.
const other = "other"

const maxCodes = 500

// seriesOf finds what an outcome counts in, and keeps it if its labels are not of the
// client's invention.
func (m *Metrics) seriesOf(seen labels) series {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := seen
	if !slices.ContainsFunc(m.products, func(p *gateway.Product) bool { return p.Name == seen.product && p.Has(seen.action) }) {
		told.action = other
	}
	if !m.codes[seen.code] && len(m.codes) >= maxCodes { // codes can be made of parameter names
		told.code = other
	}
	m.codes[strings.Clone(told.code)] = true // and not a part of the request
	counted := series{
		calls:    m.calls.WithLabelValues(told.product, told.action, cmp.Or(told.code, "OK")),
		duration: m.duration.WithLabelValues(told.product, told.action),
	}
	if told == seen {
		m.series[labels{seen.product, strings.Clone(seen.action), strings.Clone(seen.code)}] = counted
	}
	return counted
}

// Handler serves the metrics in the form that Prometheus reads, with the metrics of the
// process. These are a millisecond's work to set up: the first who asks waits for it.
func (m *Metrics) Handler() http.Handler {
	handler := sync.OnceValue(func() http.Handler {
		m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}

// resourceCounts counts what the store holds, when it is asked.
type resourceCounts struct{ store *state.Store }

var _ prometheus.Collector = (*resourceCounts)(nil)

var resourcesDesc = prometheus.NewDesc("clbemu_resources", "Resources in the state.", []string{"kind"}, nil)

// Describe implements prometheus.Collector.
func (r *resourceCounts) Describe(ch chan<- *prometheus.Desc) { ch <- resourcesDesc }

// Collect implements prometheus.Collector.
func (r *resourceCounts) Collect(ch chan<- prometheus.Metric) {
	for kind, n := range r.store.View(state.Owner{}).Counts() {
		ch <- prometheus.MustNewConstMetric(resourcesDesc, prometheus.GaugeValue, float64(n), string(kind))
	}
}
