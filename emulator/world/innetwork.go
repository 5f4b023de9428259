package world

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

const (
	largestShare    = 24 // load balancers get no larger part of a network
	smallestNetwork = 26 // the part of a smaller one is too small for them

	// What InNetwork replaces in DefaultText.
	publicBlock     = "publicCidrBlock: 198.18.0.0/16\n"
	publicIPv6Block = "publicIpv6CidrBlock: 2001:db8:1::/64\n"
	vpcBlock        = "    cidrBlock: 192.168.0.0/16\n"
)

// InNetwork returns DefaultText with the public addresses of the default region at the top
// of a network, so that machines in it reach load balancers without routes if nothing else uses
// these addresses: the last /24 block, or the last quarter of a smaller network. The network
// belongs to the VPC of the instances, so that its machines can be instances. The public
// IPv6 addresses are in a network of IPv6. The networks are at most one of each version: a /26
// of IPv4 or larger, a /64 of IPv6 or larger.
func InNetwork(networks ...netip.Prefix) ([]byte, error) {
	var v4, v6 netip.Prefix
	for _, n := range networks {
		slot := &v4
		if n.Addr().Is6() {
			slot = &v6
		}
		if slot.IsValid() {
			return nil, fmt.Errorf("%s and %s are both networks of one IP version: name one", *slot, n)
		}
		*slot = n.Masked()
	}
	text := string(DefaultText)
	if v6.IsValid() {
		text = strings.Replace(text, publicIPv6Block, "publicIpv6CidrBlock: "+v6.String()+"\n", 1)
	}
	if v4.IsValid() {
		if v4.Bits() > smallestNetwork {
			return nil, fmt.Errorf("%s has too few addresses for load balancers: a network has at most %d bits", v4, smallestNetwork)
		}
		text = strings.Replace(text, publicBlock, "publicCidrBlock: "+lastPrefix(v4).String()+"\n", 1)
		if !netip.MustParsePrefix("192.168.0.0/16").Overlaps(v4) {
			text = strings.Replace(text, vpcBlock, vpcBlock+"    secondaryCidrBlocks: ["+v4.String()+"]\n", 1)
		}
	}
	if _, err := Parse(defaultName, []byte(text)); err != nil {
		return nil, fmt.Errorf("the default world does not fit into %v: %w", networks, err)
	}
	return []byte(text), nil
}

// lastPrefix returns the last part of a network.
func lastPrefix(network netip.Prefix) netip.Prefix {
	bits := max(largestShare, network.Bits()+2)
	b := network.Addr().As4()
	size, share := uint32(1)<<(32-network.Bits()), uint32(1)<<(32-bits)
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+size-share)
	return netip.PrefixFrom(netip.AddrFrom4(b), bits)
}
