package ecs

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/state"
)

var instanceTypeActions = []gateway.Action{
	gateway.Read("DescribeInstanceTypes", describeInstanceTypes),
	gateway.Read("DescribeInstanceTypeFamilies", describeInstanceTypeFamilies).Refusing(errGenerationUnknown),
}

var errGenerationUnknown = refusals.New("GenerationUnknown", 400, "InvalidParameter.Generation", "The specified parameter Generation is not valid.", "CLB-0380")

// typeTable has the types on sale, a line each, in order: family, generation,
// category, architecture, type, cores, GiB of memory, network interfaces, and addresses
// of each. Evidence CLB-0380.
//
//go:embed instancetypes.tsv
var typeTable string

type instanceTypeView struct {
	ID                   string `rpc:"InstanceTypeId"`
	Family               string `rpc:"InstanceTypeFamily"`
	Category             string `rpc:"InstanceCategory"`
	Generation           string `rpc:"Generation"`
	CPUArchitecture      string `rpc:"CpuArchitecture"`
	Cores                int    `rpc:"CpuCoreCount"`
	Memory               int    `rpc:"MemorySize"`
	Interfaces           int    `rpc:"EniQuantity"`
	InterfacesTotal      int    `rpc:"EniTotalQuantity"`
	AddressesOfInterface int    `rpc:"EniPrivateIpAddressQuantity"`
	IPv6OfInterface      int    `rpc:"EniIpv6AddressQuantity"`
	GPUs                 int    `rpc:"GPUAmount"`
	NetworkCards         int    `rpc:"NetworkCardQuantity"`
}

// listedTypes are the types of the table, in its order.
var listedTypes = sync.OnceValue(func() (list []instanceTypeView) {
	for line := range strings.Lines(typeTable) {
		t := instanceTypeView{NetworkCards: 1}
		if _, err := fmt.Sscan(line, &t.Family, &t.Generation, &t.Category, &t.CPUArchitecture, &t.ID, &t.Cores, &t.Memory, &t.Interfaces, &t.AddressesOfInterface); err != nil {
			panic(fmt.Sprintf("ecs: instancetypes.tsv: %q: %v", line, err))
		}
		t.InterfacesTotal, t.IPv6OfInterface = t.Interfaces, t.AddressesOfInterface
		list = append(list, t)
	}
	return list
})

// instanceTypes are the types by id.
var instanceTypes = sync.OnceValue(func() map[string]instanceTypeView {
	all := make(map[string]instanceTypeView)
	for _, t := range listedTypes() {
		all[t.ID] = t
	}
	return all
})

// typeIDs are the ids of the types, by family and size.
var typeIDs = sync.OnceValue(func() (ids []string) {
	for _, t := range listedTypes() {
		ids = append(ids, t.ID)
	}
	return ids
})

// typeForm matches the cloud's instance types, also those that are not listed here.
var typeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ecs\.[a-z0-9-]+\.[a-z0-9-]+$`) })

type describeInstanceTypesRequest struct {
	InstanceTypes        []string `rpc:"InstanceTypes,max=10"`
	InstanceTypeFamily   string   `rpc:"InstanceTypeFamily"`
	InstanceTypeFamilies []string `rpc:"InstanceTypeFamilies,max=10"`
	InstanceCategory     string   `rpc:"InstanceCategory"`
	CPUArchitecture      string   `rpc:"CpuArchitecture,enum=X86|ARM"`
	MinimumCores         int      `rpc:"MinimumCpuCoreCount,min=1"`
	MaximumCores         *int     `rpc:"MaximumCpuCoreCount,min=1"`
	MinimumInterfaces    int      `rpc:"MinimumEniQuantity,min=1"`
	MinimumGPUs          int      `rpc:"MinimumGPUAmount,min=0"`
	MaxResults           int      `rpc:"MaxResults,default=1600,min=1,max=1600"`
	NextToken            string   `rpc:"NextToken"`
}

type describeInstanceTypesResponse struct {
	NextToken     string             `rpc:"NextToken"`
	InstanceTypes []instanceTypeView `rpc:"InstanceTypes>InstanceType"`
}

func describeInstanceTypes(_ *state.View, req *describeInstanceTypesRequest) (*describeInstanceTypesResponse, error) {
	var found []instanceTypeView
	for _, t := range listedTypes() {
		if req.matches(t) {
			found = append(found, t)
		}
	}
	part, next, err := listing.After(found, req.NextToken, req.MaxResults, func(t instanceTypeView) string {
		return fmt.Sprintf("%s %03d %s", t.Family, t.Cores, t.ID)
	})
	if err != nil {
		return nil, err
	}
	return &describeInstanceTypesResponse{NextToken: next, InstanceTypes: part}, nil
}

func (r *describeInstanceTypesRequest) matches(t instanceTypeView) bool {
	return listing.Among(r.InstanceTypes, t.ID) && listing.Matches(r.InstanceTypeFamily, t.Family) && listing.Among(r.InstanceTypeFamilies, t.Family) &&
		listing.Matches(r.InstanceCategory, t.Category) && listing.Matches(r.CPUArchitecture, t.CPUArchitecture) &&
		t.Cores >= r.MinimumCores && (r.MaximumCores == nil || t.Cores <= *r.MaximumCores) &&
		t.Interfaces >= r.MinimumInterfaces && t.GPUs >= r.MinimumGPUs
}

type describeInstanceTypeFamiliesRequest struct {
	RegionID   string `rpc:"RegionId,required"`
	Generation string `rpc:"Generation,enum=ecs-1|ecs-2|ecs-3|ecs-4|ecs-5|ecs-6,invalid=GenerationUnknown"`
}

type describeInstanceTypeFamiliesResponse struct {
	Families []typeFamilyView `rpc:"InstanceTypeFamilies>InstanceTypeFamily"`
}

type typeFamilyView struct {
	ID         string `rpc:"InstanceTypeFamilyId"`
	Generation string `rpc:"Generation"`
}

func describeInstanceTypeFamilies(_ *state.View, req *describeInstanceTypeFamiliesRequest) (*describeInstanceTypeFamiliesResponse, error) {
	resp := &describeInstanceTypeFamiliesResponse{}
	for _, t := range listedTypes() {
		family := typeFamilyView{ID: t.Family, Generation: t.Generation}
		if listing.Matches(req.Generation, t.Generation) && !slices.Contains(resp.Families, family) {
			resp.Families = append(resp.Families, family)
		}
	}
	return resp, nil
}
