package nlb

import (
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var zoneActions = []gateway.Action{
	changes.ByJob(changing, "UpdateLoadBalancerZones", updateLoadBalancerZones, changes.OfJob),
	changes.AtOnce(changing, "StartShiftLoadBalancerZones", startShiftLoadBalancerZones),
	changes.AtOnce(changing, "CancelShiftLoadBalancerZones", cancelShiftLoadBalancerZones),
}

// The refusals of this file.
var (
	errZonesInvalid = refusals.New("ZonesInvalid", 400, "InvalidZones",
		"The current zone list is illegal.", "NLB-0001")
	errZoneUnauthorized = refusals.New("ZoneUnauthorized", 403, "UnauthorizedZone",
		"The specified zone of %s is not authorized.", "NLB-0001")
	errZoneTwice = refusals.New("ZoneTwice", 400, "OperationFailed.DuplicateZones.",
		"The operation failed because of Can not Specify duplicate zones.", "NLB-0001")
	errZoneSoldOut = refusals.New("ZoneSoldOut", 400, "ResourceNotEnough.Zone",
		"The specified resource of Zone %s is not enough.", "CLB-0203")
	errZoneMismatch = refusals.New("ZoneMismatch", 400, "Mismatch.ZoneIdAndVswitchId",
		"The ZoneIdAndVswitchId is mismatched for %s.", "NLB-0001")
	errVSwitchWithoutIPv6 = refusals.New("VSwitchWithoutIPv6", 400, "OperationFailed.vSwitchNotSupportIpv6",
		"The operation failed because of vSwitchNotSupportIpv6.", "NLB-0001")
	errAllocationTwice = refusals.New("AllocationTwice", 400, "DuplicatedParam.AllocationId",
		"The param of AllocationId is duplicated.", "NLB-0001")
	errAllocationTaken = refusals.New("AllocationTaken", 400, "ResourceAlreadyAssociated.AllocationId",
		"The specified resource of %s is already associated.", "NLB-0001")
	errAllocationByBandwidth = refusals.New("AllocationByBandwidth", 400, "OperationDenied.EipPayByBandwidth",
		"The operation is not allowed because of EipPayByBandwidth.", "NLB-0049")
	errZoneVSwitchChanged = refusals.New("ZoneVSwitchChanged", 400, "OperationDenied.ZoneVSwitchChanged",
		"The operation is not allowed because of ZoneVSwitchChanged.", "NLB-0001")
	errPrivateIPv4AddressIllegal = refusals.New("PrivateIPv4AddressIllegal", 400, "IllegalParam.PrivateIPv4Address",
		"The param of PrivateIPv4Address is illegal.", "NLB-0037")
	errZoneAddressChanged = refusals.New("ZoneAddressChanged", 400, "OperationDenied.ProtectedPrivateIPv4AddressChanged",
		"The operation is not allowed because of ProtectedPrivateIPv4AddressChanged.", "NLB-0001")
	errZoneEIPChanged = refusals.New("ZoneEIPChanged", 400, "OperationDenied.ZoneEipChanged",
		"The operation is not allowed because of ZoneEipChanged.", "CLB-0203")
	errZonesSame = refusals.New("ZonesSame", 400, "OperationDenied.ZoneMappingsNotChanged",
		"The operation is not allowed because of ZoneMappingsNotChanged.", "NLB-0047")
	errZoneNotMapped = refusals.New("ZoneNotMapped", 400, "IllegalParam.ZoneMappings",
		"The zone %s is not one of the load balancer's.", "CLB-0203")
	errLastZone = refusals.New("LastZone", 400, "OperationDenied.LastZone",
		"The operation is not allowed because of LastZone.", "CLB-0203")
)

// The number of zones of a load balancer; one is enough where a region has no more.
const (
	minZones = 2
	maxZones = 10
)

// payByBandwidth is the charge type of EIPs that no zone takes.
const payByBandwidth = "PayByBandwidth"

// zoneMappingParam is an element of ZoneMappings.
type zoneMappingParam struct {
	ZoneID             string  `rpc:"ZoneId,required"`
	VSwitchID          string  `rpc:"VSwitchId,required"`
	PrivateIPv4Address *string `rpc:"PrivateIPv4Address,kept"`
	IPv6Address        string  `rpc:"Ipv6Address"`
	AllocationID       string  `rpc:"AllocationId"`
	EIPType            string  `rpc:"EipType,enum=Common,invalid=Illegal"`
	// The local addresses appear in answers; no packet comes from them.
	IPv4Local []string `rpc:"Ipv4LocalAddresses,max=8,invalid=Illegal"`
	IPv6Local []string `rpc:"Ipv6LocalAddresses,max=8,invalid=Illegal"`
}

// privateIPv4Address returns the address, or "" for none.
func (z *zoneMappingParam) privateIPv4Address() string {
	if z.PrivateIPv4Address == nil {
		return ""
	}
	return *z.PrivateIPv4Address
}

// checkAddresses refuses invalid addresses. A load balancer on the internet may send an empty
// private address: NLB-0037.
func (z *zoneMappingParam) checkAddresses(addressType string) error {
	none := func(is func(netip.Addr) bool) func(string) bool {
		return func(text string) bool {
			ip, err := netip.ParseAddr(text)
			return err != nil || !is(ip)
		}
	}
	switch {
	case z.PrivateIPv4Address == nil, *z.PrivateIPv4Address == "" && addressType == kinds.NLBInternet:
	case none(netip.Addr.Is4)(*z.PrivateIPv4Address):
		return errPrivateIPv4AddressIllegal
	}
	switch {
	case slices.ContainsFunc(z.IPv4Local, none(netip.Addr.Is4)):
		return errIllegal.Of("Ipv4LocalAddresses")
	case slices.ContainsFunc(z.IPv6Local, none(netip.Addr.Is6)):
		return errIllegal.Of("Ipv6LocalAddresses")
	}
	return nil
}

// checkZones checks a list of zones for a load balancer. A zone that it already has must keep its
// vSwitch, addresses and EIP.
func checkZones(v *state.View, lb *kinds.NLBLoadBalancer, zones []zoneMappingParam) error {
	r, err := kinds.Regions.Get(v, lb.RegionID)
	if err != nil {
		return err
	}
	if len(zones) < min(minZones, len(r.Zones)) {
		return errZonesInvalid
	}
	seen, eips := make(map[string]bool), make(map[string]bool)
	for i := range zones {
		z := &zones[i]
		if err := z.checkAddresses(lb.AddressType); err != nil {
			return err
		}
		switch {
		case seen[z.ZoneID]:
			return errZoneTwice
		case z.AllocationID != "" && eips[z.AllocationID]:
			return errAllocationTwice
		}
		seen[z.ZoneID], eips[z.AllocationID] = true, true
		if old := mappingOf(lb, z.ZoneID); old != nil {
			err = checkSameZone(old, z)
		} else {
			err = checkNewZone(v, r, lb, z)
		}
		if err != nil {
			return err
		}
	}
	return checkBandwidthPackage(v, lb.BandwidthPackageID, len(zones)-len(lb.ZoneMappings))
}

// mappingOf returns the load balancer's mapping of a zone, or nil if it has none.
func mappingOf(lb *kinds.NLBLoadBalancer, zoneID string) *kinds.NLBZoneMapping {
	i := slices.IndexFunc(lb.ZoneMappings, func(z kinds.NLBZoneMapping) bool { return z.ZoneID == zoneID })
	if i < 0 {
		return nil
	}
	return &lb.ZoneMappings[i]
}

func checkSameZone(old *kinds.NLBZoneMapping, z *zoneMappingParam) error {
	switch {
	case old.VSwitchID != z.VSwitchID:
		return errZoneVSwitchChanged
	case !listing.Matches(z.privateIPv4Address(), old.PrivateIPv4Address), !listing.Matches(z.IPv6Address, old.IPv6Address):
		return errZoneAddressChanged
	case !listing.Matches(z.AllocationID, old.AllocationID):
		return errZoneEIPChanged
	}
	return nil
}

func checkNewZone(v *state.View, r *kinds.Region, lb *kinds.NLBLoadBalancer, z *zoneMappingParam) error {
	known := slices.ContainsFunc(r.Zones, func(known kinds.Zone) bool { return known.ID == z.ZoneID })
	stock := kinds.AddressTypeIntranet
	if lb.AddressType == kinds.NLBInternet {
		stock = kinds.AddressTypeInternet
	}
	switch {
	case !known:
		return errZoneUnauthorized.Of(z.ZoneID)
	case !r.InStock(z.ZoneID, stock):
		return errZoneSoldOut.Of(z.ZoneID)
	}
	vSwitch, err := kinds.VSwitches.Get(v, z.VSwitchID)
	switch {
	case err != nil:
		return err
	case vSwitch.ZoneID != z.ZoneID:
		return errZoneMismatch.Of(z.ZoneID + " and " + z.VSwitchID)
	case vSwitch.VPCID != lb.VPCID:
		return errVPCMismatch.Of(z.VSwitchID + " and " + lb.VPCID)
	case lb.AddressIPVersion == dualStack && vSwitch.IPv6CIDRBlock == "":
		return errVSwitchWithoutIPv6
	}
	return checkAllocation(v, z.AllocationID)
}

// checkAllocation holds what an EIP must be like to serve a zone: it is paid by traffic, and
// in no bandwidth package. NLB-0049.
func checkAllocation(v *state.View, id string) error {
	if id == "" {
		return nil
	}
	eip, err := kinds.EIPs.Get(v, id)
	switch {
	case err != nil:
		return err
	case eip.Status != kinds.EIPAvailable:
		return errAllocationTaken.Of(id)
	case eip.BandwidthPackageID != "":
		return errBandwidthPackageAttached
	case eip.InternetChargeType == payByBandwidth:
		return errAllocationByBandwidth
	}
	return nil
}

// join gives a load balancer its addresses in a zone.
func join(tx *state.Tx, lb *kinds.NLBLoadBalancer, z *zoneMappingParam) error {
	vSwitch, err := kinds.VSwitches.Get(tx.View, z.VSwitchID)
	if err != nil {
		return err
	}
	mapping := kinds.NLBZoneMapping{ZoneID: z.ZoneID, VSwitchID: z.VSwitchID, Status: kinds.NLBZoneActive,
		ENIID: tx.NewID(kinds.NetworkInterfaces.Kind()), IPv4Local: z.IPv4Local, IPv6Local: z.IPv6Local}
	kind := kinds.NLBLoadBalancers.Kind()
	if mapping.PrivateIPv4Address, err = kinds.AllocateAddress(tx, vSwitch.ID, vSwitch.CIDRBlock, z.privateIPv4Address(), kind, lb.ID); err != nil {
		return err
	}
	if lb.AddressIPVersion == dualStack {
		if mapping.IPv6Address, err = kinds.AllocateAddress(tx, vSwitch.ID, vSwitch.IPv6CIDRBlock, z.IPv6Address, kind, lb.ID); err != nil {
			return err
		}
	}
	if lb.AddressType == kinds.NLBInternet {
		if err := publish(tx, lb, &mapping, z.AllocationID); err != nil {
			return err
		}
	}
	lb.ZoneMappings = append(slices.Clip(lb.ZoneMappings), mapping)
	return nil
}

// publish gives a zone a public address: the named EIP, or one of its own, which
// the EIPs of the account know nothing of. NLB-0021.
func publish(tx *state.Tx, lb *kinds.NLBLoadBalancer, z *kinds.NLBZoneMapping, allocationID string) error {
	if allocationID != "" {
		z.AllocationID = allocationID
		return kinds.EIPs.Edit(tx, allocationID, func(eip *kinds.EIP) error {
			z.PublicIPv4Address = eip.IPAddress
			eip.Status, eip.InstanceID, eip.InstanceType = kinds.EIPInUse, lb.ID, "NlbInstance"
			return nil
		})
	}
	r, err := kinds.Regions.Get(tx.View, lb.RegionID)
	if err != nil {
		return err
	}
	z.OwnEIP, z.AllocationID = true, tx.NewID(kinds.EIPs.Kind())
	z.PublicIPv4Address, err = kinds.AllocateAddress(tx, kinds.PublicPool(r.ID), r.PublicCIDRBlock, "", kinds.NLBLoadBalancers.Kind(), lb.ID)
	return err
}

// unpublish takes a zone's public address away.
func unpublish(tx *state.Tx, lb *kinds.NLBLoadBalancer, z *kinds.NLBZoneMapping) {
	if z.OwnEIP {
		kinds.Addresses.Delete(tx, kinds.AddressID(kinds.PublicPool(lb.RegionID), z.PublicIPv4Address))
	} else if eip, ok := kinds.EIPs.Find(tx.View, z.AllocationID); ok {
		freed := *eip
		freed.Free()
		kinds.EIPs.Put(tx, &freed)
	}
	z.OwnEIP, z.AllocationID, z.PublicIPv4Address = false, "", ""
}

// leave gives the addresses of a zone back.
func leave(tx *state.Tx, lb *kinds.NLBLoadBalancer, z kinds.NLBZoneMapping) {
	for _, ip := range []string{z.PrivateIPv4Address, z.IPv6Address} {
		kinds.Addresses.Delete(tx, kinds.AddressID(z.VSwitchID, ip))
	}
	if z.PublicIPv4Address != "" {
		unpublish(tx, lb, &z)
	}
}

type updateLoadBalancerZonesRequest struct {
	loadBalancerRequest
	ZoneMappings []zoneMappingParam `rpc:"ZoneMappings,required,max=10,invalid=Illegal"`
}

// updateLoadBalancerZones takes the whole list: zones that are not in it go, and
// those that stay keep their addresses.
func updateLoadBalancerZones(tx *state.Tx, req *updateLoadBalancerZonesRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if err := checkZones(tx.View, lb, req.ZoneMappings); err != nil {
		return nil, err
	}
	if len(req.ZoneMappings) == len(lb.ZoneMappings) && !slices.ContainsFunc(req.ZoneMappings, func(p zoneMappingParam) bool { return mappingOf(lb, p.ZoneID) == nil }) {
		return nil, errZonesSame
	}
	return configure(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		var stay []kinds.NLBZoneMapping
		for _, z := range lb.ZoneMappings {
			if slices.ContainsFunc(req.ZoneMappings, func(p zoneMappingParam) bool { return p.ZoneID == z.ZoneID }) {
				stay = append(stay, z)
			} else {
				leave(tx, lb, z)
			}
		}
		lb.ZoneMappings = stay
		for i := range req.ZoneMappings {
			if p := &req.ZoneMappings[i]; mappingOf(lb, p.ZoneID) == nil {
				if err := join(tx, lb, p); err != nil {
					return err
				}
			}
		}
		return nil
	}), nil
}

