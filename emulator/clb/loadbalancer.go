package clb

import (
	"regexp"
	"time"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var loadBalancerActions = []rpc.Action{
	rpc.Write("CreateLoadBalancer", createLoadBalancer),
	rpc.Write("DeleteLoadBalancer", deleteLoadBalancer),
	rpc.Read("DescribeLoadBalancers", describeLoadBalancers),
	rpc.Read("DescribeLoadBalancerAttribute", describeLoadBalancerAttribute),
}

const (
	ipv4 = "ipv4"
	ipv6 = "ipv6"

	networkVPC     = "vpc"
	networkClassic = "classic"

	payOnDemand = "PayOnDemand"
	prePay      = "PrePay"

	nonProtection     = "NonProtection"
	consoleProtection = "ConsoleProtection"

	// unlimitedBandwidth is what is returned where nothing limits it but the
	// region's largest: for traffic-charged and for intranet instances. CLB-0110.
	unlimitedBandwidth = 5120

	// elasticSpec is what PayByCLCU instances return as their spec. CLB-0111.
	elasticSpec = "slb.lcu.elastic"
)

type createLoadBalancerRequest struct {
	RegionID                     string                   `rpc:"RegionId,required"`
	AddressType                  cloud.AddressType        `rpc:"AddressType,enum=internet|intranet"`
	InternetChargeType           cloud.InternetChargeType `rpc:"InternetChargeType,enum=paybytraffic|paybybandwidth,default=paybytraffic"`
	Bandwidth                    int                      `rpc:"Bandwidth,min=-1,max=5120,except=0"`
	ClientToken                  string                   `rpc:"ClientToken,len=1..64"`
	LoadBalancerName             string                   `rpc:"LoadBalancerName,len=1..80"`
	VPCID                        string                   `rpc:"VpcId"`
	VSwitchID                    string                   `rpc:"VSwitchId"`
	MasterZoneID                 string                   `rpc:"MasterZoneId"`
	SlaveZoneID                  string                   `rpc:"SlaveZoneId"`
	LoadBalancerSpec             string                   `rpc:"LoadBalancerSpec,enum=slb.s1.small|slb.s2.small|slb.s2.medium|slb.s3.small|slb.s3.medium|slb.s3.large|slb.s4.large"`
	ResourceGroupID              string                   `rpc:"ResourceGroupId"`
	PayType                      string                   `rpc:"PayType,enum=PayOnDemand|PrePay,default=PayOnDemand"`
	PricingCycle                 string                   `rpc:"PricingCycle,enum=month|year,default=month"`
	Duration                     int                      `rpc:"Duration,min=1,max=9,default=1"`
	AutoPay                      bool                     `rpc:"AutoPay"`
	AddressIPVersion             string                   `rpc:"AddressIPVersion,enum=ipv4|ipv6,default=ipv4"`
	Address                      string                   `rpc:"Address"`
	Tags                         []tagParam               `rpc:"Tag"`
	DeleteProtection             string                   `rpc:"DeleteProtection,enum=on|off,default=off"`
	ModificationProtectionStatus string                   `rpc:"ModificationProtectionStatus,enum=NonProtection|ConsoleProtection,default=NonProtection,invalid=ModificationProtectionStatusInvalid"`
	ModificationProtectionReason string                   `rpc:"ModificationProtectionReason,len=1..80,invalid=ModificationProtectionReasonInvalid"`
	InstanceChargeType           cloud.InstanceChargeType `rpc:"InstanceChargeType,enum=PayBySpec|PayByCLCU,default=PayBySpec"`
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

// Validate settles what depends on other parameters and holds the rules that
// need no state.
func (req *createLoadBalancerRequest) Validate() error {
	if req.AddressType == "" {
		req.AddressType = cloud.AddressTypeInternet
		if req.VSwitchID != "" {
			req.AddressType = cloud.AddressTypeIntranet
		}
	}
	if err := checkLoadBalancerName(req.LoadBalancerName); err != nil {
		return err
	}
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	if req.AddressType == cloud.AddressTypeIntranet && req.AddressIPVersion == ipv6 {
		return state.Refuse(intranetIPv6)
	}
	if req.ModificationProtectionReason != "" && req.ModificationProtectionStatus != consoleProtection {
		return state.Refuse(modificationProtectionReasonInvalid)
	}
	return req.validateCharges()
}

func (req *createLoadBalancerRequest) validateCharges() error {
	internet := req.AddressType == cloud.AddressTypeInternet
	switch {
	case req.InstanceChargeType == cloud.PayByCLCU && req.InternetChargeType != cloud.PayByTraffic:
		return state.Refuse(internetChargeTypeNotAllowed)
	case internet && req.InternetChargeType == cloud.PayByBandwidth && req.Bandwidth < 1:
		return state.Refuse(bandwidthInvalid)
	case req.PayType == prePay && internet && req.InternetChargeType != cloud.PayByBandwidth:
		return state.Refuse(prepaidInternetByTraffic)
	case req.PayType == prePay && !internet && req.InternetChargeType != cloud.PayByTraffic:
		return state.Refuse(prepaidIntranetByBandwidth)
	}
	return nil
}

// loadBalancerName is what a name may be: it starts with a letter, of any
// script, and goes on with letters, digits and - . _ /.
var loadBalancerName = regexp.MustCompile(`^\pL[\pL\pN\-._/]*$`)

func checkLoadBalancerName(name string) error {
	if name != "" && !loadBalancerName.MatchString(name) {
		return rpc.Invalid("LoadBalancerName")
	}
	return nil
}

// createLoadBalancer is answered when the instance has its id and address; a
// token that made one before gets that one again.
func createLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*createLoadBalancerResponse, error) {
	id, err := state.Once(tx, "CreateLoadBalancer", req.ClientToken, req, cloud.LoadBalancers, func() (string, error) {
		return putLoadBalancer(tx, req)
	})
	if err != nil {
		return nil, err
	}
	lb, err := cloud.LoadBalancers.Get(tx.View, id)
	if err != nil {
		return nil, err
	}
	return newCreateLoadBalancerResponse(lb), nil
}

func putLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (string, error) {
	if err := checkPurchase(tx.View, req); err != nil {
		return "", err
	}
	lb, err := newLoadBalancer(tx, req)
	if err != nil {
		return "", err
	}
	if lb.AddressType == cloud.AddressTypeIntranet {
		err = joinVSwitch(tx, lb, req)
	} else {
		err = joinInternet(tx, lb, req)
	}
	if err != nil {
		return "", err
	}
	cloud.LoadBalancers.Put(tx, lb)
	putTags(tx, cloud.TagLoadBalancer, lb.ID, req.Tags)
	return lb.ID, nil
}

func newCreateLoadBalancerResponse(lb *cloud.LoadBalancer) *createLoadBalancerResponse {
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

// checkPurchase holds what the account and the shop must be like for an instance
// to be bought: an account that owes buys nothing, nor does one without balance.
func checkPurchase(v *state.View, req *createLoadBalancerRequest) error {
	account, err := cloud.Accounts.Get(v, v.Scope().AccountID)
	if err != nil {
		return err
	}
	region, err := cloud.Regions.Get(v, v.Scope().RegionID)
	if err != nil {
		return err
	}
	switch {
	case !account.ArrearsSince.IsZero():
		return state.Refuse(accountInArrears)
	case account.Balance < cloud.MinimumBalance:
		return state.Refuse(balanceInsufficient)
	case req.InstanceChargeType == cloud.PayBySpec && req.LoadBalancerSpec == "" && !region.SharedInstancesSold:
		return state.Refuse(sharedInstanceNotSold)
	}
	return v.Use(cloud.QuotaLoadBalancers, account.ID, 1)
}

func newLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*cloud.LoadBalancer, error) {
	group, err := resourceGroup(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	lb := &cloud.LoadBalancer{
		Owner:                        tx.Scope(),
		ID:                           tx.NewID(cloud.LoadBalancers.Kind()),
		Name:                         req.LoadBalancerName,
		Status:                       cloud.LoadBalancerActive,
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
	if lb.InstanceChargeType == cloud.PayByCLCU {
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

// resourceGroup returns the group to be in, the account's default if none is
// asked for.
func resourceGroup(v *state.View, id string) (string, error) {
	if id != "" {
		_, err := cloud.ResourceGroups.Get(v, id)
		return id, err
	}
	account, err := cloud.Accounts.Get(v, v.Scope().AccountID)
	if err != nil {
		return "", err
	}
	return account.DefaultResourceGroupID, nil
}

// joinVSwitch gives an intranet load balancer its network, zones and address.
// What an intranet instance is charged by is always traffic: CLB-0103.
func joinVSwitch(tx *state.Tx, lb *cloud.LoadBalancer, req *createLoadBalancerRequest) error {
	if req.VSwitchID == "" {
		return state.Refuse(vSwitchMissing)
	}
	if req.VPCID != "" {
		if _, err := cloud.VPCs.Get(tx.View, req.VPCID); err != nil {
			return err
		}
	}
	vSwitch, err := cloud.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return err
	}
	if req.VPCID != "" && req.VPCID != vSwitch.VPCID {
		return state.Refuse(vSwitchNotInVPC)
	}
	lb.NetworkType, lb.VPCID, lb.VSwitchID = networkVPC, vSwitch.VPCID, vSwitch.ID
	lb.InternetChargeType = cloud.PayByTraffic
	region, err := cloud.Regions.Get(tx.View, lb.RegionID)
	if err != nil {
		return err
	}
	if err := chooseZones(region, lb, req, vSwitch.ZoneID); err != nil {
		return err
	}
	lb.Address, err = cloud.AllocateAddress(tx, vSwitch.ID, vSwitch.CIDRBlock, req.Address, cloud.LoadBalancers.Kind(), lb.ID)
	return err
}

// joinInternet gives an internet load balancer its zones and public address.
// Parameters of a VPC are ignored: CLB-0104.
func joinInternet(tx *state.Tx, lb *cloud.LoadBalancer, req *createLoadBalancerRequest) error {
	region, err := cloud.Regions.Get(tx.View, lb.RegionID)
	if err != nil {
		return err
	}
	lb.NetworkType = networkClassic
	if lb.InternetChargeType == cloud.PayByBandwidth {
		lb.Bandwidth = req.Bandwidth
	}
	if err := chooseZones(region, lb, req, ""); err != nil {
		return err
	}
	block := region.PublicCIDRBlock
	if lb.AddressIPVersion == ipv6 {
		if !region.SellsIPv6() {
			return state.Refuse(ipv6NotOffered)
		}
		block = region.PublicIPv6CIDRBlock
	}
	lb.Address, err = cloud.AllocateAddress(tx, cloud.PublicPool(region.ID), block, "", cloud.LoadBalancers.Kind(), lb.ID)
	if err != nil {
		return state.Refuse(regionSoldOut)
	}
	return nil
}

// chooseZones takes the first pair of zones that fits what was asked for and is
// in stock; with nothing asked, one whose master is the preferred zone, if there
// is any.
func chooseZones(region *cloud.Region, lb *cloud.LoadBalancer, req *createLoadBalancerRequest, preferred string) error {
	master := req.MasterZoneID
	if master == "" && req.SlaveZoneID == "" {
		master = preferred
	}
	fact := zoneNotSold
	for _, masters := range []string{master, req.MasterZoneID} {
		for _, pair := range region.ZonePairs {
			switch {
			case masters != "" && pair.Master != masters, req.SlaveZoneID != "" && pair.Slave != req.SlaveZoneID:
				continue
			case !region.InStock(pair.Master, lb.AddressType) || !region.InStock(pair.Slave, lb.AddressType):
				fact = zoneSoldOut
				continue
			}
			lb.MasterZoneID, lb.SlaveZoneID = pair.Master, pair.Slave
			return nil
		}
	}
	return state.Refuse(fact)
}

type loadBalancerRequest struct {
	RegionID       string `rpc:"RegionId"`
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

func (req *loadBalancerRequest) loadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// deleteLoadBalancer takes everything with it that belongs to the instance
// alone; an EIP stays and becomes free.
func deleteLoadBalancer(tx *state.Tx, req *loadBalancerRequest) (*rpc.Empty, error) {
	lb, err := cloud.LoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	switch {
	case lb.DeleteProtection == cloud.On:
		return nil, state.Refuse(deleteProtectionOn)
	case lb.PayType == prePay:
		return nil, state.Refuse(prepaidNotDeletable)
	}
	cloud.LoadBalancers.Remove(tx, lb.ID)
	return &rpc.Empty{}, nil
}
