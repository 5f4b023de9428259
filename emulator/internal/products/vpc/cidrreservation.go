package vpc

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var cidrReservationActions = []gateway.Action{
	gateway.Write("CreateVSwitchCidrReservation", createVSwitchCIDRReservation),
	gateway.Write("DeleteVSwitchCidrReservation", deleteVSwitchCIDRReservation),
	gateway.Write("ModifyVSwitchCidrReservationAttribute", modifyVSwitchCIDRReservationAttribute),
	gateway.Read("ListVSwitchCidrReservations", listVSwitchCIDRReservations),
}

// The refusals of this file.
var (
	errReservedBlockOrMask = refusals.New("ReservedBlockOrMask", 400, "MissingParam.CidrOrMask",
		"Either a CIDR block or a mask is to be given.", "CLB-0563")
	errReservedMaskIllegal = refusals.New("ReservedMaskIllegal", 400, "IllegalParam.VSwitchCidrReservationMask",
		"The mask %s is not one that can be reserved in the vSwitch.", "CLB-0563")
	errReservedBlockIllegal = refusals.New("ReservedBlockIllegal", 400, "IllegalParam.VSwitchCidrReservationCidr",
		"The CIDR block %s is not one that can be reserved in the vSwitch.", "CLB-0563")
	errReservedBlockTaken = refusals.New("ReservedBlockTaken", 400, "OperationFailed.CidrConflict",
		"The CIDR block %s has addresses that are in use or reserved.", "CLB-0563")
	errTooManyReservations = refusals.New("TooManyReservations", 400, "QuotaExceeded.VSwitchCidrReservation",
		"The VPC %s has as many reservations as it can have.", "CLB-0563")
	errReservationBusy = refusals.New("ReservationBusy", 400, "IncorrectStatus",
		"The reservation %s is being changed.", "CLB-0563")
)

// The smallest blocks to reserve, and how many of each version in a VPC:
// CLB-0563.
const (
	maxReservedBitsIPv4 = 28
	maxReservedBitsIPv6 = 80
	maxReservations     = 100
)

// reservationText holds a reservation's name and description in a request.
type reservationText struct {
	Name        string `rpc:"VSwitchCidrReservationName,len=1..128,invalid=NameIllegal"`
	Description string `rpc:"VSwitchCidrReservationDescription,len=1..256,invalid=DescriptionIllegal"`
}

