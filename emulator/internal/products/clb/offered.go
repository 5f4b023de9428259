package clb

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file. Which region or zone lacks what is unpublished, so that none lacks
// anything unless a condition says so: CLB-0580.
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
			for _, sent := range valuesOf(p, name) {
				switch {
				case sent == "" || ofOne && sent != value:
				case ofOne:
					return ofValue.Of(value)
				default:
					return ofParameter.Of(name)
				}
			}
		}
	}
	return nil
}

// valuesOf returns the values that a call sends by a name: of a parameter, of the elements of a list, or of
// the keys in a list in JSON.
func valuesOf(p gateway.Param, name string) (values []string) {
	if p.Name == name || strings.HasPrefix(p.Name, name+".") {
		values = append(values, p.Value)
	}
	var list []map[string]any
	if strings.HasPrefix(strings.TrimSpace(p.Value), "[") && json.Unmarshal([]byte(p.Value), &list) == nil {
		for _, element := range list {
			if value, has := element[name]; has {
				values = append(values, fmt.Sprint(value))
			}
		}
	}
	return values
}

// noZone is the key of no zone in Region.Lacks.
const noZone = "none"

// zoneOf returns the zone that has the master of the load balancer that a call is about.
func zoneOf(v *state.View, params gateway.Params) string {
	id := params.Get("LoadBalancerId")
	if g, ok := kinds.VServerGroups.Find(v, params.Get("VServerGroupId")); ok {
		id = g.LoadBalancerID
	} else if g, ok := kinds.MasterSlaveServerGroups.Find(v, params.Get("MasterSlaveServerGroupId")); ok {
		id = g.LoadBalancerID
	} else if r, ok := kinds.Rules.Find(v, params.Get("RuleId")); ok {
		id = r.LoadBalancerID
	} else if d, ok := kinds.DomainExtensions.Find(v, params.Get("DomainExtensionId")); ok {
		id = d.LoadBalancerID
	}
	if lb, ok := kinds.LoadBalancers.Find(v, id); ok {
		return lb.MasterZoneID
	}
	return noZone
}
