package clb

import (
	"regexp"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var loadBalancerActions = []gateway.Action{
	gateway.Write("CreateLoadBalancer", createLoadBalancer).Refusing(errModificationProtectionStatusInvalid, errInstanceChargeTypeIllegal, errBandwidthInvalid),
	change("DeleteLoadBalancer", deleteLoadBalancer),
	gateway.Read("DescribeLoadBalancers", describeLoadBalancers),
	gateway.Read("DescribeLoadBalancerAttribute", describeLoadBalancerAttribute),
}

// The refusals of this file.
var (
	errVSwitchMissing = refusals.New("VSwitchMissing", 400, "MissingParam.VSwitchId",
		"The parameter VSwitchId is required.", "CLB-0200")
	errVSwitchNotInVPC = refusals.New("VSwitchNotInVPC", 400, "InvalidVSwitchId.NotFound",
		"The specified vSwitch instance is invalid.", "CLB-0200")
	errIntranetIPv6 = refusals.New("IntranetIPv6", 400, "InvalidParameter.Mismatch",
		"AddressType and IpVersion is conflict, IPv6 does not support intranet instance.", "CLB-0200")
	errIPv6NotOffered = refusals.New("IPv6NotOffered", 400, "RegionOrZonesNotSupportIpv6",
		"The specified region or master/slave zones does not support ipv6.", "CLB-0200")
	errRegionSoldOut = refusals.New("RegionSoldOut", 400, "OperationFailed.RegionResourceLimit",
		"The operation failed because of resource limit of the specified region.", "CLB-0200")
	errZoneNotSold = refusals.New("ZoneNotSold", 400, "PRODUCT.NOT_AVAILABLE_IZ",
		"The Instance zone id doesn t support", "CLB-0200")
	errSharedInstanceNotSold = refusals.New("SharedInstanceNotSold", 400, "ShareSlbHaltSales",
		"The share instance has been discontinued.", "CLB-0200")
	errSubscriptionNotSold = refusals.New("SubscriptionNotSold", 400, "Operation.NotAllowed",
		"Operation Denied. Subscription instances are no longer sold.", "CLB-0212")
	errInternetChargeTypeNotAllowed = refusals.New("InternetChargeTypeNotAllowed", 400, "Instance.InternetChargeTypeNotAllowed",
		"Illegal parameter. The specified InternetChargeType not allowed.", "CLB-0200")
	errBandwidthInvalid = refusals.New("BandwidthInvalid", 400, "InvalidParameter.Bandwidth",
		"The param Bandwidth is invalid.", "CLB-0200").
		In(400, "InvalidParameterBandwidth", "The specified Bandwidth is invalid.", "CLB-0200", "ModifyLoadBalancerInstanceChargeType")
	errPrepaidInternetByTraffic = refusals.New("PrepaidInternetByTraffic", 400, "Operation.NotAllowed",
		"Operation Denied. The charge type of internet prepay instance can only be paybybandwidth.", "CLB-0200")
	errPrepaidIntranetByBandwidth = refusals.New("PrepaidIntranetByBandwidth", 400, "Operation.NotAllowed",
		"Operation Denied. The charge type of intranet prepay instance can only be paybytraffic.", "CLB-0200")
	errPrepaidNotDeletable = refusals.New("PrepaidNotDeletable", 400, "InvalidChargeType",
		"The prepay loadBalancer does not support this action.", "CLB-0200").
		In(400, "OperationUnsupported.DeleteProtectionForPrePayInstance",
			"The operation failed because prepay instance does not support delete protection.", "CLB-0200", "SetLoadBalancerDeleteProtection")
	errModificationProtectionStatusInvalid = refusals.New("ModificationProtectionStatusInvalid", 400, "InvalidParam.ModificationProtectionStatus",
		"The param ModificationProtectionStatus is invalid.", "CLB-0200")
	errModificationProtectionReasonInvalid = refusals.New("ModificationProtectionReasonInvalid", 400, "InvalidParam.ModificationProtectionReason",
		"The param ModificationProtectionReason is invalid.", "CLB-0200")
	errDeleteProtectionOn = refusals.New("DeleteProtectionOn", 400, "OperationDenied.DeleteProtectionIsOn",
		"The loadbalancer can not be deleted due to DeleteProtection is enabled.", "CLB-0200")
	errAccountInArrears = refusals.New("AccountInArrears", 400, "ORDER.ARREARAGE",
		"The account is arrearage.", "CLB-0200")
	errBalanceInsufficient = refusals.New("BalanceInsufficient", 400, "PAY.INSUFFICIENT_BALANCE",
		"Your account does not have enough balance.", "CLB-0200")
	errBalanceNegative = refusals.New("BalanceNegative", 400, "InsufficientAvailableQuota",
		"Your account available balance is less than 0. Please recharge before attempting to make a purchase.", "CLB-0200")
	errAccountIncomplete = refusals.New("AccountIncomplete", 400, "OperationFailed.InvalidAccount",
		"The account information is incomplete.", "CLB-0200")
	errNoPaymentMethod = refusals.New("NoPaymentMethod", 400, "OperationFailed.CashBookInsufficient",
		"No payment method is specified for your account, We recommend that you add a payment method or maintain a prepayment balance.", "CLB-0200")
	errZoneSoldOut = refusals.New("ZoneSoldOut", 400, "OperationFailed.ZoneResourceLimit",
		"The operation failed because of resource limit of the specified zone.", "CLB-0200")
)

const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"

	networkVPC     = "vpc"
	networkClassic = "classic"

	payOnDemand = "PayOnDemand"
	prePay      = "PrePay"

	nonProtection     = "NonProtection"
	consoleProtection = "ConsoleProtection"

	// unlimitedBandwidth appears where only the region's largest bandwidth is a
	// limit: for traffic-charged and for intranet instances. CLB-0110.
	unlimitedBandwidth = 5120

	// elasticSpec is the spec that PayByCLCU instances return. CLB-0111.
	elasticSpec = "slb.lcu.elastic"
)

