package target_test

import (
	"net"
	"strings"
	"testing"
)

// TestAddressStaysTaken proves that no other process gets the addresses of an emulator
// while it is restarted.
func TestAddressStaysTaken(t *testing.T) {
	local := newOpen(t, false)
	_, address, _ := strings.Cut(local.API, "//")
	stolen, stop, stopped := false, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for !stolen {
			select {
			case <-stop:
				return
			default:
			}
			if l, err := net.Listen("tcp", address); err == nil {
				stolen = true
				l.Close()
			}
		}
	}()
	for i := range 20 {
		if err := local.Restart(t.Context(), i%2 == 0); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	<-stopped
	if stolen {
		t.Errorf("%s could be taken by another", address)
	}
	if n := used(t, local); n != 0 {
		t.Errorf("%d load balancers after the restarts, want none", n)
	}
}
