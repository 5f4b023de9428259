package contracttests

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// eachFidelity runs a test of the statements of each action, with an emulator to fork.
func eachFidelity(t *testing.T, test func(*testing.T, *private.Forks, *fidelity.File)) {
	t.Helper()
	files, err := fidelity.Load(target.NewNames(emulator.Names()))
	if err != nil {
		t.Fatal(err)
	}
	forks, err := private.NewForks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := forks.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, f := range files {
		t.Run(f.Product+"/"+f.Action, func(t *testing.T) {
			t.Parallel()
			test(t, forks, f)
		})
	}
}

// TestFidelity plays what is published about each action, each statement in a fork of one
// emulator. One that does not hold here must say so, and one that says so must not hold.
func TestFidelity(t *testing.T) {
	eachFidelity(t, func(t *testing.T, forks *private.Forks, f *fidelity.File) {
		said := &heardRefusals{seen: make(map[heardRefusal]bool)}
		for i := range f.Statements {
			if s := &f.Statements[i]; s.Scenario() != nil {
				playStatement(t, forks, f.Name(s), s, said)
			}
		}
		said.check(t, f.Product)
	})
}

// TestFidelityActions proves that each action of CLB and NLB has statements, but for the
// one of which nothing is published: CLB-0528.
func TestFidelityActions(t *testing.T) {
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range emulator.Actions() {
		has := slices.ContainsFunc(files, func(f *fidelity.File) bool {
			return f.Product == a.Product && f.Action == a.Action && len(f.Statements) > 0
		})
		if ofLoadBalancers := a.Product == "Slb" || a.Product == "Nlb"; ofLoadBalancers && has == (a.Action == "ServiceManagedControl") {
			t.Errorf("%s %s has statements in emulator/fidelity: %t", a.Product, a.Action, has)
		}
	}
}

func playStatement(t *testing.T, forks *private.Forks, name string, s *fidelity.Statement, said *heardRefusals) {
	t.Helper()
	fork, err := forks.Fork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := &heardRefusals{RoundTripper: fork.HTTP.Transport, seen: make(map[heardRefusal]bool), last: make(map[string]string)}
	fork.HTTP.Transport = own
	result := scenarios.Play(t.Context(), s.Scenario(), scenarios.ClientPart, scenarios.Setup{Target: fork})
	if err := fork.Close(t.Context()); err != nil {
		t.Error(err)
	}
	maps.Copy(said.seen, own.seen)
	if s.Verdict() == fidelity.Holds && !s.Proven(func(action string) string { return own.last[action] }) {
		t.Errorf("%s: it is refused for something else: %v", name, own.last)
	}
	switch holds := s.Verdict() == fidelity.Holds; {
	case holds && result.Status != scenarios.Passed:
		t.Errorf("%s: %s\n%s", name, s.Says, result.Failure)
	case result.Status == scenarios.Broken:
		t.Errorf("%s can't be played: %s", name, result.Failure)
	case !holds && result.Status == scenarios.Passed:
		t.Errorf("%s holds, and its file says why it does not: %s", name, s.Reason())
	}
}

// TestRates proves that each published number of calls is the one that the realistic
// profile has; TestFidelity plays those that take few enough.
func TestRates(t *testing.T) {
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	published := regexp.MustCompile(`makes (\d+) calls in (?:(\d+) seconds|a second)`)
	for _, f := range files {
		for i := range f.Statements {
			found := published.FindStringSubmatch(f.Statements[i].Says)
			if found == nil {
				continue
			}
			calls, _ := strconv.Atoi(found[1])
			seconds, _ := strconv.Atoi(cmp.Or(found[2], "1"))
			for p, a := range emulated {
				if rate := p.RateLimits.Of(&a); p.Name == f.Product && a.Name == f.Action && (rate.Burst != calls || rate.Window != time.Duration(seconds)*time.Second) {
					t.Errorf("%s: %d calls in %s pass, want %d in %d seconds", f.Name(&f.Statements[i]), rate.Burst, rate.Window, calls, seconds)
				}
			}
		}
	}
}
