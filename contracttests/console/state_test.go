package console

import (
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestStateOfEveryPage proves that every page takes snapshots, brings them back, deletes
// them, and resets the world, each after a question where something is lost.
func TestStateOfEveryPage(t *testing.T) {
	b := open(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.Engine, cfg.DataDir = emulator.Bolt, t.TempDir() }))
	for _, page := range pages {
		lb := b.balancer("kept")
		b.visit("/" + map[bool]string{false: page.name}[page.name == "topology"])
		b.click("#state")
		b.shows("#snapshots", "There are no snapshots yet.")
		b.write("#take [name=name]", "a/b")
		b.press("Enter")
		b.shows("#states #said", "Close") // no name for a snapshot
		b.write("#take [name=name]", "before")
		b.press("Enter")
		b.shows("#snapshots tbody th, #snapshots tbody td", "before")
		b.call(emulatortest.Slb, "DeleteLoadBalancer", "RequestId", "LoadBalancerId", lb)

		b.click("[aria-label='Restore before']")
		b.click("dialog.sure button[value=no]")
		b.click("[aria-label='Restore before']")
		b.click("dialog.sure button[value=yes]")
		b.shows("#states #said", "before is restored")
		b.call(emulatortest.Slb, "DescribeLoadBalancerAttribute", "RequestId", "LoadBalancerId", lb)

		b.click("[aria-label='Delete the snapshot before']")
		b.click("dialog.sure button[value=yes]")
		b.shows("#snapshots", "There are no snapshots yet.")

		b.Fault(t, "{name: busy, match: {action: DescribeVpcs}, effect: {error: {code: ServiceUnavailable}}}")
		b.click("#wipe-faults")
		b.click("#wipe")
		b.click("dialog.sure button[value=yes]")
		b.shows("#states #said", "as at the beginning")
		if list := b.call(emulatortest.Slb, "DescribeLoadBalancers", "RequestId"); list == "" {
			t.Error("DescribeLoadBalancers has no RequestId")
		}
		b.call(emulator.Version("Vpc"), "DescribeVpcs", "RequestId") // which no fault rule strikes
		if reply, err := b.client.Call(emulatortest.Slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": lb}); err != nil || reply.Status != 404 {
			t.Errorf("after the reset on %s: %v, %v, want no load balancer", page.name, reply, err)
		}
	}
}
