package control

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/state"
)

// Metrics counts calls and resources, in a registry of its own.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	actions  map[string]map[string]bool // by product and name

	mu    sync.Mutex
	codes map[string]bool
}

// NewMetrics returns metrics over the store and the products' calls.
func NewMetrics(store *state.Store, products []*gateway.Product) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "clbemu_calls_total", Help: "Calls answered. The code of a success is OK.",
		}, []string{"product", "action", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "clbemu_call_duration_seconds", Help: "Time from a call's arrival to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9),
		}, []string{"product", "action"}),
		actions: make(map[string]map[string]bool),
		codes:   make(map[string]bool),
	}
	for _, p := range products {
		m.actions[p.Name] = make(map[string]bool)
		for _, a := range p.Actions {
			m.actions[p.Name][a.Name] = true
		}
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

// Observe counts a call when it is answered.
func (m *Metrics) Observe(call *gateway.Call, outcome gateway.Outcome) {
	product, action := call.Product(), call.ActionName
	if !m.actions[product][action] {
		action = other
	}
	m.calls.WithLabelValues(product, action, m.code(outcome)).Inc()
	m.duration.WithLabelValues(product, action).Observe(outcome.Duration.Seconds())
}

// other stands for what clients invent: names that they choose would make the
// number of time series theirs to choose.
const other = "other"

const maxCodes = 500

// code names the outcome. Codes can be made of parameter names.
func (m *Metrics) code(outcome gateway.Outcome) string {
	if outcome.Code == "" {
		return "OK"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.codes[outcome.Code] && len(m.codes) >= maxCodes {
		return other
	}
	m.codes[outcome.Code] = true
	return outcome.Code
}

// Handler serves the metrics in the form that Prometheus reads, with those of the
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

var resourcesDesc = prometheus.NewDesc("clbemu_resources", "Resources in the state.", []string{"kind"}, nil)

// Describe implements prometheus.Collector.
func (r *resourceCounts) Describe(ch chan<- *prometheus.Desc) { ch <- resourcesDesc }

// Collect implements prometheus.Collector.
func (r *resourceCounts) Collect(ch chan<- prometheus.Metric) {
	err := r.store.View(state.Owner{}, func(v *state.View) error {
		for kind, n := range v.Counts() {
			ch <- prometheus.MustNewConstMetric(resourcesDesc, prometheus.GaugeValue, float64(n), string(kind))
		}
		return nil
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(resourcesDesc, err)
	}
}
