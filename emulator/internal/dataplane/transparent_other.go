//go:build !linux

package dataplane

import (
	"fmt"
	"runtime"
)

// transparent fails: only Linux lets a socket have another machine's address.
func transparent() (dialer, error) {
	return nil, fmt.Errorf("--data-plane-source transparent works on Linux alone, and this is %s: leave it out", runtime.GOOS)
}
