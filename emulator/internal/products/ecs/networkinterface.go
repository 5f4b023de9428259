package ecs

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

func networkInterfaceActions(deps gateway.Deps) []gateway.Action {
	describe := gateway.Read("DescribeNetworkInterfaces", describeNetworkInterfaces)
	if deps.MakeNetworkInterface != nil {
		describe = gateway.Write("DescribeNetworkInterfaces", deliverNetworkInterfaces(deps.MakeNetworkInterface))
	}
	return []gateway.Action{describe.Refusing(errTooManyTags),
		gateway.Write("ModifyNetworkInterfaceAttribute", modifyNetworkInterfaceAttribute).Refusing(errInterfaceNameInvalid)}
}

// deliverNetworkInterfaces returns a handler for clusters whose pods were never imported: a lookup
// by address in a VPC first lets make add the missing interfaces, and so may change the state, as
// the cloud's does not.
func deliverNetworkInterfaces(make func(tx *state.Tx, vpcID, ip string) error) func(*state.Tx, *describeNetworkInterfacesRequest) (*describeNetworkInterfacesResponse, error) {
	return func(tx *state.Tx, req *describeNetworkInterfacesRequest) (*describeNetworkInterfacesResponse, error) {
		for _, ip := range req.PrivateIPAddresses {
			if _, known := kinds.NetworkInterfacesByAddress.First(tx.View, req.VPCID, ip); known {
				continue
			}
			if err := make(tx, req.VPCID, ip); err != nil {
				return nil, err
			}
		}
		return describeNetworkInterfaces(tx.View, req)
	}
}

// The refusals of this file.
var (
	errTooManyTags = refusals.New("TooManyTags", 400, "InvalidTagCount",
		"The specified tags are beyond the permitted range.", "CLB-0300")
	errInterfaceNameInvalid = refusals.New("InterfaceNameInvalid", 403, "InvalidParams.NetworkInterfaceName",
		"The specified NetworkInterfaceName is not valid.", "CLB-0203")
	errQueueSizeUnsupported = refusals.New("QueueSizeUnsupported", 400, "InvalidEniQueueSize.RegionOrUserNotSupported",
		"The specified parameter RxQueueSize or TxQueueSize is not supported in this region, or this account is not in the whitelist of using eni QueueSize.", "CLB-0300")
	errPrimaryQueueNumber = refusals.New("PrimaryQueueNumber", 403, "InvalidOperation.ModifyPrimaryEniQueueNumber",
		"Primary NetworkInterface is not allowed to modify queue number.", "CLB-0300")
	errQueueNumberUnsupported = refusals.New("QueueNumberUnsupported", 400, "InvalidOperation.NotSupportModifyQueueNumber",
		"The queue number of %s cannot be modified.", "CLB-0203")
	errTooManyGroups = refusals.New("TooManyGroups", 400, "JoinedGroupLimitExceed",
		"The network interface %s cannot join more security groups.", "CLB-0203")
	errGroupOutsideVPC = refusals.New("GroupOutsideVPC", 403, "InvalidOperation.VpcMismatch",
		"The security group %s is in another VPC than the network interface.", "CLB-0203")
	errGroupTypesMixed = refusals.New("GroupTypesMixed", 403, "InvalidOperation.MultiGroupType",
		"The specified instance can't join different types of security group.", "CLB-0300")
	errInterfaceChanging = refusals.New("InterfaceChanging", 400, "InvalidOperation.Conflict",
		"Another change of the network interface %s is in progress.", "CLB-0203")
)

type describeNetworkInterfacesRequest struct {
	Tags                 []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
	RegionID             string        `rpc:"RegionId,required"`
	ResourceGroupID      string        `rpc:"ResourceGroupId"`
	VSwitchID            string        `rpc:"VSwitchId"`
	VPCID                string        `rpc:"VpcId"`
	PrimaryIPAddress     string        `rpc:"PrimaryIpAddress"`
	SecurityGroupID      string        `rpc:"SecurityGroupId"`
	NetworkInterfaceName string        `rpc:"NetworkInterfaceName"`
	Type                 string        `rpc:"Type,enum=Primary|Secondary|Trunk|Member"`
	InstanceID           string        `rpc:"InstanceId"`
	ServiceManaged       bool          `rpc:"ServiceManaged"`
	Status               string        `rpc:"Status,enum=Available|Attaching|InUse|Detaching|Deleting|Creating|CreateFailed|Linked|Linking|Unlinking"`
	PageNumber           int           `rpc:"PageNumber,default=1,min=1"`
	PageSize             int           `rpc:"PageSize,default=10,min=1,max=1000"`
	NextToken            string        `rpc:"NextToken"`
	MaxResults           *int          `rpc:"MaxResults,min=10,max=500"`
	PrivateIPAddresses   []string      `rpc:"PrivateIpAddress,max=100"`
	NetworkInterfaceIDs  []string      `rpc:"NetworkInterfaceId,max=100"`
	IPv6Addresses        []string      `rpc:"Ipv6Address,max=100"`
}

