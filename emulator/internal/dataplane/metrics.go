package dataplane

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// metric is a counter of the data plane, by listener and member.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*forward.Counters) float64
}

func newMetric(name, help string, kind prometheus.ValueType, of func(*forward.Counters) float64) metric {
	return metric{prometheus.NewDesc("clbemu_dataplane_"+name, help, []string{"listener", "server"}, nil), kind, of}
}

var metrics = []metric{
	newMetric("active", "Open connections and sessions.", prometheus.GaugeValue, func(c *forward.Counters) float64 { return float64(c.Active) }),
	newMetric("connections_total", "Connections and sessions.", prometheus.CounterValue, func(c *forward.Counters) float64 { return float64(c.Connections) }),
	newMetric("requests_total", "HTTP requests.", prometheus.CounterValue, func(c *forward.Counters) float64 { return float64(c.Requests) }),
	newMetric("in_bytes_total", "Bytes from clients.", prometheus.CounterValue, func(c *forward.Counters) float64 { return float64(c.BytesIn) }),
	newMetric("out_bytes_total", "Bytes to clients.", prometheus.CounterValue, func(c *forward.Counters) float64 { return float64(c.BytesOut) }),
	newMetric("errors_total", "Failures of servers.", prometheus.CounterValue, func(c *forward.Counters) float64 { return float64(c.Errors) }),
}

var (
	refusedDesc = prometheus.NewDesc("clbemu_dataplane_refused_total", "Connections that access control or a limit refused.", []string{"listener"}, nil)
	faultsDesc  = prometheus.NewDesc("clbemu_dataplane_faults_total", "Connections, sessions and requests that a fault rule has struck.", []string{"listener", "rule"}, nil)
	problemDesc = prometheus.NewDesc("clbemu_dataplane_problem", "1 for each listener that does not answer, or not everywhere.", []string{"listener", "problem"}, nil)
	boundDesc   = prometheus.NewDesc("clbemu_dataplane_listeners", "Listeners by whether they answer.", []string{"answers"}, nil)
)

// Describe implements prometheus.Collector.
func (p *Plane) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range metrics {
		ch <- m.desc
	}
	ch <- refusedDesc
	ch <- faultsDesc
	ch <- problemDesc
	ch <- boundDesc
}

// Collect implements prometheus.Collector.
func (p *Plane) Collect(ch chan<- prometheus.Metric) {
	answering, silent := 0, 0
	for _, l := range p.snapshot() {
		server, _, problem := l.shown()
		if problem != "" {
			ch <- prometheus.MustNewConstMetric(problemDesc, prometheus.GaugeValue, 1, l.id, strings.ToValidUTF8(problem, "?"))
		}
		for rule, n := range l.faultCounts.all() {
			ch <- prometheus.MustNewConstMetric(faultsDesc, prometheus.CounterValue, float64(n), l.id, rule)
		}
		if server == nil {
			silent++
			continue
		}
		answering++
		stats := server.Stats()
		for name, c := range stats.Members {
			for _, m := range metrics {
				ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(&c), l.id, name)
			}
		}
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(stats.Refused), l.id)
	}
	ch <- prometheus.MustNewConstMetric(boundDesc, prometheus.GaugeValue, float64(answering), "true")
	ch <- prometheus.MustNewConstMetric(boundDesc, prometheus.GaugeValue, float64(silent), "false")
}
