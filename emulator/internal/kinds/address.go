package kinds

import (
	"encoding/binary"
	"math/big"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/state"
)

// Facts about addresses.
const (
	NoFreeAddress  state.Fact = "NoFreeAddress"
	AddressOutside state.Fact = "AddressOutside"
	AddressTaken   state.Fact = "AddressTaken"
)

// Address is an allocated address: Pool is a vSwitch, or PublicPool.
type Address struct {
	Pool   string
	IP     string
	Holder state.Kind // the table of what has it
	// HolderID is the holder's id in that table.
	HolderID string
}

// AddressID returns the id of an Address.
func AddressID(pool, ip string) string { return pool + "/" + ip }

// Addresses by AddressID.
var Addresses = state.NewTable(Schema, "Address", func(a *Address) string { return AddressID(a.Pool, a.IP) }, state.Internal())

// AddressesByPool finds the allocated addresses of a pool.
var AddressesByPool = Addresses.Index("pool", func(a *Address) [][]string { return state.Key(a.Pool) })

// AddressesByHolder finds the addresses of a holder: kind, id.
var AddressesByHolder = Addresses.Index("holder", func(a *Address) [][]string {
	return state.Key(string(a.Holder), a.HolderID)
})

// PublicPool names the pool of a region's public addresses.
func PublicPool(regionID string) string { return "public:" + regionID }

// The cloud keeps the first and the last three addresses of a vSwitch.
const (
	reservedFirst = 1
	reservedLast  = 3
)

// block is a pool's range of addresses to give out.
type block struct {
	prefix netip.Prefix
	size   uint64
}

// usable returns the range of a CIDR block without the addresses that the cloud keeps. For an IPv6
// block it takes at most the first 2^32 addresses: enough, and they fit an integer.
func usable(cidr string) block {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return block{}
	}
	bits := min(prefix.Addr().BitLen()-prefix.Bits(), 32)
	size := uint64(1) << bits
	if size <= reservedFirst+reservedLast {
		return block{prefix: prefix.Masked()}
	}
	return block{prefix: prefix.Masked(), size: size - reservedFirst - reservedLast}
}

