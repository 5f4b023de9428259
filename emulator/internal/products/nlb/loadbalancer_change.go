package nlb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var loadBalancerChangeActions = []gateway.Action{
	changes.ByJob(changing, "UpdateLoadBalancerAttribute", updateLoadBalancerAttribute, changes.OfJob),
	changes.ByJob(changing, "UpdateLoadBalancerAddressTypeConfig", updateLoadBalancerAddressTypeConfig, changes.OfJob),
	changes.AtOnce(changing, "UpdateLoadBalancerProtection", updateLoadBalancerProtection),
	changes.AtOnce(changing, "EnableLoadBalancerIpv6Internet", enableLoadBalancerIPv6Internet),
	changes.AtOnce(changing, "DisableLoadBalancerIpv6Internet", disableLoadBalancerIPv6Internet),
	changes.ByJob(changing, "LoadBalancerJoinSecurityGroup", loadBalancerJoinSecurityGroup, changes.OfJob),
	changes.ByJob(changing, "LoadBalancerLeaveSecurityGroup", loadBalancerLeaveSecurityGroup, changes.OfJob),
	changes.ByJob(changing, "AttachCommonBandwidthPackageToLoadBalancer", attachCommonBandwidthPackageToLoadBalancer, changes.OfJob),
	changes.ByJob(changing, "DetachCommonBandwidthPackageFromLoadBalancer", detachCommonBandwidthPackageFromLoadBalancer, changes.OfJob),
}

// The refusals of this file.
var (
	errAddressTypeSame = refusals.New("AddressTypeSame", 400, "OperationDenied.AddressTypeNotChanged",
		"The operation is not allowed because of AddressTypeNotChanged.", "NLB-0001")
	errNotDualStack = refusals.New("NotDualStack", 400, "OperationDenied.NonDualStackInstance",
		"The operation is not allowed because of NonDualStackInstance.", "NLB-0001")
	errIPv6Intranet = refusals.New("IPv6Intranet", 400, "OperationDenied.Ipv6IntranetInstance",
		"The operation is not allowed because of Ipv6IntranetInstance.", "NLB-0001")
	errIPv6Internet = refusals.New("IPv6Internet", 400, "OperationDenied.Ipv6InternetInstance",
		"The operation is not allowed because of Ipv6InternetInstance.", "CLB-0203")
	errSecurityGroupTypes = refusals.New("SecurityGroupTypes", 400, "OperationDenied.SecurityGroupTypeMismatch",
		"The operation is not allowed because of SecurityGroupTypeMismatch.", "NLB-0045")
	errSecurityGroupJoined = refusals.New("SecurityGroupJoined", 400, "ResourceAlreadyAssociated.SecurityGroup",
		"The specified resource of %s is already associated.", "CLB-0203")
	errSecurityGroupNotJoined = refusals.New("SecurityGroupNotJoined", 400, "ResourceNotAssociated.SecurityGroup",
		"The specified resource of %s is not associated.", "CLB-0203")
	errBandwidthPackageUnknown = refusals.New("BandwidthPackageUnknown", 404, "ResourceNotFound.CommonBandwidthPackage",
		"The specified resource of CommonBandwidthPackage is not found.", "NLB-0001")
	errPackageAttached = refusals.New("PackageAttached", 400, "ResourceAlreadyAssociated.loadbalancer",
		"The specified resource of loadbalancer is already associated.", "NLB-0001")
	errBandwidthPackageAttached = refusals.New("BandwidthPackageAttached", 400, "OperationDenied.EipAlreadyInBandwidthPackage",
		"The operation is not allowed because of EipAlreadyInBandwidthPackage.", "NLB-0001")
	errNotInternet = refusals.New("NotInternet", 400, "OperationDenied.IntranetLoadBalancer",
		"The operation is not allowed because of IntranetLoadBalancer.", "NLB-0001")
)

// editing returns work that changes a load balancer at once.
func editing(tx *state.Tx, id string, change func(*kinds.NLBLoadBalancer) error) *changes.Work {
	return &changes.Work{ResourceType: "loadbalancer", ResourceID: id, Do: func() error { return kinds.NLBLoadBalancers.Edit(tx, id, change) }}
}

// configure returns work like that of editing, which the load balancer shows for a while.
func configure(tx *state.Tx, id string, change func(*kinds.NLBLoadBalancer) error) *changes.Work {
	w := editing(tx, id, change)
	edit := w.Do
	w.Do = func() error {
		if err := edit(); err != nil {
			return err
		}
		state.Enter(tx, kinds.StageNLBConfiguring, id)
		return nil
	}
	return w
}

