package vpc

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var bandwidthPackageIPActions = []gateway.Action{
	gateway.Write("AddCommonBandwidthPackageIp", addCommonBandwidthPackageIP),
	gateway.Write("RemoveCommonBandwidthPackageIp", removeCommonBandwidthPackageIP),
	gateway.Write("ModifyCommonBandwidthPackageIpBandwidth", modifyCommonBandwidthPackageIPBandwidth),
	gateway.Write("CancelCommonBandwidthPackageIpBandwidth", cancelCommonBandwidthPackageIPBandwidth),
}

// The refusals of this file.
var (
	errEIPInPackage = refusals.New("EIPInPackage", 400, "IpInstanceId.AlreadyInBandwidthPackage",
		"The specified Eip InstanceId already in bandwidthPackage.", "CLB-0400")
	errEIPNotInPackage = refusals.New("EIPNotInPackage", 400, "OperationUnsupported.IpNotInCbwp",
		"The specified eip not exist in the commonBandwidthPackage.", "CLB-0400")
	errPackageTakesNoPrePaid = refusals.New("PackageTakesNoPrePaid", 400, "IpInstanceId.ChargeType.NotSupport",
		"The specified Eip instance is PrePaid type, Cannot add to BandwidthPackage.", "CLB-0400")
	errPackageEIPStatus = refusals.New("PackageEIPStatus", 400, "IncorrectStatus.Eip",
		"Eip status error.", "CLB-0400")
	errPackageISP = refusals.New("PackageISP", 400, "OperationUnsupported.IpType",
		"Ip type does not support the operation.", "CLB-0402")
)

type addCommonBandwidthPackageIPRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
	IPInstanceID       string `rpc:"IpInstanceId,required"`
	IPType             string `rpc:"IpType,enum=EIP,invalid=PackageISP"`
	ClientToken        string `rpc:"ClientToken"`
}

func addCommonBandwidthPackageIP(tx *state.Tx, req *addCommonBandwidthPackageIPRequest) (*gateway.Empty, error) {
	_, err := state.Once(tx, "AddCommonBandwidthPackageIp", req.ClientToken, req, kinds.EIPs, func() (string, error) {
		return req.IPInstanceID, joinPackage(tx, req.BandwidthPackageID, req.IPInstanceID)
	})
	return &gateway.Empty{}, err
}

// joinPackage puts an EIP into a package, at once: CLB-0401.
func joinPackage(tx *state.Tx, packageID, eipID string) error {
	p, err := kinds.CommonBandwidthPackages.Get(tx.View, packageID)
	if err != nil {
		return err
	}
	return kinds.EIPs.Edit(tx, eipID, func(e *kinds.EIP) error {
		_, shares := kinds.BandwidthPackageOf(tx.View, e)
		switch {
		case shares:
			return errEIPInPackage
		case e.ChargeType == chargePrePaid:
			return errPackageTakesNoPrePaid
		case e.Status != kinds.EIPAvailable && e.Status != kinds.EIPInUse:
			return errPackageEIPStatus
		case e.ISP != p.ISP:
			return errPackageISP
		}
		e.BandwidthPackageID = p.ID
		return tx.Use(kinds.QuotaPackageEIPs, p.ID, 1)
	})
}

// leavePackage gives an EIP the bandwidth back that it had.
func leavePackage(tx *state.Tx, e *kinds.EIP) {
	left := *e
	left.BandwidthPackageID, left.PackageBandwidth = "", 0
	kinds.EIPs.Put(tx, &left)
}

// inPackage returns a package and an EIP that is in it.
func inPackage(v *state.View, packageID, eipID string) (*kinds.CommonBandwidthPackage, *kinds.EIP, error) {
	p, err := kinds.CommonBandwidthPackages.Get(v, packageID)
	if err != nil {
		return nil, nil, err
	}
	e, ok := kinds.EIPs.Find(v, eipID)
	if !ok || e.BandwidthPackageID != p.ID {
		return nil, nil, errEIPNotInPackage.Of(eipID)
	}
	return p, e, nil
}

type removeCommonBandwidthPackageIPRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
	IPInstanceID       string `rpc:"IpInstanceId,required"`
	ClientToken        string `rpc:"ClientToken"`
}

func removeCommonBandwidthPackageIP(tx *state.Tx, req *removeCommonBandwidthPackageIPRequest) (*gateway.Empty, error) {
	_, err := state.Once(tx, "RemoveCommonBandwidthPackageIp", req.ClientToken, req, kinds.EIPs, func() (string, error) {
		_, e, err := inPackage(tx.View, req.BandwidthPackageID, req.IPInstanceID)
		if err != nil {
			return "", err
		}
		leavePackage(tx, e)
		return e.ID, nil
	})
	return &gateway.Empty{}, err
}

type packageIPRequest struct {
	RegionID           string `rpc:"RegionId,required"`
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
	EIPID              string `rpc:"EipId,required"`
}

type modifyCommonBandwidthPackageIPBandwidthRequest struct {
	packageIPRequest
	Bandwidth string `rpc:"Bandwidth,required"`
}

// modifyCommonBandwidthPackageIPBandwidth lets an EIP use a part of the package's
// bandwidth at the most.
func modifyCommonBandwidthPackageIPBandwidth(tx *state.Tx, req *modifyCommonBandwidthPackageIPBandwidthRequest) (*gateway.Empty, error) {
	bandwidth, err := strconv.Atoi(req.Bandwidth)
	if err != nil || bandwidth < 1 {
		return nil, errPackageBandwidthInvalid
	}
	return req.limit(tx, bandwidth)
}

func cancelCommonBandwidthPackageIPBandwidth(tx *state.Tx, req *packageIPRequest) (*gateway.Empty, error) {
	return req.limit(tx, 0)
}

// limit sets how much of the package the EIP may use, 0 for all of it.
func (r *packageIPRequest) limit(tx *state.Tx, bandwidth int) (*gateway.Empty, error) {
	p, e, err := inPackage(tx.View, r.BandwidthPackageID, r.EIPID)
	switch {
	case err != nil:
		return nil, err
	case bandwidth > p.Bandwidth:
		return nil, errPackageBandwidthInvalid
	}
	limited := *e
	limited.PackageBandwidth = bandwidth
	kinds.EIPs.Put(tx, &limited)
	return &gateway.Empty{}, nil
}
