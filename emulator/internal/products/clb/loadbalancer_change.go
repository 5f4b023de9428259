package clb

import (
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var loadBalancerChangeActions = []gateway.Action{
	change("SetLoadBalancerName", setLoadBalancerName),
	change("SetLoadBalancerStatus", setLoadBalancerStatus),
	change("SetLoadBalancerDeleteProtection", setLoadBalancerDeleteProtection),
	change("SetLoadBalancerModificationProtection", setLoadBalancerModificationProtection).Refusing(errModificationProtectionStatusInvalid),
	change("ModifyLoadBalancerInstanceSpec", modifyLoadBalancerInstanceSpec),
	change("ModifyLoadBalancerInstanceChargeType", modifyLoadBalancerInstanceChargeType).Refusing(errInstanceChargeTypeIllegal, errBandwidthInvalid),
	change("ModifyLoadBalancerInternetSpec", modifyLoadBalancerInternetSpec).Refusing(errBandwidthInvalid),
	change("ModifyLoadBalancerPayType", modifyLoadBalancerPayType),
}

// The refusals of this file.
var (
	errPrepaidSpecDown = refusals.New("PrepaidSpecDown", 400, "Operation.NotAllowed",
		"Operation Denied. Prepay instance only permitted to increase loadBalancerSpec.", "CLB-0200")
	errPrepaidBandwidthDown = refusals.New("PrepaidBandwidthDown", 400, "Operation.NotAllowed",
		"Operation Denied. Prepay instance only permitted to increase internet bandwidth.", "CLB-0200")
	errPrepaidChargeType = refusals.New("PrepaidChargeType", 400, "Operation.NotAllowed",
		"Operation Denied. Prepay instance only permitted to modify internet bandwidth.", "CLB-0201")
	errNotForPayByCLCU = refusals.New("NotForPayByCLCU", 400, "OperationDenied.PayByCLCU",
		"The operation is not allowed because the instanceChargeType of loadbalancer is PayByCLCU.", "CLB-0200")
	errAlreadyPayBySpec = refusals.New("AlreadyPayBySpec", 400, "OperationDenied.PayBySpec",
		"The operation is not allowed because the instanceChargeType of loadbalancer is PayBySpec.", "CLB-0200")
	errCLCUToSpec = refusals.New("CLCUToSpec", 400, "Forbidden.LcuToSpec",
		"User does not have permission modify InstanceChargeType to spec.", "CLB-0200")
	errInstanceChargeTypeIllegal = refusals.New("InstanceChargeTypeIllegal", 400, "IllegalParam.InstanceChargeType",
		"The parameter InstanceChargeType is illegal.", "CLB-0200")
	errInternetChargeTypeIllegal = refusals.New("InternetChargeTypeIllegal", 400, "IllegalParam.InternetChargeType",
		"The parameter InternetChargeType is illegal.", "CLB-0200")
	errIntranetByBandwidth = refusals.New("IntranetByBandwidth", 400, "ActionNotAllowed",
		"The Intranet LB's InternetChargeType is not allowed change to paybybandwidth.", "CLB-0201")
	errOnlyToPrepaid = refusals.New("OnlyToPrepaid", 400, "Operation.NotAllowed",
		"Only allow changing loadBalancer from PayOnDemand to PrePay.", "CLB-0201")
	errByTrafficToPrepaid = refusals.New("ByTrafficToPrepaid", 400, "Operation.NotAllowed",
		"Cannot change internet payByTraffic loadBalancer from PayOnDemand to PrePay.", "CLB-0200")
	errOrderUnfinished = refusals.New("OrderUnfinished", 400, "Operation.NotAllowed",
		"Operation Denied. Unfinished order exists.", "CLB-0201")
	errSpecUnpaid = refusals.New("SpecUnpaid", 400, "Operation.NotAllowed",
		"Operation Denied, Your account does not have enough balance.", "CLB-0200")
	errBillsUnpaid = refusals.New("BillsUnpaid", 400, "OperationFailed.UnpaidBillsExist",
		"The account has unpaid bills. Please pay your overdue bill first.", "CLB-0200")
	errSpecMissing = refusals.New("SpecMissing", 400, "MissingParam.LoadBalancerSpec",
		"The param LoadBalancerSpec is required.", "CLB-0200")
	errSpecInvalid = refusals.New("SpecInvalid", 400, "InvalidParameter",
		"The specified LoadBalancerSpec is invalid.", "CLB-0200")
)

// editLoadBalancer changes one load balancer; the answer is a RequestId.
func editLoadBalancer(tx *state.Tx, id string, change func(*kinds.LoadBalancer) error) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.LoadBalancers.Edit(tx, id, change)
}