func (b block) at(n uint64) netip.Addr {
	base := new(big.Int).SetBytes(b.prefix.Addr().AsSlice())
	base.Add(base, new(big.Int).SetUint64(n+reservedFirst))
	bytes := base.FillBytes(make([]byte, b.prefix.Addr().BitLen()/8))
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

// Contains reports whether ip is an address of the CIDR block to give out.
func Contains(cidr, ip string) bool {
	addr, err := netip.ParseAddr(ip)
	b := usable(cidr)
	if err != nil || b.size == 0 || !b.prefix.Contains(addr) {
		return false
	}
	return addr.Compare(b.at(0)) >= 0 && addr.Compare(b.at(b.size-1)) <= 0
}

// IsFree reports whether AllocateAddress would give ip out.
func IsFree(v *state.View, pool, cidr, ip string) bool {
	_, taken := Addresses.Find(v, AddressID(pool, ip))
	return !taken && Contains(cidr, ip)
}

// AllocateAddress gives an address of the CIDR block to a holder: ip, or any
// free one when ip is empty. It fails with AddressOutside, AddressTaken or
// NoFreeAddress.
func AllocateAddress(tx *state.Tx, pool, cidr, ip string, holder state.Kind, holderID string) (string, error) {
	if ip == "" {
		free, err := freeAddress(tx, pool, usable(cidr))
		if err != nil {
			return "", err
		}
		ip = free
	} else {
		if !Contains(cidr, ip) {
			return "", &state.Error{Fact: AddressOutside, ID: ip}
		}
		if !IsFree(tx.View, pool, cidr, ip) {
			return "", &state.Error{Fact: AddressTaken, ID: ip}
		}
	}
	Addresses.Put(tx, &Address{Pool: pool, IP: ip, Holder: holder, HolderID: holderID})
	return ip, nil
}

// freeAddress starts at a place that chance chooses and takes the next free
// address from there, as the cloud's addresses are not in order either.
func freeAddress(tx *state.Tx, pool string, b block) (string, error) {
	if b.size == 0 {
		return "", &state.Error{Fact: NoFreeAddress, ID: pool}
	}
	chance := tx.Draw()
	start := binary.BigEndian.Uint64(chance[:]) % b.size
	for i := range b.size {
		addr := b.at((start + i) % b.size)
		if _, taken := Addresses.Find(tx.View, AddressID(pool, addr.String())); !taken {
			return addr.String(), nil
		}
	}
	return "", &state.Error{Fact: NoFreeAddress, ID: pool}
}

// ReleaseAddresses gives back all addresses of a holder.
func ReleaseAddresses(tx *state.Tx, holder state.Kind, holderID string) {
	for a := range AddressesByHolder.List(tx.View, string(holder), holderID) {
		Addresses.Delete(tx, AddressID(a.Pool, a.IP))
	}
}

// AvailableAddresses counts the free addresses of a vSwitch.
func AvailableAddresses(v *state.View, s *VSwitch) int {
	free := int(usable(s.CIDRBlock).size)
	for a := range AddressesByPool.List(v, s.ID) {
		if Contains(s.CIDRBlock, a.IP) {
			free--
		}
	}
	return free
}

// usedBy are the addresses that a resource uses, by the kinds that have some.
var usedBy = make(map[state.Kind]func(v *state.View, id string) []string)

// hasAddresses declares which allocated addresses a resource uses: they are its
// own, and go back with it.
func hasAddresses[T any](t *state.Table[T], addresses func(*T) []string) state.Option {
	usedBy[t.Kind()] = func(v *state.View, id string) []string {
		if r, ok := t.Find(v, id); ok {
			return addresses(r)
		}
		return nil
	}
	check := state.Checks(func(c *state.Checker, r *T) {
		for _, ip := range addresses(r) {
			checkHolds(c, t.Kind(), t.ID(r), ip)
		}
	})
	release := state.Removed(func(tx *state.Tx, r *T) { ReleaseAddresses(tx, t.Kind(), t.ID(r)) })
	return state.Options(check, release)
}

// HoldAddresses gives a resource the addresses that it uses, whoever had them: each out of the
// pool that poolOf says.
func HoldAddresses(tx *state.Tx, kind state.Kind, id string, poolOf func(ip string) string) {
	addresses, ok := usedBy[kind]
	if !ok {
		return
	}
	for _, ip := range addresses(tx.View, id) {
		Addresses.Put(tx, &Address{Pool: poolOf(ip), IP: ip, Holder: kind, HolderID: id})
	}
}

// checkHolds checks that the resource holds the address.
func checkHolds(c *state.Checker, kind state.Kind, id, ip string) {
	for a := range AddressesByHolder.List(c.View(), string(kind), id) {
		if a.IP == ip {
			return
		}
	}
	c.Fail("%s %s uses %s, which is not allocated to it", kind, id, ip)
}

// Every allocated address is in use by its holder.
var _ = Addresses.With(state.Checks(func(c *state.Checker, a *Address) {
	var used []string
	if addresses, ok := usedBy[a.Holder]; ok {
		used = addresses(c.View(), a.HolderID)
	} else if s, ok := VSwitches.Find(c.View(), a.HolderID); ok && a.Holder == reservation && s.ID == a.Pool {
		used = []string{a.IP}
	}
	if !slices.Contains(used, a.IP) {
		c.Fail("Address %s is allocated to %s %s, which does not use it", AddressID(a.Pool, a.IP), a.Holder, a.HolderID)
	}
}))

// reservation is the holder of addresses that the world keeps from being given
// out, so that a vSwitch has exactly that many free.
const reservation state.Kind = "Reservation"

// SetFreeAddresses leaves a vSwitch exactly free addresses by reserving others.
// It fails with NoFreeAddress when it has fewer.
func SetFreeAddresses(tx *state.Tx, s *VSwitch, free int) error {
	available := AvailableAddresses(tx.View, s) + AddressesByHolder.Count(tx.View, string(reservation), s.ID)
	if free < 0 || free > available {
		return &state.Error{Fact: NoFreeAddress, ID: s.ID}
	}
	FreeAllAddresses(tx, s)
	b := usable(s.CIDRBlock)
	for i := uint64(0); available > free; i++ {
		a := &Address{Pool: s.ID, IP: b.at(i).String(), Holder: reservation, HolderID: s.ID}
		if _, taken := Addresses.Find(tx.View, AddressID(a.Pool, a.IP)); !taken {
			Addresses.Put(tx, a)
			available--
		}
	}
	return nil
}

// WithholdsAddresses reports whether SetFreeAddresses is in force.
func WithholdsAddresses(v *state.View, s *VSwitch) bool {
	return AddressesByHolder.Count(v, string(reservation), s.ID) > 0
}

// FreeAllAddresses undoes SetFreeAddresses.
func FreeAllAddresses(tx *state.Tx, s *VSwitch) { ReleaseAddresses(tx, reservation, s.ID) }
