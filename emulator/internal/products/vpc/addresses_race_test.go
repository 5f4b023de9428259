package vpc_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/vpc"
	"github.com/clbemu/clbemu/state"
)

// Calls at the same time get different addresses, and no more than there are.
func TestLastAddresses(t *testing.T) {
	const callers, block = 16, "198.51.100.0/28" // 12 usable addresses
	store := gatewaytest.Store(t, plantWorld, func(tx *state.Tx) error {
		kinds.Regions.Put(tx, &kinds.Region{ID: "cn-small", PublicCIDRBlock: block})
		return nil
	})
	var refused atomic.Int32
	var taken sync.Map
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			got := gatewaytest.NewClient(t, store, vpc.Product(gateway.Deps{})).Call("AllocateEipAddress", params{"RegionId": "cn-small"})
			switch {
			case got.Code == "OperationFailed.InsufficientEIP":
				refused.Add(1)
			case got.Code != "":
				t.Errorf("AllocateEipAddress = %s", got.Code)
			default:
				if _, twice := taken.LoadOrStore(got.Text("EipAddress"), true); twice {
					t.Errorf("%s was given out twice", got.Text("EipAddress"))
				}
			}
		})
	}
	wg.Wait()
	if refused.Load() != callers-12 {
		t.Errorf("%d of %d callers were refused, want %d", refused.Load(), callers, callers-12)
	}
}

// A vSwitch gives out its last address once, whoever asks at the same time, and
// then says that it has none.
func TestLastAddressesOfVSwitch(t *testing.T) {
	store := gatewaytest.Store(t, plantWorld)
	c := gatewaytest.NewClient(t, store, vpc.Product(gateway.Deps{}))
	id := c.Do("CreateVSwitch", with(newVSwitch, params{"CidrBlock": "192.168.9.0/29"})).Text("VSwitchId")
	var wg sync.WaitGroup
	var got atomic.Int32
	for i := range 16 {
		wg.Go(func() {
			err := store.Update(owner, func(tx *state.Tx) error {
				n := &kinds.NetworkInterface{Owner: owner, ID: fmt.Sprintf("eni-%d", i), VPCID: vpcID, VSwitchID: id}
				ip, err := kinds.AllocateAddress(tx, id, "192.168.9.0/29", "", kinds.NetworkInterfaces.Kind(), n.ID)
				if err != nil {
					return err
				}
				n.PrivateIPAddresses = []string{ip}
				kinds.NetworkInterfaces.Put(tx, n)
				return nil
			})
			if err == nil {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if got.Load() != 4 {
		t.Errorf("%d of 16 got an address of a /29, want 4", got.Load())
	}
	gatewaytest.Expect(t, c.Do("DescribeVSwitches", params{"VSwitchId": id}), map[string]string{"VSwitches.VSwitch.0.AvailableIpAddressCount": "0"})
	if reply := c.Call("DeleteVSwitch", params{"VSwitchId": id}); reply.Code != "DependencyViolation" {
		t.Errorf("DeleteVSwitch with interfaces = %s, want DependencyViolation", reply.Code)
	}
}
