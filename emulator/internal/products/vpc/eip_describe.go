package vpc

import (
	"cmp"
	"strconv"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errInstanceIDTooLong = refusals.New("InstanceIDTooLong", 400, "InstanceIdLength.Exceed",
		"InstanceId length is exceed", "CLB-0300")
	errChargeTypeUnsupported = refusals.New("ChargeTypeUnsupported", 400, "InvalidChargeType.ValueNotSupported",
		"The specified ChargeType is not supported.", "CLB-0300")
	errAssociatedInstanceTypeUnsupported = refusals.New("AssociatedInstanceTypeUnsupported", 400, "InvalidIAssociatedInstanceType.ValueNotSupported",
		"The specified value of AssociatedInstanceType is not supported.", "CLB-0300")
	errFilterKeyUnsupported = refusals.New("FilterKeyUnsupported", 404, "InvalidFilterKey.NotFound",
		"The specified Filterkey is not supported.", "CLB-0300")
	errFilterValueInvalid = refusals.New("FilterValueInvalid", 404, "InvalidFilterValue",
		"The specified FilterValue is not supported.", "CLB-0300")
	errLockReasonNotFound = refusals.New("LockReasonNotFound", 404, "InvalidLockReason.NotFound",
		"The specified LockReason is not found", "CLB-0300")
)

type describeEIPAddressesRequest struct {
	tagged
	RegionID                  string `rpc:"RegionId,required"`
	PageNumber                int    `rpc:"PageNumber,default=1,min=1"`
	PageSize                  int    `rpc:"PageSize,default=10,min=1,max=100"`
	Status                    string `rpc:"Status,enum=Associating|Unassociating|InUse|Available|Releasing"`
	EIPAddress                string `rpc:"EipAddress"`
	AllocationID              string `rpc:"AllocationId"`
	EIPName                   string `rpc:"EipName,len=1..128"`
	ResourceGroupID           string `rpc:"ResourceGroupId"`
	ISP                       string `rpc:"ISP,enum=BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|ChinaMobile_L2"`
	ChargeType                string `rpc:"ChargeType,enum=PostPaid|PrePaid,invalid=ChargeTypeUnsupported"`
	AssociatedInstanceType    string `rpc:"AssociatedInstanceType,enum=EcsInstance|SlbInstance|Nat|HaVip|NetworkInterface|IpAddress,invalid=AssociatedInstanceTypeUnsupported"`
	AssociatedInstanceID      string `rpc:"AssociatedInstanceId"`
	Filter1Key                string `rpc:"Filter.1.Key,enum=CreationStartTime|CreationEndTime,invalid=FilterKeyUnsupported"`
	Filter1Value              string `rpc:"Filter.1.Value"`
	Filter2Key                string `rpc:"Filter.2.Key,enum=CreationStartTime|CreationEndTime,invalid=FilterKeyUnsupported"`
	Filter2Value              string `rpc:"Filter.2.Value"`
	LockReason                string `rpc:"LockReason,enum=financial|security,invalid=LockReasonNotFound"`
	SegmentInstanceID         string `rpc:"SegmentInstanceId"`
	SecurityProtectionEnabled bool   `rpc:"SecurityProtectionEnabled"`
	PublicIPAddressPoolID     string `rpc:"PublicIpAddressPoolId"`
	ServiceManaged            bool   `rpc:"ServiceManaged"`
	gateway.Trial

	createdFrom, createdUntil time.Time
}

// maxListedEIPs limits the EIPs that a comma list names.
const maxListedEIPs = 50

// Validate implements the gateway's check of shape.
func (r *describeEIPAddressesRequest) Validate() error {
	if tooMany(r.EIPAddress, maxListedEIPs) || tooMany(r.AllocationID, maxListedEIPs) || tooMany(r.AssociatedInstanceID, 1) {
		return errInstanceIDTooLong
	}
	for key, value := range map[string]string{r.Filter1Key: r.Filter1Value, r.Filter2Key: r.Filter2Value} {
		if key == "" {
			continue
		}
		// The cloud writes the times of filters without seconds.
		at, err := time.Parse(gateway.MinuteForm, value)
		if err != nil {
			return errFilterValueInvalid.Of(value)
		}
		if key == "CreationStartTime" {
			r.createdFrom = at
		} else {
			r.createdUntil = at
		}
	}
	return r.check()
}

type describeEIPAddressesResponse struct {
	listing.Numbered
	EIPAddresses []eipView `rpc:"EipAddresses>EipAddress"`
}

type eipView struct {
	AllocationID       string        `rpc:"AllocationId"`
	IPAddress          string        `rpc:"IpAddress"`
	Name               string        `rpc:"Name"`
	Description        string        `rpc:"Description"`
	Descritpion        string        `rpc:"Descritpion"` // the cloud's spelling, next to the right one
	Status             string        `rpc:"Status"`
	BusinessStatus     string        `rpc:"BusinessStatus"`
	RegionID           string        `rpc:"RegionId"`
	Bandwidth          string        `rpc:"Bandwidth"`
	EIPBandwidth       string        `rpc:"EipBandwidth"`
	ISP                string        `rpc:"ISP"`
	Netmode            string        `rpc:"Netmode"`
	Mode               string        `rpc:"Mode"`
	ChargeType         string        `rpc:"ChargeType"`
	InternetChargeType string        `rpc:"InternetChargeType"`
	InstanceType       string        `rpc:"InstanceType"`
	InstanceID         string        `rpc:"InstanceId"`
	InstanceRegionID   string        `rpc:"InstanceRegionId"`
	VPCID              string        `rpc:"VpcId"`
	PrivateIPAddress   string        `rpc:"PrivateIpAddress"`
	ResourceGroupID    string        `rpc:"ResourceGroupId"`
	PackageID          string        `rpc:"BandwidthPackageId,omitempty"`
	PackageType        string        `rpc:"BandwidthPackageType,omitempty"`
	PackageBandwidth   string        `rpc:"BandwidthPackageBandwidth,omitempty"`
	DeletionProtection bool          `rpc:"DeletionProtection"`
	SegmentInstanceID  string        `rpc:"SegmentInstanceId"`
	SecondLimited      bool          `rpc:"SecondLimited"`
	HDMonitorStatus    string        `rpc:"HDMonitorStatus"`
	ServiceManaged     int           `rpc:"ServiceManaged"`
	AvailableRegions   []string      `rpc:"AvailableRegions>AvailableRegion"`
	OperationLocks     []eipLock     `rpc:"OperationLocks>LockReason"`
	HasReservationData string        `rpc:"HasReservationData"`
	AllocationTime     string        `rpc:"AllocationTime"`
	Tags               []tagging.Tag `rpc:"Tags>Tag"`
}

