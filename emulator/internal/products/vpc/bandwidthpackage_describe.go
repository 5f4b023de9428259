package vpc

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

type describeCommonBandwidthPackagesRequest struct {
	listing.ByNumber
	tagged
	RegionID                  string `rpc:"RegionId,required"`
	BandwidthPackageID        string `rpc:"BandwidthPackageId"`
	Name                      string `rpc:"Name"`
	ResourceGroupID           string `rpc:"ResourceGroupId"`
	SecurityProtectionEnabled bool   `rpc:"SecurityProtectionEnabled"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *describeCommonBandwidthPackagesRequest) Validate() error { return r.check() }

type describeCommonBandwidthPackagesResponse struct {
	listing.Numbered
	CommonBandwidthPackages []bandwidthPackageView `rpc:"CommonBandwidthPackages>CommonBandwidthPackage"`
}

type bandwidthPackageView struct {
	BandwidthPackageID string              `rpc:"BandwidthPackageId"`
	Name               string              `rpc:"Name"`
	Description        string              `rpc:"Description"`
	RegionID           string              `rpc:"RegionId"`
	Status             string              `rpc:"Status"`
	BusinessStatus     string              `rpc:"BusinessStatus"`
	Bandwidth          string              `rpc:"Bandwidth"`
	ISP                string              `rpc:"ISP"`
	InstanceChargeType string              `rpc:"InstanceChargeType"`
	InternetChargeType string              `rpc:"InternetChargeType"`
	Ratio              int                 `rpc:"Ratio"`
	DeletionProtection bool                `rpc:"DeletionProtection"`
	ResourceGroupID    string              `rpc:"ResourceGroupId"`
	ServiceManaged     int                 `rpc:"ServiceManaged"`
	CreationTime       string              `rpc:"CreationTime"`
	ExpiredTime        string              `rpc:"ExpiredTime"`
	PublicIPAddresses  []sharedAddressView `rpc:"PublicIpAddresses>PublicIpAddresse"` // the cloud's spelling
	Tags               []tagging.Tag       `rpc:"Tags>Tag"`
}

type sharedAddressView struct {
	AllocationID string `rpc:"AllocationId"`
	IPAddress    string `rpc:"IpAddress"`
	Status       string `rpc:"BandwidthPackageIpRelationStatus"`
}

func describeCommonBandwidthPackages(v *state.View, req *describeCommonBandwidthPackagesRequest) (*describeCommonBandwidthPackagesResponse, error) {
	hasTags := req.filter(v, kinds.TagCommonBandwidthPackage)
	found := listing.Pick(kinds.CommonBandwidthPackagesByRegion.InScope(v), func(p *kinds.CommonBandwidthPackage) bool {
		return req.matches(p) && hasTags(p.ID)
	})
	packages, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeCommonBandwidthPackagesResponse{Numbered: page, CommonBandwidthPackages: listing.Views(v, packages, viewBandwidthPackage)}, nil
}

// matches reports whether the call asks for a package. None here has more protection
// than the basic one.
func (r *describeCommonBandwidthPackagesRequest) matches(p *kinds.CommonBandwidthPackage) bool {
	return !r.SecurityProtectionEnabled && listing.Matches(r.BandwidthPackageID, p.ID) && listing.Matches(r.Name, p.Name) &&
		listing.Matches(r.ResourceGroupID, p.ResourceGroupID)
}

func viewBandwidthPackage(v *state.View, p *kinds.CommonBandwidthPackage) bandwidthPackageView {
	view := bandwidthPackageView{
		BandwidthPackageID: p.ID, Name: p.Name, Description: p.Description, RegionID: p.RegionID,
		Status: "Available", BusinessStatus: "Normal", Bandwidth: strconv.Itoa(p.Bandwidth), ISP: p.ISP,
		InstanceChargeType: "PostPaid", InternetChargeType: p.InternetChargeType, Ratio: p.Ratio,
		DeletionProtection: p.DeletionProtection, ResourceGroupID: p.ResourceGroupID,
		CreationTime: gateway.Second(p.CreateTime), Tags: tagging.Of(v, kinds.TagCommonBandwidthPackage, p.ID),
	}
	for _, a := range p.Addresses(v) {
		view.PublicIPAddresses = append(view.PublicIPAddresses, sharedAddressView{a.AllocationID, a.IPAddress, "BINDED"})
	}
	return view
}