type createVSwitchCIDRReservationRequest struct {
	tagged
	reservationText
	RegionID    string `rpc:"RegionId,required"`
	VSwitchID   string `rpc:"VSwitchId,required"`
	CIDRBlock   string `rpc:"VSwitchCidrReservationCidr"`
	Mask        string `rpc:"VSwitchCidrReservationMask"`
	Type        string `rpc:"VSwitchCidrReservationType,default=Prefix,words=Prefix"`
	IPVersion   string `rpc:"IpVersion,default=IPv4,enum=IPv4|IPv6"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *createVSwitchCIDRReservationRequest) Validate() error {
	if (r.CIDRBlock == "") == (r.Mask == "") {
		return errReservedBlockOrMask
	}
	return cmp.Or(checkText(r.Name, r.Description), r.check())
}

type createVSwitchCIDRReservationResponse struct {
	ID string `rpc:"VSwitchCidrReservationId"`
}

func createVSwitchCIDRReservation(tx *state.Tx, req *createVSwitchCIDRReservationRequest) (*createVSwitchCIDRReservationResponse, error) {
	id, err := state.Once(tx, "CreateVSwitchCidrReservation", req.ClientToken, req, cloud.CIDRReservations, func() (string, error) {
		return putCIDRReservation(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createVSwitchCIDRReservationResponse{id}, nil
}

func putCIDRReservation(tx *state.Tx, req *createVSwitchCIDRReservationRequest) (string, error) {
	s, err := cloud.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return "", err
	}
	block, err := req.block(tx.View, s)
	if err != nil {
		return "", err
	}
	n := 0
	for r := range cloud.CIDRReservationsByVPC.List(tx.View, s.VPCID) {
		if r.IPVersion() == req.IPVersion {
			n++
		}
	}
	if n >= maxReservations {
		return "", errTooManyReservations.Of(s.VPCID)
	}
	r := &cloud.CIDRReservation{Owner: s.Owner, ID: tx.NewID(cloud.CIDRReservations.Kind()), VPCID: s.VPCID, VSwitchID: s.ID,
		CIDRBlock: block.String(), Name: req.Name, Description: req.Description, CreateTime: tx.Now()}
	cloud.CIDRReservations.Put(tx, r)
	req.set(tx, cloud.TagCIDRReservation, r.ID)
	state.Enter(tx, cloud.StageCIDRReservationAssigning, r.ID)
	return r.ID, nil
}

// block is the named block, or a free one with the mask.
func (r *createVSwitchCIDRReservationRequest) block(v *state.View, s *cloud.VSwitch) (netip.Prefix, error) {
	text, maxBits := s.CIDRBlock, maxReservedBitsIPv4
	if r.IPVersion == "IPv6" {
		text, maxBits = s.IPv6CIDRBlock, maxReservedBitsIPv6
	}
	outer, ok := parseCIDR(text)
	fits := func(bits int) bool { return ok && bits > outer.Bits() && bits <= maxBits }
	if r.Mask != "" {
		bits, err := strconv.Atoi(strings.TrimPrefix(r.Mask, "/"))
		if err != nil || !fits(bits) {
			return netip.Prefix{}, errReservedMaskIllegal.Of(r.Mask)
		}
		return freeReservation(v, s, outer, bits)
	}
	block, valid := parseCIDR(r.CIDRBlock)
	if !valid || !fits(block.Bits()) || !within(block, outer) || holdsSystemAddress(block, outer) {
		return netip.Prefix{}, errReservedBlockIllegal.Of(r.CIDRBlock)
	}
	if !reservable(v, s, block) {
		return netip.Prefix{}, errReservedBlockTaken.Of(r.CIDRBlock)
	}
	return block, nil
}

// holdsSystemAddress reports whether a block has some of the addresses at both ends of
// its vSwitch's, which the cloud keeps: no block is smaller than what it keeps.
func holdsSystemAddress(block, outer netip.Prefix) bool {
	return block.Contains(outer.Addr()) || block.Contains(lastOf(outer))
}

func lastOf(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for i := range bytes {
		if free := (i+1)*8 - block.Bits(); free > 0 {
			bytes[i] |= byte(1<<min(free, 8) - 1)
		}
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// reservable reports whether nothing uses the block.
func reservable(v *state.View, s *cloud.VSwitch, block netip.Prefix) bool {
	for r := range cloud.CIDRReservationsByVSwitch.List(v, s.ID) {
		if other, ok := parseCIDR(r.CIDRBlock); ok && other.Overlaps(block) {
			return false
		}
	}
	used := func(ip string) bool {
		addr, err := netip.ParseAddr(ip)
		return err == nil && block.Contains(addr)
	}
	for a := range cloud.AddressesByPool.List(v, s.ID) {
		if used(a.IP) {
			return false
		}
	}
	for n := range cloud.NetworkInterfacesByVSwitch.List(v, s.ID) {
		if slices.ContainsFunc(n.IPv6Addresses, used) {
			return false
		}
	}
	return true
}

// maxReservationTries bounds the search for a free block: a VPC has fewer reservations.
const maxReservationTries = 1 << 12

// freeReservation is the first block of a size that nothing uses.
func freeReservation(v *state.View, s *cloud.VSwitch, outer netip.Prefix, bits int) (netip.Prefix, error) {
	block := netip.PrefixFrom(outer.Addr(), bits)
	for range maxReservationTries {
		if !within(block, outer) {
			break
		}
		if !holdsSystemAddress(block, outer) && reservable(v, s, block) {
			return block, nil
		}
		block = netip.PrefixFrom(lastOf(block).Next(), bits)
	}
	return block, errReservedBlockTaken.Of("/" + strconv.Itoa(bits))
}

type deleteVSwitchCIDRReservationRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"VSwitchCidrReservationId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// deleteVSwitchCIDRReservation needs no memory of its token: a reservation can be
// deleted once.
func deleteVSwitchCIDRReservation(tx *state.Tx, req *deleteVSwitchCIDRReservationRequest) (*gateway.Empty, error) {
	r, err := cloud.CIDRReservations.Get(tx.View, req.ID)
	if err != nil {
		return nil, err
	}
	if r.Status != cloud.CIDRReservationAssigned {
		return nil, errReservationBusy.Of(r.ID)
	}
	state.Enter(tx, cloud.StageCIDRReservationReleasing, r.ID)
	return &gateway.Empty{}, nil
}

type modifyVSwitchCIDRReservationAttributeRequest struct {
	reservationText
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"VSwitchCidrReservationId,required"`
	ClientToken string `rpc:"ClientToken"`
	gateway.Trial
}