type setLoadBalancerNameRequest struct {
	loadBalancerRequest
	LoadBalancerName string `rpc:"LoadBalancerName,required,len=1..80"`
}

// Validate checks the characters of the name.
func (req *setLoadBalancerNameRequest) Validate() error {
	return checkLoadBalancerName(req.LoadBalancerName)
}

func setLoadBalancerName(tx *state.Tx, req *setLoadBalancerNameRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		lb.Name = req.LoadBalancerName
		return nil
	})
}

type setLoadBalancerStatusRequest struct {
	loadBalancerRequest
	LoadBalancerStatus kinds.LoadBalancerStatus `rpc:"LoadBalancerStatus,required,enum=active|inactive"`
}

func setLoadBalancerStatus(tx *state.Tx, req *setLoadBalancerStatusRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		lb.Status, lb.Idle = req.LoadBalancerStatus, false
		return nil
	})
}

type setLoadBalancerDeleteProtectionRequest struct {
	ofLoadBalancer
	DeleteProtection string `rpc:"DeleteProtection,required,enum=on|off"`
}

func setLoadBalancerDeleteProtection(tx *state.Tx, req *setLoadBalancerDeleteProtectionRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		if lb.PayType == prePay {
			return errPrepaidNotDeletable
		}
		lb.DeleteProtection = req.DeleteProtection
		return nil
	})
}

type setLoadBalancerModificationProtectionRequest struct {
	ofLoadBalancer
	ModificationProtectionStatus string `rpc:"ModificationProtectionStatus,required,enum=NonProtection|ConsoleProtection,invalid=ModificationProtectionStatusInvalid"`
	ModificationProtectionReason string `rpc:"ModificationProtectionReason,len=1..80,form=letterFirst,invalid=ModificationProtectionReasonInvalid"`
}

// setLoadBalancerModificationProtection keeps the setting; it protects from
// changes in the console, never from the API's.
func setLoadBalancerModificationProtection(tx *state.Tx, req *setLoadBalancerModificationProtectionRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		lb.ModificationProtectionStatus = req.ModificationProtectionStatus
		switch {
		case req.ModificationProtectionStatus == nonProtection:
			lb.ModificationProtectionReason = ""
		case req.ModificationProtectionReason != "":
			lb.ModificationProtectionReason = req.ModificationProtectionReason
		}
		return nil
	})
}

type modifyLoadBalancerInstanceSpecRequest struct {
	loadBalancerRequest
	LoadBalancerSpec string `rpc:"LoadBalancerSpec,required,enum=slb.s1.small|slb.s2.small|slb.s2.medium|slb.s3.small|slb.s3.medium|slb.s3.large|slb.s4.large"`
	AutoPay          bool   `rpc:"AutoPay"`
}

type orderResponse struct {
	OrderID int64 `rpc:"OrderId"`
}

// specRank orders the specs by price: a subscription may only go up.
var specRank = map[string]int{
	"slb.s1.small": 1, "slb.s2.small": 2, "slb.s2.medium": 3,
	"slb.s3.small": 4, "slb.s3.medium": 5, "slb.s3.large": 6, "slb.s4.large": 7,
}

