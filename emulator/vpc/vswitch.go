package vpc

import (
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
)

var vSwitchActions = []rpc.Action{
	rpc.Write("CreateVSwitch", createVSwitch),
	rpc.Write("DeleteVSwitch", deleteVSwitch),
	rpc.Read("DescribeVSwitches", describeVSwitches),
	rpc.Read("DescribeVSwitchAttributes", describeVSwitchAttributes),
	rpc.Read("CheckCanAllocateVpcPrivateIpAddress", checkCanAllocateVPCPrivateIPAddress),
}

type createVSwitchRequest struct {
	tagged
	ZoneID           string `rpc:"ZoneId,required"`
	CIDRBlock        string `rpc:"CidrBlock,required"`
	IPv6CIDRBlock    *int   `rpc:"Ipv6CidrBlock,min=0,max=255,invalid=IPv6SubnetInvalid"`
	VPCID            string `rpc:"VpcId,required"`
	Name             string `rpc:"VSwitchName,len=1..128,invalid=VSwitchNameMalformed"`
	Description      string `rpc:"Description,len=1..256,invalid=VSwitchDescriptionMalformed"`
	ClientToken      string `rpc:"ClientToken"`
	VPCIPv6CIDRBlock string `rpc:"VpcIpv6CidrBlock"`
}

// The sizes of a vSwitch's block.
const (
	minVSwitchBits = 16
	maxVSwitchBits = 29
)

// Validate implements the gateway's check of shape.
func (r *createVSwitchRequest) Validate() error {
	if err := plainText(r.Name, vSwitchNameMalformed); err != nil {
		return err
	}
	if err := plainText(r.Description, vSwitchDescriptionMalformed); err != nil {
		return err
	}
	prefix, ok := parseCIDR(r.CIDRBlock)
	switch {
	case !ok || !prefix.Addr().Is4():
		return state.Refuse(cidrMalformed, r.CIDRBlock)
	case prefix.Bits() < minVSwitchBits || prefix.Bits() > maxVSwitchBits:
		return state.Refuse(maskLengthInvalid, r.CIDRBlock)
	}
	return r.check()
}

type createVSwitchResponse struct {
	VSwitchID string `rpc:"VSwitchId"`
}

func createVSwitch(tx *state.Tx, req *createVSwitchRequest) (*createVSwitchResponse, error) {
	id, err := once(tx, "CreateVSwitch", req.ClientToken, req, state.VSwitches, func() (string, error) { return putVSwitch(tx, req) })
	if err != nil {
		return nil, err
	}
	return &createVSwitchResponse{VSwitchID: id}, nil
}

// maxVSwitches is how many vSwitches a VPC may have; evidence CLB-0313.
const maxVSwitches = 150

func putVSwitch(tx *state.Tx, req *createVSwitchRequest) (string, error) {
	vpc, err := state.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	if err := checkZone(tx.View, req.ZoneID); err != nil {
		return "", err
	}
	if err := checkVSwitchBlock(tx.View, vpc, req.CIDRBlock); err != nil {
		return "", err
	}
	ipv6, err := subnetOf(tx.View, vpc, req)
	if err != nil {
		return "", err
	}
	if state.VSwitchesByVPC.Count(tx.View, vpc.ID) >= maxVSwitches {
		return "", state.Refuse(vSwitchQuotaExceeded)
	}
	s := &state.VSwitch{
		Owner:           vpc.Owner,
		ID:              tx.NewID(state.VSwitches.Kind()),
		VPCID:           vpc.ID,
		ZoneID:          req.ZoneID,
		CIDRBlock:       req.CIDRBlock,
		IPv6CIDRBlock:   ipv6,
		Name:            req.Name,
		Description:     req.Description,
		RouteTableID:    systemRouteTable(tx.View, vpc.ID),
		ResourceGroupID: vpc.ResourceGroupID,
		CreateTime:      tx.Now(),
	}
	state.VSwitches.Put(tx, s)
	req.set(tx, state.TagVSwitch, s.ID)
	for t := range state.RouteTablesByVPC.List(tx.View, vpc.ID) {
		putSystemEntry(tx, t, s.CIDRBlock)
	}
	return s.ID, nil
}

