package nlb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var regionActions = []gateway.Action{
	gateway.Read("DescribeRegions", describeRegions),
	gateway.Read("DescribeZones", describeZones),
}

type describeRegionsRequest struct {
	gateway.Region
	AcceptLanguage string `rpc:"AcceptLanguage"`
	ServiceCode    string `rpc:"ServiceCode"`
	ClientToken    string `rpc:"ClientToken,len=1..64"`
}

type describeRegionsResponse struct {
	Regions []gateway.RegionEntry `rpc:"Regions"`
}

func describeRegions(v *state.View, _ *describeRegionsRequest) (*describeRegionsResponse, error) {
	return &describeRegionsResponse{gateway.RegionEntries(v, "nlb")}, nil
}

type describeZonesRequest struct {
	RegionID       string `rpc:"RegionId,required"`
	AcceptLanguage string `rpc:"AcceptLanguage"`
	ServiceCode    string `rpc:"ServiceCode"`
	ClientToken    string `rpc:"ClientToken,len=1..64"`
}

type describeZonesResponse struct {
	Zones []zoneEntry `rpc:"Zones"`
}

type zoneEntry struct {
	ZoneID    string `rpc:"ZoneId"`
	LocalName string `rpc:"LocalName"`
}

func describeZones(v *state.View, req *describeZonesRequest) (*describeZonesResponse, error) {
	r, err := kinds.Regions.Get(v, req.RegionID)
	if err != nil {
		return nil, err
	}
	resp := &describeZonesResponse{}
	for _, z := range r.Zones {
		resp.Zones = append(resp.Zones, zoneEntry{z.ID, z.LocalName})
	}
	return resp, nil
}
