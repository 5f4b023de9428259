package kinds_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the model test; 0 takes a new one")

// twin holds what the store should hold, in plain maps by id.
type twin struct {
	loadBalancers map[string]kinds.LoadBalancer
	listeners     map[string]kinds.Listener
	groups        map[string]kinds.VServerGroup
	rules         map[string]kinds.Rule
	tags          map[string]state.Tag
	// staying is until when a listener is in the stage that it is in, and what
	// comes then.
	staying map[string]stay
	// reserved are the addresses that no resource gets.
	reserved map[string]bool
	// listenerLimit limits the listeners of a load balancer.
	listenerLimit int
}

type stay struct {
	until time.Time
	then  kinds.ListenerStatus
}

func newTwin() *twin {
	return &twin{
		loadBalancers: make(map[string]kinds.LoadBalancer),
		listeners:     make(map[string]kinds.Listener),
		groups:        make(map[string]kinds.VServerGroup),
		rules:         make(map[string]kinds.Rule),
		tags:          make(map[string]state.Tag),
		staying:       make(map[string]stay),
		reserved:      make(map[string]bool),
		listenerLimit: 50,
	}
}

func (w *twin) clone() *twin {
	return &twin{maps.Clone(w.loadBalancers), maps.Clone(w.listeners), maps.Clone(w.groups), maps.Clone(w.rules), maps.Clone(w.tags),
		maps.Clone(w.staying), maps.Clone(w.reserved), w.listenerLimit}
}

// settle ends the stages whose time has come.
func (w *twin) settle(now time.Time) {
	for id, s := range w.staying {
		if !now.Before(s.until) {
			l := w.listeners[id]
			l.Status = s.then
			w.listeners[id] = l
			delete(w.staying, id)
		}
	}
}

// pick returns the n-th key in order, or "" for an empty map.
func pick[T any](m map[string]T, n byte) string {
	if len(m) == 0 {
		return ""
	}
	keys := slices.Sorted(maps.Keys(m))
	return keys[int(n)%len(keys)]
}

var errRollBack = errors.New("roll back")

// play reads transactions from the script: how many operations, how long after the
// one before it, whether it is rolled back, and then three bytes an operation. It
// returns the twin of what was committed.
func play(t testing.TB, s *state.Store, clock *state.ManualClock, script []byte) *twin {
	t.Helper()
	now := newTwin()
	for len(script) > 0 {
		header := script[0]
		script = script[1:]
		clock.Advance(time.Duration(header/8%4) * 700 * time.Millisecond)
		now.settle(clock.Now())
		next := now.clone()
		err := s.Update(hangzhou, func(tx *state.Tx) error {
			for range header%8 + 1 {
				if len(script) < 3 {
					script = nil
					break
				}
				op := operations[int(script[0])%len(operations)]
				if err := op.do(next, tx, script[1], script[2]); err != nil {
					return fmt.Errorf("%s: %w", op.name, err)
				}
				script = script[3:]
			}
			if header >= 224 {
				return errRollBack
			}
			return next.compare(tx.View)
		})
		switch {
		case err == nil:
			now = next
		case !errors.Is(err, errRollBack):
			t.Fatal(err)
		}
	}
	view(t, s, hangzhou, func(v *state.View) {
		if err := now.compare(v); err != nil {
			t.Errorf("in the end: %v", err)
		}
	})
	return now
}

// compare returns how the state differs from the twin.
func (w *twin) compare(v *state.View) error {
	addresses := make(map[string]kinds.Address)
	for _, lb := range w.loadBalancers {
		addresses[kinds.AddressID(vSwitchID, lb.Address)] = kinds.Address{
			Pool: vSwitchID, IP: lb.Address, Holder: kinds.LoadBalancers.Kind(), HolderID: lb.ID}
	}
	for ip := range w.reserved {
		addresses[kinds.AddressID(vSwitchID, ip)] = kinds.Address{Pool: vSwitchID, IP: ip, Holder: "Reservation", HolderID: vSwitchID}
	}
	return cmp.Or(
		same("load balancers", w.loadBalancers, kinds.LoadBalancers.All(v)),
		same("listeners", w.listeners, kinds.Listeners.All(v)),
		same("groups", w.groups, kinds.VServerGroups.All(v)),
		same("rules", w.rules, kinds.Rules.All(v)),
		same("tags", w.tags, state.Tags.All(v)),
		same("addresses", addresses, kinds.Addresses.All(v)),
		w.compareIndexes(v),
	)
}

// same reports whether the table holds exactly the values of the twin, in order of
// id.
func same[T any](what string, want map[string]T, got iter.Seq[*T]) error {
	keys := slices.Sorted(maps.Keys(want))
	n := 0
	for r := range got {
		if n >= len(keys) || !reflect.DeepEqual(*r, want[keys[n]]) {
			return fmt.Errorf("%s: the store has %+v, which the twin has not at place %d of %v", what, *r, n, keys)
		}
		n++
	}
	if n != len(keys) {
		return fmt.Errorf("%s: the store has %d, the twin %d", what, n, len(keys))
	}
	return nil
}

