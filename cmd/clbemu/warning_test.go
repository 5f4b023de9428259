package main

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// TestSkippedRuleIsTold proves that commands warn of a fault rule which is kept and
// can't be read, on standard error, and that it can be deleted.
func TestSkippedRuleIsTold(t *testing.T) {
	e, err := emulator.New(t.Context(), emulator.Config{Storage: &memory.Engine{}, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(t.Context()) })
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	if err := e.Faults().Change(func() error {
		return e.Store().Update(state.Owner{}, func(tx *state.Tx) error {
			cloud.Faults.Put(tx, &cloud.Fault{Name: "newer", Rule: "{name: newer, effect: {teleport: true}}"})
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	server := "http://" + e.ControlAddr()
	const want = "warning: the fault rule newer is not in force: line 1:"
	for _, args := range [][]string{{"get", "lb"}, {"fault", "list"}} {
		code, stdout, problems := executed(t, append(args, "--server", server)...)
		if code != exitOK || !strings.Contains(problems, want) || strings.Contains(stdout, "newer") {
			t.Errorf("%v = %d, %q, %q", args, code, stdout, problems)
		}
	}
	if code, _, problems := executed(t, "fault", "delete", "newer", "--server", server); code != exitOK || strings.Contains(problems, want) {
		t.Errorf("delete = %d, %q", code, problems)
	}
}
