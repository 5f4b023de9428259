package kinds

import "github.com/clbemu/clbemu/state"

// HighDefinitionMonitor names the log store to which an account wants the fine-grained
// metrics of a region written. clbemu keeps and shows it, and writes no metric.
type HighDefinitionMonitor struct {
	state.Owner
	LogProject string
	LogStore   string
}

// HighDefinitionMonitorID returns the id of a HighDefinitionMonitor.
func HighDefinitionMonitorID(o state.Owner) string { return o.AccountID + "/" + o.RegionID }

// HighDefinitionMonitors by HighDefinitionMonitorID.
var HighDefinitionMonitors = state.NewTable(Schema, "HighDefinitionMonitor",
	func(m *HighDefinitionMonitor) string { return HighDefinitionMonitorID(m.Owner) })
