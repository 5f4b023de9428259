package contracttests

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
)

// apiCase is one call on the prepared cloud. The real SDK makes it, and the
// golden files keep what it answers.
type apiCase struct {
	product, action string
	name            string // of the golden files
	params          params
	code            string // of the refusal, "" for success
	before          []step // more fixtures
}

func (c apiCase) String() string { return c.product + "/" + c.action + "/" + c.name }

// succeeds returns a case that succeeds.
func succeeds(action, name string, p params, before ...step) apiCase {
	return apiCase{action: action, name: name, params: p, before: before}
}

// refused returns a case refused with a code.
func refused(action, name, code string, p params, before ...step) apiCase {
	return apiCase{action: action, name: name, code: code, params: p, before: before}
}

// of sets the product of cases.
func of(product string, cases []apiCase) []apiCase {
	for i := range cases {
		cases[i].product = product
	}
	return cases
}

// apiCases returns all cases.
func apiCases() []apiCase {
	return slices.Concat(of("Slb", slbLoadBalancerCases), of("Slb", slbListenerCases), of("Slb", slbServerGroupCases),
		of("Slb", slbRuleCases), of("Slb", slbOlderCases),
		of("Slb", slbAccessControlCases), of("Vpc", vpcCases), of("Ecs", ecsCases), of("Ecs", ecsInstanceCases), of("Ecs", ecsGroupCases), of("Vpc", vpcModifyCases), of("Vpc", vpcPackageCases), of("Vpc", vpcGatewayCases),
		of("Sts", stsCases), of("ResourceManager", resourceManagerCases), of("cas", casCases), of("quotas", quotaCases), nlbCases())
}

//go:embed testdata/certificate.pem
var certificate string

//go:embed testdata/key.pem
var privateKey string

// server returns an element of BackendServers as the documentation writes it.
func server(id string, port, weight int) string {
	if port == 0 {
		return fmt.Sprintf(`{"ServerId":"%s","Weight":"%d"}`, id, weight)
	}
	return fmt.Sprintf(`{"ServerId":"%s","Port":"%d","Weight":"%d","Description":"k8s/%d/web/default/c1"}`, id, port, weight, port)
}

// emulated yields the actions that the emulator says it has.
func emulated(yield func(product *products.Product, action products.Action) bool) {
	for _, p := range products.All() {
		for _, a := range p.Actions {
			if a.Emulated && !yield(p, a) {
				return
			}
		}
	}
}

// Every emulated action has a case that succeeds, one that is refused, and no
// case is for another action.
func TestEveryActionHasCases(t *testing.T) {
	succeeds, refusals := make(map[string]bool), make(map[string]bool)
	seen := make(map[string]bool)
	for _, c := range apiCases() {
		if seen[c.String()] {
			t.Errorf("two cases are called %s", c)
		}
		seen[c.String()] = true
		key := c.product + "/" + c.action
		succeeds[key] = succeeds[key] || c.code == ""
		refusals[key] = refusals[key] || c.code != ""
	}
	for p, a := range emulated {
		key := p.Name + "/" + a.Name
		if !succeeds[key] || !refusals[key] {
			t.Errorf("%s: the SDK succeeds: %v, is refused: %v; want a case of each", key, succeeds[key], refusals[key])
		}
		delete(succeeds, key)
		delete(refusals, key)
	}
	for key := range succeeds {
		t.Errorf("cases for %s, which is not emulated", key)
	}
}

// Each product has a row for every action that its SDK has: what is not emulated
// is said to be so, and only what does not exist is said not to.
func TestEveryActionOfTheSDK(t *testing.T) {
	for _, p := range products.All() {
		rows := make(map[string]bool)
		for _, a := range p.Actions {
			if rows[a.Name] {
				t.Errorf("%s has two rows for %s", p.Name, a.Name)
			}
			rows[a.Name] = true
		}
		actions := sdkActions(p.Name)
		if actions == nil {
			continue
		}
		for _, name := range actions {
			if !rows[name] {
				t.Errorf("%s has no row for %s", p.Name, name)
			}
		}
		for name := range rows {
			if !slices.Contains(actions, name) && !slices.Contains(unlisted, p.Name+"."+name) {
				t.Errorf("%s has a row for %s, which the SDK does not have", p.Name, name)
			}
		}
	}
}

// preparedSDK is a signed-in SDK on an emulator with the fixtures.
type preparedSDK struct {
	*sdkClients
	names names
	raw   *emulatortest.Client
}

func newFurnishedSDK(t testing.TB) *preparedSDK {
	t.Helper()
	_, f := startPrepared(t)
	return f
}

// startPrepared starts an emulator with the fixtures, in the time of this machine.
func startPrepared(t testing.TB) (*emulatortest.Server, *preparedSDK) {
	t.Helper()
	prepare(t)
	s := emulatortest.Start(t, emulatortest.WithClock(&state.SystemClock{}), emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.ForkOf = prepared.store }))
	return s, &preparedSDK{sdkClients: newSDKClients(t, s.Host()), names: maps.Clone(prepared.names), raw: s.Client()}
}

func (f *preparedSDK) prepare(t testing.TB, steps []step) {
	t.Helper()
	for _, s := range steps {
		reply, err := f.raw.Call(versions[s.product], s.action, f.names.resolve(s.params))
		if err != nil || reply.Status != 200 {
			t.Fatalf("%s(%v) = %v, %v, want success", s.action, s.params, reply, err)
		}
		f.names.save(s, reply.Body)
	}
}

// TestSDK makes every case with the real SDK, in strict authentication. The
// refusals share a cloud, as they change nothing; TestGolden proves that.
func TestSDK(t *testing.T) {
	found := make(map[string]bool)
	refusing := newFurnishedSDK(t)
	for _, c := range apiCases() {
		t.Run(c.String(), func(t *testing.T) {
			f := refusing
			if c.code == "" || c.before != nil {
				f = newFurnishedSDK(t)
				f.prepare(t, c.before)
			}
			response, err := f.call(c.product, c.action, f.names.resolve(c.params))
			if got := codeOf(err); got != c.code {
				t.Fatalf("%s(%v) = %q (%v), want %q", c.action, c.params, got, err, c.code)
			}
			if c.code == "" {
				collect(found, c.product+"."+c.action, response)
			}
		})
	}
	t.Run("responses", func(t *testing.T) { checkFilled(t, found) })
}
