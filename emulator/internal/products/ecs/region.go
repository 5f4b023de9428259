package ecs

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var regionActions = []gateway.Action{
	gateway.Read("DescribeRegions", describeRegions),
	gateway.Read("DescribeZones", describeZones),
	gateway.Read("DescribeAvailableResource", describeAvailableResource).Refusing(errDestinationUnknown),
}

// The refusals of this file.
var (
	errDestinationUnknown = refusals.New("DestinationUnknown", 404, "InvalidDestinationResource",
		"The specified parameter DestinationResource is not valid.", "CLB-0380")
	errZoneNotFound = refusals.New("ZoneNotFound", 404, "InvalidZoneId.NotFound",
		"The specified zone does not exist.", "CLB-0380")
)

type describeRegionsRequest struct {
	InstanceChargeType string `rpc:"InstanceChargeType"`
	ResourceType       string `rpc:"ResourceType"`
}

type describeRegionsResponse struct {
	Regions []regionView `rpc:"Regions>Region"`
}

type regionView struct {
	gateway.RegionEntry
	Status string `rpc:"Status"`
}

// describeRegions lists the regions of the world, whatever the filter: each sells
// everything.
func describeRegions(v *state.View, _ *describeRegionsRequest) (*describeRegionsResponse, error) {
	resp := &describeRegionsResponse{}
	for _, r := range gateway.RegionEntries(v, "ecs") {
		resp.Regions = append(resp.Regions, regionView{r, statusAvailable})
	}
	return resp, nil
}

// What each zone sells: CLB-0380.
var (
	diskCategories = []string{"cloud_essd", "cloud_efficiency", "cloud_ssd", "cloud_auto"}
	zoneResources  = []string{"VSwitch", "IoOptimized", "Instance", "Disk"}
)

const statusAvailable = "available"

type describeZonesRequest struct {
	RegionID string `rpc:"RegionId,required"`
	Verbose  bool   `rpc:"Verbose,default=true"`
}

type describeZonesResponse struct {
	Zones []zoneView `rpc:"Zones>Zone"`
}

type zoneView struct {
	ZoneID         string          `rpc:"ZoneId"`
	LocalName      string          `rpc:"LocalName"`
	ZoneType       string          `rpc:"ZoneType"`
	Resources      []string        `rpc:"AvailableResourceCreation>ResourceTypes"`
	DiskCategories []string        `rpc:"AvailableDiskCategories>DiskCategories"`
	InstanceTypes  []string        `rpc:"AvailableInstanceTypes>InstanceTypes"`
	Infos          []resourcesInfo `rpc:"AvailableResources>ResourcesInfo"`
}

type resourcesInfo struct {
	IOOptimized    bool     `rpc:"IoOptimized"`
	SystemDisks    []string `rpc:"SystemDiskCategories>supportedSystemDiskCategory"`
	DataDisks      []string `rpc:"DataDiskCategories>supportedDataDiskCategory"`
	NetworkTypes   []string `rpc:"NetworkTypes>supportedNetworkCategory"`
	InstanceTypes  []string `rpc:"InstanceTypes>supportedInstanceType"`
	TypeFamilies   []string `rpc:"InstanceTypeFamilies>supportedInstanceTypeFamily"`
	TypeGeneration []string `rpc:"InstanceGenerations>supportedInstanceGeneration"`
}

func describeZones(v *state.View, req *describeZonesRequest) (*describeZonesResponse, error) {
	region, err := kinds.Regions.Get(v, v.Scope().RegionID)
	if err != nil {
		return nil, err
	}
	resp := &describeZonesResponse{}
	for _, z := range region.Zones {
		view := zoneView{ZoneID: z.ID, LocalName: z.LocalName, ZoneType: "AvailabilityZone", Resources: zoneResources, DiskCategories: diskCategories}
		if req.Verbose {
			view.InstanceTypes = typeIDs()
			view.Infos = []resourcesInfo{sold()}
		}
		resp.Zones = append(resp.Zones, view)
	}
	return resp, nil
}

func sold() resourcesInfo {
	info := resourcesInfo{IOOptimized: true, SystemDisks: diskCategories, DataDisks: diskCategories, NetworkTypes: []string{"vpc"},
		InstanceTypes: typeIDs()}
	for _, t := range listedTypes() {
		info.TypeFamilies = append(info.TypeFamilies, t.Family)
		info.TypeGeneration = append(info.TypeGeneration, t.Generation)
	}
	info.TypeFamilies = slices.Compact(info.TypeFamilies)
	slices.Sort(info.TypeGeneration)
	info.TypeGeneration = slices.Compact(info.TypeGeneration)
	return info
}

