package world_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// TestInNetwork proves that all addresses of the default region's load balancers and
// instances lie in the top of a network, beside each other, and that a machine at the bottom
// finds a place in the VPC.
func TestInNetwork(t *testing.T) {
	for _, tt := range []struct {
		network, public, first, second, instance string
	}{
		{"172.18.0.0/16", "172.18.255.0/24", "172.18.253.0/24", "172.18.254.0/24", "172.18.253.12"},
		{"192.168.32.0/20", "192.168.47.0/24", "192.168.45.0/24", "192.168.46.0/24", "192.168.45.12"},
		{"10.0.0.0/8", "10.255.255.0/24", "10.255.253.0/24", "10.255.254.0/24", "10.255.253.12"},
		{"192.168.0.0/16", "192.168.255.0/24", "192.168.253.0/24", "192.168.254.0/24", "192.168.253.12"},
		{"192.168.1.0/24", "192.168.1.192/26", "192.168.1.64/26", "192.168.1.128/26", "192.168.1.76"},
		{"172.30.0.64/26", "172.30.0.112/28", "172.30.0.80/28", "172.30.0.96/28", "172.30.0.92"},
	} {
		text, err := world.InNetwork(netip.MustParsePrefix(tt.network), netip.MustParsePrefix("fc00:f853:ccd:e793::/64"))
		if err != nil {
			t.Errorf("InNetwork(%s) = %v", tt.network, err)
			continue
		}
		w, err := world.Parse("w.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		store := mustPlant(t, w)
		if err := store.View(state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}, func(v *state.View) error {
			region, err := cloud.Regions.Get(v, "cn-hangzhou")
			if err != nil || region.PublicCIDRBlock != tt.public || region.PublicIPv6CIDRBlock != "fc00:f853:ccd:e793::/64" {
				t.Errorf("%s: the region is %+v, %v, want %s", tt.network, region, err, tt.public)
			}
			vpc, err := cloud.VPCs.Get(v, "vpc-bp1clbemu000000000001")
			if err != nil || vpc.CIDRBlock != tt.network {
				t.Errorf("%s: the VPC is %+v, %v", tt.network, vpc, err)
			}
			for id, want := range map[string]string{"vsw-bp1clbemu000000000001": tt.first, "vsw-bp1clbemu000000000002": tt.second} {
				if sw, err := cloud.VSwitches.Get(v, id); err != nil || sw.CIDRBlock != want {
					t.Errorf("%s: %s is %+v, %v, want %s", tt.network, id, sw, err, want)
				}
			}
			n, _ := cloud.NetworkInterfacesByInstance.First(v, "i-bp1clbemu0000000002", cloud.NetworkInterfacePrimary)
			if n.PrivateIPAddresses[0] != tt.instance {
				t.Errorf("%s: the second instance is at %s, want %s", tt.network, n.PrivateIPAddresses[0], tt.instance)
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
