package clb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var regionActions = []gateway.Action{
	gateway.Read("DescribeRegions", describeRegions),
	gateway.Read("DescribeZones", describeZones),
	gateway.Read("DescribeAvailableResource", describeAvailableResource),
}

type describeRegionsRequest struct {
	RegionID       string `rpc:"RegionId"`
	AcceptLanguage string `rpc:"AcceptLanguage"`
}

type describeRegionsResponse struct {
	Regions []gateway.RegionEntry `rpc:"Regions>Region"`
}

func describeRegions(v *state.View, _ *describeRegionsRequest) (*describeRegionsResponse, error) {
	return &describeRegionsResponse{gateway.RegionEntries(v, "slb")}, nil
}

type describeZonesRequest struct {
	RegionID       string `rpc:"RegionId,required"`
	AcceptLanguage string `rpc:"AcceptLanguage"`
}

type describeZonesResponse struct {
	Zones []zone `rpc:"Zones>Zone"`
}

type zone struct {
	ZoneID     string      `rpc:"ZoneId"`
	LocalName  string      `rpc:"LocalName"`
	SlaveZones []slaveZone `rpc:"SlaveZones>SlaveZone"`
}

type slaveZone struct {
	ZoneID    string `rpc:"ZoneId"`
	LocalName string `rpc:"LocalName"`
}

// describeZones lists the zones that can be a master, each with its slaves.
func describeZones(v *state.View, req *describeZonesRequest) (*describeZonesResponse, error) {
	r, err := kinds.Regions.Get(v, req.RegionID)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(r.Zones))
	for _, z := range r.Zones {
		names[z.ID] = z.LocalName
	}
	resp := &describeZonesResponse{}
	for _, z := range r.Zones {
		var slaves []slaveZone
		for _, pair := range r.ZonePairs {
			if pair.Master == z.ID {
				slaves = append(slaves, slaveZone{pair.Slave, names[pair.Slave]})
			}
		}
		if slaves != nil {
			resp.Zones = append(resp.Zones, zone{z.ID, z.LocalName, slaves})
		}
	}
	return resp, nil
}

type describeAvailableResourceRequest struct {
	RegionID         string `rpc:"RegionId,required"`
	AddressType      string `rpc:"AddressType,enum=vpc|classic_internet|classic_intranet"`
	AddressIPVersion string `rpc:"AddressIPVersion,enum=ipv4|ipv6"`
}

type describeAvailableResourceResponse struct {
	AvailableResources []availableResource `rpc:"AvailableResources>AvailableResource"`
}

type availableResource struct {
	MasterZoneID     string            `rpc:"MasterZoneId"`
	SlaveZoneID      string            `rpc:"SlaveZoneId"`
	SupportResources []supportResource `rpc:"SupportResources>SupportResource"`
}

type supportResource struct {
	AddressType      string `rpc:"AddressType"`
	AddressIPVersion string `rpc:"AddressIPVersion"`
}

func describeAvailableResource(v *state.View, req *describeAvailableResourceRequest) (*describeAvailableResourceResponse, error) {
	r, err := kinds.Regions.Get(v, req.RegionID)
	if err != nil {
		return nil, err
	}
	sold := slices.DeleteFunc(soldIn(r), func(s supportResource) bool {
		return req.AddressType != "" && s.AddressType != req.AddressType ||
			req.AddressIPVersion != "" && s.AddressIPVersion != req.AddressIPVersion
	})
	resp := &describeAvailableResourceResponse{}
	if len(sold) == 0 {
		return resp, nil
	}
	for _, pair := range r.ZonePairs {
		resp.AvailableResources = append(resp.AvailableResources, availableResource{pair.Master, pair.Slave, sold})
	}
	return resp, nil
}

// soldIn lists what a region sells: intranet load balancers of the classic
// network are for old accounts only.
func soldIn(r *kinds.Region) []supportResource {
	sold := []supportResource{{"vpc", ipv4}, {"classic_internet", ipv4}}
	if r.SellsIPv6() {
		sold = append(sold, supportResource{"classic_internet", ipv6})
	}
	return sold
}
