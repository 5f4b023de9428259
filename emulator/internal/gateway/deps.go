package gateway

import "github.com/clbemu/clbemu/state"

// Deps holds what products may need in addition to the state. The zero Deps work for all
// products.
type Deps struct {
	// MakeNetworkInterface, if set, is asked to make the network interface of an
	// address in a VPC that is looked up and has none. It may make none.
	MakeNetworkInterface func(tx *state.Tx, vpcID, ip string) error
}
