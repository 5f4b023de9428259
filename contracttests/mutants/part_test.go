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

var part = flag.String("part", "", "play the client part of this scenario")

// TestPart plays the client part of a scenario of the library, for TestMutants.
func TestPart(t *testing.T) {
	text, known := scenarios.LibraryText(*part)
	if *part == "" {
		return
	}
	s, err := scenarios.Load(*part+".yaml", text, scenarios.Options{Names: target.NewNames(emulator.NamesIn(world.Default()))})
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
	if result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: local}); result.Status != scenarios.Passed {
		t.Fatal(result.Failure)
	}
}
