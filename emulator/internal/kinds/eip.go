package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// EIPStatus is the status of an EIP.
type EIPStatus string

// The states of an EIP.
const (
	EIPAvailable     EIPStatus = "Available"
	EIPAssociating   EIPStatus = "Associating"
	EIPInUse         EIPStatus = "InUse"
	EIPUnassociating EIPStatus = "Unassociating"
)

// EIP is a public address to associate with a resource.
type EIP struct {
	state.Owner
	ID                 string
	IPAddress          string
	Name               string `json:",omitempty"`
	Description        string `json:",omitempty"`
	Status             EIPStatus
	Bandwidth          string
	ISP                string
	InternetChargeType string
	ChargeType         string
	// InstanceType is SlbInstance, EcsInstance, NetworkInterface and the like.
	InstanceType string `json:",omitempty"`
	InstanceID   string `json:",omitempty"`
	// PrivateIPAddress is the address of a network interface that has it, or "" for the primary
	// one, if none was named.
	PrivateIPAddress string `json:",omitempty"`
	// BandwidthPackageID is the package that it was put into, and PackageBandwidth
	// how much of its bandwidth it may use, 0 for all.
	BandwidthPackageID string `json:",omitempty"`
	PackageBandwidth   int    `json:",omitempty"`
	DeletionProtection bool   `json:",omitempty"`
	SegmentID          string `json:",omitempty"` // of older states: dropped with the segment
	ResourceGroupID    string
	CreateTime         time.Time
}

// Free dissociates the EIP.
func (e *EIP) Free() {
	e.Status, e.InstanceID, e.InstanceType, e.PrivateIPAddress = EIPAvailable, "", "", ""
}

// TagEIP is the type of the tags of EIPs.
const TagEIP state.TagResourceType = "vpc:eip"

// EIPs by allocation id.
var EIPs = state.NewTable(Schema, "EIP", func(e *EIP) string { return e.ID },
	state.IDForm("eip-", 18), state.Tagged(TagEIP, ProductVPC, "EIP"),
	state.Life(func(e *EIP) *EIPStatus { return &e.Status }),
	state.Refers(LoadBalancers, func(e *EIP) string {
		if e.InstanceType == "SlbInstance" {
			return e.InstanceID
		}
		return ""
	}),
	state.Checks(func(c *state.Checker, e *EIP) {
		if (e.Status == EIPAvailable) != (e.InstanceID == "") {
			c.Fail("EIP %s is %s with instance %q", e.ID, e.Status, e.InstanceID)
		}
	}))

var _ = moved(ProductVPC, "eip", EIPs, func(e *EIP) *string { return &e.ResourceGroupID })

// EIPsByRegion finds EIPs by account and region.
var EIPsByRegion = EIPs.Index("region", func(e *EIP) [][]string { return state.Key(e.AccountID, e.RegionID) })

// EIPsByInstance finds EIPs by the resource that has them.
var EIPsByInstance = EIPs.Index("instance", func(e *EIP) [][]string { return state.Key(e.InstanceID) })

var _ = EIPs.With(
	hasAddresses(EIPs, func(e *EIP) []string { return []string{e.IPAddress} }),
	state.On(string(EIPUnassociating), func(tx *state.Tx, t *state.Transition) {
		// A deleted EIP has nothing to release.
		_ = EIPs.Edit(tx, t.ResourceID, func(e *EIP) error {
			if e.Status == EIPUnassociating {
				e.Free()
			}
			return nil
		})
	}))

// The stages of an EIP.
var (
	StageEIPAssociating   = EIPs.Stage("eip.associating", string(EIPAssociating), string(EIPInUse), 3*time.Second)
	StageEIPUnassociating = EIPs.Stage("eip.unassociating", string(EIPUnassociating), string(EIPAvailable), 3*time.Second)
)

// QuotaEIPs limits the EIPs of a region. It is not published with
// certainty: CLB-0170.
var QuotaEIPs = state.NewQuota(Schema, "vpc_quota_eips_num", 20,
	state.InRegion(EIPs))