type updateLoadBalancerAttributeRequest struct {
	loadBalancerRequest
	LoadBalancerName string `rpc:"LoadBalancerName,len=2..128,invalid=NameIllegal"`
	CrossZoneEnabled *bool  `rpc:"CrossZoneEnabled"`
	Cps              *int   `rpc:"Cps,min=0,max=1000000,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *updateLoadBalancerAttributeRequest) Validate() error {
	return checkName(req.LoadBalancerName, errNameIllegal)
}

func updateLoadBalancerAttribute(tx *state.Tx, req *updateLoadBalancerAttributeRequest) (*changes.Work, error) {
	return configure(tx, req.LoadBalancerID, func(lb *kinds.NLBLoadBalancer) error {
		if req.LoadBalancerName != "" {
			lb.Name = req.LoadBalancerName
		}
		set(&lb.CrossZoneEnabled, req.CrossZoneEnabled)
		set(&lb.Cps, req.Cps)
		return nil
	}), nil
}

type updateLoadBalancerAddressTypeConfigRequest struct {
	loadBalancerRequest
	AddressType  string             `rpc:"AddressType,required,words=Internet|Intranet,invalid=Illegal"`
	ZoneMappings []zoneMappingParam `rpc:"ZoneMappings,max=10,invalid=Illegal"`
}

// updateLoadBalancerAddressTypeConfig gives every zone a public address, of an EIP
// that is named for it or of its own, or takes all of them away, and with them the
// bandwidth that they shared: NLB-0024.
func updateLoadBalancerAddressTypeConfig(tx *state.Tx, req *updateLoadBalancerAddressTypeConfigRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if lb.AddressType == req.AddressType {
		return nil, errAddressTypeSame
	}
	eips, err := req.allocations(tx.View, lb)
	if err != nil {
		return nil, err
	}
	return configure(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		lb.AddressType, lb.BandwidthPackageID = req.AddressType, ""
		lb.ZoneMappings = slices.Clone(lb.ZoneMappings)
		for i := range lb.ZoneMappings {
			z := &lb.ZoneMappings[i]
			if req.AddressType == kinds.NLBIntranet {
				unpublish(tx, lb, z)
			} else if err := publish(tx, lb, z, eips[z.ZoneID]); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// allocations returns the EIPs that the request names, by zone.
func (req *updateLoadBalancerAddressTypeConfigRequest) allocations(v *state.View, lb *kinds.NLBLoadBalancer) (map[string]string, error) {
	byZone, seen := make(map[string]string), make(map[string]bool)
	for _, z := range req.ZoneMappings {
		switch mapping := mappingOf(lb, z.ZoneID); {
		case mapping == nil:
			return nil, errZoneNotMapped.Of(z.ZoneID)
		case mapping.VSwitchID != z.VSwitchID:
			return nil, errZoneMismatch.Of(z.ZoneID + " and " + z.VSwitchID)
		case z.AllocationID != "" && seen[z.AllocationID]:
			return nil, errAllocationTwice
		}
		if err := checkAllocation(v, z.AllocationID); err != nil {
			return nil, err
		}
		byZone[z.ZoneID], seen[z.AllocationID] = z.AllocationID, true
	}
	return byZone, nil
}

type updateLoadBalancerProtectionRequest struct {
	loadBalancerRequest
	DeletionProtection           *bool  `rpc:"DeletionProtectionEnabled"`
	DeletionProtectionReason     string `rpc:"DeletionProtectionReason,len=2..128,form=letterFirst,invalid=Illegal"`
	ModificationProtection       string `rpc:"ModificationProtectionStatus,enum=NonProtection|ConsoleProtection,invalid=Illegal"`
	ModificationProtectionReason string `rpc:"ModificationProtectionReason,len=2..128,form=letterFirst,invalid=Illegal"`
}

func updateLoadBalancerProtection(tx *state.Tx, req *updateLoadBalancerProtectionRequest) (*changes.Work, error) {
	return editing(tx, req.LoadBalancerID, func(lb *kinds.NLBLoadBalancer) error {
		if req.DeletionProtection != nil {
			lb.DeletionProtection = protection(tx, *req.DeletionProtection, req.DeletionProtectionReason)
		}
		if req.ModificationProtection != "" {
			lb.ModificationProtection = protection(tx, req.ModificationProtection == consoleProtection, req.ModificationProtectionReason)
		}
		explain(&lb.DeletionProtection, req.DeletionProtectionReason)
		explain(&lb.ModificationProtection, req.ModificationProtectionReason)
		return nil
	}), nil
}

// explain gives a protection another reason. One that is off has none: NLB-0046.
func explain(p *kinds.NLBProtection, reason string) {
	if p.Enabled && reason != "" {
		p.Reason = reason
	}
}

func enableLoadBalancerIPv6Internet(tx *state.Tx, req *loadBalancerRequest) (*changes.Work, error) {
	return setIPv6AddressType(tx, req, kinds.NLBInternet, errIPv6Internet)
}

func disableLoadBalancerIPv6Internet(tx *state.Tx, req *loadBalancerRequest) (*changes.Work, error) {
	return setIPv6AddressType(tx, req, kinds.NLBIntranet, errIPv6Intranet)
}

func setIPv6AddressType(tx *state.Tx, req *loadBalancerRequest, kind string, same gateway.Refusal) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	switch {
	case err != nil:
		return nil, err
	case lb.AddressIPVersion != dualStack:
		return nil, errNotDualStack
	case lb.IPv6AddressType == kind:
		return nil, same
	}
	return editing(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		lb.IPv6AddressType = kind
		return nil
	}), nil
}

type securityGroupsRequest struct {
	loadBalancerRequest
	SecurityGroupIDs []string `rpc:"SecurityGroupIds,required,max=4,invalid=Illegal"`
}

// checkSecurityGroups holds what groups must be for a load balancer of the VPC: basic or
// advanced all of them, those that it has joined included.
func checkSecurityGroups(v *state.View, vpcID string, joined, ids []string) error {
	kind := ""
	for _, id := range slices.Concat(joined, ids) {
		g, err := kinds.SecurityGroups.Get(v, id)
		switch {
		case err != nil:
			return err
		case g.VPCID != vpcID:
			return errVPCMismatch.Of(id + " and " + vpcID)
		case !listing.Matches(kind, g.Type):
			return errSecurityGroupTypes
		}
		kind = g.Type
	}
	return nil
}

func loadBalancerJoinSecurityGroup(tx *state.Tx, req *securityGroupsRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	ids := listing.Unique(req.SecurityGroupIDs)
	if err := checkSecurityGroups(tx.View, lb.VPCID, lb.SecurityGroupIDs, ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		if slices.Contains(lb.SecurityGroupIDs, id) {
			return nil, errSecurityGroupJoined.Of(id)
		}
	}
	if err := tx.Use(kinds.QuotaNLBGroups, lb.ID, len(ids)); err != nil {
		return nil, err
	}
	return configure(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		lb.SecurityGroupIDs = slices.Concat(lb.SecurityGroupIDs, ids)
		return nil
	}), nil
}

func loadBalancerLeaveSecurityGroup(tx *state.Tx, req *securityGroupsRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	for _, id := range req.SecurityGroupIDs {
		if !slices.Contains(lb.SecurityGroupIDs, id) {
			return nil, errSecurityGroupNotJoined.Of(id)
		}
	}
	return configure(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		lb.SecurityGroupIDs = slices.DeleteFunc(slices.Clone(lb.SecurityGroupIDs), func(id string) bool {
			return slices.Contains(req.SecurityGroupIDs, id)
		})
		return nil
	}), nil
}

type bandwidthPackageRequest struct {
	loadBalancerRequest
	BandwidthPackageID string `rpc:"BandwidthPackageId,required"`
}

// checkBandwidthPackage wants the package to exist, with room for the given number of
// further addresses.
func checkBandwidthPackage(v *state.View, id string, addresses int) error {
	if id == "" {
		return nil
	}
	if _, ok := kinds.CommonBandwidthPackages.Find(v, id); !ok {
		return errBandwidthPackageUnknown
	}
	return v.Use(kinds.QuotaPackageEIPs, id, addresses)
}

func attachCommonBandwidthPackageToLoadBalancer(tx *state.Tx, req *bandwidthPackageRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	switch {
	case err != nil:
		return nil, err
	case lb.AddressType != kinds.NLBInternet:
		return nil, errNotInternet
	case lb.BandwidthPackageID != "":
		return nil, errPackageAttached
	}
	if err := checkBandwidthPackage(tx.View, req.BandwidthPackageID, len(lb.ZoneMappings)); err != nil {
		return nil, err
	}
	for eip := range kinds.EIPsByInstance.List(tx.View, lb.ID) {
		if eip.BandwidthPackageID != "" {
			return nil, errBandwidthPackageAttached
		}
	}
	return setBandwidthPackage(tx, lb.ID, req.BandwidthPackageID), nil
}

func detachCommonBandwidthPackageFromLoadBalancer(tx *state.Tx, req *bandwidthPackageRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err == nil && lb.BandwidthPackageID != req.BandwidthPackageID {
		err = errBandwidthPackageUnknown
	}
	if err != nil {
		return nil, err
	}
	return setBandwidthPackage(tx, lb.ID, ""), nil
}

func setBandwidthPackage(tx *state.Tx, id, packageID string) *changes.Work {
	return configure(tx, id, func(lb *kinds.NLBLoadBalancer) error {
		lb.BandwidthPackageID = packageID
		return nil
	})
}
