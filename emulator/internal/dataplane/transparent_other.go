//go:build !linux

package dataplane

import (
	"fmt"
	"net/netip"
	"runtime"
)

// transparent fails: only Linux lets a socket have another machine's address.
func transparent([]netip.Prefix) (dialer, error) {
	return nil, fmt.Errorf("--data-plane-source works on Linux alone, and this is %s: leave it out", runtime.GOOS)
}