type describeNetworkInterfacesResponse struct {
	listing.Either
	NetworkInterfaces []networkInterfaceView `rpc:"NetworkInterfaceSets>NetworkInterfaceSet"`
}

func (r *describeNetworkInterfacesRequest) window() listing.Ask {
	return listing.AskBy(r.NextToken, r.MaxResults, r.PageNumber, r.PageSize)
}

func describeNetworkInterfaces(v *state.View, req *describeNetworkInterfacesRequest) (*describeNetworkInterfacesResponse, error) {
	hasTags := tagging.Filter(v, kinds.TagNetworkInterface, req.Tags)
	var found []*kinds.NetworkInterface
	for n := range req.candidates(v) {
		if req.matches(n) && hasTags(n.ID) {
			found = append(found, n)
		}
	}
	slices.SortFunc(found, func(a, b *kinds.NetworkInterface) int { return strings.Compare(a.ID, b.ID) })
	interfaces, windowed, err := listing.CutEither(slices.Compact(found), func(n *kinds.NetworkInterface) string { return n.ID }, req.window())
	if err != nil {
		return nil, err
	}
	return &describeNetworkInterfacesResponse{Either: windowed, NetworkInterfaces: listing.Views(v, interfaces, viewNetworkInterface)}, nil
}

// candidates yields the interfaces that the request names in a way that an index
// finds, or all; in any order, and maybe twice.
func (r *describeNetworkInterfacesRequest) candidates(v *state.View) iter.Seq[*kinds.NetworkInterface] {
	addresses := slices.Concat(r.PrivateIPAddresses, r.IPv6Addresses)
	switch {
	case len(r.NetworkInterfaceIDs) > 0:
		return func(yield func(*kinds.NetworkInterface) bool) {
			for _, id := range r.NetworkInterfaceIDs {
				if n, ok := kinds.NetworkInterfaces.Find(v, id); ok && !yield(n) {
					return
				}
			}
		}
	case len(addresses) > 0:
		return interfacesAt(v, r.VPCID, addresses)
	case r.InstanceID != "":
		return kinds.NetworkInterfacesByInstance.List(v, r.InstanceID)
	case r.VSwitchID != "":
		return kinds.NetworkInterfacesByVSwitch.List(v, r.VSwitchID)
	}
	return kinds.NetworkInterfacesByRegion.InScope(v)
}

// interfacesAt yields the interfaces that have any of the addresses, in the VPC
// or, without a VPC, in each of the scope's.
func interfacesAt(v *state.View, vpcID string, addresses []string) iter.Seq[*kinds.NetworkInterface] {
	vpcs := []string{vpcID}
	if vpcID == "" {
		vpcs = nil
		for vpc := range kinds.VPCsByRegion.InScope(v) {
			vpcs = append(vpcs, vpc.ID)
		}
	}
	return func(yield func(*kinds.NetworkInterface) bool) {
		for _, id := range vpcs {
			for _, ip := range addresses {
				for n := range kinds.NetworkInterfacesByAddress.List(v, id, ip) {
					if !yield(n) {
						return
					}
				}
			}
		}
	}
}

// matches: no interface of the world has a cloud service as its owner.
func (r *describeNetworkInterfacesRequest) matches(n *kinds.NetworkInterface) bool {
	return !r.ServiceManaged &&
		listing.Among(r.NetworkInterfaceIDs, n.ID) &&
		anyAmong(r.PrivateIPAddresses, n.PrivateIPAddresses) &&
		anyAmong(r.IPv6Addresses, n.IPv6Addresses) &&
		listing.Matches(r.ResourceGroupID, n.ResourceGroupID) &&
		listing.Matches(r.VSwitchID, n.VSwitchID) &&
		listing.Matches(r.VPCID, n.VPCID) &&
		listing.Matches(r.PrimaryIPAddress, primaryAddress(n)) &&
		(r.SecurityGroupID == "" || slices.Contains(n.SecurityGroupIDs, r.SecurityGroupID)) &&
		listing.Matches(r.NetworkInterfaceName, n.Name) &&
		listing.Matches(r.Type, n.Type) &&
		listing.Matches(r.InstanceID, n.InstanceID) &&
		listing.Matches(r.Status, n.Status)
}

func primaryAddress(n *kinds.NetworkInterface) string {
	if len(n.PrivateIPAddresses) == 0 {
		return ""
	}
	return n.PrivateIPAddresses[0]
}

