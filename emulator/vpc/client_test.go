package vpc_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/emulator/rpc/rpctest"
	"github.com/clbemu/clbemu/emulator/vpc"
	"github.com/clbemu/clbemu/state"
)

func newClient(t *testing.T, plants ...func(*state.Tx) error) *rpctest.Client {
	t.Helper()
	store := rpctest.Store(t, append([]func(*state.Tx) error{plantWorld}, plants...)...)
	return rpctest.NewClient(t, store, vpc.Product(rpc.Deps{}))
}

// expect compares what a reply has at each path.
func expect(t *testing.T, reply rpctest.Reply, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := reply.Text(path); got != value {
			t.Errorf("%s = %q, want %q in %v", path, got, value, reply.Body)
		}
	}
}