// compareIndexes counts by each index and in the twin.
func (w *twin) compareIndexes(v *state.View) error {
	for n := range byte(4) {
		name, key := fmt.Sprintf("name-%d", n), fmt.Sprintf("key-%d", n)
		got := kinds.LoadBalancersByName.Count(v, hangzhou.AccountID, hangzhou.RegionID, name)
		want := count(w.loadBalancers, func(lb kinds.LoadBalancer) bool { return lb.Name == name })
		tagged := len(state.ResourcesTagged(v, kinds.TagLoadBalancer, []state.TagFilter{{Key: key}}))
		wantTagged := count(w.tags, func(t state.Tag) bool { return t.Key == key })
		if got != want || tagged != wantTagged {
			return fmt.Errorf("by %s %d, want %d; by %s %d, want %d", name, got, want, key, tagged, wantTagged)
		}
	}
	for id := range w.groups {
		got, rules := kinds.ListenersByVServerGroup.Count(v, id), kinds.RulesByVServerGroup.Count(v, id)
		want := count(w.listeners, func(l kinds.Listener) bool { return l.VServerGroupID == id })
		wantRules := count(w.rules, func(r kinds.Rule) bool { return r.VServerGroupID == id })
		if got != want || rules != wantRules {
			return fmt.Errorf("group %s has %d listeners and %d rules, want %d and %d", id, got, rules, want, wantRules)
		}
	}
	for i := range 9 {
		id := fmt.Sprintf("i-%d", i)
		has := func(g kinds.VServerGroup) bool {
			return slices.ContainsFunc(g.BackendServers, func(s kinds.BackendServer) bool { return s.ServerID == id })
		}
		if got, want := kinds.VServerGroupsByServer.Count(v, id), count(w.groups, has); got != want {
			return fmt.Errorf("%d groups by server %s, want %d", got, id, want)
		}
	}
	return nil
}

func count[T any](m map[string]T, match func(T) bool) (n int) {
	for _, r := range m {
		if match(r) {
			n++
		}
	}
	return n
}

// consistent checks what every reader must find at any moment: each load balancer has
// one address, each address a load balancer, each listener its own.
func consistent(v *state.View) error {
	n := 0
	for lb := range kinds.LoadBalancers.All(v) {
		n++
		a, found := kinds.Addresses.Find(v, kinds.AddressID(vSwitchID, lb.Address))
		if !found || a.HolderID != lb.ID {
			return fmt.Errorf("%s has not got its address %s", lb.ID, lb.Address)
		}
	}
	reserved := kinds.AddressesByHolder.Count(v, "Reservation", vSwitchID)
	if addresses := kinds.AddressesByPool.Count(v, vSwitchID); addresses != n+reserved {
		return fmt.Errorf("%d load balancers and %d reservations have %d addresses", n, reserved, addresses)
	}
	for l := range kinds.Listeners.All(v) {
		if _, found := kinds.LoadBalancers.Find(v, l.LoadBalancerID); !found {
			return fmt.Errorf("listener %s has outlived its load balancer", l.ID())
		}
	}
	return nil
}

// TestModel plays random transactions against the store and a twin of maps,
// next to readers that must always find a consistent state. What was committed
// is still there when the store is opened again.
func TestModel(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	dir := t.TempDir()
	memoryEngine := &memory.Engine{}
	engines := map[string]func() (engine.Engine, error){
		"memory": func() (engine.Engine, error) { return memoryEngine, nil },
		"bolt":   func() (engine.Engine, error) { return bolt.Open(dir) },
	}
	for name, openEngine := range engines {
		t.Run(name, func(t *testing.T) {
			e, err := openEngine()
			if err != nil {
				t.Fatal(err)
			}
			clock := state.NewManualClock(start)
			s := openAt(t, e, clock)
			plantModel(t, s)
			stop := read(t, s)
			want := play(t, s, clock, randomScript(t, seed))
			stop()
			checkAndClose(t, s)

			if e, err = openEngine(); err != nil {
				t.Fatal(err)
			}
			checkReopened(t, e, clock, want)
		})
	}
}

// checkReopened reopens the engine at the current time: what became due and was only
// seen, not yet written, is still due.
func checkReopened(t *testing.T, e engine.Engine, clock state.Clock, want *twin) {
	t.Helper()
	s := openAt(t, e, clock)
	view(t, s, hangzhou, func(v *state.View) {
		if err := want.compare(v); err != nil {
			t.Errorf("after the reopening: %v", err)
		}
	})
	checkAndClose(t, s)
}

// plantModel puts the least world, in which a change takes its time.
func plantModel(t testing.TB, s *state.Store) {
	t.Helper()
	update(t, s, state.Owner{}, plant)
	update(t, s, state.Owner{}, profile(state.LifeRealistic))
}

func randomScript(t *testing.T, seed uint64) []byte {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	script := make([]byte, 6000)
	if _, err := rand.NewChaCha8(key).Read(script); err != nil {
		t.Fatal(err)
	}
	return script
}

// FuzzOps plays any bytes as operations.
func FuzzOps(f *testing.F) {
	f.Add([]byte{7, 0, 0, 0, 3, 0, 0, 6, 0, 3, 4, 0, 0, 9, 0, 1, 10, 0, 0, 8, 0, 0, 2, 0, 0})
	f.Add([]byte{255, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		e := &memory.Engine{}
		clock := state.NewManualClock(start)
		s := openAt(t, e, clock)
		plantModel(t, s)
		want := play(t, s, clock, script[:min(len(script), 4096)])
		checkAndClose(t, s)
		checkReopened(t, e, clock, want)
	})
}
