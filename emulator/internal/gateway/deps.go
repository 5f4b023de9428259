package gateway

import "github.com/clbemu/clbemu/state"

// Deps holds what products may need in addition to the state. The zero Deps work for all
// products.
type Deps struct {
	// MakeNetworkInterface, if set, is called when a client looks up an address in a VPC that has
	// no network interface. It may create one.
	MakeNetworkInterface func(tx *state.Tx, vpcID, ip string) error
}