func checkZone(v *state.View, id string) error {
	region, err := state.Regions.Get(v, v.Scope().RegionID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(region.Zones, func(z state.Zone) bool { return z.ID == id }) {
		return state.Refuse(zoneNotFound, id)
	}
	return nil
}

// checkVSwitchBlock refuses a block that is not the VPC's, or that another
// vSwitch or a route of the VPC has already.
func checkVSwitchBlock(v *state.View, vpc *state.VPC, text string) error {
	block, _ := parseCIDR(text)
	inVPC := slices.ContainsFunc(append([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks...), func(outer string) bool {
		prefix, ok := parseCIDR(outer)
		return ok && within(block, prefix)
	})
	if !inVPC {
		return state.Refuse(blockOutsideVPC, text)
	}
	for s := range state.VSwitchesByVPC.List(v, vpc.ID) {
		if other, ok := parseCIDR(s.CIDRBlock); ok && other.Overlaps(block) {
			return state.Refuse(blockOverlaps, text)
		}
	}
	for t := range state.RouteTablesByVPC.List(v, vpc.ID) {
		if _, taken := state.RouteEntriesByTable.First(v, t.ID, text); taken {
			return state.Refuse(routeConflicts, text)
		}
	}
	return nil
}

// subnetOf returns the IPv6 block that the request numbers, "" when it has none.
func subnetOf(v *state.View, vpc *state.VPC, req *createVSwitchRequest) (string, error) {
	if req.IPv6CIDRBlock == nil {
		return "", nil
	}
	subnet, ok := ipv6Subnet(vpc.IPv6CIDRBlock, *req.IPv6CIDRBlock)
	switch {
	case !ok:
		return "", state.Refuse(vpcIPv6Disabled)
	case !matches(req.VPCIPv6CIDRBlock, vpc.IPv6CIDRBlock):
		return "", state.Refuse(vpcIPv6BlockInvalid, req.VPCIPv6CIDRBlock)
	}
	for s := range state.VSwitchesByVPC.List(v, vpc.ID) {
		if s.IPv6CIDRBlock == subnet {
			return "", state.Refuse(ipv6SubnetTaken, subnet)
		}
	}
	return subnet, nil
}

type deleteVSwitchRequest struct {
	VSwitchID string `rpc:"VSwitchId,required"`
	DryRun    bool   `rpc:"DryRun"`
}

// deleteVSwitch asks the addresses whether the vSwitch is empty: everything in it
// has one.
func deleteVSwitch(tx *state.Tx, req *deleteVSwitchRequest) (*rpc.Empty, error) {
	s, err := state.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return nil, err
	}
	if _, used := state.AddressesByPool.First(tx.View, s.ID); used {
		return nil, state.Refuse(vSwitchInUse)
	}
	if s.RouteTableID != systemRouteTable(tx.View, s.VPCID) {
		return nil, state.Refuse(vSwitchHasRouteTable)
	}
	for t := range state.RouteTablesByVPC.List(tx.View, s.VPCID) {
		for e := range state.RouteEntriesByTable.List(tx.View, t.ID, s.CIDRBlock) {
			state.RouteEntries.Delete(tx, e.ID)
		}
	}
	state.DeleteTagsOf(tx, state.TagVSwitch, s.ID)
	state.VSwitches.Delete(tx, s.ID)
	return &rpc.Empty{}, dryRun(req.DryRun)
}

type describeVSwitchesRequest struct {
	page
	tagged
	VPCID           string `rpc:"VpcId"`
	VSwitchID       string `rpc:"VSwitchId"`
	ZoneID          string `rpc:"ZoneId"`
	Name            string `rpc:"VSwitchName,len=1..128"`
	DryRun          bool   `rpc:"DryRun"`
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
		return state.Refuse(tooManyVSwitchIDs)
	case tooMany(r.VPCID, maxIDs):
		return state.Refuse(tooManyVPCIDs)
	}
	return r.check()
}

type describeVSwitchesResponse struct {
	paged
	VSwitches []vSwitchView `rpc:"VSwitches>VSwitch"`
}

// vSwitchView is what both Describes answer about a vSwitch.
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
	Tags                    []tag             `rpc:"Tags>Tag"`
}

type vSwitchRouteTable struct {
	RouteTableID   string `rpc:"RouteTableId"`
	RouteTableType string `rpc:"RouteTableType"`
}

