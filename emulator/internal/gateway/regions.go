package gateway

import (
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// RegionEntry is a region in the answer of DescribeRegions.
type RegionEntry struct {
	RegionID       string `rpc:"RegionId"`
	LocalName      string `rpc:"LocalName"`
	RegionEndpoint string `rpc:"RegionEndpoint"`
}

// RegionEntries lists the regions, with the endpoint of the product that host begins,
// such as slb.
func RegionEntries(v *state.View, host string) (list []RegionEntry) {
	for r := range kinds.Regions.All(v) {
		list = append(list, RegionEntry{r.ID, r.LocalName, host + "." + r.ID + ".aliyuncs.com"})
	}
	return list
}
