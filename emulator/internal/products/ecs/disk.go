package ecs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var diskActions = []gateway.Action{gateway.Read("DescribeDisks", describeDisks)}

// newDiskID mints the id of a disk, which is part of its instance here.
func newDiskID(tx *state.Tx) string {
	return "d-" + strings.TrimPrefix(tx.NewID(kinds.Instances.Kind()), "i-")
}

type describeDisksRequest struct {
	RegionID   string   `rpc:"RegionId,required"`
	DiskIDs    []string `rpc:"DiskIds,json"`
	InstanceID string   `rpc:"InstanceId"`
	ZoneID     string   `rpc:"ZoneId"`
	DiskType   string   `rpc:"DiskType,default=all,enum=all|system|data"`
	Category   string   `rpc:"Category"`
	Status     string   `rpc:"Status,default=All,enum=In_use|Available|Attaching|Detaching|Creating|ReIniting|All"`
	DiskName   string   `rpc:"DiskName"`
	Encrypted  *bool    `rpc:"Encrypted"`
	PageNumber int      `rpc:"PageNumber,default=1,min=1"`
	PageSize   int      `rpc:"PageSize,default=10,min=1,max=100"`
	NextToken  string   `rpc:"NextToken"`
	MaxResults *int     `rpc:"MaxResults,min=1,max=500"`
	gateway.Trial
}

type describeDisksResponse struct {
	listing.Either
	Disks []diskView `rpc:"Disks>Disk"`
}

type diskView struct {
	ID                 string `rpc:"DiskId"`
	Name               string `rpc:"DiskName"`
	Description        string `rpc:"Description"`
	RegionID           string `rpc:"RegionId"`
	ZoneID             string `rpc:"ZoneId"`
	Type               string `rpc:"Type"`
	Category           string `rpc:"Category"`
	PerformanceLevel   string `rpc:"PerformanceLevel"`
	Size               int    `rpc:"Size"`
	Encrypted          bool   `rpc:"Encrypted"`
	DeleteWithInstance bool   `rpc:"DeleteWithInstance"`
	Status             string `rpc:"Status"`
	Device             string `rpc:"Device"`
	InstanceID         string `rpc:"InstanceId"`
	ImageID            string `rpc:"ImageId"`
	DiskChargeType     string `rpc:"DiskChargeType"`
	ResourceGroupID    string `rpc:"ResourceGroupId"`
	Portable           bool   `rpc:"Portable"`
	CreationTime       string `rpc:"CreationTime"`
	AttachedTime       string `rpc:"AttachedTime"`
	// Tags are always there, and none: a client that does not find them is at a loss.
	Tags []tagging.Shown `rpc:"Tags>Tag"`
}

// describeDisks lists the disks of the instances; each instance has a system disk.
// Evidence CLB-0383.
func describeDisks(v *state.View, req *describeDisksRequest) (*describeDisksResponse, error) {
	var found []diskView
	for i := range kinds.InstancesByRegion.InScope(v) {
		for _, d := range i.Disks {
			if view := viewDisk(i, d); req.matches(view) {
				found = append(found, view)
			}
		}
	}
	slices.SortFunc(found, func(a, b diskView) int { return cmp.Compare(a.ID, b.ID) })
	disks, windowed, err := listing.CutEither(found, func(d diskView) string { return d.ID }, req.window())
	if err != nil {
		return nil, err
	}
	return &describeDisksResponse{Either: windowed, Disks: disks}, nil
}

func (r *describeDisksRequest) window() listing.Ask {
	return listing.AskBy(r.NextToken, r.MaxResults, r.PageNumber, r.PageSize)
}

func (r *describeDisksRequest) matches(d diskView) bool {
	return listing.Among(r.DiskIDs, d.ID) && listing.Matches(r.InstanceID, d.InstanceID) && listing.Matches(r.ZoneID, d.ZoneID) &&
		(r.DiskType == "all" || r.DiskType == d.Type) && (r.Category == "all" || listing.Matches(r.Category, d.Category)) &&
		(r.Status == "All" || r.Status == d.Status) && like(r.DiskName, d.Name) && (r.Encrypted == nil || *r.Encrypted == d.Encrypted)
}

func viewDisk(i *kinds.Instance, d kinds.Disk) diskView {
	view := diskView{ID: d.ID, Name: d.Name, Description: d.Description, RegionID: i.RegionID, ZoneID: i.ZoneID, Type: d.Type, Category: d.Category,
		PerformanceLevel: d.PerformanceLevel, Size: d.Size, Encrypted: d.Encrypted, DeleteWithInstance: d.DeleteWithInstance, Status: "In_use",
		Device: d.Device, InstanceID: i.ID, DiskChargeType: i.InstanceChargeType, ResourceGroupID: i.ResourceGroupID,
		Portable: d.Type == kinds.DiskData, CreationTime: gateway.Second(i.CreateTime), AttachedTime: gateway.Second(i.CreateTime)}
	if d.Type == kinds.DiskSystem {
		view.ImageID = i.ImageID
	}
	return view
}
