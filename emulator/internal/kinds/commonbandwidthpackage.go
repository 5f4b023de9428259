package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// CommonBandwidthPackage is bandwidth that EIPs share.
type CommonBandwidthPackage struct {
	state.Owner
	ID                 string
	Name               string `json:",omitempty"`
	Description        string `json:",omitempty"`
	Bandwidth          int
	ISP                string
	InternetChargeType string
	Ratio              int
	DeletionProtection bool `json:",omitempty"`
	ResourceGroupID    string
	CreateTime         time.Time
}

// TagCommonBandwidthPackage is the type of the tags of CommonBandwidthPackages.
const TagCommonBandwidthPackage state.TagResourceType = "vpc:commonbandwidthpackage"

// CommonBandwidthPackages by id.
var CommonBandwidthPackages = state.NewTable(Schema, "CommonBandwidthPackage", func(p *CommonBandwidthPackage) string { return p.ID },
	state.IDForm("cbwp-", 18), state.Tagged(TagCommonBandwidthPackage, ProductVPC, "COMMONBANDWIDTHPACKAGE"))

var _ = moved(ProductVPC, "bandwidthpackage", CommonBandwidthPackages, func(c *CommonBandwidthPackage) *string { return &c.ResourceGroupID })

// CommonBandwidthPackagesByRegion finds packages by account and region.
var CommonBandwidthPackagesByRegion = CommonBandwidthPackages.Index("region", func(p *CommonBandwidthPackage) [][]string {
	return state.Key(p.AccountID, p.RegionID)
})

// EIPsByBandwidthPackage finds the EIPs put into a package themselves.
var EIPsByBandwidthPackage = EIPs.Index("bandwidthpackage", func(e *EIP) [][]string { return state.Key(e.BandwidthPackageID) })

// NLBLoadBalancersByBandwidthPackage finds the Network Load Balancers of a package.
var NLBLoadBalancersByBandwidthPackage = NLBLoadBalancers.Index("bandwidthpackage", func(lb *NLBLoadBalancer) [][]string {
	return state.Key(lb.BandwidthPackageID)
})

// BandwidthPackageOf returns the package whose bandwidth an EIP uses: its own, or that of its
// Network Load Balancer.
func BandwidthPackageOf(v *state.View, e *EIP) (*CommonBandwidthPackage, bool) {
	if e.BandwidthPackageID != "" {
		return CommonBandwidthPackages.Find(v, e.BandwidthPackageID)
	}
	if lb, ok := NLBLoadBalancers.Find(v, e.InstanceID); ok && lb.BandwidthPackageID != "" {
		return CommonBandwidthPackages.Find(v, lb.BandwidthPackageID)
	}
	return nil, false
}

// SharedAddress is a public address in a package.
type SharedAddress struct{ AllocationID, IPAddress string }

// Addresses lists the addresses that share the package: EIPs and the addresses of its
// Network Load Balancers.
func (p *CommonBandwidthPackage) Addresses(v *state.View) (list []SharedAddress) {
	for e := range EIPsByBandwidthPackage.List(v, p.ID) {
		list = append(list, SharedAddress{e.ID, e.IPAddress})
	}
	for lb := range NLBLoadBalancersByBandwidthPackage.List(v, p.ID) {
		for _, z := range lb.ZoneMappings {
			list = append(list, SharedAddress{z.AllocationID, z.PublicIPv4Address})
		}
	}
	return list
}

var (
	_ = EIPs.With(
		state.Refers(CommonBandwidthPackages, func(e *EIP) string { return e.BandwidthPackageID }),
		state.Checks(func(c *state.Checker, e *EIP) {
			if e.PackageBandwidth != 0 && e.BandwidthPackageID == "" {
				c.Fail("EIP %s has a bandwidth within a package and is in none", e.ID)
			}
			if lb, ok := NLBLoadBalancers.Find(c.View(), e.InstanceID); ok && lb.BandwidthPackageID != "" && e.BandwidthPackageID != "" {
				c.Fail("EIP %s is in a package, and on NLBLoadBalancer %s, which is in one", e.ID, lb.ID)
			}
		}))
	_ = NLBLoadBalancers.With(
		state.Refers(CommonBandwidthPackages, func(lb *NLBLoadBalancer) string { return lb.BandwidthPackageID }))
)

// The quotas of a region and of a package. That of a region is not published: CLB-0400.
var (
	QuotaBandwidthPackages = state.NewQuota(Schema, "cbwp_quota_num", 20, state.InRegion(CommonBandwidthPackages))
	QuotaPackageEIPs       = state.NewQuota(Schema, "cbwp_quota_eip_num", 100,
		state.Of(EIPs, func(e *EIP, add func(string, int)) {
			if e.BandwidthPackageID != "" {
				add(e.BandwidthPackageID, 1)
			}
		}),
		state.Of(NLBLoadBalancers, func(lb *NLBLoadBalancer, add func(string, int)) {
			if lb.BandwidthPackageID != "" {
				add(lb.BandwidthPackageID, len(lb.ZoneMappings))
			}
		}))
)