type shiftZonesRequest struct {
	loadBalancerRequest
	ZoneMappings []shiftZoneParam `rpc:"ZoneMappings,required,max=1,invalid=Illegal"`
}

type shiftZoneParam struct {
	ZoneID    string `rpc:"ZoneId,required"`
	VSwitchID string `rpc:"VSwitchId,required"`
}

func startShiftLoadBalancerZones(tx *state.Tx, req *shiftZonesRequest) (*changes.Work, error) {
	return shift(tx, req, kinds.NLBZoneShifted)
}

func cancelShiftLoadBalancerZones(tx *state.Tx, req *shiftZonesRequest) (*changes.Work, error) {
	return shift(tx, req, kinds.NLBZoneActive)
}

// shift takes zones out of the name's addresses or puts them back; one zone stays.
func shift(tx *state.Tx, req *shiftZonesRequest, status string) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	shifted := slices.Clone(lb.ZoneMappings)
	for _, p := range req.ZoneMappings {
		i := slices.IndexFunc(shifted, func(z kinds.NLBZoneMapping) bool { return z.ZoneID == p.ZoneID && z.VSwitchID == p.VSwitchID })
		if i < 0 {
			return nil, errZoneNotMapped.Of(p.ZoneID)
		}
		shifted[i].Status = status
	}
	if !slices.ContainsFunc(shifted, func(z kinds.NLBZoneMapping) bool { return z.Status == kinds.NLBZoneActive }) {
		return nil, errLastZone
	}
	return editing(tx, lb.ID, func(lb *kinds.NLBLoadBalancer) error {
		lb.ZoneMappings = shifted
		return nil
	}), nil
}
