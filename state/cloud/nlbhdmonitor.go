package cloud

import "github.com/clbemu/clbemu/state"

// NLBHdMonitorConfig is where the high-definition monitoring of a region is to be
// kept. It is kept, and nothing is monitored.
type NLBHdMonitorConfig struct {
	state.Owner
	MetricStore string
	LogProject  string
}

// NLBHdMonitorConfigID is the id of a NLBHdMonitorConfig.
func NLBHdMonitorConfigID(o state.Owner) string { return o.AccountID + "/" + o.RegionID }

// NLBHdMonitorConfigs by NLBHdMonitorConfigID.
var NLBHdMonitorConfigs = state.NewTable(Schema, "NLBHdMonitorConfig", func(m *NLBHdMonitorConfig) string {
	return NLBHdMonitorConfigID(m.Owner)
}, state.Setting())
