package metrics

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// TestSeriesAreBounded proves that clients can't make as many time series as they
// like, by names of actions or by what codes are made of.
func TestSeriesAreBounded(t *testing.T) {
	m := New(nil, []*gateway.Product{{Name: "Test", Actions: []gateway.Action{gateway.NotEmulated("Known")}}})
	for i := range 3 * maxCodes {
		m.seriesOf(labels{"Test", "Known", fmt.Sprintf("Missing%d", i)})
		m.seriesOf(labels{"Test", fmt.Sprintf("Invented%d", i), "InvalidAction.NotEmulated"})
		m.seriesOf(labels{"Test", fmt.Sprintf("Invented%d", i), fmt.Sprintf("Other%d", i)})
	}
	if n := len(m.series); n > maxCodes+1 {
		t.Errorf("%d series are kept at hand, want at most %d", n, maxCodes+1)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.calls, m.duration)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if n := len(family.GetMetric()); n > 2*(maxCodes+1) {
			t.Errorf("%s has %d series, want at most %d", family.GetName(), n, 2*(maxCodes+1))
		}
	}
}
