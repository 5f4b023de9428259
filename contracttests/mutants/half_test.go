package mutants_test

import (
	"context"
	"flag"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

var half = flag.String("half", "", "play the client half of this scenario")

// TestHalf plays the client half of a scenario of the library, for TestMutants.
func TestHalf(t *testing.T) {
	text, known := scenarios.LibraryText(*half)
	if *half == "" {
		return
	}
	s, err := scenarios.Load(*half+".yaml", text, scenarios.Options{Names: target.NewNames(emulator.NamesIn(world.Default()))})
	if err != nil || !known {
		t.Fatal(err)
	}
	local, err := private.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := local.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if result := scenarios.Play(t.Context(), s, scenarios.ClientHalf, scenarios.Setup{Target: local}); result.Status != scenarios.Passed {
		t.Fatal(result.Failure)
	}
}
