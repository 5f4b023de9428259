package ecs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/gateway/listing"
	"github.com/clbemu/clbemu/state"
)

var instanceTypeActions = []gateway.Action{
	gateway.Read("DescribeInstanceTypes", describeInstanceTypes),
	gateway.Read("DescribeInstanceTypeFamilies", describeInstanceTypeFamilies),
}

var _ = refusals.New("GenerationUnknown", 400, "InvalidParameter.Generation", "The specified parameter Generation is not valid.", "CLB-0380")

// typeFamilies are the families that can be bought: those of general use, with their
// generation and the GiB of memory a core. Evidence CLB-0380.
var typeFamilies = []struct {
	id, generation, category string
	memoryPerCore            int
}{
	{"ecs.g6", "ecs-5", "General-purpose", 4}, {"ecs.c6", "ecs-5", "Compute-optimized", 2}, {"ecs.r6", "ecs-5", "Memory-optimized", 8},
	{"ecs.g7", "ecs-5", "General-purpose", 4}, {"ecs.c7", "ecs-5", "Compute-optimized", 2}, {"ecs.r7", "ecs-5", "Memory-optimized", 8},
	{"ecs.g8i", "ecs-5", "General-purpose", 4}, {"ecs.c8i", "ecs-5", "Compute-optimized", 2}, {"ecs.r8i", "ecs-5", "Memory-optimized", 8},
}

// typeSizes are the sizes of each family, with what does not depend on it.
var typeSizes = []struct {
	name                    string
	cores, interfaces, each int // network interfaces, and addresses of each
}{
	{"large", 2, 3, 6}, {"xlarge", 4, 4, 15}, {"2xlarge", 8, 4, 15}, {"4xlarge", 16, 8, 30}, {"8xlarge", 32, 8, 30},
}

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
	GPUs                 int    `rpc:"GPUAmount"`
	NetworkCards         int    `rpc:"NetworkCardQuantity"`
}

// instanceTypes are all types that can be bought, by id.
var instanceTypes = func() map[string]instanceTypeView {
	all := make(map[string]instanceTypeView)
	for _, f := range typeFamilies {
		for _, s := range typeSizes {
			t := instanceTypeView{ID: f.id + "." + s.name, Family: f.id, Category: f.category, Generation: f.generation, CPUArchitecture: "X86",
				Cores: s.cores, Memory: s.cores * f.memoryPerCore, Interfaces: s.interfaces, InterfacesTotal: s.interfaces, AddressesOfInterface: s.each, NetworkCards: 1}
			all[t.ID] = t
		}
	}
	return all
}()

// typeForm is how the cloud spells types, also those that are not listed here.
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
	for _, t := range instanceTypes {
		if req.matches(t) {
			found = append(found, t)
		}
	}
	part, next, err := listing.After(found, req.NextToken, req.MaxResults, func(t instanceTypeView) string {
		return fmt.Sprintf("%s %02d", t.Family, t.Cores)
	})
	if err != nil {
		return nil, errNextTokenInvalid.Of(req.NextToken)
	}
	return &describeInstanceTypesResponse{NextToken: next, InstanceTypes: part}, nil
}

func (r *describeInstanceTypesRequest) matches(t instanceTypeView) bool {
	return among(r.InstanceTypes, t.ID) && matches(r.InstanceTypeFamily, t.Family) && among(r.InstanceTypeFamilies, t.Family) &&
		matches(r.InstanceCategory, t.Category) && matches(r.CPUArchitecture, t.CPUArchitecture) &&
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
	for _, f := range typeFamilies {
		if matches(req.Generation, f.generation) {
			resp.Families = append(resp.Families, typeFamilyView{ID: f.id, Generation: f.generation})
		}
	}
	return resp, nil
}

// listedTypes are the ids of the types, by family and size.
func listedTypes() []string {
	ids := make([]string, 0, len(instanceTypes))
	for id := range instanceTypes {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		if c := strings.Compare(instanceTypes[a].Family, instanceTypes[b].Family); c != 0 {
			return c
		}
		return instanceTypes[a].Cores - instanceTypes[b].Cores
	})
	return ids
}
