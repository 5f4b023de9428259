package kinds_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The cloud keeps the first and the last three addresses of a block.
func TestContains(t *testing.T) {
	cases := []struct {
		cidr, ip string
		want     bool
	}{
		{"192.168.0.0/24", "192.168.0.0", false},
		{"192.168.0.0/24", "192.168.0.1", true},
		{"192.168.0.0/24", "192.168.0.252", true},
		{"192.168.0.0/24", "192.168.0.253", false},
		{"192.168.0.0/24", "192.168.0.255", false},
		{"192.168.0.0/24", "192.168.1.1", false},
		{"192.168.0.77/24", "192.168.0.1", true},
		{"192.168.0.0/30", "192.168.0.1", false},
		{"192.168.0.0/29", "192.168.0.4", true},
		{"2001:db8::/64", "2001:db8::1", true},
		{"2001:db8::/64", "2001:db8::", false},
		{"2001:db8::/64", "192.168.0.1", false},
		{"192.168.0.0/24", "::ffff:192.168.0.1", false},
		{"192.168.0.0/24", "192.168.0", false},
		{"not a block", "192.168.0.1", false},
	}
	for _, c := range cases {
		if got := kinds.Contains(c.cidr, c.ip); got != c.want {
			t.Errorf("Contains(%s, %s) = %v, want %v", c.cidr, c.ip, got, c.want)
		}
	}
}

func factOf(err error) state.Fact {
	var fact *state.Error
	if errors.As(err, &fact) {
		return fact.Fact
	}
	return ""
}

func TestAllocateAddress(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		allocate := func(ip, holder string) (string, state.Fact) {
			got, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, ip, kinds.LoadBalancers.Kind(), holder)
			return got, factOf(err)
		}
		if ip, fact := allocate("192.168.0.5", "lb-1"); ip != "192.168.0.5" || fact != "" {
			t.Errorf("a chosen address = %s, %s", ip, fact)
		}
		if _, fact := allocate("192.168.0.5", "lb-2"); fact != kinds.AddressTaken {
			t.Errorf("a taken address = %q, want AddressTaken", fact)
		}
		for _, ip := range []string{"192.168.0.0", "192.168.0.13", "10.0.0.1", "x"} {
			if _, fact := allocate(ip, "lb-2"); fact != kinds.AddressOutside {
				t.Errorf("address %s = %q, want AddressOutside", ip, fact)
			}
		}
	})
}

// Chance gives out every address of a vSwitch once, then none, and the count of
// free ones is right all the way.
func TestAllocateAddressUntilNoneIsFree(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		vSwitch, _ := kinds.VSwitches.Find(tx.View, vSwitchID)
		var given []string
		for free := 16 - 4; free > 0; free-- {
			if got := kinds.AvailableAddresses(tx.View, vSwitch); got != free {
				t.Errorf("AvailableAddresses = %d, want %d", got, free)
			}
			ip, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", kinds.LoadBalancers.Kind(), "lb-1")
			if err != nil || slices.Contains(given, ip) || !kinds.Contains(vSwitchCIDR, ip) {
				t.Fatalf("AllocateAddress = %s, %v after %v", ip, err, given)
			}
			given = append(given, ip)
		}
		_, err := kinds.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", kinds.LoadBalancers.Kind(), "lb-2")
		if factOf(err) != kinds.NoFreeAddress {
			t.Errorf("AllocateAddress from a full vSwitch = %v, want NoFreeAddress", err)
		}
		kinds.ReleaseAddresses(tx, kinds.LoadBalancers.Kind(), "lb-1")
		if got := kinds.AvailableAddresses(tx.View, vSwitch); got != 12 {
			t.Errorf("AvailableAddresses after the release = %d, want 12", got)
		}
	})
}

func TestAllocateAddressFromATinyBlock(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		for _, cidr := range []string{"192.168.0.0/30", "192.168.0.1/32", "garbage"} {
			_, err := kinds.AllocateAddress(tx, "vsw-tiny", cidr, "", kinds.LoadBalancers.Kind(), "lb-1")
			if factOf(err) != kinds.NoFreeAddress {
				t.Errorf("AllocateAddress from %s = %v, want NoFreeAddress", cidr, err)
			}
		}
	})
}

// Addresses of other pools do not count: two VPCs may use the same block.
func TestAddressPoolsAreSeparate(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		for _, pool := range []string{vSwitchID, "vsw-other", kinds.PublicPool("cn-hangzhou"), kinds.PublicPool("cn-shanghai")} {
			if _, err := kinds.AllocateAddress(tx, pool, vSwitchCIDR, "192.168.0.5", kinds.LoadBalancers.Kind(), "lb-1"); err != nil {
				t.Errorf("AllocateAddress in %s: %v", pool, err)
			}
		}
		if n := kinds.AddressesByHolder.Count(tx.View, "LoadBalancer", "lb-1"); n != 4 {
			t.Errorf("the holder has %d addresses, want 4", n)
		}
	})
}

func TestAllocateIPv6Address(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		ip, err := kinds.AllocateAddress(tx, "v6", "2001:db8:1::/64", "", kinds.LoadBalancers.Kind(), "lb-1")
		if err != nil || !kinds.Contains("2001:db8:1::/64", ip) {
			t.Errorf("AllocateAddress = %s, %v", ip, err)
		}
	})
}