type createLoadBalancerRequest struct {
	RegionID                     string                   `rpc:"RegionId,required"`
	AddressType                  kinds.AddressType        `rpc:"AddressType,enum=internet|intranet"`
	InternetChargeType           kinds.InternetChargeType `rpc:"InternetChargeType,enum=paybytraffic|paybybandwidth,default=paybytraffic"`
	Bandwidth                    int                      `rpc:"Bandwidth,min=-1,max=5120,except=0,invalid=BandwidthInvalid"`
	ClientToken                  string                   `rpc:"ClientToken,len=1..64"`
	LoadBalancerName             string                   `rpc:"LoadBalancerName,len=1..80"`
	VPCID                        string                   `rpc:"VpcId"`
	VSwitchID                    string                   `rpc:"VSwitchId"`
	MasterZoneID                 string                   `rpc:"MasterZoneId"`
	SlaveZoneID                  string                   `rpc:"SlaveZoneId"`
	LoadBalancerSpec             string                   `rpc:"LoadBalancerSpec,enum=slb.s1.small|slb.s2.small|slb.s2.medium|slb.s3.small|slb.s3.medium|slb.s3.large|slb.s4.large"`
	ResourceGroupID              string                   `rpc:"ResourceGroupId"`
	PayType                      string                   `rpc:"PayType,enum=PayOnDemand|PrePay,default=PayOnDemand"`
	PricingCycle                 string                   `rpc:"PricingCycle,words=month|year,default=month"`
	Duration                     int                      `rpc:"Duration,min=1,max=9,default=1"`
	AutoPay                      bool                     `rpc:"AutoPay"`
	AddressIPVersion             string                   `rpc:"AddressIPVersion,enum=ipv4|ipv6,default=ipv4"`
	Address                      string                   `rpc:"Address"`
	Tags                         []tagging.Tag            `rpc:"Tag"`
	DeleteProtection             string                   `rpc:"DeleteProtection,enum=on|off,default=off"`
	ModificationProtectionStatus string                   `rpc:"ModificationProtectionStatus,enum=NonProtection|ConsoleProtection,default=NonProtection,invalid=ModificationProtectionStatusInvalid"`
	ModificationProtectionReason string                   `rpc:"ModificationProtectionReason,len=1..80,form=letterFirst,invalid=ModificationProtectionReasonInvalid"`
	InstanceChargeType           kinds.InstanceChargeType `rpc:"InstanceChargeType,enum=PayBySpec|PayByCLCU,invalid=InstanceChargeTypeIllegal"`
}