// networkInterfaceView shows an interface in DescribeNetworkInterfaces.
type networkInterfaceView struct {
	interfaceFields
	NetworkInterfaceTrafficMode string              `rpc:"NetworkInterfaceTrafficMode"`
	InstanceID                  string              `rpc:"InstanceId"`
	AssociatedPublicIP          *associatedPublicIP `rpc:"AssociatedPublicIp"`
	Attachment                  attachment          `rpc:"Attachment"`
	DeleteOnRelease             bool                `rpc:"DeleteOnRelease"`
	CreationTime                string              `rpc:"CreationTime"`
}

// interfaceFields holds the fields that the answer to the creation of an interface has
// too.
type interfaceFields struct {
	NetworkInterfaceID   string         `rpc:"NetworkInterfaceId"`
	NetworkInterfaceName string         `rpc:"NetworkInterfaceName"`
	Description          string         `rpc:"Description"`
	Type                 string         `rpc:"Type"`
	Status               string         `rpc:"Status"`
	VPCID                string         `rpc:"VpcId"`
	VSwitchID            string         `rpc:"VSwitchId"`
	ZoneID               string         `rpc:"ZoneId"`
	MacAddress           string         `rpc:"MacAddress"`
	PrivateIPAddress     string         `rpc:"PrivateIpAddress"`
	PrivateIPSets        []privateIPSet `rpc:"PrivateIpSets>PrivateIpSet"`
	IPv6Sets             []ipv6Set      `rpc:"Ipv6Sets>Ipv6Set"`
	prefixSets
	SecurityGroupIDs []string        `rpc:"SecurityGroupIds>SecurityGroupId"`
	SourceDestCheck  bool            `rpc:"SourceDestCheck"`
	ServiceManaged   bool            `rpc:"ServiceManaged"`
	OwnerID          string          `rpc:"OwnerId"`
	ResourceGroupID  string          `rpc:"ResourceGroupId"`
	Tags             []tagging.Shown `rpc:"Tags>Tag"`
}

type privateIPSet struct {
	PrivateIPAddress   string              `rpc:"PrivateIpAddress"`
	Primary            bool                `rpc:"Primary"`
	AssociatedPublicIP *associatedPublicIP `rpc:"AssociatedPublicIp"`
}

// prefixSets are empty, as no interface has a prefix, and always there: a client
// that does not find them fails. CLB-0340.
type prefixSets struct {
	IPv4 []ipv4Prefix `rpc:"Ipv4PrefixSets>Ipv4PrefixSet"`
	IPv6 []ipv6Prefix `rpc:"Ipv6PrefixSets>Ipv6PrefixSet"`
}

type ipv4Prefix struct {
	IPv4Prefix string `rpc:"Ipv4Prefix"`
}

type ipv6Prefix struct {
	IPv6Prefix string `rpc:"Ipv6Prefix"`
}

type ipv6Set struct {
	IPv6Address string `rpc:"Ipv6Address"`
}

type associatedPublicIP struct {
	AllocationID    string `rpc:"AllocationId"`
	PublicIPAddress string `rpc:"PublicIpAddress"`
}

type attachment struct {
	InstanceID string `rpc:"InstanceId"`
}

// viewNetworkInterface shows all addresses of an interface, whichever it was
// found by; evidence CLB-0334.
func viewNetworkInterface(v *state.View, n *kinds.NetworkInterface) networkInterfaceView {
	public := publicAddressesOf(v, n)
	return networkInterfaceView{
		interfaceFields:             fieldsOf(v, n),
		NetworkInterfaceTrafficMode: "Standard",
		InstanceID:                  n.InstanceID,
		AssociatedPublicIP:          public[primaryAddress(n)],
		Attachment:                  attachment{InstanceID: n.InstanceID},
		DeleteOnRelease:             true,
		CreationTime:                gateway.Second(n.CreateTime),
	}
}

func fieldsOf(v *state.View, n *kinds.NetworkInterface) interfaceFields {
	return interfaceFields{
		NetworkInterfaceID:   n.ID,
		NetworkInterfaceName: n.Name,
		Description:          n.Description,
		Type:                 n.Type,
		Status:               n.Status,
		VPCID:                n.VPCID,
		VSwitchID:            n.VSwitchID,
		ZoneID:               n.ZoneID,
		MacAddress:           n.MacAddress,
		PrivateIPAddress:     primaryAddress(n),
		PrivateIPSets:        privateIPSets(n, publicAddressesOf(v, n)),
		IPv6Sets:             ipv6Sets(n),
		SecurityGroupIDs:     slices.Clone(n.SecurityGroupIDs),
		SourceDestCheck:      n.SourceDestCheck,
		OwnerID:              n.AccountID,
		ResourceGroupID:      n.ResourceGroupID,
		Tags:                 tagging.ShownOf(v, kinds.TagNetworkInterface, n.ID),
	}
}

