package vpc

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var vpcActions = []gateway.Action{
	gateway.Write("CreateVpc", createVPC),
	gateway.Write("DeleteVpc", deleteVPC),
	gateway.Read("DescribeVpcs", describeVPCs).Refusing(errVPCOwnerInvalid),
	gateway.Read("DescribeVpcAttribute", describeVPCAttribute),
}

// The refusals of this file.
var (
	errVPCNameMalformed = refusals.New("VPCNameMalformed", 400, "InvalidVpcName.Malformed",
		"Specified VPC name is not valid.", "CLB-0300")
	errVPCDescriptionMalformed = refusals.New("VPCDescriptionMalformed", 400, "InvalidVpcDiscription.Malformed",
		"Specified VPC description is not valid.", "CLB-0300")
	errVPCQuotaExceeded = refusals.New("VPCQuotaExceeded", 400, "QuotaExceeded.Vpc",
		"VPC quota exceeded.", "CLB-0300")
	errVPCOwnerInvalid = refusals.New("VPCOwnerInvalid", 400, "IllegalParam.OwnerId",
		"The specified parameter VpcOwnerId is not valid.", "CLB-0300")
	errTooManyVPCIDs = refusals.Varying("TooManyVPCIDs").
				In(400, "InvalidVpcIdNumber.NotSupported", "The number of vpcIds exceeds the limit.", "CLB-0300",
			"DescribeVpcs").
		In(404, "InvalidVpcIdNumber.NotSupported", "The number of vpcIds exceeds the limit.", "CLB-0300",
			"DescribeVSwitches")
	errIPv6BlockNotReserved = refusals.New("IPv6BlockNotReserved", 400, "OperationFailed.IPv6CidrNotReserved",
		"The specified IPv6 CIDR block %s is not reserved.", "CLB-0203")
	errVPCHasVSwitch = refusals.New("VPCHasVSwitch", 400, "DependencyViolation.VSwitch",
		"Specified object has dependent resources", "CLB-0300")
	errVPCHasSecurityGroup = refusals.New("VPCHasSecurityGroup", 400, "DependencyViolation.SecurityGroup",
		"Specified object has dependent resources SecurityGroup.", "CLB-0300")
	errVPCHasServerGroup = refusals.New("VPCHasServerGroup", 400, "DependencyViolation.ServerGroup",
		"Specified VPC has dependent server groups of NLB.", "NLB-0028")
	errVPCHasRouteTable = refusals.New("VPCHasRouteTable", 400, "DependencyViolation.RouteTable",
		"Specified object has dependent custom routeTable.", "CLB-0300")
	errVPCHasGateway = refusals.New("VPCHasGateway", 400, "DependencyViolation.Gateway",
		"The gateway %s of the VPC has not been deleted.", "CLB-0530")
	errVPCHasRouteEntry = refusals.New("VPCHasRouteEntry", 400, "DependencyViolation.RouteEntry",
		"Specified object has dependent resources", "CLB-0300")
)

// statusAvailable is the status of a resource that is ready for use.
const statusAvailable = "Available"

type createVPCRequest struct {
	tagged
	RegionID          string `rpc:"RegionId,required"`
	CIDRBlock         string `rpc:"CidrBlock,default=172.16.0.0/12"`
	IPv6CIDRBlock     string `rpc:"Ipv6CidrBlock"`
	Name              string `rpc:"VpcName,len=1..128,invalid=VPCNameMalformed"`
	UserCIDR          string `rpc:"UserCidr"`
	EnableDNSHostname bool   `rpc:"EnableDnsHostname"`
	EnableIPv6        bool   `rpc:"EnableIpv6"`
	Description       string `rpc:"Description,len=1..256,invalid=VPCDescriptionMalformed"`
	ResourceGroupID   string `rpc:"ResourceGroupId"`
	gateway.Trial
	ClientToken string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createVPCRequest) Validate() error {
	if err := plainText(r.Name, errVPCNameMalformed); err != nil {
		return err
	}
	if err := plainText(r.Description, errVPCDescriptionMalformed); err != nil {
		return err
	}
	if r.IPv6CIDRBlock != "" {
		return errIPv6BlockNotReserved.Of(r.IPv6CIDRBlock)
	}
	if err := r.check(); err != nil {
		return err
	}
	if err := checkUserBlocks(r.userBlocks()); err != nil {
		return err
	}
	return checkVPCBlock(r.CIDRBlock)
}

