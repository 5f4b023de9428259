package resources

import (
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// Overlaps reports whether two blocks have addresses in common. One that is invalid has
// none.
func Overlaps(prefix netip.Prefix, block string) bool {
	other, err := netip.ParsePrefix(block)
	return err == nil && prefix.IsValid() && prefix.Overlaps(other)
}

// Within reports whether inner lies in one of the blocks; blocks that are invalid are
// empty and hold everything, as their problem is known already.
func Within(inner netip.Prefix, blocks ...string) bool {
	return slices.ContainsFunc(blocks, func(block string) bool {
		outer, err := netip.ParsePrefix(block)
		return err != nil || outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
	})
}

func blocksOf(vpc *kinds.VPC) []string {
	return slices.Concat([]string{vpc.CIDRBlock}, vpc.SecondaryCIDRBlocks)
}
