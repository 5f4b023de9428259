package vpc

import (
	"net/netip"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/state"
)

var eipSegmentActions = []gateway.Action{
	gateway.Write("AllocateEipSegmentAddress", allocateEIPSegmentAddress).
		Refusing(errBandwidthMalformed, errEIPMaskIllegal, errISPIllegal, errInternetChargeTypeInvalid),
	gateway.Write("ReleaseEipSegmentAddress", releaseEIPSegmentAddress),
	gateway.Read("DescribeEipSegment", describeEIPSegment),
}

// The refusals of this file.
var (
	errEIPMaskIllegal = refusals.New("EIPMaskIllegal", 400, "IllegalParam.EipMask",
		"The mask %s is not one of 24 to 28.", "CLB-0564")
	errEIPInSegment = refusals.New("EIPInSegment", 400, "OperationDenied.EipInSegment",
		"The EIP is released with its segment %s.", "CLB-0564")
)

type allocateEIPSegmentAddressRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	EIPMask            string `rpc:"EipMask,required,enum=28|27|26|25|24,invalid=EIPMaskIllegal"`
	Bandwidth          int    `rpc:"Bandwidth,default=5,min=1,max=500,invalid=BandwidthMalformed"`
	ISP                string `rpc:"Isp,default=BGP,enum=BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|ChinaMobile_L2|BGP_FinanceCloud,invalid=ISPIllegal"`
	InternetChargeType string `rpc:"InternetChargeType,default=PayByBandwidth,enum=PayByBandwidth|PayByTraffic,invalid=InternetChargeTypeInvalid"`
	Netmode            string `rpc:"Netmode,default=public,enum=public"`
	Zone               string `rpc:"Zone"`
	ResourceGroupID    string `rpc:"ResourceGroupId"`
	ClientToken        string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *allocateEIPSegmentAddressRequest) Validate() error {
	switch {
	case r.Zone != "":
		return errZoneUnsupported
	case r.InternetChargeType == payByTraffic && r.Bandwidth > maxTrafficBandwidth:
		return errBandwidthIllegal
	}
	return nil
}

type allocateEIPSegmentAddressResponse struct {
	ID string `rpc:"EipSegmentInstanceId"`
}

func allocateEIPSegmentAddress(tx *state.Tx, req *allocateEIPSegmentAddressRequest) (*allocateEIPSegmentAddressResponse, error) {
	id, err := state.Once(tx, "AllocateEipSegmentAddress", req.ClientToken, req, cloud.EIPSegments, func() (string, error) {
		return putEIPSegment(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &allocateEIPSegmentAddressResponse{id}, nil
}

func putEIPSegment(tx *state.Tx, req *allocateEIPSegmentAddressRequest) (string, error) {
	group, err := cloud.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if err := checkPayment(tx.View); err != nil {
		return "", err
	}
	region, err := cloud.Regions.Get(tx.View, tx.Scope().RegionID)
	if err != nil {
		return "", err
	}
	bits, err := strconv.Atoi(req.EIPMask)
	if err != nil {
		return "", err
	}
	addresses, err := cloud.FreeBlock(tx, cloud.PublicPool(region.ID), region.PublicCIDRBlock, bits)
	if err != nil {
		return "", err
	}
	s := &cloud.EIPSegment{Owner: tx.Scope(), ID: tx.NewID(cloud.EIPSegments.Kind()), CIDRBlock: addresses[0] + "/" + req.EIPMask, CreateTime: tx.Now()}
	cloud.EIPSegments.Put(tx, s)
	for _, ip := range addresses {
		eip := newEIP(tx, &allocateEIPAddressRequest{Bandwidth: req.Bandwidth, ISP: req.ISP, InternetChargeType: req.InternetChargeType, InstanceChargeType: "PostPaid"})
		eip.ResourceGroupID, eip.SegmentID = group, s.ID
		if eip.IPAddress, err = cloud.AllocateAddress(tx, cloud.PublicPool(region.ID), region.PublicCIDRBlock, ip, cloud.EIPs.Kind(), eip.ID); err != nil {
			return "", err
		}
		cloud.EIPs.Put(tx, eip)
	}
	state.Enter(tx, cloud.StageEIPSegmentAllocating, s.ID)
	return s.ID, nil
}

type releaseEIPSegmentAddressRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"SegmentInstanceId,required"`
	ClientToken string `rpc:"ClientToken"`
}

// releaseEIPSegmentAddress releases all EIPs of a segment, which must be on nothing and
// in no bandwidth package: CLB-0564. It needs no memory of its token, as a segment can
// be released once.
func releaseEIPSegmentAddress(tx *state.Tx, req *releaseEIPSegmentAddressRequest) (*gateway.Empty, error) {
	s, err := cloud.EIPSegments.Get(tx.View, req.ID)
	if err != nil {
		return nil, err
	}
	if s.Status != cloud.EIPSegmentAllocated {
		return nil, errEIPStatusIncorrect
	}
	for eip := range cloud.EIPsBySegment.List(tx.View, s.ID) {
		switch {
		case eip.Status != cloud.EIPAvailable || eip.BandwidthPackageID != "":
			return nil, errEIPStatusIncorrect
		case eip.DeletionProtection:
			return nil, errDeletionProtected
		}
	}
	state.Enter(tx, cloud.StageEIPSegmentReleasing, s.ID)
	return &gateway.Empty{}, nil
}

type describeEIPSegmentRequest struct {
	listing.ByNumber
	RegionID string `rpc:"RegionId,required"`
	ID       string `rpc:"SegmentInstanceId"`
	// ClientToken is in the API, though nothing changes.
	ClientToken string `rpc:"ClientToken"`
}

type describeEIPSegmentResponse struct {
	listing.Numbered
	Segments []eipSegmentView `rpc:"EipSegments>EipSegment"`
}

type eipSegmentView struct {
	ID           string `rpc:"InstanceId"`
	RegionID     string `rpc:"RegionId"`
	Name         string `rpc:"Name"`
	Descritpion  string `rpc:"Descritpion"` // the cloud's spelling
	Segment      string `rpc:"Segment"`
	IPCount      string `rpc:"IpCount"`
	Status       string `rpc:"Status"`
	Zone         string `rpc:"Zone"`
	CreationTime string `rpc:"CreationTime"`
}

func describeEIPSegment(v *state.View, req *describeEIPSegmentRequest) (*describeEIPSegmentResponse, error) {
	var found []eipSegmentView
	for s := range cloud.EIPSegmentsByRegion.InScope(v) {
		if listing.Matches(req.ID, s.ID) {
			found = append(found, viewEIPSegment(s))
		}
	}
	list, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeEIPSegmentResponse{page, list}, nil
}

func viewEIPSegment(s *cloud.EIPSegment) eipSegmentView {
	view := eipSegmentView{ID: s.ID, RegionID: s.RegionID, Segment: s.CIDRBlock, Status: s.Status, CreationTime: gateway.Second(s.CreateTime)}
	if block, err := netip.ParsePrefix(s.CIDRBlock); err == nil {
		view.IPCount = strconv.Itoa(1 << (32 - block.Bits()))
	}
	return view
}