// Validate implements the gateway's check of shape.
func (r *modifyVSwitchCIDRReservationAttributeRequest) Validate() error {
	return checkText(r.Name, r.Description)
}

func modifyVSwitchCIDRReservationAttribute(tx *state.Tx, req *modifyVSwitchCIDRReservationAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, state.EditOnce(tx, "ModifyVSwitchCidrReservationAttribute", req.ClientToken, req, cloud.CIDRReservations, req.ID, func(r *cloud.CIDRReservation) error {
		r.Name, r.Description = cmp.Or(req.Name, r.Name), cmp.Or(req.Description, r.Description)
		return nil
	})
}

type listVSwitchCIDRReservationsRequest struct {
	tokenPage
	listTagged
	RegionID  string   `rpc:"RegionId,required"`
	VSwitchID string   `rpc:"VSwitchId"`
	IDs       []string `rpc:"VSwitchCidrReservationIds,max=100"`
	Type      string   `rpc:"VSwitchCidrReservationType"`
	IPVersion string   `rpc:"IpVersion"`
}

type listVSwitchCIDRReservationsResponse struct {
	NextToken    string                `rpc:"NextToken"`
	TotalCount   int                   `rpc:"TotalCount"`
	MaxResults   int                   `rpc:"MaxResults"`
	Reservations []cidrReservationView `rpc:"VSwitchCidrReservations"`
}

type cidrReservationView struct {
	ID                 string        `rpc:"VSwitchCidrReservationId"`
	VPCID              string        `rpc:"VpcId"`
	VSwitchID          string        `rpc:"VSwitchId"`
	CIDRBlock          string        `rpc:"VSwitchCidrReservationCidr"`
	Name               string        `rpc:"VSwitchCidrReservationName"`
	Description        string        `rpc:"VSwitchCidrReservationDescription"`
	IPVersion          string        `rpc:"IpVersion"`
	Type               string        `rpc:"Type"`
	Status             string        `rpc:"Status"`
	AvailableCIDRCount int           `rpc:"AvailableCidrCount"`
	AssignedCIDRCount  int           `rpc:"AssignedCidrCount"`
	CreationTime       string        `rpc:"CreationTime"`
	Tags               []tagging.Tag `rpc:"Tags"`
}

func listVSwitchCIDRReservations(v *state.View, req *listVSwitchCIDRReservationsRequest) (*listVSwitchCIDRReservationsResponse, error) {
	hasTags := req.filter(v, cloud.TagCIDRReservation)
	var found []*cloud.CIDRReservation
	for r := range cloud.CIDRReservations.All(v) {
		if r.Owner == v.Scope() && listing.Matches(req.VSwitchID, r.VSwitchID) && (len(req.IDs) == 0 || slices.Contains(req.IDs, r.ID)) &&
			listing.Matches(strings.ToLower(req.Type), "prefix") && listing.Matches(req.IPVersion, r.IPVersion()) && hasTags(r.ID) {
			found = append(found, r)
		}
	}
	part, next, err := listing.After(found, req.NextToken, req.MaxResults, cloud.CIDRReservations.ID)
	if err != nil {
		return nil, err
	}
	return &listVSwitchCIDRReservationsResponse{NextToken: next, TotalCount: len(found), MaxResults: req.MaxResults, Reservations: listing.Views(v, part, viewCIDRReservation)}, nil
}

// viewCIDRReservation counts blocks of the smallest size. It counts none as assigned, as no
// interface has a prefix here.
func viewCIDRReservation(v *state.View, r *cloud.CIDRReservation) cidrReservationView {
	smallest := maxReservedBitsIPv4
	if r.IPVersion() == "IPv6" {
		smallest = maxReservedBitsIPv6
	}
	view := cidrReservationView{ID: r.ID, VPCID: r.VPCID, VSwitchID: r.VSwitchID, CIDRBlock: r.CIDRBlock, Name: r.Name, Description: r.Description,
		IPVersion: r.IPVersion(), Type: "Prefix", Status: r.Status, CreationTime: gateway.Second(r.CreateTime),
		Tags: tagging.Of(v, cloud.TagCIDRReservation, r.ID)}
	if block, ok := parseCIDR(r.CIDRBlock); ok {
		view.AvailableCIDRCount = 1 << (smallest - block.Bits())
	}
	return view
}
