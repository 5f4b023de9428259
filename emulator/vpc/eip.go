package vpc

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var eipActions = []rpc.Action{
	rpc.Write("AllocateEipAddress", allocateEIPAddress),
	rpc.Write("ReleaseEipAddress", releaseEIPAddress),
	rpc.Read("DescribeEipAddresses", describeEIPAddresses),
}

// The ways in which an EIP is paid.
const (
	chargePrePaid = "PrePaid"
	payByTraffic  = "PayByTraffic"
)

type allocateEIPAddressRequest struct {
	tagged
	RegionID                string   `rpc:"RegionId,required"`
	Bandwidth               int      `rpc:"Bandwidth,default=5,min=1,max=500,invalid=BandwidthMalformed"`
	Period                  *int     `rpc:"Period,min=1,max=9"`
	ISP                     string   `rpc:"ISP,default=BGP,enum=BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|ChinaMobile_L2,invalid=ISPIllegal"`
	Netmode                 string   `rpc:"Netmode,default=public,enum=public"`
	AutoPay                 bool     `rpc:"AutoPay"`
	PricingCycle            string   `rpc:"PricingCycle,default=Month,enum=Month|Year"`
	InstanceChargeType      string   `rpc:"InstanceChargeType,default=PostPaid,enum=PrePaid|PostPaid"`
	InternetChargeType      string   `rpc:"InternetChargeType,default=PayByBandwidth,enum=PayByBandwidth|PayByTraffic,invalid=InternetChargeTypeInvalid"`
	ResourceGroupID         string   `rpc:"ResourceGroupId"`
	ClientToken             string   `rpc:"ClientToken"`
	Name                    string   `rpc:"Name,len=1..128"`
	Description             string   `rpc:"Description,len=2..256"`
	SecurityProtectionTypes []string `rpc:"SecurityProtectionTypes,max=10,enum=AntiDDoS_Enhanced,invalid=SecurityProtectionTypesIllegal"`
	PublicIPAddressPoolID   string   `rpc:"PublicIpAddressPoolId"`
	Zone                    string   `rpc:"Zone"`
	IPAddress               string   `rpc:"IpAddress"`
	InstanceID              string   `rpc:"InstanceId"`
}

// maxTrafficBandwidth is the most bandwidth of an EIP that pays for its traffic.
const maxTrafficBandwidth = 200

// Validate implements the gateway's check of shape. It also refuses what the
// world has none of, with the codes of a region that has none, and orders that
// wait to be paid; evidence CLB-0314.
func (r *allocateEIPAddressRequest) Validate() error {
	switch {
	case r.Zone != "" && (r.IPAddress != "" || r.InstanceID != ""):
		return state.Refuse(zoneAndAddress)
	case r.Zone != "" && r.PublicIPAddressPoolID != "":
		return state.Refuse(zoneAndPool)
	case r.Zone != "":
		return state.Refuse(zoneUnsupported)
	case r.PublicIPAddressPoolID != "":
		return state.Refuse(poolNotFound, r.PublicIPAddressPoolID)
	case len(r.SecurityProtectionTypes) > 0:
		return state.Refuse(protectionNotOpen)
	case r.InstanceID != "":
		return state.Refuse(releasedEIPNotFound, r.InstanceID)
	case r.InternetChargeType == payByTraffic && r.Bandwidth > maxTrafficBandwidth:
		return state.Refuse(bandwidthIllegal)
	case r.InstanceChargeType == chargePrePaid && !r.AutoPay:
		return state.Refuse(orderNotPaid)
	}
	return r.check()
}

type allocateEIPAddressResponse struct {
	AllocationID    string `rpc:"AllocationId"`
	EIPAddress      string `rpc:"EipAddress"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

func allocateEIPAddress(tx *state.Tx, req *allocateEIPAddressRequest) (*allocateEIPAddressResponse, error) {
	id, err := state.Once(tx, "AllocateEipAddress", req.ClientToken, req, cloud.EIPs, func() (string, error) { return putEIP(tx, req) })
	if err != nil {
		return nil, err
	}
	eip, err := cloud.EIPs.Get(tx.View, id)
	if err != nil {
		return nil, err
	}
	return &allocateEIPAddressResponse{AllocationID: eip.ID, EIPAddress: eip.IPAddress, ResourceGroupID: eip.ResourceGroupID}, nil
}

func putEIP(tx *state.Tx, req *allocateEIPAddressRequest) (string, error) {
	scope := tx.Scope()
	group, err := resourceGroup(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if err := checkPurchase(tx.View); err != nil {
		return "", err
	}
	region, err := cloud.Regions.Get(tx.View, scope.RegionID)
	if err != nil {
		return "", err
	}
	eip := newEIP(tx, req)
	eip.ResourceGroupID = group
	eip.IPAddress, err = cloud.AllocateAddress(tx, cloud.PublicPool(region.ID), region.PublicCIDRBlock, req.IPAddress, cloud.EIPs.Kind(), eip.ID)
	if err != nil {
		return "", err
	}
	cloud.EIPs.Put(tx, eip)
	req.set(tx, cloud.TagEIP, eip.ID)
	return eip.ID, nil
}

// checkPurchase refuses to sell an EIP to an account that can't pay for it, or that
// has enough of them.
func checkPurchase(v *state.View) error {
	scope := v.Scope()
	account, err := cloud.Accounts.Get(v, scope.AccountID)
	switch {
	case err != nil:
		return err
	case !account.ArrearsSince.IsZero():
		return state.Refuse(accountInArrears)
	case account.Balance < cloud.MinimumBalance:
		return state.Refuse(balanceInsufficient)
	}
	return v.Use(cloud.QuotaEIPs, scope.RegionID, 1)
}

func newEIP(tx *state.Tx, req *allocateEIPAddressRequest) *cloud.EIP {
	return &cloud.EIP{
		Owner:              tx.Scope(),
		ID:                 tx.NewID(cloud.EIPs.Kind()),
		Name:               req.Name,
		Description:        req.Description,
		Status:             cloud.EIPAvailable,
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

func releaseEIPAddress(tx *state.Tx, req *releaseEIPAddressRequest) (*rpc.Empty, error) {
	eip, err := cloud.EIPs.Get(tx.View, req.AllocationID)
	if err != nil {
		return nil, err
	}
	switch {
	case eip.ChargeType == chargePrePaid:
		return nil, state.Refuse(eipIsPrePaid)
	case eip.Status != cloud.EIPAvailable:
		return nil, state.Refuse(eipStatusIncorrect)
	}
	cloud.EIPs.Remove(tx, eip.ID)
	return &rpc.Empty{}, nil
}
