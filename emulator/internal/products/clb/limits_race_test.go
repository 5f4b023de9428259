package clb_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
)

// 64 clients that add at once end at exactly the quota, each with an answer that
// is true.
func TestBackendQuotaUnderConcurrency(t *testing.T) {
	store := gatewaytest.Store(t, plant)
	var wg sync.WaitGroup
	codes := make([]string, 64)
	for i := range codes {
		client := gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
		wg.Go(func() {
			list := make([]string, 5)
			for j := range list {
				list[j] = fmt.Sprintf(`{"ServerId":%q,"Port":%d}`, instance1, 1000+10*i+j)
			}
			reply := client.Call("AddVServerGroupBackendServers", with(group("rsp-free"), "BackendServers", "["+strings.Join(list, ",")+"]"))
			codes[i] = reply.Code
		})
	}
	wg.Wait()
	refused := 0
	for _, code := range codes {
		switch code {
		case "":
		case "InstanceBackendServerNumberOverLimit":
			refused++
		default:
			t.Errorf("an unexpected refusal: %s", code)
		}
	}
	// rsp-used has one member, so 39 calls of five fit and 25 do not.
	count := 0
	v := store.View(owner)
	for g := range kinds.VServerGroupsByLoadBalancer.List(v, lbInternet) {
		count += len(g.BackendServers)
	}
	if count != 196 || refused != 25 {
		t.Errorf("members = %d with %d calls refused, want 196 with 25", count, refused)
	}
}

// The last address of a vSwitch goes to exactly one of many creators.
func TestLastAddressUnderConcurrency(t *testing.T) {
	store := gatewaytest.Store(t, plant, freeInVSwitch1(1))
	var wg sync.WaitGroup
	codes := make([]string, 64)
	for i := range codes {
		client := gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
		wg.Go(func() { codes[i] = client.Call("CreateLoadBalancer", createIntranet).Code })
	}
	wg.Wait()
	made := 0
	for _, code := range codes {
		switch code {
		case "":
			made++
		case "VSwitchAvailableIpNotExist":
		default:
			t.Errorf("an unexpected refusal: %s", code)
		}
	}
	if made != 1 {
		t.Errorf("%d creators got the last address, want 1", made)
	}
}
