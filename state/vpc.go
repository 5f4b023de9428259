package state

import "time"

// VPC is a virtual network.
type VPC struct {
	Owner
	ID                  string
	Name                string `json:",omitempty"`
	Description         string `json:",omitempty"`
	CIDRBlock           string
	SecondaryCIDRBlocks []string `json:",omitempty"`
	IPv6CIDRBlock       string   `json:",omitempty"`
	VRouterID           string
	ResourceGroupID     string
	IsDefault           bool `json:",omitempty"`
	CreateTime          time.Time
}

// VPCs by id.
var VPCs = newTable("VPC", func(v *VPC) string { return v.ID })

// VPCsByRegion finds VPCs by account and region.
var VPCsByRegion = VPCs.index("region", func(v *VPC) [][]string { return one(v.AccountID, v.RegionID) })

// VSwitch is a subnet of a VPC in one zone.
type VSwitch struct {
	Owner
	ID              string
	VPCID           string
	ZoneID          string
	CIDRBlock       string
	IPv6CIDRBlock   string `json:",omitempty"`
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	RouteTableID    string
	ResourceGroupID string
	IsDefault       bool `json:",omitempty"`
	CreateTime      time.Time
}

// VSwitches by id.
var VSwitches = newTable("VSwitch", func(s *VSwitch) string { return s.ID })

// VSwitchesByRegion finds vSwitches by account and region.
var VSwitchesByRegion = VSwitches.index("region", func(s *VSwitch) [][]string { return one(s.AccountID, s.RegionID) })

// VSwitchesByVPC finds vSwitches by VPC.
var VSwitchesByVPC = VSwitches.index("vpc", func(s *VSwitch) [][]string { return one(s.VPCID) })

// RouteTableType tells the table that comes with a VPC from those made later.
type RouteTableType string

// The route table types; route entries use the same words.
const (
	RouteTableSystem RouteTableType = "System"
	RouteTableCustom RouteTableType = "Custom"
)

// RouteTable is a route table of a VPC.
type RouteTable struct {
	Owner
	ID              string
	VPCID           string
	VRouterID       string
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	Type            RouteTableType
	ResourceGroupID string
	CreateTime      time.Time
}

// RouteTables by id.
var RouteTables = newTable("RouteTable", func(t *RouteTable) string { return t.ID })

// RouteTablesByRegion finds route tables by account and region.
var RouteTablesByRegion = RouteTables.index("region", func(t *RouteTable) [][]string { return one(t.AccountID, t.RegionID) })

// RouteTablesByVPC finds route tables by VPC.
var RouteTablesByVPC = RouteTables.index("vpc", func(t *RouteTable) [][]string { return one(t.VPCID) })

// The states of a route entry.
const (
	RouteEntryPending   = "Pending"
	RouteEntryAvailable = "Available"
	RouteEntryDeleting  = "Deleting"
)

// RouteEntry is a route. System entries have no next hop.
type RouteEntry struct {
	Owner
	ID                   string
	RouteTableID         string
	VPCID                string
	DestinationCIDRBlock string
	Type                 RouteTableType
	Status               string
	NextHopType          string `json:",omitempty"`
	NextHopID            string `json:",omitempty"`
	Name                 string `json:",omitempty"`
	Description          string `json:",omitempty"`
	CreateTime           time.Time
}

// RouteEntries by id.
var RouteEntries = newTable("RouteEntry", func(e *RouteEntry) string { return e.ID })

// RouteEntriesByTable finds entries by route table, destination.
var RouteEntriesByTable = RouteEntries.index("table", func(e *RouteEntry) [][]string {
	return one(e.RouteTableID, e.DestinationCIDRBlock)
})

// RouteEntriesInTransit finds the entries that are Pending or Deleting by VPC.
var RouteEntriesInTransit = RouteEntries.index("transit", func(e *RouteEntry) [][]string {
	if e.Status != RouteEntryPending && e.Status != RouteEntryDeleting {
		return nil
	}
	return one(e.VPCID)
})

// RouteEntriesByNextHop finds entries by the instance or interface they lead to.
var RouteEntriesByNextHop = RouteEntries.index("nexthop", func(e *RouteEntry) [][]string { return one(e.NextHopID) })

// EIPStatus is where an EIP is in its life.
type EIPStatus string

// The states of an EIP.
const (
	EIPAvailable     EIPStatus = "Available"
	EIPAssociating   EIPStatus = "Associating"
	EIPInUse         EIPStatus = "InUse"
	EIPUnassociating EIPStatus = "Unassociating"
)

// EIP is a public address that can be associated with a resource.
type EIP struct {
	Owner
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
	InstanceType    string `json:",omitempty"`
	InstanceID      string `json:",omitempty"`
	ResourceGroupID string
	CreateTime      time.Time
}

// EIPs by allocation id.
var EIPs = newTable("EIP", func(e *EIP) string { return e.ID })

// EIPsByRegion finds EIPs by account and region.
var EIPsByRegion = EIPs.index("region", func(e *EIP) [][]string { return one(e.AccountID, e.RegionID) })

// EIPsByInstance finds EIPs by what they are associated with.
var EIPsByInstance = EIPs.index("instance", func(e *EIP) [][]string { return one(e.InstanceID) })
