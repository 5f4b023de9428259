package vpc

import (
	"hash/fnv"
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// The refusals of this file.
var (
	errVPCBlockInvalid = refusals.New("VPCBlockInvalid", 400, "InvalidParameter",
		"Specified CIDR block is not valid", "CLB-0300")
	errVPCBlockReserved = refusals.New("VPCBlockReserved", 400, "OperationDenied.CidrInExcludeCidrs",
		"The operation is not allowed because the input CIDR is within the illegal CIDRs.", "CLB-0300")
)

// parseCIDR reads a block. It refuses one with bits after its mask.
func parseCIDR(text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil && prefix == prefix.Masked()
}

// within reports whether inner is part of outer.
func within(inner, outer netip.Prefix) bool {
	return inner.Bits() >= outer.Bits() && outer.Overlaps(inner)
}

// reservedBlocks can't be the block of a VPC.
var reservedBlocks = []netip.Prefix{
	netip.MustParsePrefix(kinds.ServiceBlock),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"),
}

// The sizes of a VPC's IPv4 block.
const (
	minVPCBits = 8
	maxVPCBits = 28
)

func checkVPCBlock(text string) error {
	prefix, ok := parseCIDR(text)
	if !ok || !prefix.Addr().Is4() || prefix.Bits() < minVPCBits || prefix.Bits() > maxVPCBits {
		return errVPCBlockInvalid.Of(text)
	}
	for _, reserved := range reservedBlocks {
		if reserved.Overlaps(prefix) {
			return errVPCBlockReserved.Of(text)
		}
	}
	return nil
}

// ipv6Block derives the /56 of a VPC from its id, within the addresses that are
// set aside for documentation.
func ipv6Block(vpcID string) string {
	h := fnv.New32a()
	h.Write([]byte(vpcID))
	sum := h.Sum32()
	addr := netip.MustParseAddr("2001:db8::").As16()
	addr[4], addr[5], addr[6] = 0x80|byte(sum>>16), byte(sum>>8), byte(sum)
	return netip.PrefixFrom(netip.AddrFrom16(addr), 56).String()
}

// subnet returns the n-th /64 of a VPC's /56.
func subnet(block string, n int) (string, bool) {
	prefix, ok := parseCIDR(block)
	if !ok || prefix.Bits() > 56 {
		return "", false
	}
	addr := prefix.Addr().As16()
	addr[7] = byte(n)
	return netip.PrefixFrom(netip.AddrFrom16(addr), 64).String(), true
}
