package cloud

import (
	"encoding/binary"
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of an EIP segment.
const (
	EIPSegmentAllocating = "Allocating"
	EIPSegmentAllocated  = "Allocated"
	EIPSegmentReleasing  = "Releasing"
)

// EIPSegment is a block of contiguous EIPs, which come and go together.
type EIPSegment struct {
	state.Owner
	ID         string
	CIDRBlock  string
	Status     string
	CreateTime time.Time
}

// EIPSegments by id.
var EIPSegments = state.NewTable(Schema, "EIPSegment", func(s *EIPSegment) string { return s.ID },
	state.IDForm("eipsg-", 18), state.Life(func(s *EIPSegment) *string { return &s.Status }))

// EIPSegmentsByRegion finds segments by account and region.
var EIPSegmentsByRegion = EIPSegments.Index("region", func(s *EIPSegment) [][]string { return state.Key(s.AccountID, s.RegionID) })

// EIPsBySegment finds the EIPs of a segment.
var EIPsBySegment = EIPs.Index("segment", func(e *EIP) [][]string { return state.Key(e.SegmentID) })

var (
	_ = EIPs.With(state.Refers(EIPSegments, func(e *EIP) string { return e.SegmentID }))
	_ = EIPSegments.With(
		goneAfter(EIPSegments, EIPSegmentReleasing, func(s *EIPSegment) string { return s.Status }),
		state.Removed(func(tx *state.Tx, s *EIPSegment) {
			for e := range EIPsBySegment.List(tx.View, s.ID) {
				EIPs.Remove(tx, e.ID)
			}
		}))
)

// The stages of an EIP segment.
var (
	StageEIPSegmentAllocating = EIPSegments.Stage("eipsegment.allocating", EIPSegmentAllocating, EIPSegmentAllocated, 3*time.Second)
	StageEIPSegmentReleasing  = EIPSegments.Stage("eipsegment.releasing", EIPSegmentReleasing, "", 3*time.Second)
)

// FreeBlock finds a block of free addresses in a pool, from a place that chance
// chooses. It fails with NoFreeAddress.
func FreeBlock(tx *state.Tx, pool, cidr string, bits int) (addresses []string, err error) {
	b, size := usable(cidr), uint64(1)<<(32-bits)
	n := (b.size + reservedFirst + reservedLast) / size
	chance := tx.Draw()
	for i := range n {
		if addresses = freeFrom(tx.View, pool, b, (binary.BigEndian.Uint64(chance[:])+i)%n*size, size); addresses != nil {
			return addresses, nil
		}
	}
	return nil, &state.Error{Fact: NoFreeAddress, ID: pool}
}

// freeFrom returns the addresses of a block, nil if one of them can't be had.
func freeFrom(v *state.View, pool string, b block, start, size uint64) []string {
	addresses := make([]string, 0, size)
	for i := range size {
		if start+i < reservedFirst || start+i-reservedFirst >= b.size {
			return nil
		}
		ip := b.at(start + i - reservedFirst).String()
		if _, taken := Addresses.Find(v, AddressID(pool, ip)); taken {
			return nil
		}
		addresses = append(addresses, ip)
	}
	return addresses
}
