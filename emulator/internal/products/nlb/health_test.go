package nlb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// TestListenerHealthStatus proves that a listener's health lists the servers that are
// not normal, with why.
func TestListenerHealthStatus(t *testing.T) {
	c, store, _ := newClient(t)
	of := params("ListenerId", lsnTCP)
	servers := "ListenerHealthStatus.0.ServerGroupInfos.0.NonNormalServers"
	edit := func(change func(*kinds.NLBServerGroup)) {
		t.Helper()
		if err := store.Update(owner, editGroupOf(sgpTCP, change)); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(g *kinds.NLBServerGroup) {
		g.HealthCheck.Enabled = true
		g.Servers = []kinds.NLBServer{{Type: kinds.NLBServerECS, ID: instance1, Port: 80, Weight: 100}}
	})
	expect(t, c, "GetListenerHealthStatus", of, "ListenerHealthStatus.0.ListenerId", lsnTCP, "ListenerHealthStatus.0.ListenerPort", "80",
		"ListenerHealthStatus.0.ServerGroupInfos.0.HeathCheckEnabled", "true", servers+".0.ServerId", "", "TotalCount", "1")
	if err := store.Update(state.Owner{}, set("server."+instance1+".health", "abnormal")); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "GetListenerHealthStatus", of, servers+".0.ServerId", instance1, servers+".0.Port", "80", servers+".0.Status", "Unhealthy",
		servers+".0.Reason.ReasonCode", "CONNECT_TIMEOUT")
	edit(func(g *kinds.NLBServerGroup) {
		g.Servers = []kinds.NLBServer{{Type: kinds.NLBServerECS, ID: instance1, Port: 80}}
	})
	expect(t, c, "GetListenerHealthStatus", of, servers+".0.Status", "Unhealthy")
	edit(func(g *kinds.NLBServerGroup) {
		g.Servers = []kinds.NLBServer{{Type: kinds.NLBServerIP, ID: "10.0.0.1", IP: "10.0.0.1", Port: 80, Weight: 1}}
	})
	expect(t, c, "GetListenerHealthStatus", of, servers+".0.Status", "Initial")
	edit(func(g *kinds.NLBServerGroup) { g.HealthCheck.Enabled = false })
	expect(t, c, "GetListenerHealthStatus", of, "ListenerHealthStatus.0.ServerGroupInfos.0.HeathCheckEnabled", "false", servers+".0.Status", "Unavailable")
}

func editGroupOf(id string, change func(*kinds.NLBServerGroup)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.NLBServerGroups.Edit(tx, id, func(g *kinds.NLBServerGroup) error {
			change(g)
			return nil
		})
	}
}
