package world

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
)

const (
	largestShare    = 24 // no block at the top of a network is larger
	smallestNetwork = 26 // the blocks of a smaller one don't hold what the world has in them
)

// ownBlocks finds the blocks of the default region in DefaultText, and the addresses in them:
// the public ones, the VPC, and a vSwitch or an address with its number.
var ownBlocks = regexp.MustCompile(`198\.18\.0\.0/16|2001:db8:1::/64|192\.168\.0\.0/16|192\.168\.([01])\.(\d+)(/24)?`)

// InNetwork returns DefaultText with the VPC of the instances in a network, and the
// addresses of load balancers at its top: the last three of its /24 blocks, or its last
// three quarters if it is smaller, are the two vSwitches and the public addresses of the
// default region. So machines in the network reach load balancers without routes, if nobody
// else uses these blocks. With a network of IPv6, the region's public IPv6 addresses are there.
// The networks are at most one of each version: a /26 of IPv4 or larger, a /64 of IPv6 or larger.
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
	if v4.IsValid() && v4.Bits() > smallestNetwork {
		return nil, fmt.Errorf("%s has too few addresses for a world: a network has at most %d bits", v4, smallestNetwork)
	}
	text := ownBlocks.ReplaceAllFunc(DefaultText, func(found []byte) []byte {
		if block := moved(string(found), v4, v6); block != "" {
			return []byte(block)
		}
		return found
	})
	if _, err := Parse(defaultName, text); err != nil {
		return nil, fmt.Errorf("the default world does not fit into %v: %w", networks, err)
	}
	return text, nil
}

// moved returns what a match of ownBlocks is in the networks, "" for what it was.
func moved(found string, v4, v6 netip.Prefix) string {
	switch {
	case found == "2001:db8:1::/64":
		if v6.IsValid() {
			return v6.String()
		}
	case !v4.IsValid():
	case found == "198.18.0.0/16":
		return share(v4, 0).String()
	case found == "192.168.0.0/16":
		return v4.String()
	default:
		parts := ownBlocks.FindStringSubmatch(found)
		block := share(v4, 2-int(parts[1][0]-'0'))
		if parts[3] != "" {
			return block.String()
		}
		n, _ := strconv.Atoi(parts[2])
		return plus(block.Addr(), uint32(n)).String()
	}
	return ""
}

// share returns one of the blocks at the top of a network, the last for 0.
func share(network netip.Prefix, fromTop int) netip.Prefix {
	bits := max(largestShare, network.Bits()+2)
	end := uint32(1) << (32 - network.Bits())
	size := uint32(1) << (32 - bits)
	return netip.PrefixFrom(plus(network.Addr(), end-size*uint32(fromTop+1)), bits)
}

func plus(a netip.Addr, n uint32) netip.Addr {
	b := a.As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+n)
	return netip.AddrFrom4(b)
}
