package kinds

import "github.com/clbemu/clbemu/state"

// NLBHdMonitorConfig is the target of a region's high-definition monitoring. clbemu
// stores it, and monitors nothing.
type NLBHdMonitorConfig struct {
	state.Owner
	MetricStore string
	LogProject  string
}

// NLBHdMonitorConfigID returns the id of a NLBHdMonitorConfig.
func NLBHdMonitorConfigID(o state.Owner) string { return o.AccountID + "/" + o.RegionID }

// NLBHdMonitorConfigs by NLBHdMonitorConfigID.
var NLBHdMonitorConfigs = state.NewTable(Schema, "NLBHdMonitorConfig", func(m *NLBHdMonitorConfig) string {
	return NLBHdMonitorConfigID(m.Owner)
}, state.Setting())
