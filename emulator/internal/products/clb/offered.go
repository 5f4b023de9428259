package clb

import (
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file. Which region or zone lacks what is unpublished, so that none lacks
// anything unless its world says so: CLB-0580.
var (
	errRegionLacksAction = refusals.New("RegionLacksAction", 400, "InvalidAction.RegionNotSupport",
		"The region does not support this action.", "CLB-0580").
		In(400, "UnsupportedRegion", "The feature is not supported in current region.", "CLB-0580", "CreateLoadBalancer").
		In(400, "ServerCertificate.NotSupport", "The specified Region Not support ServerCertificate.", "CLB-0580", "UploadServerCertificate")
	errRegionLacksParameter = refusals.New("RegionLacksParameter", 400, "InvalidParameter.RegionNotSupport",
		"The region does not support the parameter: %s.", "CLB-0580").
		In(400, "RegionNotSupportParameter", "Current region does not support the param of %s.", "CLB-0580", "CreateLoadBalancer")
	errRegionLacksValue = refusals.New("RegionLacksValue", 400, "InvalidParameterValue.RegionNotSupport",
		"The region does not support the parameter value, %s.", "CLB-0580")
	errZoneLacksAction = refusals.New("ZoneLacksAction", 400, "OperationUnsupported.SetLoadBalancerStatus",
		"The zone of the loadBalancer does not support this operation.", "CLB-0580")
	errZoneLacksParameter = refusals.New("ZoneLacksParameter", 400, "InvalidParameter.ZoneNotSupport",
		"The zone does not support the parameter %s.", "CLB-0580")
	errZoneLacksValue = refusals.New("ZoneLacksValue", 400, "InvalidParameterValue.ZoneNotSupport",
		"The zone does not support the parameter value, %s.", "CLB-0580")
)

// checkOffered refuses a call that uses what its region, or the zone of its load balancer, lacks.
func checkOffered(v *state.View, action string, params gateway.Params) error {
	region, ok := kinds.Regions.Find(v, v.Scope().RegionID)
	if !ok || len(region.Lacks) == 0 {
		return nil
	}
	if err := used(region.Lacks[""], action, params, errRegionLacksAction, errRegionLacksParameter, errRegionLacksValue); err != nil {
		return err
	}
	return used(region.Lacks[zoneOf(v, params)], action, params, errZoneLacksAction, errZoneLacksParameter, errZoneLacksValue)
}

// used returns the refusal of a call that uses one of the things that are lacking.
func used(lacking []string, action string, params gateway.Params, ofAction, ofParameter, ofValue gateway.Refusal) error {
	for _, what := range lacking {
		name, value, ofOne := strings.Cut(what, "=")
		if what == action {
			return ofAction
		}
		for _, p := range params {
			switch {
			case !names(p, name) || p.Value == "" || ofOne && p.Value != value:
			case ofOne:
				return ofValue.Of(value)
			default:
				return ofParameter.Of(name)
			}
		}
	}
	return nil
}

// names reports whether a parameter has a name, is of a list with the name, or is a list in JSON
// whose elements have a key with it.
func names(p gateway.Param, name string) bool {
	return p.Name == name || strings.HasPrefix(p.Name, name+".") || strings.HasPrefix(p.Value, "[") && strings.Contains(p.Value, `"`+name+`"`)
}

// noZone is the key of no zone in Region.Lacks.
const noZone = "none"

// zoneOf returns the zone that has the master of the load balancer that a call is about.
func zoneOf(v *state.View, params gateway.Params) string {
	id := params.Get("LoadBalancerId")
	if g, ok := kinds.VServerGroups.Find(v, params.Get("VServerGroupId")); ok && id == "" {
		id = g.LoadBalancerID
	}
	if lb, ok := kinds.LoadBalancers.Find(v, id); ok {
		return lb.MasterZoneID
	}
	return noZone
}
