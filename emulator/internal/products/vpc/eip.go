package vpc

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var eipActions = []gateway.Action{
	gateway.Write("AllocateEipAddress", allocateEIPAddress).
		Refusing(errBandwidthMalformed, errISPIllegal, errInternetChargeTypeInvalid),
	gateway.Write("ReleaseEipAddress", releaseEIPAddress),
	gateway.Read("DescribeEipAddresses", describeEIPAddresses).
		Refusing(errAssociatedInstanceTypeUnsupported, errChargeTypeUnsupported, errFilterKeyUnsupported, errLockReasonNotFound),
}

// The refusals of this file.
var (
	errBandwidthMalformed = refusals.New("BandwidthMalformed", 400, "InvalidBandwidth.Malformed",
		"The specified Bandwidth is invalid.", "CLB-0300")
	errBandwidthIllegal = refusals.New("BandwidthIllegal", 400, "IllegalParam.Bandwidth",
		"The param of bandwidth is illegal.", "CLB-0300")
	errISPIllegal = refusals.New("ISPIllegal", 400, "IllegalParam.Isp",
		"The param of ISP is illegal.", "CLB-0203")
	errInternetChargeTypeInvalid = refusals.New("InternetChargeTypeInvalid", 400, "InvalidParameter",
		`Specified value of "InternetChargeType" is not valid`, "CLB-0300")
	errReleasedEIPNotFound = refusals.New("ReleasedEIPNotFound", 400, "ResourceNotFound.Ip",
		"The specified ip is not found.", "CLB-0300")
	errOrderNotPaid = refusals.New("OrderNotPaid", 400, "OrderFailed",
		"The Account failed to create order.", "CLB-0203")
	errAccountInArrears = refusals.New("AccountInArrears", 400, "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR",
		"You have arrears and do not meet the purchase conditions.", "CLB-0351")
	errBalanceInsufficient = refusals.New("BalanceInsufficient", 400, "PAY.INSUFFICIENT_BALANCE",
		"Your account does not have enough balance.", "CLB-0351")
	errEIPIsPrePaid = refusals.New("EIPIsPrePaid", 400, "Forbidden.ChargeTypeIsPrepaid",
		"It's forbidden to release a prepaid EIP", "CLB-0300")
)

// The ways to pay for an EIP.
const (
	chargePrePaid = "PrePaid"
	payByTraffic  = "PayByTraffic"
)

type allocateEIPAddressRequest struct {
	tagged
	RegionID           string `rpc:"RegionId,required"`
	Bandwidth          int    `rpc:"Bandwidth,default=5,min=1,max=500,invalid=BandwidthMalformed"`
	Period             *int   `rpc:"Period,min=1,max=9"`
	ISP                string `rpc:"ISP,default=BGP,enum=BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|ChinaMobile_L2,invalid=ISPIllegal"`
	AutoPay            bool   `rpc:"AutoPay"`
	PricingCycle       string `rpc:"PricingCycle,default=Month,enum=Month|Year"`
	InstanceChargeType string `rpc:"InstanceChargeType,default=PostPaid,enum=PrePaid|PostPaid"`
	InternetChargeType string `rpc:"InternetChargeType,default=PayByBandwidth,enum=PayByBandwidth|PayByTraffic,invalid=InternetChargeTypeInvalid"`
	ResourceGroupID    string `rpc:"ResourceGroupId"`
	ClientToken        string `rpc:"ClientToken"`
	Name               string `rpc:"Name,len=1..128"`
	Description        string `rpc:"Description,len=2..256"`
	IPAddress          string `rpc:"IpAddress"`
	InstanceID         string `rpc:"InstanceId"`
}

// maxTrafficBandwidth is the most bandwidth of an EIP that pays for its traffic.
const maxTrafficBandwidth = 200

// Validate implements the gateway's check of shape. It also refuses a released EIP, which
// the world does not remember, and orders that wait to be paid; evidence CLB-0314.
func (r *allocateEIPAddressRequest) Validate() error {
	switch {
	case r.InstanceID != "":
		return errReleasedEIPNotFound.Of(r.InstanceID)
	case r.InternetChargeType == payByTraffic && r.Bandwidth > maxTrafficBandwidth:
		return errBandwidthIllegal
	case r.InstanceChargeType == chargePrePaid && !r.AutoPay:
		return errOrderNotPaid
	}
	return r.check()
}

type allocateEIPAddressResponse struct {
	AllocationID    string `rpc:"AllocationId"`
	EIPAddress      string `rpc:"EipAddress"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

func allocateEIPAddress(tx *state.Tx, req *allocateEIPAddressRequest) (*allocateEIPAddressResponse, error) {
	eip, err := state.OnceMade(tx, "AllocateEipAddress", req.ClientToken, req, kinds.EIPs, func() (string, error) { return putEIP(tx, req) })
	if err != nil {
		return nil, err
	}
	return &allocateEIPAddressResponse{AllocationID: eip.ID, EIPAddress: eip.IPAddress, ResourceGroupID: eip.ResourceGroupID}, nil
}

func putEIP(tx *state.Tx, req *allocateEIPAddressRequest) (string, error) {
	scope := tx.Scope()
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if err := checkPurchase(tx.View, kinds.QuotaEIPs); err != nil {
		return "", err
	}
	region, err := kinds.Regions.Get(tx.View, scope.RegionID)
	if err != nil {
		return "", err
	}
	eip := newEIP(tx, req)
	eip.ResourceGroupID = group
	eip.IPAddress, err = kinds.AllocateAddress(tx, kinds.PublicPool(region.ID), region.PublicCIDRBlock, req.IPAddress, kinds.EIPs.Kind(), eip.ID)
	if err != nil {
		return "", err
	}
	kinds.EIPs.Put(tx, eip)
	req.set(tx, kinds.TagEIP, eip.ID)
	return eip.ID, nil
}

// checkPurchase refuses to sell to an account that can't pay, or that has enough.
func checkPurchase(v *state.View, quota state.QuotaName) error {
	if err := checkPayment(v); err != nil {
		return err
	}
	return v.Use(quota, v.Scope().RegionID, 1)
}

// checkPayment refuses to sell to an account that can't pay.
func checkPayment(v *state.View) error {
	return kinds.CheckPayment(v, errAccountInArrears, errBalanceInsufficient)
}

func newEIP(tx *state.Tx, req *allocateEIPAddressRequest) *kinds.EIP {
	return &kinds.EIP{
		Owner:              tx.Scope(),
		ID:                 tx.NewID(kinds.EIPs.Kind()),
		Name:               req.Name,
		Description:        req.Description,
		Status:             kinds.EIPAvailable,
		Bandwidth:          strconv.Itoa(req.Bandwidth),
		ISP:                req.ISP,
		InternetChargeType: req.InternetChargeType,
		ChargeType:         req.InstanceChargeType,
		CreateTime:         tx.Now(),
	}
}

type releaseEIPAddressRequest struct {
	AllocationID string `rpc:"AllocationId,required"`
}

func releaseEIPAddress(tx *state.Tx, req *releaseEIPAddressRequest) (*gateway.Empty, error) {
	eip, err := kinds.EIPs.Get(tx.View, req.AllocationID)
	if err != nil {
		return nil, err
	}
	switch {
	case eip.ChargeType == chargePrePaid:
		return nil, errEIPIsPrePaid
	case eip.Status != kinds.EIPAvailable:
		return nil, errEIPStatusIncorrect
	case eip.DeletionProtection:
		return nil, errDeletionProtected
	}
	kinds.EIPs.Remove(tx, eip.ID)
	return &gateway.Empty{}, nil
}
