package resources

import (
	"cmp"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The defaults of an instance.
const (
	DefaultInstanceType = "ecs.g7.large"
	defaultChargeType   = "PostPaid"
	defaultSpotStrategy = "NoSpot"
)

// AddInstance puts an instance into a vSwitch, and into no resource group unless it
// names one: CLB-0337. Its primary network interface is put
// for itself.
func AddInstance(tx *state.Tx, sw *kinds.VSwitch, i *kinds.Instance) {
	i.Owner, i.VPCID, i.VSwitchID, i.ZoneID = sw.Owner, sw.VPCID, sw.ID, sw.ZoneID
	i.Status = cmp.Or(i.Status, kinds.InstanceRunning)
	i.InstanceType = cmp.Or(i.InstanceType, DefaultInstanceType)
	i.InstanceChargeType = cmp.Or(i.InstanceChargeType, defaultChargeType)
	i.SpotStrategy = cmp.Or(i.SpotStrategy, defaultSpotStrategy)
	i.CreateTime = tx.Now()
	if len(i.Disks) == 0 {
		i.Disks = []kinds.Disk{systemDisk(i)}
	}
	kinds.Instances.Put(tx, i)
}

// systemDisk returns the system disk of an instance with default settings.
func systemDisk(i *kinds.Instance) kinds.Disk {
	return kinds.Disk{ID: "d-" + strings.TrimPrefix(i.ID, "i-"), Type: kinds.DiskSystem, Device: "/dev/xvda", Category: "cloud_essd",
		PerformanceLevel: "PL1", Size: 40, DeleteWithInstance: true}
}

// AddNetworkInterface puts an interface into a vSwitch and, unless i is nil, on an
// instance. Its addresses are allocated already.
func AddNetworkInterface(tx *state.Tx, sw *kinds.VSwitch, i *kinds.Instance, n *kinds.NetworkInterface) {
	n.Owner, n.VPCID, n.VSwitchID, n.ZoneID = sw.Owner, sw.VPCID, sw.ID, sw.ZoneID
	n.Type = cmp.Or(n.Type, kinds.NetworkInterfaceSecondary)
	n.Status = kinds.NetworkInterfaceAvailable
	n.MacAddress = cmp.Or(n.MacAddress, kinds.MACOf(n.ID))
	n.SourceDestCheck = true // as new interfaces have it: CLB-0455
	n.CreateTime = tx.Now()
	if i != nil {
		n.InstanceID, n.Status = i.ID, kinds.NetworkInterfaceInUse
	}
	kinds.NetworkInterfaces.Put(tx, n)
}
