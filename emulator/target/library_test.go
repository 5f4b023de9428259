package target_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// loaded returns the scenarios of the library, held against what is emulated.
func loaded(t *testing.T) (list []*scenarios.Scenario) {
	t.Helper()
	names := target.NewNames(emulator.NamesIn(world.Default()))
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		s, err := scenarios.Load(name+".yaml", text, scenarios.Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// playLocal plays a client part on a private emulator and returns what the
// journal says of it.
func playLocal(t *testing.T, s *scenarios.Scenario) string {
	t.Helper()
	local, err := private.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result := scenarios.Play(t.Context(), s, scenarios.ClientPart, scenarios.Setup{Target: local})
	if result.Status != scenarios.Passed {
		t.Errorf("%s: %s\n%s", s.Name, result.Status, result.Failure)
	}
	calls, err := local.Calls(t.Context(), 0)
	if err != nil {
		t.Error(err)
	}
	if err := local.Close(t.Context()); err != nil {
		t.Errorf("%s: %v", s.Name, err)
	}
	for i := range calls {
		calls[i].Sequence = 0 // what faults strike at listeners has numbers too, and comes by real time
	}
	if checked := s.Given.Clock != nil && s.Given.Clock.Scale != nil; checked {
		// Packets are checked in real time: it decides how often a look is repeated, and
		// how much emulated time passes meanwhile.
		for i := range calls {
			calls[i].Time = time.Time{}
		}
		calls = slices.CompactFunc(calls, func(a, b scenarios.JournalCall) bool {
			return a.UserAgent == scenarios.ObserverAgent && reflect.DeepEqual(a, b)
		})
	}
	text, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLibraryPlays proves that each client part of the library passes on a
// private emulator, twice with the same calls, ids, times and answers; where the clock
// runs faster, without times and repeated looks.
func TestLibraryPlays(t *testing.T) {
	for _, s := range loaded(t) {
		t.Run(s.Name, func(t *testing.T) {
			if first, again := playLocal(t, s), playLocal(t, s); first != again {
				t.Errorf("the second play differs:\n%s\n%s", first, again)
			}
		})
	}
}

// TestListsOfParameters proves that a list in parameters is sent as the action reads it:
// element by element, or as JSON.
func TestListsOfParameters(t *testing.T) {
	const text = `about: lists
client:
  steps:
    - call:
        product: Nlb
        action: CreateLoadBalancer
        params:
          AddressType: Internet
          VpcId: vpc-bp1clbemu000000000001
          ZoneMappings:
            - {ZoneId: cn-hangzhou-h, VSwitchId: vsw-bp1clbemu000000000001}
            - {ZoneId: cn-hangzhou-i, VSwitchId: vsw-bp1clbemu000000000002}
        save: {nlb: LoadbalancerId}
    - call: {action: DescribeRegions, params: {AcceptLanguage: en-US}}
  expect:
    - resource: {product: Nlb, action: GetLoadBalancerAttribute, params: {LoadBalancerId: "{{nlb}}"}, fields: {ZoneMappings: {count: 2}}}
`
	s, err := scenarios.Load("lists.yaml", []byte(text), scenarios.Options{Names: target.NewNames(emulator.NamesIn(world.Default()))})
	if err != nil {
		t.Fatal(err)
	}
	playLocal(t, s)
}
