package cloud

import (
	"slices"
	"time"

	"github.com/clbemu/clbemu/state"
)

// HAVIPStatus is the status of an HAVIP.
type HAVIPStatus string

// The states of an HAVIP.
const (
	HAVIPCreating      HAVIPStatus = "Creating"
	HAVIPAvailable     HAVIPStatus = "Available"
	HAVIPAssociating   HAVIPStatus = "Associating"
	HAVIPInUse         HAVIPStatus = "InUse"
	HAVIPUnassociating HAVIPStatus = "Unassociating"
	HAVIPDeleting      HAVIPStatus = "Deleting"
)

// HAVIP is a private address that moves between the instances or interfaces that it
// is associated with.
type HAVIP struct {
	state.Owner
	ID          string
	VPCID       string
	VSwitchID   string
	IPAddress   string
	Name        string `json:",omitempty"`
	Description string `json:",omitempty"`
	Status      HAVIPStatus
	// InstanceType is EcsInstance or NetworkInterface, and InstanceIDs what it is
	// associated with, in the order in which that came.
	InstanceType    string   `json:",omitempty"`
	InstanceIDs     []string `json:",omitempty"`
	ResourceGroupID string
	CreateTime      time.Time
}

// Settled is the status when nothing happens.
func (h *HAVIP) Settled() HAVIPStatus {
	if len(h.InstanceIDs) > 0 {
		return HAVIPInUse
	}
	return HAVIPAvailable
}

// Drop ends an association.
func (h *HAVIP) Drop(instanceID string) {
	h.InstanceIDs = slices.DeleteFunc(slices.Clone(h.InstanceIDs), func(id string) bool { return id == instanceID })
	if len(h.InstanceIDs) == 0 {
		h.InstanceType = ""
	}
}

// TagHAVIP is the type of the tags of HAVIPs.
const TagHAVIP state.TagResourceType = "vpc:havip"

// HAVIPs by id.
var HAVIPs = state.NewTable(Schema, "HAVIP", func(h *HAVIP) string { return h.ID },
	state.IDForm("havip-", 18), state.Tagged(TagHAVIP, ProductVPC, "HAVIP"),
	state.Belongs(VSwitches, func(h *HAVIP) string { return h.VSwitchID }),
	state.Life(func(h *HAVIP) *HAVIPStatus { return &h.Status }))

var _ = moved(ProductVPC, "havip", HAVIPs, func(h *HAVIP) *string { return &h.ResourceGroupID })

// HAVIPsByRegion finds HAVIPs by account and region.
var HAVIPsByRegion = HAVIPs.Index("region", func(h *HAVIP) [][]string { return state.Key(h.AccountID, h.RegionID) })

// HAVIPsByInstance finds HAVIPs by the resources that have them.
var HAVIPsByInstance = HAVIPs.Index("instance", func(h *HAVIP) (keys [][]string) {
	for _, id := range h.InstanceIDs {
		keys = append(keys, []string{id})
	}
	return keys
})

var (
	_ = HAVIPs.With(
		hasAddresses(HAVIPs, func(h *HAVIP) []string { return []string{h.IPAddress} }),
		goneAfter(HAVIPs, HAVIPDeleting, func(h *HAVIP) HAVIPStatus { return h.Status }),
		state.Checks(func(c *state.Checker, h *HAVIP) {
			for _, id := range h.InstanceIDs {
				_, instance := Instances.Find(c.View(), id)
				_, eni := NetworkInterfaces.Find(c.View(), id)
				if !instance && !eni {
					c.Fail("HAVIP %s is associated with %s, which is not there", h.ID, id)
				}
			}
		}))
	_ = Instances.With(state.Removed(func(tx *state.Tx, i *Instance) { dropFromHAVIPs(tx, i.ID) }))
	_ = NetworkInterfaces.With(state.Removed(func(tx *state.Tx, n *NetworkInterface) { dropFromHAVIPs(tx, n.ID) }))
)

// dropFromHAVIPs ends the associations of a deleted instance.
func dropFromHAVIPs(tx *state.Tx, instanceID string) {
	for h := range HAVIPsByInstance.List(tx.View, instanceID) {
		left := *h
		left.Drop(instanceID)
		if left.Status == HAVIPInUse {
			left.Status = left.Settled()
		}
		HAVIPs.Put(tx, &left)
	}
}

// The stages of an HAVIP.
var (
	StageHAVIPCreating      = HAVIPs.Stage("havip.creating", string(HAVIPCreating), string(HAVIPAvailable), 3*time.Second)
	StageHAVIPAssociating   = HAVIPs.Stage("havip.associating", string(HAVIPAssociating), string(HAVIPInUse), 3*time.Second)
	StageHAVIPUnassociating = HAVIPs.Stage("havip.unassociating", string(HAVIPUnassociating), string(HAVIPAvailable), 3*time.Second)
	StageHAVIPDeleting      = HAVIPs.Stage("havip.deleting", string(HAVIPDeleting), "", 3*time.Second)
)

// QuotaHAVIPs limits a region, QuotaHAVIPInstances an HAVIP.
var (
	QuotaHAVIPs         = state.NewQuota(Schema, "vpc_quota_havips_num", 50, state.InRegion(HAVIPs))
	QuotaHAVIPInstances = state.NewQuota(Schema, "vpc_quota_havip_instances_num", 10, state.Within(HAVIPs, func(h *HAVIP) int { return len(h.InstanceIDs) }))
)
