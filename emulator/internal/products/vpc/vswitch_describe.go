package vpc

import (
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errVSwitchOwnerInvalid = refusals.New("VSwitchOwnerInvalid", 400, "IllegalParam.OwnerId",
		"The specified parameter VSwitchOwnerId is not valid.", "CLB-0300")
	errTooManyVSwitchIDs = refusals.New("TooManyVSwitchIDs", 404, "InvalidVSwitchIdNumber.NotSupported",
		"The number of vSwitchIds exceeds the limit.", "CLB-0300")
	errAddressOutsideVSwitch = refusals.New("AddressOutsideVSwitch", 400, "Mismatch.VSwitchAndPrivateIpAddress",
		"The vswitch and privateIpAddress are mismatched.", "CLB-0300")
)

type describeVSwitchesRequest struct {
	listing.ByNumber
	tagged
	VPCID     string `rpc:"VpcId"`
	VSwitchID string `rpc:"VSwitchId"`
	ZoneID    string `rpc:"ZoneId"`
	Name      string `rpc:"VSwitchName,len=1..128"`
	gateway.Trial
	IsDefault       *bool  `rpc:"IsDefault"`
	RouteTableID    string `rpc:"RouteTableId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	VSwitchOwnerID  *int64 `rpc:"VSwitchOwnerId,invalid=VSwitchOwnerInvalid"`
	EnableIPv6      *bool  `rpc:"EnableIpv6"`
}

// Validate implements the gateway's check of shape.
func (r *describeVSwitchesRequest) Validate() error {
	switch {
	case tooMany(r.VSwitchID, maxIDs):
		return errTooManyVSwitchIDs
	case tooMany(r.VPCID, maxIDs):
		return errTooManyVPCIDs
	}
	return r.check()
}

type describeVSwitchesResponse struct {
	listing.Numbered
	VSwitches []vSwitchView `rpc:"VSwitches>VSwitch"`
}

// vSwitchView holds what both Describes answer about a vSwitch.
type vSwitchView struct {
	VSwitchID               string            `rpc:"VSwitchId"`
	VPCID                   string            `rpc:"VpcId"`
	Status                  string            `rpc:"Status"`
	CIDRBlock               string            `rpc:"CidrBlock"`
	IPv6CIDRBlock           string            `rpc:"Ipv6CidrBlock"`
	EnabledIPv6             bool              `rpc:"EnabledIpv6"`
	ZoneID                  string            `rpc:"ZoneId"`
	AvailableIPAddressCount int               `rpc:"AvailableIpAddressCount"`
	Name                    string            `rpc:"VSwitchName"`
	Description             string            `rpc:"Description"`
	IsDefault               bool              `rpc:"IsDefault"`
	NetworkACLID            string            `rpc:"NetworkAclId"`
	OwnerID                 int64             `rpc:"OwnerId"`
	ShareType               string            `rpc:"ShareType"`
	ResourceGroupID         string            `rpc:"ResourceGroupId"`
	RouteTable              vSwitchRouteTable `rpc:"RouteTable"`
	CreationTime            string            `rpc:"CreationTime"`
	Tags                    []tagging.Tag     `rpc:"Tags>Tag"`
}

type vSwitchRouteTable struct {
	RouteTableID   string `rpc:"RouteTableId"`
	RouteTableType string `rpc:"RouteTableType"`
}

// describeVSwitches answers an empty list for an id that is not there; evidence
// CLB-0303.
func describeVSwitches(v *state.View, req *describeVSwitchesRequest) (*describeVSwitchesResponse, error) {
	hasTags := req.filter(v, kinds.TagVSwitch)
	found := listing.Pick(kinds.VSwitchesByRegion.InScope(v), func(s *kinds.VSwitch) bool {
		return req.matches(s) && hasTags(s.ID)
	})
	vSwitches, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeVSwitchesResponse{Numbered: page, VSwitches: listing.Views(v, vSwitches, viewVSwitch)}, nil
}

func (r *describeVSwitchesRequest) matches(s *kinds.VSwitch) bool {
	return listed(r.VPCID, s.VPCID) &&
		listed(r.VSwitchID, s.ID) &&
		listing.Matches(r.ZoneID, s.ZoneID) &&
		listing.Matches(r.Name, s.Name) &&
		listing.Matches(r.RouteTableID, s.RouteTableID) &&
		listing.Matches(r.ResourceGroupID, s.ResourceGroupID) &&
		ownedBy(r.VSwitchOwnerID, s.AccountID) &&
		(r.IsDefault == nil || *r.IsDefault == s.IsDefault) &&
		(r.EnableIPv6 == nil || *r.EnableIPv6 == (s.IPv6CIDRBlock != ""))
}

func viewVSwitch(v *state.View, s *kinds.VSwitch) vSwitchView {
	view := vSwitchView{
		VSwitchID:               s.ID,
		VPCID:                   s.VPCID,
		Status:                  statusAvailable,
		CIDRBlock:               s.CIDRBlock,
		IPv6CIDRBlock:           s.IPv6CIDRBlock,
		EnabledIPv6:             s.IPv6CIDRBlock != "",
		ZoneID:                  s.ZoneID,
		AvailableIPAddressCount: kinds.AvailableAddresses(v, s),
		Name:                    s.Name,
		Description:             s.Description,
		IsDefault:               s.IsDefault,
		OwnerID:                 ownerID(s.AccountID),
		ResourceGroupID:         s.ResourceGroupID,
		CreationTime:            gateway.Second(s.CreateTime),
		Tags:                    tagging.Of(v, kinds.TagVSwitch, s.ID),
	}
	if t, ok := kinds.RouteTables.Find(v, s.RouteTableID); ok {
		view.RouteTable = vSwitchRouteTable{RouteTableID: t.ID, RouteTableType: string(t.Type)}
	}
	return view
}

type describeVSwitchAttributesRequest struct {
	VSwitchID string `rpc:"VSwitchId,required"`
	gateway.Trial
}

type describeVSwitchAttributesResponse struct {
	vSwitchView
	CloudResources []cloudResource `rpc:"CloudResources>CloudResourceSetType"`
}

// describeVSwitchAttributes answers an unknown id with a vSwitch that has none.
// Terraform waits for that after a deletion: CLB-0316.
func describeVSwitchAttributes(v *state.View, req *describeVSwitchAttributesRequest) (*describeVSwitchAttributesResponse, error) {
	s, ok := kinds.VSwitches.Find(v, req.VSwitchID)
	if !ok {
		return &describeVSwitchAttributesResponse{}, nil
	}
	resp := &describeVSwitchAttributesResponse{vSwitchView: viewVSwitch(v, s)}
	resp.CloudResources = []cloudResource{
		{Type: "NetworkInterface", Count: kinds.NetworkInterfacesByVSwitch.Count(v, s.ID)},
		{Type: "SLB", Count: kinds.LoadBalancersByVSwitch.Count(v, s.ID)},
	}
	return resp, nil
}

type checkCanAllocateVPCPrivateIPAddressRequest struct {
	RegionID         string `rpc:"RegionId,required"`
	VSwitchID        string `rpc:"VSwitchId,required"`
	PrivateIPAddress string `rpc:"PrivateIpAddress,required"`
	IPVersion        string `rpc:"IpVersion,default=ipv4,enum=ipv4|ipv6,invalid=IPVersionIllegal"`
}

type checkCanAllocateVPCPrivateIPAddressResponse struct {
	CanAllocate bool `rpc:"CanAllocate"`
}

// checkCanAllocateVPCPrivateIPAddress answers false for a taken or reserved address, and fails for
// an address outside the vSwitch.
func checkCanAllocateVPCPrivateIPAddress(v *state.View, req *checkCanAllocateVPCPrivateIPAddressRequest) (*checkCanAllocateVPCPrivateIPAddressResponse, error) {
	s, err := kinds.VSwitches.Get(v, req.VSwitchID)
	if err != nil {
		return nil, err
	}
	block := s.CIDRBlock
	if req.IPVersion == "ipv6" {
		block = s.IPv6CIDRBlock
	}
	prefix, hasBlock := parseCIDR(block)
	ip, err := netip.ParseAddr(req.PrivateIPAddress)
	if err != nil {
		return nil, gateway.Invalid("PrivateIpAddress")
	}
	if !hasBlock || !prefix.Contains(ip) {
		return nil, errAddressOutsideVSwitch.Of(req.PrivateIPAddress)
	}
	_, attached := kinds.NetworkInterfacesByAddress.First(v, s.VPCID, ip.String())
	free := kinds.IsFree(v, s.ID, block, ip.String()) && !attached
	return &checkCanAllocateVPCPrivateIPAddressResponse{CanAllocate: free}, nil
}
