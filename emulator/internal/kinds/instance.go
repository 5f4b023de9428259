package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of an instance.
const (
	InstancePending  = "Pending"
	InstanceStarting = "Starting"
	InstanceRunning  = "Running"
	InstanceStopping = "Stopping"
	InstanceStopped  = "Stopped"
)

// Instance is an ECS instance, without a machine behind it. Its private addresses are
// its primary network interface's.
type Instance struct {
	state.Owner
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

	// The bandwidths, in Mbit/s, of public addresses.
	InternetMaxBandwidthIn  int    `json:",omitempty"`
	InternetMaxBandwidthOut int    `json:",omitempty"`
	UserData                string `json:",omitempty"` // in base64
	HTTPTokens              string `json:",omitempty"` // optional if empty
	StoppedMode             string `json:",omitempty"` // while stopped
	Disks                   []Disk `json:",omitempty"`
	// AssignedIPAddress is the public address that came from the region's pool.
	AssignedIPAddress string `json:",omitempty"`
	// LaunchID is the first instance that the same call created.
	LaunchID string `json:",omitempty"`
}

// The types of disks.
const (
	DiskSystem = "system"
	DiskData   = "data"
)

// Disk is a disk of an instance.
type Disk struct {
	ID                 string
	Name               string `json:",omitempty"`
	Description        string `json:",omitempty"`
	Type               string
	Device             string
	Category           string
	PerformanceLevel   string `json:",omitempty"`
	Size               int    // GiB
	Encrypted          bool   `json:",omitempty"`
	DeleteWithInstance bool   `json:",omitempty"`
}

// TagInstance is the type of the tags of Instances.
const TagInstance state.TagResourceType = "ecs:instance"

// Instances by id.
var Instances = state.NewTable(Schema, "Instance", func(i *Instance) string { return i.ID },
	state.IDForm("i-", 17), state.Tagged(TagInstance, ProductECS, "instance"),
	state.Life(func(i *Instance) *string { return &i.Status }),
	state.Refers(VSwitches, func(i *Instance) string { return i.VSwitchID }))

// InstancesByRegion finds instances by account and region.
var InstancesByRegion = Instances.Index("region", func(i *Instance) [][]string {
	return state.Key(i.AccountID, i.RegionID)
})

// InstancesByVSwitch finds instances by vSwitch.
var InstancesByVSwitch = Instances.Index("vswitch", func(i *Instance) [][]string { return state.Key(i.VSwitchID) })

var _ = Instances.With(hasAddresses(Instances, func(i *Instance) []string {
	if i.AssignedIPAddress == "" {
		return nil
	}
	return []string{i.AssignedIPAddress}
}))

// The stages of an instance.
var (
	StageInstancePending  = Instances.Stage("instance.pending", InstancePending, InstanceRunning, 5*time.Second)
	StageInstanceStarting = Instances.Stage("instance.starting", InstanceStarting, InstanceRunning, 3*time.Second)
	StageInstanceStopping = Instances.Stage("instance.stopping", InstanceStopping, InstanceStopped, 3*time.Second)
)