func modifyLoadBalancerInstanceSpec(tx *state.Tx, req *modifyLoadBalancerInstanceSpecRequest) (*orderResponse, error) {
	resp := &orderResponse{OrderID: tx.NewOrderID()}
	_, err := editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		switch {
		case lb.InstanceChargeType == kinds.PayByCLCU:
			return errNotForPayByCLCU
		case lb.PayType == prePay && specRank[req.LoadBalancerSpec] < specRank[lb.Spec]:
			return errPrepaidSpecDown
		}
		if err := kinds.CheckPayment(tx.View, errSpecUnpaid, errSpecUnpaid); err != nil {
			return err
		}
		lb.Spec = req.LoadBalancerSpec
		return nil
	})
	return resp, err
}

type modifyLoadBalancerInstanceChargeTypeRequest struct {
	RegionID           string                   `rpc:"RegionId,required"`
	LoadBalancerID     string                   `rpc:"LoadBalancerId,required"`
	InstanceChargeType kinds.InstanceChargeType `rpc:"InstanceChargeType,required,enum=PayByCLCU|PayBySpec,invalid=InstanceChargeTypeIllegal"`
	InternetChargeType string                   `rpc:"InternetChargeType,enum=paybytraffic|paybybandwidth,invalid=InternetChargeTypeIllegal"`
	LoadBalancerSpec   string                   `rpc:"LoadBalancerSpec"`
	Bandwidth          int                      `rpc:"Bandwidth,min=-1,max=5120,except=0,invalid=BandwidthInvalid"`
}

func (req *modifyLoadBalancerInstanceChargeTypeRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

func modifyLoadBalancerInstanceChargeType(tx *state.Tx, req *modifyLoadBalancerInstanceChargeTypeRequest) (*gateway.Empty, error) {
	return editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		if err := kinds.CheckPayment(tx.View, errBillsUnpaid, nil); err != nil {
			return err
		}
		if req.InstanceChargeType == kinds.PayByCLCU {
			return toPayByCLCU(lb, req)
		}
		return toPayBySpec(tx.View, lb, req)
	})
}

// toPayBySpec changes a load balancer to PayBySpec, for accounts on the whitelist. CLB-0175.
func toPayBySpec(v *state.View, lb *kinds.LoadBalancer, req *modifyLoadBalancerInstanceChargeTypeRequest) error {
	account, err := kinds.Accounts.Get(v, lb.AccountID)
	if err != nil {
		return err
	}
	switch {
	case lb.InstanceChargeType == kinds.PayBySpec:
		return errAlreadyPayBySpec
	case !account.LCUToSpec:
		return errCLCUToSpec
	case req.LoadBalancerSpec == "":
		return errSpecMissing
	case specRank[req.LoadBalancerSpec] == 0:
		return errSpecInvalid
	}
	lb.InstanceChargeType, lb.Spec = kinds.PayBySpec, req.LoadBalancerSpec
	return nil
}

// toPayByCLCU takes effect at once; such an instance pays by traffic only.
func toPayByCLCU(lb *kinds.LoadBalancer, req *modifyLoadBalancerInstanceChargeTypeRequest) error {
	switch {
	case lb.InstanceChargeType == kinds.PayByCLCU:
		return errNotForPayByCLCU
	case req.InternetChargeType == string(kinds.PayByBandwidth):
		return errInternetChargeTypeIllegal
	case req.InternetChargeType == "" && lb.InternetChargeType != kinds.PayByTraffic:
		return errInternetChargeTypeIllegal
	}
	lb.InstanceChargeType, lb.InternetChargeType = kinds.PayByCLCU, kinds.PayByTraffic
	lb.Spec, lb.Bandwidth, lb.Ineffective = elasticSpec, unlimitedBandwidth, nil
	return nil
}

type modifyLoadBalancerInternetSpecRequest struct {
	loadBalancerRequest
	InternetChargeType kinds.InternetChargeType `rpc:"InternetChargeType,enum=paybybandwidth|paybytraffic"`
	Bandwidth          int                      `rpc:"Bandwidth,min=-1,max=5120,except=0,invalid=BandwidthInvalid"`
	AutoPay            bool                     `rpc:"AutoPay"`
}

