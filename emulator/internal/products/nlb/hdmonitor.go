package nlb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// hdMonitorActions keep where monitoring is to go. clbemu monitors nothing.
var hdMonitorActions = []gateway.Action{
	gateway.Write("SetHdMonitorRegionConfig", setHdMonitorRegionConfig),
	gateway.Write("DeleteHdMonitorRegionConfig", deleteHdMonitorRegionConfig),
	gateway.Read("DescribeHdMonitorRegionConfig", describeHdMonitorRegionConfig),
}

type setHdMonitorRegionConfigRequest struct {
	gateway.Region
	MetricStore string `rpc:"MetricStore,required"`
	LogProject  string `rpc:"LogProject,required"`
}

type hdMonitorRegionConfig struct {
	RegionID    string `rpc:"RegionId"`
	MetricStore string `rpc:"MetricStore"`
	LogProject  string `rpc:"LogProject"`
}

func setHdMonitorRegionConfig(tx *state.Tx, req *setHdMonitorRegionConfigRequest) (*hdMonitorRegionConfig, error) {
	kinds.NLBHdMonitorConfigs.Put(tx, &kinds.NLBHdMonitorConfig{Owner: tx.Scope(), MetricStore: req.MetricStore, LogProject: req.LogProject})
	return &hdMonitorRegionConfig{tx.Scope().RegionID, req.MetricStore, req.LogProject}, nil
}

type regionRequest struct {
	gateway.Region
}

func deleteHdMonitorRegionConfig(tx *state.Tx, _ *regionRequest) (*gateway.Empty, error) {
	m, err := kinds.NLBHdMonitorConfigs.Get(tx.View, kinds.NLBHdMonitorConfigID(tx.Scope()))
	if err != nil {
		return nil, err
	}
	kinds.NLBHdMonitorConfigs.Delete(tx, kinds.NLBHdMonitorConfigID(m.Owner))
	return &gateway.Empty{}, nil
}

func describeHdMonitorRegionConfig(v *state.View, _ *regionRequest) (*hdMonitorRegionConfig, error) {
	m, err := kinds.NLBHdMonitorConfigs.Get(v, kinds.NLBHdMonitorConfigID(v.Scope()))
	if err != nil {
		return nil, err
	}
	return &hdMonitorRegionConfig{m.RegionID, m.MetricStore, m.LogProject}, nil
}
