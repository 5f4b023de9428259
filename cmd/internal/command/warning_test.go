package command

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// TestSkippedRuleIsTold proves that commands warn of a fault rule which is kept and
// can't be read, on standard error, and that it can be deleted.
func TestSkippedRuleIsTold(t *testing.T) {
	disk := &memory.Engine{}
	breakRule(t, disk, "newer")
	e := quietEmulator(t, disk)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	server := "http://" + e.ControlAddr()
	const want = "warning: the fault rule newer is not in force: line 3:"
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

func quietEmulator(t *testing.T, disk engine.Engine) *emulator.Emulator {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{Storage: disk, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

// breakRule gives a state a fault rule of a later version. Only a store that does not
// check what a start requires takes it.
func breakRule(t *testing.T, disk *memory.Engine, name string) {
	t.Helper()
	e := quietEmulator(t, disk)
	if _, err := e.AddFaults([]byte("{name: " + name + ", effect: {hang: 1s}}")); err != nil {
		t.Fatal(err)
	}
	store, err := state.Open(t.Context(), state.Config{Schema: e.Store().Schema(), Engine: disk})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	export, err := store.Export()
	if err == nil {
		err = export.Write(&text)
	}
	if err == nil {
		export, err = store.ReadExport(strings.NewReader(strings.ReplaceAll(text.String(), "hang: 1s", "teleport: true")))
	}
	if err == nil {
		_, err = store.Import(export)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
}
