//go:build !linux

package dataplane

import (
	"fmt"
	"runtime"
)

// openNetwork fails: only Linux has what the data plane needs.
func openNetwork(string) (network, error) {
	return nil, fmt.Errorf("the data plane can put load balancers' addresses on an interface of Linux alone, and this is %s: choose --data-plane ports", runtime.GOOS)
}

// removeMachineLeftovers does nothing: on this system no emulator puts addresses on interfaces.
func removeMachineLeftovers() error { return nil }
