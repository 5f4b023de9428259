package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of an instance that matter here.
const (
	InstanceRunning = "Running"
	InstanceStopped = "Stopped"
)

// Instance is an ECS instance. Its private addresses are those of its primary
// network interface.
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
}

// Instances by id.
var Instances = state.NewTable(Schema, "Instance", func(i *Instance) string { return i.ID },
	state.IDForm("i-", 17), state.Tagged(TagInstance),
	state.Refers(VSwitches, func(i *Instance) string { return i.VSwitchID }))

// InstancesByRegion finds instances by account and region.
var InstancesByRegion = Instances.Index("region", func(i *Instance) [][]string {
	return state.Key(i.AccountID, i.RegionID)
})

// InstancesByVSwitch finds instances by vSwitch.
var InstancesByVSwitch = Instances.Index("vswitch", func(i *Instance) [][]string { return state.Key(i.VSwitchID) })
