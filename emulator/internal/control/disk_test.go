package control_test

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/enginetest"
)

// TestFullDisk proves that a change which the disk does not take is answered as
// what it is, and not as a mistake of who asked for it.
func TestFullDisk(t *testing.T) {
	disk := &enginetest.FullDisk{}
	store, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: disk, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Update(state.Owner{}, world.Default().Plant); err != nil {
		t.Fatal(err)
	}
	f := fixtureOver(t, store, func(cfg *control.Config) { cfg.Snapshots = snapshots.New("") })
	exported := f.send("GET", "/v1/state", "", nil).Body.String()
	f.ask("PUT", "/v1/snapshots/before", "", 200, nil)
	f.ask("POST", "/v1/faults", rule, 200, nil)
	disk.Full = true
	// A mistake stays one.
	f.mustRefuse("PATCH", "/v1/world", `{"settings": [{"name": "account.balance", "value": "x"}]}`, 422, "account.balance")
	for _, c := range []struct{ method, path, body string }{
		{"PATCH", "/v1/world", `{"settings": [{"name": "account.balance", "value": "5"}]}`},
		{"POST", "/v1/world/import", kindNode},
		{"PUT", "/v1/state", exported},
		{"POST", "/v1/state/reset", ""},
		{"POST", "/v1/clock", `{"advance": "1h"}`},
		{"POST", "/v1/faults", strings.Replace(rule, "name: ", "name: other-", 1)},
		{"POST", "/v1/faults/reset", ""},
		{"DELETE", "/v1/faults", ""},
		{"POST", "/v1/snapshots/before/restore", ""},
	} {
		f.mustRefuse(c.method, c.path, c.body, 500, enginetest.ErrFull.Error())
	}
}

const rule = "name: busy\nmatch: {action: DescribeThings}\neffect: {error: {code: ServiceUnavailable, httpStatus: 503}}\n"

// TestNothingBehindABody proves that a body is one document.
func TestNothingBehindABody(t *testing.T) {
	f := newFixture(t, nil)
	for _, c := range []struct{ method, path, body string }{
		{"PATCH", "/v1/world", `{"settings": [{"name": "account.balance", "value": "5"}]}`},
		{"POST", "/v1/world/import", kindNode},
		{"POST", "/v1/clock", `{"advance": "1h"}`},
		{"POST", "/v1/journal/marks", `{"name": "m"}`},
	} {
		for _, rubbish := range []string{"x", "{}", "]"} {
			f.mustRefuse(c.method, c.path, c.body+rubbish, 400, "")
		}
		f.ask(c.method, c.path, c.body+" \n", 200, nil)
	}
}
