package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// reconcile is examples/go/reconcile, which runs once too.
const reconcile = "reconcile"

// played are the controllers that every program part of the library judges: three right ones,
// by the ways in which a controller can be right, and four wrong ones with the parts that
// they fail. A program may be started again, as a unit or a Job does.
var played = []struct {
	name     string
	restarts int
	fails    []string
}{
	{"token", 0, nil},    // repeats with its token
	{"adopting", 0, nil}, // reads, and adopts what it finds
	{"once", 20, nil},    // runs once, and is started again
	{reconcile, 20, nil},
	{"double", 0, []string{"killed-in-mid-sync", "reply-lost-after-create", "slow-answers"}},
	{"impatient", 0, []string{"stale-reads"}},
	{"gives-up", 0, []string{"arrears", "backend-quota", "five-minutes-of-503", "insufficient-balance", "ram-permission-missing", "throttling", "vswitch-exhausted"}},
	{"foreign", 0, []string{"arrears", "insufficient-balance", "ram-permission-missing"}},
}

// TestProgramParts plays each program part of the library with seven controllers, and proves
// that it judges outcomes: the right ones pass whatever their way, and each of the wrong ones
// fails where its fault shows, and there alone.
func TestProgramParts(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir, ".", "../../examples/go/reconcile").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	parts := 0
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		if testing.Short() { // five-minutes-of-503, which are twenty seconds for programs
			text = []byte(strings.ReplaceAll(string(text), "when: {for: 20s}", "when: {times: 3}"))
		}
		s, err := scenarios.Load(name+".yaml", text, scenarios.Options{Names: target.NewNames(emulator.Names())})
		if err != nil {
			t.Fatal(err)
		}
		if s.Program == nil {
			continue
		}
		parts++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range played {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					want := scenarios.Passed
					if slices.Contains(c.fails, name) {
						want = scenarios.Failed
					}
					command := []string{filepath.Join(dir, "controllers"), c.name}
					switch {
					case c.name == reconcile && name == "vswitch-exhausted":
						want = scenarios.NotApplicable // it makes no intranet load balancer
						fallthrough
					case c.name == reconcile:
						command = []string{filepath.Join(dir, reconcile)}
					case name == "vswitch-exhausted":
						command = slices.Insert(command, 1, "-vswitch", s.Values["vsw"])
					}
					local, err := private.NewOpen(t.Context(), false)
					if err != nil {
						t.Fatal(err)
					}
					result := scenarios.Play(t.Context(), s, scenarios.ProgramPart, scenarios.Setup{Target: local, Programs: local, Restarts: c.restarts,
						Program: scenarios.Program{Command: command}, For: time.Minute})
					if err := local.Close(t.Context()); err != nil {
						t.Error(err)
					}
					if result.Status != want {
						t.Errorf("%s, want %s: %s\n%s", result.Status, want, result.Reason, result.Failure)
					}
				})
			}
		})
	}
	if parts < 11 {
		t.Errorf("%d scenarios judge programs, want 11 or more", parts)
	}
	for _, c := range played {
		for _, name := range c.fails {
			if !strings.Contains(strings.Join(scenarios.LibraryNames(), "\n"), name) {
				t.Errorf("%s fails %s, which the library does not have", c.name, name)
			}
		}
	}
}
