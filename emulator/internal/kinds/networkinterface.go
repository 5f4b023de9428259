package kinds

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/clbemu/clbemu/state"
)

// The types and states of a network interface.
const (
	NetworkInterfacePrimary   = "Primary"
	NetworkInterfaceSecondary = "Secondary"
	NetworkInterfaceInUse     = "InUse"
	NetworkInterfaceAvailable = "Available"
)

// NetworkInterface is an elastic network interface (ENI).
type NetworkInterface struct {
	state.Owner
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
	// Activity is Busy while a change of attributes takes effect.
	Activity        string `json:",omitempty"`
	ResourceGroupID string
	CreateTime      time.Time
}

// MACOf returns the hardware address of an interface, made from its id, with the prefix of the
// cloud's interfaces.
func MACOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("00:16:3e:%02x:%02x:%02x", sum[0], sum[1], sum[2])
}

// TagNetworkInterface is the type of the tags of NetworkInterfaces.
const TagNetworkInterface state.TagResourceType = "ecs:eni"

// NetworkInterfaces by id.
var NetworkInterfaces = state.NewTable(Schema, "NetworkInterface", func(n *NetworkInterface) string { return n.ID },
	state.IDForm("eni-", 16), state.Tagged(TagNetworkInterface, ProductECS, "eni"),
	state.Refers(VSwitches, func(n *NetworkInterface) string { return n.VSwitchID }),
	state.Refers(Instances, func(n *NetworkInterface) string { return n.InstanceID }),
	state.Life(func(n *NetworkInterface) *string { return &n.Activity }))

// NetworkInterfacesByRegion finds interfaces by account and region.
var NetworkInterfacesByRegion = NetworkInterfaces.Index("region", func(n *NetworkInterface) [][]string {
	return state.Key(n.AccountID, n.RegionID)
})

// NetworkInterfacesByInstance finds interfaces by instance, type.
var NetworkInterfacesByInstance = NetworkInterfaces.Index("instance", func(n *NetworkInterface) [][]string {
	return state.Key(n.InstanceID, n.Type)
})

// NetworkInterfacesByVSwitch finds interfaces by vSwitch.
var NetworkInterfacesByVSwitch = NetworkInterfaces.Index("vswitch", func(n *NetworkInterface) [][]string {
	return state.Key(n.VSwitchID)
})

// NetworkInterfacesByAddress finds interfaces by VPC and any of their
// addresses, IPv4 or IPv6.
var NetworkInterfacesByAddress = NetworkInterfaces.Index("address", func(n *NetworkInterface) [][]string {
	var keys [][]string
	for _, ip := range n.PrivateIPAddresses {
		keys = append(keys, []string{n.VPCID, ip})
	}
	for _, ip := range n.IPv6Addresses {
		keys = append(keys, []string{n.VPCID, ip})
	}
	return keys
})

var _ = NetworkInterfaces.With(hasAddresses(NetworkInterfaces, func(n *NetworkInterface) []string { return n.PrivateIPAddresses }))

var _ = Instances.With(state.Checks(func(c *state.Checker, i *Instance) {
	if _, ok := NetworkInterfacesByInstance.First(c.View(), i.ID, NetworkInterfacePrimary); !ok {
		c.Fail("Instance %s has no primary network interface", i.ID)
	}
}))

// TakeIPv6 gives an interface an IPv6 address of its vSwitch: ip, or any free one when
// ip is empty. It fails with AddressOutside, AddressTaken or NoFreeAddress.
func TakeIPv6(tx *state.Tx, n *NetworkInterface, s *VSwitch, ip string) error {
	taken := func(ip string) bool {
		_, attached := NetworkInterfacesByAddress.First(tx.View, n.VPCID, ip)
		return attached || slices.Contains(n.IPv6Addresses, ip) || !IsFree(tx.View, s.ID, s.IPv6CIDRBlock, ip)
	}
	if ip != "" {
		addr, err := netip.ParseAddr(ip)
		switch {
		case err != nil || !Contains(s.IPv6CIDRBlock, addr.String()):
			return &state.Error{Fact: AddressOutside, ID: ip}
		case taken(addr.String()):
			return &state.Error{Fact: AddressTaken, ID: ip}
		}
		n.IPv6Addresses = append(slices.Clone(n.IPv6Addresses), addr.String())
		return nil
	}
	b := usable(s.IPv6CIDRBlock)
	chance := tx.Draw()
	for i := range min(b.size, maxIPv6Tries) {
		free := b.at((binary.BigEndian.Uint64(chance[:]) + i) % b.size).String()
		if !taken(free) {
			n.IPv6Addresses = append(slices.Clone(n.IPv6Addresses), free)
			return nil
		}
	}
	return &state.Error{Fact: NoFreeAddress, ID: s.ID}
}

// maxIPv6Tries bounds the search for a free address among billions.
const maxIPv6Tries = 1000

// StageNetworkInterfaceChanging is while a change of attributes takes effect.
var StageNetworkInterfaceChanging = NetworkInterfaces.Stage("networkinterface.changing", state.Busy, state.Idle, time.Second)