type createLoadBalancerResponse struct {
	LoadBalancerID   string `rpc:"LoadBalancerId"`
	LoadBalancerName string `rpc:"LoadBalancerName"`
	Address          string `rpc:"Address"`
	AddressIPVersion string `rpc:"AddressIPVersion"`
	NetworkType      string `rpc:"NetworkType"`
	VPCID            string `rpc:"VpcId"`
	VSwitchID        string `rpc:"VSwitchId"`
	ResourceGroupID  string `rpc:"ResourceGroupId"`
	OrderID          int64  `rpc:"OrderId"`
}

// Validate settles what depends on other parameters and enforces the rules that
// need no state.
func (req *createLoadBalancerRequest) Validate() error {
	if req.AddressType == "" {
		req.AddressType = kinds.AddressTypeInternet
		if req.VSwitchID != "" {
			req.AddressType = kinds.AddressTypeIntranet
		}
	}
	if err := checkLoadBalancerName(req.LoadBalancerName); err != nil {
		return err
	}
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	if req.AddressType == kinds.AddressTypeIntranet && req.AddressIPVersion == ipv6 {
		return errIntranetIPv6
	}
	if req.ModificationProtectionReason != "" && req.ModificationProtectionStatus != consoleProtection {
		return errModificationProtectionReasonInvalid
	}
	return req.validateCharges()
}

func (req *createLoadBalancerRequest) validateCharges() error {
	internet := req.AddressType == kinds.AddressTypeInternet
	switch {
	case req.InstanceChargeType == kinds.PayByCLCU && req.InternetChargeType != kinds.PayByTraffic:
		return errInternetChargeTypeNotAllowed
	case internet && req.InternetChargeType == kinds.PayByBandwidth && req.Bandwidth < 1:
		return errBandwidthInvalid
	case req.PayType == prePay && internet && req.InternetChargeType != kinds.PayByBandwidth:
		return errPrepaidInternetByTraffic
	case req.PayType == prePay && !internet && req.InternetChargeType != kinds.PayByTraffic:
		return errPrepaidIntranetByBandwidth
	}
	return nil
}

