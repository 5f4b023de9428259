package vpc

import (
	"cmp"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var bandwidthPackageActions = []gateway.Action{
	gateway.Write("CreateCommonBandwidthPackage", createCommonBandwidthPackage).
		Refusing(errISPIllegal, errPackageChargeTypeInvalid, errRatioIllegal),
	gateway.Read("DescribeCommonBandwidthPackages", describeCommonBandwidthPackages),
	gateway.Write("ModifyCommonBandwidthPackageAttribute", modifyCommonBandwidthPackageAttribute),
	gateway.Write("ModifyCommonBandwidthPackageSpec", modifyCommonBandwidthPackageSpec),
	gateway.Write("DeleteCommonBandwidthPackage", deleteCommonBandwidthPackage),
}

// The refusals of this file.
var (
	errPackageNameMalformed = refusals.New("PackageNameMalformed", 400, "InvalidParameter.Name.Malformed",
		"The specified Name is not valid.", "CLB-0400")
	errPackageDescriptionMalformed = refusals.New("PackageDescriptionMalformed", 400, "InvalidParameter.Description.Malformed",
		"The specified Description is not valid.", "CLB-0400")
	errPackageBandwidthInvalid = refusals.New("PackageBandwidthInvalid", 400, "InvalidParameter.Bandwidth",
		"The specified bandwidth is not valid.", "CLB-0400")
	errPackageChargeTypeInvalid = refusals.New("PackageChargeTypeInvalid", 400, "InvalidParameter.InvalidChargeType",
		"The specified chargeType is not valid.", "CLB-0400")
	errRatioIllegal = refusals.New("RatioIllegal", 400, "IllegalParam.Ratio",
		"The specified ratio is not valid.", "CLB-0400")
	errPackageInUse = refusals.New("PackageInUse", 400, "OperationFailed.BandwidthPackageNotEmpty",
		"Eip bandwidth package not empty.", "CLB-0400")
	errPackageNotReleased = refusals.New("PackageNotReleased", 400, "OperationUnsupported.Release95Instance",
		"Releasing instances that payBy95 or payByOld95 is unsupported.", "CLB-0400")
)

type createCommonBandwidthPackageRequest struct {
	tagged
	RegionID           string `rpc:"RegionId,required"`
	Bandwidth          int    `rpc:"Bandwidth,required,min=1,max=1000,invalid=PackageBandwidthInvalid"`
	Name               string `rpc:"Name,len=0..128,invalid=PackageNameMalformed"`
	Description        string `rpc:"Description,len=0..256,invalid=PackageDescriptionMalformed"`
	ISP                string `rpc:"ISP,default=BGP,enum=BGP|BGP_PRO|ChinaTelecom|ChinaUnicom|ChinaMobile|ChinaTelecom_L2|ChinaUnicom_L2|ChinaMobile_L2|BGP_FinanceCloud|BGP_International,invalid=ISPIllegal"`
	InternetChargeType string `rpc:"InternetChargeType,default=PayByBandwidth,enum=PayByBandwidth|PayByTraffic|PayByDominantTraffic|PayBy95|PayByOld95,invalid=PackageChargeTypeInvalid"`
	Ratio              int    `rpc:"Ratio,default=100,min=0,max=100,invalid=RatioIllegal"`
	ResourceGroupID    string `rpc:"ResourceGroupId"`
	ClientToken        string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createCommonBandwidthPackageRequest) Validate() error {
	if err := checkPackageText(r.Name, r.Description); err != nil {
		return err
	}
	return r.check()
}

func checkPackageText(name, description string) error {
	return cmp.Or(plainText(name, errPackageNameMalformed), plainText(description, errPackageDescriptionMalformed))
}

type createCommonBandwidthPackageResponse struct {
	BandwidthPackageID string `rpc:"BandwidthPackageId"`
	ResourceGroupID    string `rpc:"ResourceGroupId"`
}

func createCommonBandwidthPackage(tx *state.Tx, req *createCommonBandwidthPackageRequest) (*createCommonBandwidthPackageResponse, error) {
	p, err := state.OnceMade(tx, "CreateCommonBandwidthPackage", req.ClientToken, req, kinds.CommonBandwidthPackages, func() (string, error) {
		return putCommonBandwidthPackage(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createCommonBandwidthPackageResponse{p.ID, p.ResourceGroupID}, nil
}

func putCommonBandwidthPackage(tx *state.Tx, req *createCommonBandwidthPackageRequest) (string, error) {
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if err := checkPurchase(tx.View, kinds.QuotaBandwidthPackages); err != nil {
		return "", err
	}
	p := &kinds.CommonBandwidthPackage{
		Owner: tx.Scope(), ID: tx.NewID(kinds.CommonBandwidthPackages.Kind()), Name: req.Name, Description: req.Description,
		Bandwidth: req.Bandwidth, ISP: req.ISP, InternetChargeType: req.InternetChargeType, Ratio: req.Ratio,
		ResourceGroupID: group, CreateTime: tx.Now().Truncate(time.Second),
	}
	kinds.CommonBandwidthPackages.Put(tx, p)
	req.set(tx, kinds.TagCommonBandwidthPackage, p.ID)
	return p.ID, nil
}

type modifyCommonBandwidthPackageAttributeRequest struct {
	RegionID           string  `rpc:"RegionId,required"`
	BandwidthPackageID string  `rpc:"BandwidthPackageId,required"`
	Name               *string `rpc:"Name,len=0..128,invalid=PackageNameMalformed"`
	Description        *string `rpc:"Description,len=0..256,invalid=PackageDescriptionMalformed"`
}

// Validate implements the gateway's check of shape.
func (r *modifyCommonBandwidthPackageAttributeRequest) Validate() error {
	return checkPackageText(text(r.Name), text(r.Description))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func modifyCommonBandwidthPackageAttribute(tx *state.Tx, req *modifyCommonBandwidthPackageAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, kinds.CommonBandwidthPackages.Edit(tx, req.BandwidthPackageID, func(p *kinds.CommonBandwidthPackage) error {
		if req.Name != nil {
			p.Name = *req.Name
		}
		if req.Description != nil {
			p.Description = *req.Description
		}
		return nil
	})
}

type modifyCommonBandwidthPackageSpecRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
	Bandwidth          int    `rpc:"Bandwidth,required,min=1,max=1000,invalid=PackageBandwidthInvalid"`
}

func modifyCommonBandwidthPackageSpec(tx *state.Tx, req *modifyCommonBandwidthPackageSpecRequest) (*gateway.Empty, error) {
	for e := range kinds.EIPsByBandwidthPackage.List(tx.View, req.BandwidthPackageID) {
		if e.PackageBandwidth > req.Bandwidth {
			return nil, errPackageBandwidthInvalid
		}
	}
	return &gateway.Empty{}, kinds.CommonBandwidthPackages.Edit(tx, req.BandwidthPackageID, func(p *kinds.CommonBandwidthPackage) error {
		p.Bandwidth = req.Bandwidth
		return nil
	})
}

type deleteCommonBandwidthPackageRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
	Force              bool   `rpc:"Force"`
}

// deleteCommonBandwidthPackage takes EIPs out if forced. A load balancer is
// detached by its own call alone: CLB-0400.
func deleteCommonBandwidthPackage(tx *state.Tx, req *deleteCommonBandwidthPackageRequest) (*gateway.Empty, error) {
	p, err := kinds.CommonBandwidthPackages.Get(tx.View, req.BandwidthPackageID)
	if err != nil {
		return nil, err
	}
	_, hasEIP := kinds.EIPsByBandwidthPackage.First(tx.View, p.ID)
	_, hasLoadBalancer := kinds.NLBLoadBalancersByBandwidthPackage.First(tx.View, p.ID)
	switch {
	case p.DeletionProtection:
		return nil, errDeletionProtected
	case p.InternetChargeType == "PayBy95" || p.InternetChargeType == "PayByOld95":
		return nil, errPackageNotReleased
	case hasLoadBalancer, hasEIP && !req.Force:
		return nil, errPackageInUse
	}
	for e := range kinds.EIPsByBandwidthPackage.List(tx.View, p.ID) {
		leavePackage(tx, e)
	}
	kinds.CommonBandwidthPackages.Remove(tx, p.ID)
	return &gateway.Empty{}, nil
}
