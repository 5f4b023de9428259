package world_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// TestInNetwork proves that the public addresses of the default region lie in the top of a
// network, that a machine of the network can be an instance of the VPC, and that nothing else changes.
func TestInNetwork(t *testing.T) {
	for _, tt := range []struct{ network, public, machine string }{
		{"172.18.0.0/16", "172.18.255.0/24", "172.18.0.2"},
		{"192.168.32.0/20", "192.168.47.0/24", "192.168.32.2"},
		{"10.0.0.0/8", "10.255.255.0/24", "10.0.0.2"},
		{"192.168.0.0/16", "192.168.255.0/24", "192.168.16.2"},
		{"172.30.1.0/24", "172.30.1.192/26", "172.30.1.2"},
		{"172.30.0.64/26", "172.30.0.112/28", "172.30.0.66"},
	} {
		text, err := world.InNetwork(netip.MustParsePrefix(tt.network), netip.MustParsePrefix("fc00:f853:ccd:e793::/64"))
		if err != nil {
			t.Errorf("InNetwork(%s) = %v", tt.network, err)
			continue
		}
		lines := strings.Split(string(world.DefaultText), "\n")
		changed := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return slices.Contains(lines, line) })
		if len(changed) < 2 || len(changed) > 3 {
			t.Errorf("InNetwork(%s) changes %q", tt.network, changed)
		}
		w, err := world.Parse("w.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		store, owner := mustPlant(t, w), state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}
		if err := store.Update(owner, func(tx *state.Tx) error {
			region, err := kinds.Regions.Get(tx.View, "cn-hangzhou")
			if err != nil || region.PublicCIDRBlock != tt.public || region.PublicIPv6CIDRBlock != "fc00:f853:ccd:e793::/64" {
				t.Errorf("%s: the region is %+v, %v, want %s", tt.network, region, err, tt.public)
			}
			var made resources.Made
			sw, err := resources.VSwitchAround(tx, owner, "vpc-bp1clbemu000000000001", "cn-hangzhou-h", tt.machine, &made)
			if err != nil || made.VPCs != 0 {
				t.Errorf("%s: %s is in %+v, %v", tt.network, tt.machine, sw, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestInNoNetwork proves that networks without room, and those that others have, are
// refused with the reason.
func TestInNoNetwork(t *testing.T) {
	for want, networks := range map[string][]string{
		"has too few addresses": {"192.168.1.0/27"},
		"both networks":         {"172.18.0.0/16", "172.19.0.0/16"},
		"overlaps 198.19.255.0/24 of region cn-hangzhou": {"198.19.0.0/16"},
		"2001:db8::/65": {"2001:db8::/65"},
	} {
		var list []netip.Prefix
		for _, n := range networks {
			list = append(list, netip.MustParsePrefix(n))
		}
		if text, err := world.InNetwork(list...); err == nil || !strings.Contains(err.Error(), want) || text != nil {
			t.Errorf("InNetwork(%v) = %.40q, %v, want %q", networks, text, err, want)
		}
	}
}