// eipLock is the reason of an EIP's lock. No EIP has one, but the list exists, as
// Terraform's provider reads it: CLB-0523.
type eipLock struct {
	Reason string `rpc:"LockReason"`
}

func describeEIPAddresses(v *state.View, req *describeEIPAddressesRequest) (*describeEIPAddressesResponse, error) {
	if req.ResourceGroupID != "" {
		if _, err := kinds.ResourceGroupOf(v, req.ResourceGroupID); err != nil {
			return nil, err
		}
	}
	hasTags := req.filter(v, kinds.TagEIP)
	found := listing.Pick(kinds.EIPsByRegion.InScope(v), func(eip *kinds.EIP) bool {
		return req.matches(eip) && hasTags(eip.ID)
	})
	eips, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeEIPAddressesResponse{Numbered: page, EIPAddresses: listing.Views(v, eips, viewEIP)}, nil
}

func (r *describeEIPAddressesRequest) matches(eip *kinds.EIP) bool {
	return !r.asksForNone() &&
		listing.Matches(r.Status, string(eip.Status)) &&
		listed(r.EIPAddress, eip.IPAddress) &&
		listed(r.AllocationID, eip.ID) &&
		listing.Matches(r.EIPName, eip.Name) &&
		listing.Matches(r.ResourceGroupID, eip.ResourceGroupID) &&
		listing.Matches(r.ISP, eip.ISP) &&
		listing.Matches(r.ChargeType, eip.ChargeType) &&
		listing.Matches(r.associatedType(), eip.InstanceType) &&
		listing.Matches(r.AssociatedInstanceID, eip.InstanceID) &&
		(r.createdFrom.IsZero() || !eip.CreateTime.Before(r.createdFrom)) &&
		(r.createdUntil.IsZero() || !eip.CreateTime.After(r.createdUntil))
}

// asksForNone reports whether the request filters by what no EIP of the world has:
// a lock, a protection, a segment, an address pool, or a service as its owner.
func (r *describeEIPAddressesRequest) asksForNone() bool {
	return r.LockReason != "" || r.SecurityProtectionEnabled || r.SegmentInstanceID != "" ||
		r.PublicIPAddressPoolID != "" || r.ServiceManaged
}

// associatedType returns the type of instance that the request asks for: EcsInstance if it names an
// instance and no type.
func (r *describeEIPAddressesRequest) associatedType() string {
	if r.AssociatedInstanceType == "" && r.AssociatedInstanceID != "" {
		return eipOnInstance
	}
	return r.AssociatedInstanceType
}

// viewEIP shows the private address that the association named, and no VPC: that is
// only shown of an EIP on an address. Evidence CLB-0341 and CLB-0523.
func viewEIP(v *state.View, eip *kinds.EIP) eipView {
	view := eipView{
		AllocationID:       eip.ID,
		IPAddress:          eip.IPAddress,
		Name:               eip.Name,
		Description:        eip.Description,
		Descritpion:        eip.Description,
		Status:             string(eip.Status),
		BusinessStatus:     "Normal",
		RegionID:           eip.RegionID,
		Bandwidth:          eip.Bandwidth,
		EIPBandwidth:       eip.Bandwidth,
		ISP:                eip.ISP,
		Netmode:            "public",
		ChargeType:         eip.ChargeType,
		InternetChargeType: eip.InternetChargeType,
		InstanceType:       eip.InstanceType,
		InstanceID:         eip.InstanceID,
		PrivateIPAddress:   eip.PrivateIPAddress,
		ResourceGroupID:    eip.ResourceGroupID,
		DeletionProtection: eip.DeletionProtection,
		HDMonitorStatus:    "OFF",
		HasReservationData: "false",
		AvailableRegions:   []string{eip.RegionID},
		AllocationTime:     gateway.Second(eip.CreateTime),
		Tags:               tagging.Of(v, kinds.TagEIP, eip.ID),
	}
	if eip.InstanceID != "" {
		view.Mode, view.InstanceRegionID = modeNAT, eip.RegionID
	}
	if p, ok := kinds.BandwidthPackageOf(v, eip); ok {
		view.showPackage(p, eip)
	}
	return view
}

// showPackage adds the package that the EIP is in, whose bandwidth it has unless it
// may only use a part of it: CLB-0401.
func (view *eipView) showPackage(p *kinds.CommonBandwidthPackage, eip *kinds.EIP) {
	view.PackageID, view.PackageType, view.PackageBandwidth = p.ID, "CommonBandwidthPackage", strconv.Itoa(p.Bandwidth)
	view.Bandwidth = strconv.Itoa(cmp.Or(eip.PackageBandwidth, p.Bandwidth))
}
