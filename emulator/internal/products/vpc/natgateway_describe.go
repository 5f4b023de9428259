package vpc

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

type describeNATGatewaysRequest struct {
	listing.ByNumber
	tagged
	RegionID           string   `rpc:"RegionId,required"`
	ID                 string   `rpc:"NatGatewayId"`
	IDs                []string `rpc:"NatGatewayIds,max=20"`
	VPCID              string   `rpc:"VpcId"`
	VSwitchID          string   `rpc:"VSwitchId"`
	ZoneID             string   `rpc:"ZoneId"`
	Name               string   `rpc:"Name"`
	Status             string   `rpc:"Status"`
	NATType            string   `rpc:"NatType"`
	NetworkType        string   `rpc:"NetworkType"`
	Spec               string   `rpc:"Spec"`
	InstanceChargeType string   `rpc:"InstanceChargeType"`
	ResourceGroupID    string   `rpc:"ResourceGroupId"`
	PrivateLinkEnabled bool     `rpc:"PrivateLinkEnabled"`
	gateway.Trial
}

type describeNATGatewaysResponse struct {
	listing.Numbered
	Gateways []natGatewayView `rpc:"NatGateways>NatGateway"`
}

type natGatewayView struct {
	ID                        string                `rpc:"NatGatewayId"`
	VPCID                     string                `rpc:"VpcId"`
	RegionID                  string                `rpc:"RegionId"`
	Name                      string                `rpc:"Name"`
	Description               string                `rpc:"Description"`
	Status                    kinds.GatewayStatus   `rpc:"Status"`
	BusinessStatus            string                `rpc:"BusinessStatus"`
	NATType                   string                `rpc:"NatType"`
	NetworkType               string                `rpc:"NetworkType"`
	Spec                      string                `rpc:"Spec"`
	InstanceChargeType        string                `rpc:"InstanceChargeType"`
	InternetChargeType        string                `rpc:"InternetChargeType"`
	AutoPay                   bool                  `rpc:"AutoPay"`
	ExpiredTime               string                `rpc:"ExpiredTime"`
	EIPBindMode               string                `rpc:"EipBindMode"`
	ICMPReplyEnabled          bool                  `rpc:"IcmpReplyEnabled"`
	DeletionProtection        bool                  `rpc:"DeletionProtection"`
	ECSMetricEnabled          bool                  `rpc:"EcsMetricEnabled"`
	SecurityProtectionEnabled bool                  `rpc:"SecurityProtectionEnabled"`
	PrivateLinkEnabled        bool                  `rpc:"PrivateLinkEnabled"`
	ResourceGroupID           string                `rpc:"ResourceGroupId"`
	CreationTime              string                `rpc:"CreationTime"`
	ForwardTableIDs           []string              `rpc:"ForwardTableIds>ForwardTableId"`
	SNATTableIDs              []string              `rpc:"SnatTableIds>SnatTableId"`
	FullNATTableIDs           []string              `rpc:"FullNatTableIds>FullNatTableId"`
	BandwidthPackageIDs       []string              `rpc:"BandwidthPackageIds>BandwidthPackageId"`
	Addresses                 []natGatewayAddress   `rpc:"IpLists>IpList"`
	Private                   natGatewayPrivateInfo `rpc:"NatGatewayPrivateInfo"`
	Tags                      []tagging.Tag         `rpc:"Tags>Tag"`
}

type natGatewayAddress struct {
	AllocationID     string `rpc:"AllocationId"`
	IPAddress        string `rpc:"IpAddress"`
	PrivateIPAddress string `rpc:"PrivateIpAddress"`
	UsingStatus      string `rpc:"UsingStatus"`
	SNATEntryEnabled bool   `rpc:"SnatEntryEnabled"`
	APAccessEnabled  bool   `rpc:"ApAccessEnabled"`
}

type natGatewayPrivateInfo struct {
	VSwitchID               string `rpc:"VswitchId"`
	ZoneID                  string `rpc:"IzNo"`
	PrivateIPAddress        string `rpc:"PrivateIpAddress"`
	MaxBandwidth            int    `rpc:"MaxBandwidth"`
	MaxSessionQuota         int    `rpc:"MaxSessionQuota"`
	MaxSessionEstablishRate int    `rpc:"MaxSessionEstablishRate"`
}

// What every enhanced NAT gateway can take.
const (
	natMaxBandwidth   = 5120
	natMaxSessions    = 2000000
	natMaxSessionRate = 100000
)

func describeNATGateways(v *state.View, req *describeNATGatewaysRequest) (*describeNATGatewaysResponse, error) {
	hasTags := req.filter(v, kinds.TagNATGateway)
	var found []natGatewayView
	for g := range kinds.NATGatewaysByRegion.InScope(v) {
		if view := viewNATGateway(v, g); req.matches(&view) && hasTags(g.ID) {
			found = append(found, view)
		}
	}
	gateways, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeNATGatewaysResponse{page, gateways}, nil
}

func (r *describeNATGatewaysRequest) matches(g *natGatewayView) bool {
	return listing.Matches(r.ID, g.ID) && (len(r.IDs) == 0 || slices.Contains(r.IDs, g.ID)) && listing.Matches(r.VPCID, g.VPCID) &&
		listing.Matches(r.VSwitchID, g.Private.VSwitchID) && listing.Matches(r.ZoneID, g.Private.ZoneID) && listing.Matches(r.Name, g.Name) &&
		listing.Matches(r.Status, string(g.Status)) && listing.Matches(r.NATType, g.NATType) && listing.Matches(r.NetworkType, g.NetworkType) &&
		listing.Matches(r.Spec, g.Spec) && listing.Matches(r.InstanceChargeType, g.InstanceChargeType) &&
		listing.Matches(r.ResourceGroupID, g.ResourceGroupID) && !r.PrivateLinkEnabled
}

func viewNATGateway(v *state.View, g *kinds.NATGateway) natGatewayView {
	view := natGatewayView{
		ID:                 g.ID,
		VPCID:              g.VPCID,
		RegionID:           g.RegionID,
		Name:               g.Name,
		Description:        g.Description,
		Status:             g.Status,
		BusinessStatus:     "Normal",
		NATType:            "Enhanced",
		NetworkType:        g.NetworkType,
		Spec:               g.Spec,
		InstanceChargeType: "PostPaid",
		InternetChargeType: g.InternetChargeType,
		EIPBindMode:        g.EIPBindMode,
		ICMPReplyEnabled:   !g.ICMPReplyDisabled,
		DeletionProtection: g.DeletionProtection,
		ResourceGroupID:    g.ResourceGroupID,
		CreationTime:       gateway.Second(g.CreateTime),
		ForwardTableIDs:    []string{g.TableID("ftb-")},
		SNATTableIDs:       []string{g.TableID("stb-")},
		Private: natGatewayPrivateInfo{VSwitchID: g.VSwitchID, PrivateIPAddress: g.PrivateIPAddress, MaxBandwidth: natMaxBandwidth,
			MaxSessionQuota: natMaxSessions, MaxSessionEstablishRate: natMaxSessionRate},
		Tags: tagging.Of(v, kinds.TagNATGateway, g.ID),
	}
	if s, ok := kinds.VSwitches.Find(v, g.VSwitchID); ok {
		view.Private.ZoneID = s.ZoneID
	}
	for eip := range kinds.EIPsByInstance.List(v, g.ID) {
		view.Addresses = append(view.Addresses, natGatewayAddress{AllocationID: eip.ID, IPAddress: eip.IPAddress,
			PrivateIPAddress: g.PrivateIPAddress, UsingStatus: "Available", SNATEntryEnabled: true})
	}
	return view
}
