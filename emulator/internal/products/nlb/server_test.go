package nlb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// A group of IPs takes private addresses, in its VPC and outside of it, and no others:
// NLB-0036.
func TestServerIPs(t *testing.T) {
	client, _, _ := newClient(t, func(tx *state.Tx) error {
		err := kinds.VPCs.Edit(tx.In(owner), vpc1, func(v *kinds.VPC) error {
			v.SecondaryCIDRBlocks, v.UserCIDRs = []string{"198.51.100.0/24"}, []string{"203.0.113.0/24"}
			return nil
		})
		if err != nil {
			return err
		}
		return kinds.NLBServerGroups.Edit(tx.In(owner), sgpIP, func(g *kinds.NLBServerGroup) error {
			g.AddressIPVersion = "DualStack"
			return nil
		})
	})
	for want, addresses := range map[string][]string{
		"DryRunOperation": {"192.168.0.9", "10.0.0.1", "172.31.255.255", "192.168.255.1", "100.64.0.1", "100.127.255.1", "198.51.100.7", "203.0.113.7",
			"2001:db8::1", "fd00::1", "2408:4001::1"},
		"IllegalParam.IP": {"127.0.0.1", "127.255.255.255", "0.0.0.0", "169.254.169.254", "100.100.100.200", "100.100.2.136", "224.0.0.1",
			"255.255.255.255", "8.8.8.8", "172.32.0.1", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%lo", "fd00::1%lo", "ff02::1",
			"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "0127.0.0.1", "127.1", "localhost", "10.0.0.1:80"},
	} {
		for _, ip := range addresses {
			reply := client.Call("AddServersToServerGroup", params("ServerGroupId", sgpIP, "DryRun", "true",
				"Servers.1.ServerType", "Ip", "Servers.1.ServerId", ip, "Servers.1.Port", "80"))
			if reply.Code != want {
				t.Errorf("%s = %d %s: %s, want %s", ip, reply.Status, reply.Code, reply.Message, want)
			}
		}
	}
}