// publicAddressesOf returns the EIPs on an interface, or on the instance whose primary
// interface it is, by the private address that each is on.
func publicAddressesOf(v *state.View, n *kinds.NetworkInterface) map[string]*associatedPublicIP {
	holders := []string{n.ID}
	if n.Type == kinds.NetworkInterfacePrimary && n.InstanceID != "" {
		holders = []string{n.InstanceID, n.ID}
	}
	var public map[string]*associatedPublicIP
	for _, id := range holders {
		for eip := range kinds.EIPsByInstance.List(v, id) {
			if public == nil {
				public = make(map[string]*associatedPublicIP)
			}
			public[cmp.Or(eip.PrivateIPAddress, primaryAddress(n))] = &associatedPublicIP{AllocationID: eip.ID, PublicIPAddress: eip.IPAddress}
		}
	}
	return public
}

func privateIPSets(n *kinds.NetworkInterface, public map[string]*associatedPublicIP) []privateIPSet {
	sets := make([]privateIPSet, len(n.PrivateIPAddresses))
	for i, ip := range n.PrivateIPAddresses {
		sets[i] = privateIPSet{PrivateIPAddress: ip, Primary: i == 0, AssociatedPublicIP: public[ip]}
	}
	return sets
}

func ipv6Sets(n *kinds.NetworkInterface) []ipv6Set {
	sets := make([]ipv6Set, len(n.IPv6Addresses))
	for i, ip := range n.IPv6Addresses {
		sets[i] = ipv6Set{IPv6Address: ip}
	}
	return sets
}

type modifyNetworkInterfaceAttributeRequest struct {
	RegionID           string   `rpc:"RegionId,required"`
	NetworkInterfaceID string   `rpc:"NetworkInterfaceId,required"`
	Name               string   `rpc:"NetworkInterfaceName,len=2..128,invalid=InterfaceNameInvalid"`
	Description        string   `rpc:"Description,len=2..255"`
	SecurityGroupIDs   []string `rpc:"SecurityGroupId,max=100"`
	SourceDestCheck    *bool    `rpc:"SourceDestCheck"`
	QueueNumber        *int     `rpc:"QueueNumber,min=1,max=2048"`
	RxQueueSize        *int     `rpc:"RxQueueSize"`
	TxQueueSize        *int     `rpc:"TxQueueSize"`
}

// modifyNetworkInterfaceAttribute changes what the request has, and takes no other
// change until that one is done; evidence CLB-0352. The sizes and numbers of queues
// belong to instance types that the world does not have.
func modifyNetworkInterfaceAttribute(tx *state.Tx, req *modifyNetworkInterfaceAttributeRequest) (*gateway.Empty, error) {
	err := kinds.NetworkInterfaces.Edit(tx, req.NetworkInterfaceID, func(n *kinds.NetworkInterface) error {
		switch {
		case n.Activity == state.Busy:
			return errInterfaceChanging.Of(n.ID)
		case req.RxQueueSize != nil || req.TxQueueSize != nil:
			return errQueueSizeUnsupported
		case req.QueueNumber != nil && n.Type == kinds.NetworkInterfacePrimary:
			return errPrimaryQueueNumber
		case req.QueueNumber != nil:
			return errQueueNumberUnsupported.Of(n.ID)
		}
		if req.Name != "" {
			n.Name = req.Name
		}
		if req.Description != "" {
			n.Description = req.Description
		}
		if req.SourceDestCheck != nil {
			n.SourceDestCheck = *req.SourceDestCheck
		}
		return join(tx.View, n, req.SecurityGroupIDs)
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageNetworkInterfaceChanging, req.NetworkInterfaceID)
	return &gateway.Empty{}, nil
}

// maxJoinedGroups limits how many security groups an interface can be in.
const maxJoinedGroups = 5

// join puts an interface into the security groups, and out of all others; no
// groups leave it where it is.
func join(v *state.View, n *kinds.NetworkInterface, groups []string) error {
	if len(groups) == 0 {
		return nil
	}
	if len(groups) > maxJoinedGroups {
		return errTooManyGroups.Of(n.ID)
	}
	kind := ""
	for _, id := range groups {
		g, err := kinds.SecurityGroups.Get(v, id)
		switch {
		case err != nil:
			return err
		case g.VPCID != n.VPCID:
			return errGroupOutsideVPC.Of(id)
		case kind != "" && kind != g.Type:
			return errGroupTypesMixed
		}
		kind = g.Type
	}
	n.SecurityGroupIDs = slices.Clone(groups)
	return nil
}