type describeAvailableResourceRequest struct {
	RegionID            string `rpc:"RegionId,required"`
	DestinationResource string `rpc:"DestinationResource,required,enum=Zone|IoOptimized|InstanceType|SystemDisk|DataDisk|Network|ddh,invalid=DestinationUnknown"`
	ZoneID              string `rpc:"ZoneId"`
	InstanceType        string `rpc:"InstanceType"`
	Cores               *int   `rpc:"Cores"`
	SystemDiskCategory  string `rpc:"SystemDiskCategory"`
	DataDiskCategory    string `rpc:"DataDiskCategory"`
	NetworkCategory     string `rpc:"NetworkCategory,enum=vpc|classic"`
	IOOptimized         string `rpc:"IoOptimized,enum=none|optimized"`
}

type describeAvailableResourceResponse struct {
	Zones []availableZone `rpc:"AvailableZones>AvailableZone"`
}

type availableZone struct {
	RegionID       string              `rpc:"RegionId"`
	ZoneID         string              `rpc:"ZoneId"`
	Status         string              `rpc:"Status"`
	StatusCategory string              `rpc:"StatusCategory"`
	Resources      []availableResource `rpc:"AvailableResources>AvailableResource"`
}

type availableResource struct {
	Type      string              `rpc:"Type"`
	Supported []supportedResource `rpc:"SupportedResources>SupportedResource"`
}

type supportedResource struct {
	Value          string `rpc:"Value"`
	Status         string `rpc:"Status"`
	StatusCategory string `rpc:"StatusCategory"`
	Min            int    `rpc:"Min,omitempty"`
	Max            int    `rpc:"Max,omitempty"`
	Unit           string `rpc:"Unit,omitempty"`
}

// The two words for a resource on sale.
const (
	forSale   = "Available"
	withStock = "WithStock"
)

// describeAvailableResource lists what the zones sell of a kind: all sell the same.
func describeAvailableResource(v *state.View, req *describeAvailableResourceRequest) (*describeAvailableResourceResponse, error) {
	region, err := kinds.Regions.Get(v, v.Scope().RegionID)
	if err != nil {
		return nil, err
	}
	if req.ZoneID != "" && !slices.ContainsFunc(region.Zones, func(z kinds.Zone) bool { return z.ID == req.ZoneID }) {
		return nil, errZoneNotFound.Of(req.ZoneID)
	}
	resp := &describeAvailableResourceResponse{}
	supported := req.supported()
	for _, z := range region.Zones {
		if len(supported) > 0 && listing.Matches(req.ZoneID, z.ID) {
			resp.Zones = append(resp.Zones, availableZone{RegionID: region.ID, ZoneID: z.ID, Status: forSale, StatusCategory: withStock,
				Resources: []availableResource{{Type: req.DestinationResource, Supported: supported}}})
		}
	}
	return resp, nil
}

// supported lists what the request leaves of the offers.
func (r *describeAvailableResourceRequest) supported() []supportedResource {
	if r.NetworkCategory == "classic" || r.IOOptimized == "none" ||
		!slices.Contains(diskCategories, cmp.Or(r.SystemDiskCategory, diskCategories[0])) ||
		!slices.Contains(diskCategories, cmp.Or(r.DataDiskCategory, diskCategories[0])) {
		return nil
	}
	var types []string
	for _, id := range typeIDs() {
		if listing.Matches(r.InstanceType, id) && (r.Cores == nil || *r.Cores == instanceTypes()[id].Cores) {
			types = append(types, id)
		}
	}
	if len(types) == 0 {
		return nil
	}
	switch r.DestinationResource {
	case "InstanceType":
		return ofValues(types, supportedResource{})
	case "SystemDisk":
		return ofValues(diskCategories, supportedResource{Min: 20, Max: 2048, Unit: "GiB"})
	case "DataDisk":
		return ofValues(diskCategories, supportedResource{Min: 20, Max: 65536, Unit: "GiB"})
	case "Network":
		return ofValues([]string{"vpc"}, supportedResource{})
	case "IoOptimized":
		return ofValues([]string{"optimized"}, supportedResource{})
	case "Zone":
		return ofValues([]string{"zone"}, supportedResource{})
	}
	return nil
}

func ofValues(values []string, like supportedResource) []supportedResource {
	list := make([]supportedResource, len(values))
	for i, value := range values {
		list[i] = like
		list[i].Value, list[i].Status, list[i].StatusCategory = value, forSale, withStock
	}
	return list
}