// modifyLoadBalancerInternetSpec changes the bandwidth at once; another charge
// type waits for the next day. Bandwidth takes what a Describe returned, also
// where it has no meaning: a CCM sends it back. CLB-0108.
func modifyLoadBalancerInternetSpec(tx *state.Tx, req *modifyLoadBalancerInternetSpecRequest) (*orderResponse, error) {
	resp := &orderResponse{OrderID: tx.NewOrderID()}
	_, err := editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		charge := req.InternetChargeType
		if charge == "" {
			charge = lb.InternetChargeType
		}
		byBandwidth := charge == kinds.PayByBandwidth
		switch {
		case lb.InstanceChargeType == kinds.PayByCLCU:
			return errNotForPayByCLCU
		case lb.AddressType == kinds.AddressTypeIntranet && byBandwidth:
			return errIntranetByBandwidth
		case byBandwidth && req.Bandwidth < 1 && charge != lb.InternetChargeType:
			return errBandwidthInvalid
		case lb.PayType == prePay && charge != lb.InternetChargeType:
			return errPrepaidChargeType
		case lb.PayType == prePay && byBandwidth && req.Bandwidth > 0 && req.Bandwidth < lb.Bandwidth:
			return errPrepaidBandwidthDown
		}
		if err := kinds.CheckPayment(tx.View, errBillsUnpaid, nil); err != nil {
			return err
		}
		changeInternetSpec(tx, lb, charge, req.Bandwidth)
		return nil
	})
	return resp, err
}

func changeInternetSpec(tx *state.Tx, lb *kinds.LoadBalancer, charge kinds.InternetChargeType, width int) {
	if charge != lb.InternetChargeType {
		if charge == kinds.PayByTraffic {
			width = unlimitedBandwidth
		}
		kinds.OrderInternetSpec(tx, lb, &kinds.InternetSpecChange{
			InternetChargeType: charge, Bandwidth: width, EffectiveAt: nextMidnight(tx.Now()),
		})
		return
	}
	lb.Ineffective = nil
	if charge == kinds.PayByBandwidth && width > 0 {
		lb.Bandwidth = width
	}
}

type modifyLoadBalancerPayTypeRequest struct {
	ofLoadBalancer
	PayType      string `rpc:"PayType,enum=PayOnDemand|PrePay,default=PrePay"`
	PricingCycle string `rpc:"PricingCycle,words=year|month,default=month"`
	Duration     int    `rpc:"Duration,min=1,max=9,default=1"`
	AutoPay      bool   `rpc:"AutoPay"`
}

// modifyLoadBalancerPayType orders a subscription. clbemu pays an order at once, also
// where AutoPay is off, as no user can: CLB-0185.
func modifyLoadBalancerPayType(tx *state.Tx, req *modifyLoadBalancerPayTypeRequest) (*orderResponse, error) {
	resp := &orderResponse{OrderID: tx.NewOrderID()}
	_, err := editLoadBalancer(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		region, err := kinds.Regions.Get(tx.View, lb.RegionID)
		if err != nil {
			return err
		}
		internet := lb.AddressType == kinds.AddressTypeInternet
		switch {
		case lb.InstanceChargeType == kinds.PayByCLCU:
			return errNotForPayByCLCU
		case lb.PayType == prePay || req.PayType != prePay:
			return errOnlyToPrepaid
		case !region.SubscriptionsSold:
			return errSubscriptionNotSold
		case lb.Ineffective != nil:
			return errOrderUnfinished
		case internet && lb.InternetChargeType == kinds.PayByTraffic:
			return errByTrafficToPrepaid
		}
		if err := checkSolvency(tx.View); err != nil {
			return err
		}
		lb.PayType, lb.OrderID = prePay, resp.OrderID
		lb.EndTime = endOfSubscription(tx.Now(), req.PricingCycle, req.Duration)
		return nil
	})
	return resp, err
}

// beijing is the time zone in which the cloud's days begin.
var beijing = time.FixedZone("UTC+8", 8*60*60)

func nextMidnight(now time.Time) time.Time {
	y, m, d := now.In(beijing).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, beijing).UTC()
}
