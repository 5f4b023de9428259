//go:build unix

package target_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
)

// TestProgramStop proves that a program that goes on is ended with its children.
func TestProgramStop(t *testing.T) {
	local := newOpen(t, false)
	p := program("sleep")
	p.Command = []string{"sh", "-c", `"$0" & echo $!; wait`, p.Command[0]}
	running, err := local.Start(t.Context(), p)
	do(t, err)
	await.Until(t, "the program sleeps", func() bool {
		if over, err := running.Wait(t.Context(), 0); over || err != nil {
			t.Fatalf("it has ended: %v, %s", err, running.Output())
		}
		return strings.Contains(running.Output(), "asleep")
	})
	running.Stop()
	if over, err := running.Wait(t.Context(), 0); !over || err != nil {
		t.Errorf("after Stop it still runs (%v)", err)
	}
	var child int
	if _, err := fmt.Sscan(running.Output(), &child); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the program's child ends", func() bool { return syscall.Kill(child, 0) != nil })
}