// userBlocks returns the blocks of the comma list: public addresses that the VPC uses as its own.
func (r *createVPCRequest) userBlocks() []string {
	if r.UserCIDR == "" {
		return nil
	}
	return strings.Split(r.UserCIDR, ",")
}

// maxUserBlocks limits the user CIDR blocks of a VPC.
const maxUserBlocks = 3

func checkUserBlocks(blocks []string) error {
	if len(blocks) > maxUserBlocks {
		return gateway.Invalid("UserCidr")
	}
	for _, block := range blocks {
		if prefix, err := netip.ParsePrefix(block); err != nil || !prefix.Addr().Is4() {
			return gateway.Invalid("UserCidr")
		}
	}
	return nil
}

type createVPCResponse struct {
	VPCID           string `rpc:"VpcId"`
	VRouterID       string `rpc:"VRouterId"`
	RouteTableID    string `rpc:"RouteTableId"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

func createVPC(tx *state.Tx, req *createVPCRequest) (*createVPCResponse, error) {
	vpc, err := state.OnceMade(tx, "CreateVpc", req.ClientToken, req, kinds.VPCs, func() (string, error) { return putVPC(tx, req) })
	if err != nil {
		return nil, err
	}
	return &createVPCResponse{
		VPCID:           vpc.ID,
		VRouterID:       vpc.VRouterID,
		RouteTableID:    systemRouteTable(tx.View, vpc.ID),
		ResourceGroupID: vpc.ResourceGroupID,
	}, nil
}

// maxVPCs limits the VPCs of an account in a region; evidence CLB-0313.
const maxVPCs = 10

// putVPC creates the VPC with its router and its system route table.
func putVPC(tx *state.Tx, req *createVPCRequest) (string, error) {
	scope := tx.Scope()
	if kinds.VPCsByRegion.Count(tx.View, scope.AccountID, scope.RegionID) >= maxVPCs {
		return "", errVPCQuotaExceeded
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	vpc := &kinds.VPC{
		Owner:           scope,
		ID:              tx.NewID(kinds.VPCs.Kind()),
		Name:            req.Name,
		Description:     req.Description,
		CIDRBlock:       req.CIDRBlock,
		UserCIDRs:       req.userBlocks(),
		DNSHostnames:    req.EnableDNSHostname,
		VRouterID:       newVRouterID(tx),
		ResourceGroupID: group,
		CreateTime:      tx.Now(),
	}
	if req.EnableIPv6 {
		vpc.IPv6CIDRBlock = ipv6Block(vpc.ID)
	}
	kinds.VPCs.Put(tx, vpc)
	req.set(tx, kinds.TagVPC, vpc.ID)
	putRouteTable(tx, vpc, &kinds.RouteTable{Type: kinds.RouteTableSystem})
	return vpc.ID, nil
}

// newVRouterID mints an id for a router, which is no resource here.
func newVRouterID(tx *state.Tx) string {
	return "vrt-" + strings.TrimPrefix(tx.NewID(kinds.VPCs.Kind()), "vpc-")
}

type deleteVPCRequest struct {
	VPCID       string `rpc:"VpcId,required"`
	ForceDelete bool   `rpc:"ForceDelete"`
	gateway.Trial
	ClientToken string `rpc:"ClientToken"`
}

// deleteVPC needs no memory of its token: a VPC goes only once. By force it goes
// with the routes of its own table and its IPv6 gateway: CLB-0530.
func deleteVPC(tx *state.Tx, req *deleteVPCRequest) (*gateway.Empty, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return nil, err
	}
	if err := checkVPCEmpty(tx.View, vpc, req.ForceDelete); err != nil {
		return nil, err
	}
	kinds.VPCs.Remove(tx, vpc.ID)
	return &gateway.Empty{}, nil
}

// checkVPCEmpty refuses a VPC with anything in it but its system route table.
func checkVPCEmpty(v *state.View, vpc *kinds.VPC, force bool) error {
	if _, ok := kinds.VSwitchesByVPC.First(v, vpc.ID); ok {
		return errVPCHasVSwitch
	}
	for g := range kinds.SecurityGroupsByRegion.List(v, vpc.AccountID, vpc.RegionID) {
		if g.VPCID == vpc.ID {
			return errVPCHasSecurityGroup
		}
	}
	for g := range kinds.NLBServerGroupsByRegion.List(v, vpc.AccountID, vpc.RegionID) {
		if g.VPCID == vpc.ID {
			return errVPCHasServerGroup
		}
	}
	if g, ok := kinds.IPv6GatewaysByVPC.First(v, vpc.ID); ok && !force {
		return errVPCHasGateway.Of(g.ID)
	}
	for t := range kinds.RouteTablesByVPC.List(v, vpc.ID) {
		if t.Type == kinds.RouteTableCustom {
			return errVPCHasRouteTable
		}
		if customEntries(v, t.ID) > 0 && !force {
			return errVPCHasRouteEntry
		}
	}
	return nil
}

type describeVPCsRequest struct {
	listing.ByNumber
	tagged
	RegionID  string `rpc:"RegionId,required"`
	VPCID     string `rpc:"VpcId"`
	Name      string `rpc:"VpcName"`
	IsDefault *bool  `rpc:"IsDefault"`
	gateway.Trial
	ResourceGroupID  string `rpc:"ResourceGroupId"`
	VPCOwnerID       *int64 `rpc:"VpcOwnerId,invalid=VPCOwnerInvalid"`
	DHCPOptionsSetID string `rpc:"DhcpOptionsSetId"`
	EnableIPv6       *bool  `rpc:"EnableIpv6"`
}

// Validate implements the gateway's check of shape.
func (r *describeVPCsRequest) Validate() error {
	if tooMany(r.VPCID, maxIDs) {
		return errTooManyVPCIDs
	}
	return r.check()
}

type describeVPCsResponse struct {
	listing.Numbered
	VPCs []vpcView `rpc:"Vpcs>Vpc"`
}

// vpcFields holds what both Describes answer about a VPC.
type vpcFields struct {
	VPCID                string          `rpc:"VpcId"`
	RegionID             string          `rpc:"RegionId"`
	Name                 string          `rpc:"VpcName"`
	Description          string          `rpc:"Description"`
	Status               string          `rpc:"Status"`
	CIDRBlock            string          `rpc:"CidrBlock"`
	IPv6CIDRBlock        string          `rpc:"Ipv6CidrBlock"`
	IPv6CIDRBlocks       []ipv6CIDRBlock `rpc:"Ipv6CidrBlocks>Ipv6CidrBlock"`
	EnabledIPv6          bool            `rpc:"EnabledIpv6"`
	SecondaryCIDRBlocks  []string        `rpc:"SecondaryCidrBlocks>SecondaryCidrBlock"`
	UserCIDRs            []string        `rpc:"UserCidrs>UserCidr"`
	VRouterID            string          `rpc:"VRouterId"`
	VSwitchIDs           []string        `rpc:"VSwitchIds>VSwitchId"`
	IsDefault            bool            `rpc:"IsDefault"`
	ResourceGroupID      string          `rpc:"ResourceGroupId"`
	OwnerID              int64           `rpc:"OwnerId"`
	NetworkACLNum        string          `rpc:"NetworkAclNum"`
	DHCPOptionsSetID     string          `rpc:"DhcpOptionsSetId"`
	DHCPOptionsSetStatus string          `rpc:"DhcpOptionsSetStatus"`
	DNSHostnameStatus    string          `rpc:"DnsHostnameStatus"`
	CreationTime         string          `rpc:"CreationTime"`
	Tags                 []tagging.Tag   `rpc:"Tags>Tag"`
}

type ipv6CIDRBlock struct {
	IPv6CIDRBlock string `rpc:"Ipv6CidrBlock"`
	IPv6ISP       string `rpc:"Ipv6Isp"`
}

type vpcView struct {
	vpcFields
	RouterTableIDs []string `rpc:"RouterTableIds>RouterTableIds"`
	NATGatewayIDs  []string `rpc:"NatGatewayIds>NatGatewayIds"`
}

func describeVPCs(v *state.View, req *describeVPCsRequest) (*describeVPCsResponse, error) {
	if req.ResourceGroupID != "" {
		if _, err := kinds.ResourceGroupOf(v, req.ResourceGroupID); err != nil {
			return nil, err
		}
	}
	hasTags := req.filter(v, kinds.TagVPC)
	found := listing.Pick(kinds.VPCsByRegion.InScope(v), func(vpc *kinds.VPC) bool {
		return req.matches(vpc) && hasTags(vpc.ID)
	})
	vpcs, page := listing.Number(found, req.PageNumber, req.PageSize)
	resp := &describeVPCsResponse{Numbered: page}
	for _, vpc := range vpcs {
		view := vpcView{vpcFields: viewVPC(v, vpc)}
		for t := range kinds.RouteTablesByVPC.List(v, vpc.ID) {
			view.RouterTableIDs = append(view.RouterTableIDs, t.ID)
		}
		for g := range kinds.NATGatewaysByVPC.List(v, vpc.ID) {
			view.NATGatewayIDs = append(view.NATGatewayIDs, g.ID)
		}
		resp.VPCs = append(resp.VPCs, view)
	}
	return resp, nil
}

func (r *describeVPCsRequest) matches(vpc *kinds.VPC) bool {
	return listed(r.VPCID, vpc.ID) &&
		listing.Matches(r.Name, vpc.Name) &&
		listing.Matches(r.ResourceGroupID, vpc.ResourceGroupID) &&
		listing.Matches(r.DHCPOptionsSetID, "") &&
		ownedBy(r.VPCOwnerID, vpc.AccountID) &&
		(r.IsDefault == nil || *r.IsDefault == vpc.IsDefault) &&
		(r.EnableIPv6 == nil || *r.EnableIPv6 == (vpc.IPv6CIDRBlock != ""))
}

func viewVPC(v *state.View, vpc *kinds.VPC) vpcFields {
	view := vpcFields{
		VPCID:                vpc.ID,
		RegionID:             vpc.RegionID,
		Name:                 vpc.Name,
		Description:          vpc.Description,
		Status:               statusAvailable,
		CIDRBlock:            vpc.CIDRBlock,
		IPv6CIDRBlock:        vpc.IPv6CIDRBlock,
		EnabledIPv6:          vpc.IPv6CIDRBlock != "",
		SecondaryCIDRBlocks:  slices.Clone(vpc.SecondaryCIDRBlocks),
		UserCIDRs:            slices.Clone(vpc.UserCIDRs),
		DNSHostnameStatus:    "DISABLED",
		VRouterID:            vpc.VRouterID,
		IsDefault:            vpc.IsDefault,
		ResourceGroupID:      vpc.ResourceGroupID,
		OwnerID:              ownerID(vpc.AccountID),
		NetworkACLNum:        "0",
		DHCPOptionsSetStatus: statusAvailable,
		CreationTime:         gateway.Second(vpc.CreateTime),
		Tags:                 tagging.Of(v, kinds.TagVPC, vpc.ID),
	}
	if vpc.DNSHostnames {
		view.DNSHostnameStatus = "ENABLED"
	}
	if vpc.IPv6CIDRBlock != "" {
		view.IPv6CIDRBlocks = []ipv6CIDRBlock{{IPv6CIDRBlock: vpc.IPv6CIDRBlock, IPv6ISP: "BGP"}}
	}
	for s := range kinds.VSwitchesByVPC.List(v, vpc.ID) {
		view.VSwitchIDs = append(view.VSwitchIDs, s.ID)
	}
	return view
}

type describeVPCAttributeRequest struct {
	VPCID    string `rpc:"VpcId,required"`
	RegionID string `rpc:"RegionId,required"`
	gateway.Trial
}

type describeVPCAttributeResponse struct {
	vpcFields
	ClassicLinkEnabled bool            `rpc:"ClassicLinkEnabled"`
	CloudResources     []cloudResource `rpc:"CloudResources>CloudResourceSetType"`
}

type cloudResource struct {
	Type  string `rpc:"ResourceType"`
	Count int    `rpc:"ResourceCount"`
}

func describeVPCAttribute(v *state.View, req *describeVPCAttributeRequest) (*describeVPCAttributeResponse, error) {
	vpc, err := kinds.VPCs.Get(v, req.VPCID)
	if err != nil {
		return nil, err
	}
	resp := &describeVPCAttributeResponse{vpcFields: viewVPC(v, vpc)}
	resp.CloudResources = []cloudResource{
		{Type: "VSwitch", Count: len(resp.VSwitchIDs)},
		{Type: "VRouter", Count: 1},
		{Type: "RouteTable", Count: kinds.RouteTablesByVPC.Count(v, vpc.ID)},
	}
	return resp, nil
}
