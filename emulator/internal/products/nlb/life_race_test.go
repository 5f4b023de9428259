package nlb_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/state"
)

// Of 64 calls at once just as many succeed as the quota, the ports, the addresses
// and the lock let, and the state is consistent.
func TestConcurrency(t *testing.T) {
	cases := []struct {
		name, action string
		plant        func(*state.Tx) error
		params       func(i int) gatewaytest.Params
		succeed      int
		code         string
	}{
		{"quota", "CreateListener", set("quota.nlb_quota_loadbalancer_listeners_num", "12"), func(i int) gatewaytest.Params {
			return with(listen, "ListenerPort", strconv.Itoa(1000+i))
		}, 10, "QuotaExceeded.QuotaInsufficient"},
		{"port", "CreateListener", nil, func(int) gatewaytest.Params { return listen }, 1, "Conflict.Port"},
		{"addresses", "CreateLoadBalancer", set("vswitch."+vSwitch2+".freeAddresses", "5"), func(int) gatewaytest.Params { return create }, 5, "ResourceNotEnough.VSwitchIp"},
		{"servers", "AddServersToServerGroup", set("quota.nlb_quota_servergroup_noeci_servers_num", "7"), func(i int) gatewaytest.Params {
			return with(serve, "Servers.1.Port", strconv.Itoa(1000+i))
		}, 7, "QuotaExceeded.QuotaInsufficient"},
		{"lock", "CreateListener", set("life.nlb.loadbalancer.locked", "1s"), func(i int) gatewaytest.Params {
			return with(listen, "ListenerPort", strconv.Itoa(1000+i))
		}, 1, "Conflict.Lock"},
		{"token", "CreateLoadBalancer", set("quota.nlb_quota_loadbalancers_num", "3"), func(int) gatewaytest.Params {
			return with(create, "ClientToken", "once")
		}, 64, ""},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			plants := []func(*state.Tx) error{}
			if tt.plant != nil {
				plants = append(plants, tt.plant)
			}
			c, store, _ := newClient(t, plants...)
			codes := make([]string, 64)
			var wg sync.WaitGroup
			for i := range codes {
				wg.Go(func() { codes[i] = c.Call(tt.action, tt.params(i)).Code })
			}
			wg.Wait()
			succeeded := 0
			for _, code := range codes {
				if code == "" {
					succeeded++
				} else if code != tt.code {
					t.Errorf("a call is refused with %q, want %q", code, tt.code)
				}
			}
			if succeeded != tt.succeed {
				t.Errorf("%d calls succeed, want %d", succeeded, tt.succeed)
			}
			if problems, err := store.Check(context.Background()); err != nil || len(problems) > 0 {
				t.Errorf("the state is inconsistent: %v, %v", problems, err)
			}
		})
	}
}