// describeVSwitches answers an empty list for an id that is not there; evidence
// CLB-0303.
func describeVSwitches(v *state.View, req *describeVSwitchesRequest) (*describeVSwitchesResponse, error) {
	hasTags := req.filter(v, state.TagVSwitch)
	var found []*state.VSwitch
	for s := range state.VSwitches.All(v) {
		if req.matches(s) && hasTags(s.ID) {
			found = append(found, s)
		}
	}
	vSwitches, paged := cut(found, req.page)
	resp := &describeVSwitchesResponse{paged: paged}
	for _, s := range vSwitches {
		resp.VSwitches = append(resp.VSwitches, viewVSwitch(v, s))
	}
	return resp, dryRun(req.DryRun)
}

func (r *describeVSwitchesRequest) matches(s *state.VSwitch) bool {
	return listed(r.VPCID, s.VPCID) &&
		listed(r.VSwitchID, s.ID) &&
		matches(r.ZoneID, s.ZoneID) &&
		matches(r.Name, s.Name) &&
		matches(r.RouteTableID, s.RouteTableID) &&
		matches(r.ResourceGroupID, s.ResourceGroupID) &&
		ownedBy(r.VSwitchOwnerID, s.AccountID) &&
		(r.IsDefault == nil || *r.IsDefault == s.IsDefault) &&
		(r.EnableIPv6 == nil || *r.EnableIPv6 == (s.IPv6CIDRBlock != ""))
}

func viewVSwitch(v *state.View, s *state.VSwitch) vSwitchView {
	view := vSwitchView{
		VSwitchID:               s.ID,
		VPCID:                   s.VPCID,
		Status:                  statusAvailable,
		CIDRBlock:               s.CIDRBlock,
		IPv6CIDRBlock:           s.IPv6CIDRBlock,
		EnabledIPv6:             s.IPv6CIDRBlock != "",
		ZoneID:                  s.ZoneID,
		AvailableIPAddressCount: state.AvailableAddresses(v, s),
		Name:                    s.Name,
		Description:             s.Description,
		IsDefault:               s.IsDefault,
		OwnerID:                 ownerID(s.AccountID),
		ResourceGroupID:         s.ResourceGroupID,
		CreationTime:            formatTime(s.CreateTime),
		Tags:                    tagsOf(v, state.TagVSwitch, s.ID),
	}
	if t, ok := state.RouteTables.Find(v, s.RouteTableID); ok {
		view.RouteTable = vSwitchRouteTable{RouteTableID: t.ID, RouteTableType: string(t.Type)}
	}
	return view
}

type describeVSwitchAttributesRequest struct {
	VSwitchID string `rpc:"VSwitchId,required"`
	DryRun    bool   `rpc:"DryRun"`
}

type describeVSwitchAttributesResponse struct {
	vSwitchView
	CloudResources []cloudResource `rpc:"CloudResources>CloudResourceSetType"`
}

func describeVSwitchAttributes(v *state.View, req *describeVSwitchAttributesRequest) (*describeVSwitchAttributesResponse, error) {
	s, err := state.VSwitches.Get(v, req.VSwitchID)
	if err != nil {
		return nil, err
	}
	resp := &describeVSwitchAttributesResponse{vSwitchView: viewVSwitch(v, s)}
	resp.CloudResources = []cloudResource{
		{Type: "NetworkInterface", Count: state.NetworkInterfacesByVSwitch.Count(v, s.ID)},
		{Type: "SLB", Count: state.LoadBalancersByVSwitch.Count(v, s.ID)},
	}
	return resp, dryRun(req.DryRun)
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

// checkCanAllocateVPCPrivateIPAddress says false for what is taken or reserved,
// and fails for what is not in the vSwitch.
func checkCanAllocateVPCPrivateIPAddress(v *state.View, req *checkCanAllocateVPCPrivateIPAddressRequest) (*checkCanAllocateVPCPrivateIPAddressResponse, error) {
	s, err := state.VSwitches.Get(v, req.VSwitchID)
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
		return nil, rpc.Invalid("PrivateIpAddress")
	}
	if !hasBlock || !prefix.Contains(ip) {
		return nil, state.Refuse(addressOutsideVSwitch, req.PrivateIPAddress)
	}
	_, allocated := state.Addresses.Find(v, state.AddressID(s.ID, ip.String()))
	_, attached := state.NetworkInterfacesByAddress.First(v, s.VPCID, ip.String())
	free := state.Contains(block, ip.String()) && !allocated && !attached
	return &checkCanAllocateVPCPrivateIPAddressResponse{CanAllocate: free}, nil
}
