package cloud

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// The bounds of series whose labels users choose: what is beyond counts as other, or not.
const (
	MaxSeries   = 100
	maxAccounts = 10
	otherSeries = "other"
)

var (
	buildDesc      = prometheus.NewDesc("clbemu_build_info", "Always 1; the labels say which version runs.", []string{"version", "commit"}, nil)
	faultHitsDesc  = prometheus.NewDesc("clbemu_fault_hits_total", "Calls and packets that a fault rule struck. The rule is other beyond the first 100 rules.", []string{"rule"}, nil)
	quotaUsedDesc  = prometheus.NewDesc("clbemu_quota_used", "What the greatest holder of a quota uses of it, of the first 10 accounts.", []string{"account", "quota"}, nil)
	quotaLimitDesc = prometheus.NewDesc("clbemu_quota_limit", "The limit of a quota, of the first 10 accounts.", []string{"account", "quota"}, nil)
	unusualDesc    = prometheus.NewDesc("clbemu_conditions_unusual", "Settings of a condition that differ from the world as it was planted.", []string{"condition"}, nil)
)

// collector counts what a cloud's rules, quotas and conditions do, when it is asked.
type collector struct{ *Cloud }

var _ prometheus.Collector = (*collector)(nil)

// Unusual returns the conditions that differ from the world as it was planted, and the fault
// rules, by name.
func (c *Cloud) Unusual() (differ, rules []string) {
	for _, s := range c.faults.Injector.Rules() {
		rules = append(rules, s.Rule.Name)
	}
	usual, err := c.usual()
	if err != nil {
		c.cfg.Log.Error().Err(err).Msg("which conditions differ from the world is not known")
		return nil, rules
	}
	v := c.store.View(state.Owner{})
	counts := conditions.Unusual(conditions.Settings(v), usual)
	for name, n := range counts {
		if n > 0 {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	return differ, rules
}

// usualConditions returns the conditions of the world that a reset plants.
func (c *Cloud) usualConditions() (usual map[conditions.Key]string, err error) {
	cfg := c.cfg
	cfg.Clock = nil
	store, err := cfg.OpenStore(c.life, &memory.Engine{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if err := store.Update(state.Owner{}, cfg.plant); err != nil {
		return nil, err
	}
	return conditions.Settings(store.View(state.Owner{})), nil
}

// Describe implements prometheus.Collector.
func (m *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{buildDesc, faultHitsDesc, quotaUsedDesc, quotaLimitDesc, unusualDesc} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (m *collector) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(buildDesc, prometheus.GaugeValue, 1, m.cfg.Version.Version, m.cfg.Version.Commit)
	hits := make(map[string]uint64)
	for i, s := range m.faults.Injector.Rules() {
		hits[SeriesOf(i, s.Rule.Name)] += s.Hits
	}
	for rule, n := range hits {
		ch <- prometheus.MustNewConstMetric(faultHitsDesc, prometheus.CounterValue, float64(n), rule)
	}
	usual, err := m.usual()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(unusualDesc, err)
		return
	}
	v := m.store.View(state.Owner{})
	for name, n := range conditions.Unusual(conditions.Settings(v), usual) {
		ch <- prometheus.MustNewConstMetric(unusualDesc, prometheus.GaugeValue, float64(n), name)
	}
	accounts := slices.Collect(kinds.Accounts.All(v))
	for _, account := range accounts[:min(len(accounts), maxAccounts)] {
		for _, q := range state.QuotaPeaks(v.In(state.Owner{AccountID: account.ID})) {
			ch <- prometheus.MustNewConstMetric(quotaUsedDesc, prometheus.GaugeValue, float64(q.Used), account.ID, string(q.Name))
			ch <- prometheus.MustNewConstMetric(quotaLimitDesc, prometheus.GaugeValue, float64(q.Limit), account.ID, string(q.Name))
		}
	}
}

// SeriesOf returns the label of the n-th of many, which share one from the hundredth on.
func SeriesOf(n int, name string) string {
	if n < MaxSeries {
		return name
	}
	return otherSeries
}
