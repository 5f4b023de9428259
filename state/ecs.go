package state

import "time"

// The states of an instance that matter here.
const (
	InstanceRunning = "Running"
	InstanceStopped = "Stopped"
)

// Instance is an ECS instance. Its private addresses are those of its primary
// network interface.
type Instance struct {
	Owner
	ID                 string
	Name               string `json:",omitempty"`
	HostName           string `json:",omitempty"`
	Description        string `json:",omitempty"`
	ZoneID             string
	Status             string
	VPCID              string
	VSwitchID          string
	InstanceType       string
	ImageID            string `json:",omitempty"`
	SerialNumber       string `json:",omitempty"`
	InstanceChargeType string
	SpotStrategy       string   `json:",omitempty"`
	PublicIPAddresses  []string `json:",omitempty"`
	RAMRoleName        string   `json:",omitempty"`
	ResourceGroupID    string
	DeletionProtection bool `json:",omitempty"`
	CreateTime         time.Time
}

// Instances by id.
var Instances = newTable("Instance", func(i *Instance) string { return i.ID })

// InstancesByRegion finds instances by account and region.
var InstancesByRegion = Instances.index("region", func(i *Instance) [][]string {
	return one(i.AccountID, i.RegionID)
})

// InstancesByVSwitch finds instances by vSwitch.
var InstancesByVSwitch = Instances.index("vswitch", func(i *Instance) [][]string { return one(i.VSwitchID) })

// The types and states of a network interface.
const (
	NetworkInterfacePrimary   = "Primary"
	NetworkInterfaceSecondary = "Secondary"
	NetworkInterfaceInUse     = "InUse"
	NetworkInterfaceAvailable = "Available"
)

// NetworkInterface is an elastic network interface (ENI).
type NetworkInterface struct {
	Owner
	ID          string
	Name        string `json:",omitempty"`
	Description string `json:",omitempty"`
	Type        string
	Status      string
	InstanceID  string `json:",omitempty"`
	VPCID       string
	VSwitchID   string
	ZoneID      string
	MacAddress  string
	// PrivateIPAddresses has the primary address first.
	PrivateIPAddresses []string
	IPv6Addresses      []string `json:",omitempty"`
	SecurityGroupIDs   []string `json:",omitempty"`
	SourceDestCheck    bool     `json:",omitempty"`
	// Activity is Busy while a change of attributes is being applied.
	Activity        string `json:",omitempty"`
	ResourceGroupID string
	CreateTime      time.Time
}

// NetworkInterfaces by id.
var NetworkInterfaces = newTable("NetworkInterface", func(n *NetworkInterface) string { return n.ID })

// NetworkInterfacesByRegion finds interfaces by account and region.
var NetworkInterfacesByRegion = NetworkInterfaces.index("region", func(n *NetworkInterface) [][]string {
	return one(n.AccountID, n.RegionID)
})

// NetworkInterfacesByInstance finds interfaces by instance, type.
var NetworkInterfacesByInstance = NetworkInterfaces.index("instance", func(n *NetworkInterface) [][]string {
	return one(n.InstanceID, n.Type)
})

// NetworkInterfacesByVSwitch finds interfaces by vSwitch.
var NetworkInterfacesByVSwitch = NetworkInterfaces.index("vswitch", func(n *NetworkInterface) [][]string {
	return one(n.VSwitchID)
})

// NetworkInterfacesByAddress finds interfaces by VPC and any of their
// addresses, IPv4 or IPv6.
var NetworkInterfacesByAddress = NetworkInterfaces.index("address", func(n *NetworkInterface) [][]string {
	var keys [][]string
	for _, ip := range n.PrivateIPAddresses {
		keys = append(keys, []string{n.VPCID, ip})
	}
	for _, ip := range n.IPv6Addresses {
		keys = append(keys, []string{n.VPCID, ip})
	}
	return keys
})

// SecurityGroup is a set of firewall rules.
type SecurityGroup struct {
	Owner
	ID              string
	Name            string `json:",omitempty"`
	Description     string `json:",omitempty"`
	Type            string
	VPCID           string `json:",omitempty"`
	InnerAccess     string
	ResourceGroupID string
	Permissions     []SecurityGroupPermission `json:",omitempty"`
	CreateTime      time.Time
}

// SecurityGroupPermission is one rule of a security group.
type SecurityGroupPermission struct {
	RuleID       string
	Direction    string // ingress or egress
	IPProtocol   string
	PortRange    string
	SourceCIDR   string `json:",omitempty"`
	DestCIDR     string `json:",omitempty"`
	IPv6Source   string `json:",omitempty"`
	IPv6Dest     string `json:",omitempty"`
	SourceGroup  string `json:",omitempty"`
	SourcePort   string `json:",omitempty"`
	Policy       string
	Priority     string
	NicType      string
	PrefixListID string `json:",omitempty"`
	Description  string `json:",omitempty"`
	CreateTime   time.Time
}

// SecurityGroups by id.
var SecurityGroups = newTable("SecurityGroup", func(g *SecurityGroup) string { return g.ID })

// SecurityGroupsByRegion finds groups by account and region.
var SecurityGroupsByRegion = SecurityGroups.index("region", func(g *SecurityGroup) [][]string {
	return one(g.AccountID, g.RegionID)
})