// loadBalancerName matches a valid name: it starts with a letter, of any script, and
// goes on with letters, digits and - . _ /.
var loadBalancerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\pL[\pL\pN\-._/]*$`) })

func checkLoadBalancerName(name string) error {
	if name != "" && !loadBalancerName().MatchString(name) {
		return gateway.Invalid("LoadBalancerName")
	}
	return nil
}

// createLoadBalancer answers when the instance has its id and address; a
// token that made one before gets that one again, whatever the region sells by then.
func createLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*createLoadBalancerResponse, error) {
	lb, err := state.OnceMade(tx, "CreateLoadBalancer", req.ClientToken, req, kinds.LoadBalancers, func() (string, error) {
		return putLoadBalancer(tx, *req)
	})
	if err != nil {
		return nil, err
	}
	return newCreateLoadBalancerResponse(lb), nil
}

// putLoadBalancer completes its copy of the request from what the region sells.
func putLoadBalancer(tx *state.Tx, req createLoadBalancerRequest) (string, error) {
	region, err := kinds.Regions.Get(tx.View, tx.Scope().RegionID)
	if err != nil {
		return "", err
	}
	if err := req.settleCharges(region); err != nil {
		return "", err
	}
	if err := checkPurchase(tx.View); err != nil {
		return "", err
	}
	lb, err := newLoadBalancer(tx, &req)
	if err != nil {
		return "", err
	}
	if lb.AddressType == kinds.AddressTypeIntranet {
		err = joinVSwitch(tx, region, lb, &req)
	} else {
		err = joinInternet(tx, region, lb, &req)
	}
	if err != nil {
		return "", err
	}
	kinds.LoadBalancers.Put(tx, lb)
	tagging.Set(tx, kinds.TagLoadBalancer, lb.ID, req.Tags)
	kinds.TagCreator(tx, kinds.TagLoadBalancer, lb.ID)
	return lb.ID, nil
}

func newCreateLoadBalancerResponse(lb *kinds.LoadBalancer) *createLoadBalancerResponse {
	return &createLoadBalancerResponse{
		LoadBalancerID:   lb.ID,
		LoadBalancerName: lb.Name,
		Address:          lb.Address,
		AddressIPVersion: lb.AddressIPVersion,
		NetworkType:      lb.NetworkType,
		VPCID:            lb.VPCID,
		VSwitchID:        lb.VSwitchID,
		ResourceGroupID:  lb.ResourceGroupID,
		OrderID:          lb.OrderID,
	}
}

// settleCharges chooses the charge type if the request does not, and enforces what
// the region sells. CLB-0210, CLB-0212, CLB-0214.
func (req *createLoadBalancerRequest) settleCharges(region *kinds.Region) error {
	chosen := req.InstanceChargeType != ""
	if !chosen {
		req.InstanceChargeType = region.ChargeType(req.LoadBalancerSpec)
	}
	shared := req.InstanceChargeType == kinds.PayBySpec && req.LoadBalancerSpec == ""
	switch {
	case req.PayType == prePay && !region.SubscriptionsSold:
		return errSubscriptionNotSold
	case shared && region.SharedInstancesSold:
	case req.InstanceChargeType == kinds.PayBySpec && !region.PayBySpecSold:
		return errInstanceChargeTypeIllegal
	case shared && chosen:
		return errSpecMissing
	case shared:
		return errSharedInstanceNotSold
	}
	return req.validateCharges()
}

// checkPurchase enforces what the account must be like to buy an instance:
// one that owes buys nothing, nor does one without balance.
func checkPurchase(v *state.View) error {
	account, err := kinds.Accounts.Get(v, v.Scope().AccountID)
	switch {
	case err != nil:
		return err
	case account.Incomplete:
		return errAccountIncomplete
	case account.Unpayable:
		return errNoPaymentMethod
	case account.ArrearsSince.IsZero() && account.Balance < 0:
		return errBalanceNegative
	}
	if err := checkSolvency(v); err != nil {
		return err
	}
	return v.Use(kinds.QuotaLoadBalancers, v.Scope().AccountID, 1)
}

// checkSolvency refuses a purchase to an account that owes or has too little.
func checkSolvency(v *state.View) error {
	return kinds.CheckPayment(v, errAccountInArrears, errBalanceInsufficient)
}

func newLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*kinds.LoadBalancer, error) {
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	lb := &kinds.LoadBalancer{
		Owner:                        tx.Scope(),
		ID:                           tx.NewID(kinds.LoadBalancers.Kind()),
		Name:                         req.LoadBalancerName,
		Status:                       kinds.LoadBalancerActive,
		AddressType:                  req.AddressType,
		AddressIPVersion:             req.AddressIPVersion,
		InstanceChargeType:           req.InstanceChargeType,
		InternetChargeType:           req.InternetChargeType,
		Spec:                         req.LoadBalancerSpec,
		Bandwidth:                    unlimitedBandwidth,
		PayType:                      req.PayType,
		ResourceGroupID:              group,
		DeleteProtection:             req.DeleteProtection,
		ModificationProtectionStatus: req.ModificationProtectionStatus,
		ModificationProtectionReason: req.ModificationProtectionReason,
		CreateTime:                   tx.Now(),
	}
	if lb.Name == "" {
		lb.Name = "auto_named_slb"
	}
	if lb.InstanceChargeType == kinds.PayByCLCU {
		lb.Spec = elasticSpec
	}
	if lb.PayType == prePay {
		lb.OrderID = tx.NewOrderID()
		lb.EndTime = endOfSubscription(tx.Now(), req.PricingCycle, req.Duration)
	}
	return lb, nil
}

func endOfSubscription(start time.Time, cycle string, duration int) time.Time {
	if cycle == "year" {
		return start.AddDate(duration, 0, 0)
	}
	return start.AddDate(0, duration, 0)
}

// joinVSwitch gives an intranet load balancer its network, zones and address.
// An intranet instance always pays by traffic: CLB-0103.
func joinVSwitch(tx *state.Tx, region *kinds.Region, lb *kinds.LoadBalancer, req *createLoadBalancerRequest) error {
	if req.VSwitchID == "" {
		return errVSwitchMissing
	}
	if req.VPCID != "" {
		if _, err := kinds.VPCs.Get(tx.View, req.VPCID); err != nil {
			return err
		}
	}
	vSwitch, err := kinds.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return err
	}
	if req.VPCID != "" && req.VPCID != vSwitch.VPCID {
		return errVSwitchNotInVPC
	}
	lb.NetworkType, lb.VPCID, lb.VSwitchID = networkVPC, vSwitch.VPCID, vSwitch.ID
	lb.InternetChargeType = kinds.PayByTraffic
	if err := chooseZones(region, lb, req, vSwitch.ZoneID); err != nil {
		return err
	}
	lb.Address, err = kinds.AllocateAddress(tx, vSwitch.ID, vSwitch.CIDRBlock, req.Address, kinds.LoadBalancers.Kind(), lb.ID)
	return err
}

// joinInternet gives an internet load balancer its zones and public address.
// It ignores parameters of a VPC: CLB-0104.
func joinInternet(tx *state.Tx, region *kinds.Region, lb *kinds.LoadBalancer, req *createLoadBalancerRequest) (err error) {
	lb.NetworkType = networkClassic
	if lb.InternetChargeType == kinds.PayByBandwidth {
		lb.Bandwidth = req.Bandwidth
	}
	if err := chooseZones(region, lb, req, ""); err != nil {
		return err
	}
	if region.AddressesHalted {
		return errRegionSoldOut
	}
	block := region.PublicCIDRBlock
	if lb.AddressIPVersion == ipv6 {
		if !region.SellsIPv6() {
			return errIPv6NotOffered
		}
		block = region.PublicIPv6CIDRBlock
	}
	lb.Address, err = kinds.AllocateAddress(tx, kinds.PublicPool(region.ID), block, "", kinds.LoadBalancers.Kind(), lb.ID)
	if err != nil {
		return errRegionSoldOut
	}
	return nil
}

// chooseZones takes the first pair of zones that fits the request and is
// in stock; with nothing asked, one whose master is the preferred zone, if there
// is any.
func chooseZones(region *kinds.Region, lb *kinds.LoadBalancer, req *createLoadBalancerRequest, preferred string) error {
	master := req.MasterZoneID
	if master == "" && req.SlaveZoneID == "" {
		master = preferred
	}
	refusal := errZoneNotSold
	for _, masters := range []string{master, req.MasterZoneID} {
		for _, pair := range region.ZonePairs {
			switch {
			case masters != "" && pair.Master != masters, req.SlaveZoneID != "" && pair.Slave != req.SlaveZoneID:
				continue
			case !region.InStock(pair.Master, lb.AddressType) || !region.InStock(pair.Slave, lb.AddressType):
				refusal = errZoneSoldOut
				continue
			}
			lb.MasterZoneID, lb.SlaveZoneID = pair.Master, pair.Slave
			return nil
		}
	}
	return refusal
}

type loadBalancerRequest struct {
	RegionID       string `rpc:"RegionId"`
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

func (req *loadBalancerRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

type deleteLoadBalancerRequest struct {
	gateway.Caller
	loadBalancerRequest
}

// deleteLoadBalancer takes everything with it that belongs to the instance
// alone; an EIP stays and becomes free.
func deleteLoadBalancer(tx *state.Tx, req *deleteLoadBalancerRequest) (*gateway.Empty, error) {
	lb, err := kinds.LoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	switch {
	case lb.DeleteProtection == kinds.On:
		return nil, errDeleteProtectionOn
	case lb.PayType == prePay:
		return nil, errPrepaidNotDeletable
	}
	for range kinds.EIPsByInstance.List(tx.View, lb.ID) {
		if err := needRole(tx, req.Caller, kinds.RoleForEIPs, errNoRoleForEIPs); err != nil {
			return nil, err
		}
		break
	}
	kinds.LoadBalancers.Remove(tx, lb.ID)
	return &gateway.Empty{}, nil
}
