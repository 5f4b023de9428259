package state_test

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
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the model test; 0 takes a new one")

// twin is what the store should hold, in plain maps by id.
type twin struct {
	loadBalancers map[string]state.LoadBalancer
	listeners     map[string]state.Listener
	groups        map[string]state.VServerGroup
	tags          map[string]state.Tag
}

func newTwin() *twin {
	return &twin{
		loadBalancers: make(map[string]state.LoadBalancer),
		listeners:     make(map[string]state.Listener),
		groups:        make(map[string]state.VServerGroup),
		tags:          make(map[string]state.Tag),
	}
}

func (w *twin) clone() *twin {
	return &twin{maps.Clone(w.loadBalancers), maps.Clone(w.listeners), maps.Clone(w.groups), maps.Clone(w.tags)}
}

// pick returns the n-th key in order, "" of an empty map.
func pick[T any](m map[string]T, n byte) string {
	if len(m) == 0 {
		return ""
	}
	keys := slices.Sorted(maps.Keys(m))
	return keys[int(n)%len(keys)]
}

// operation does one thing to the store and to the twin. Its arguments choose
// among what exists; with nothing to choose from it does nothing.
type operation struct {
	name string
	do   func(w *twin, tx *state.Tx, a, b byte) error
}

var operations = []operation{
	{"create load balancer", createLoadBalancer},
	{"rename load balancer", renameLoadBalancer},
	{"delete load balancer", deleteLoadBalancer},
	{"create listener", createListener},
	{"forward listener", forwardListener},
	{"delete listener", deleteListener},
	{"create group", createGroup},
	{"set backend servers", setBackendServers},
	{"delete group", deleteGroup},
	{"set tag", setTag},
	{"delete tag", deleteTag},
}

// createLoadBalancer takes an address of a vSwitch that has twelve.
func createLoadBalancer(w *twin, tx *state.Tx, a, _ byte) error {
	lb := state.LoadBalancer{Owner: hangzhou, ID: tx.NewID(state.LoadBalancers.Kind()), VPCID: vpcID, VSwitchID: vSwitchID,
		Name: fmt.Sprintf("name-%d", a%4), CreateTime: tx.Now()}
	ip, err := state.AllocateAddress(tx, vSwitchID, vSwitchCIDR, "", state.LoadBalancers.Kind(), lb.ID)
	if full := len(w.loadBalancers) == 12; full || err != nil {
		if full && factOf(err) == state.NoFreeAddress {
			return nil
		}
		return fmt.Errorf("with %d load balancers AllocateAddress = %w", len(w.loadBalancers), err)
	}
	lb.Address = ip
	stored := lb
	state.LoadBalancers.Put(tx, &stored)
	w.loadBalancers[lb.ID] = lb
	return nil
}

func renameLoadBalancer(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	if id == "" {
		return nil
	}
	lb := w.loadBalancers[id]
	lb.Name = fmt.Sprintf("name-%d", b%4)
	w.loadBalancers[id] = lb
	return state.LoadBalancers.Edit(tx, id, func(lb *state.LoadBalancer) error {
		lb.Name = fmt.Sprintf("name-%d", b%4)
		return nil
	})
}

// deleteLoadBalancer deletes what belongs to it by the indexes; the twin looks
// at everything.
func deleteLoadBalancer(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.loadBalancers, a)
	for l := range state.ListenersByLoadBalancer.List(tx.View, id) {
		state.Listeners.Delete(tx, l.ID())
	}
	for g := range state.VServerGroupsByLoadBalancer.List(tx.View, id) {
		state.VServerGroups.Delete(tx, g.ID)
	}
	state.DeleteTagsOf(tx, state.TagLoadBalancer, id)
	state.ReleaseAddresses(tx, state.LoadBalancers.Kind(), id)
	state.LoadBalancers.Delete(tx, id)

	delete(w.loadBalancers, id)
	maps.DeleteFunc(w.listeners, func(_ string, l state.Listener) bool { return l.LoadBalancerID == id })
	maps.DeleteFunc(w.groups, func(_ string, g state.VServerGroup) bool { return g.LoadBalancerID == id })
	maps.DeleteFunc(w.tags, func(_ string, t state.Tag) bool { return t.ResourceID == id })
	return nil
}

func createListener(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	l := state.Listener{Owner: hangzhou, LoadBalancerID: id, Port: int(b % 8), Status: state.ListenerStopped,
		Protocol: []state.Protocol{state.TCP, state.UDP, state.HTTP, state.HTTPS}[b/8%4]}
	taken := false
	for _, other := range w.listeners {
		taken = taken || other.LoadBalancerID == id && other.Port == l.Port && (other.Protocol == state.UDP) == (l.Protocol == state.UDP)
	}
	if id == "" || taken {
		return nil
	}
	stored := l
	state.Listeners.Put(tx, &stored)
	w.listeners[l.ID()] = l
	return nil
}

func forwardListener(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.listeners, a)
	if id == "" {
		return nil
	}
	l := w.listeners[id]
	own := maps.Clone(w.groups)
	maps.DeleteFunc(own, func(_ string, g state.VServerGroup) bool { return g.LoadBalancerID != l.LoadBalancerID })
	l.VServerGroupID = pick(own, b)
	w.listeners[id] = l
	return state.Listeners.Edit(tx, id, func(stored *state.Listener) error {
		stored.VServerGroupID = l.VServerGroupID
		return nil
	})
}

func deleteListener(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.listeners, a)
	state.Listeners.Delete(tx, id)
	delete(w.listeners, id)
	return nil
}

func createGroup(w *twin, tx *state.Tx, a, b byte) error {
	lb := pick(w.loadBalancers, a)
	if lb == "" {
		return nil
	}
	g := state.VServerGroup{Owner: hangzhou, ID: tx.NewID(state.VServerGroups.Kind()), LoadBalancerID: lb, BackendServers: servers(b)}
	stored := g
	state.VServerGroups.Put(tx, &stored)
	w.groups[g.ID] = g
	return nil
}

// servers makes a list of up to seven different backend servers.
func servers(n byte) (list []state.BackendServer) {
	for i := range int(n % 8) {
		list = append(list, state.BackendServer{ServerID: fmt.Sprintf("i-%d", (int(n)+i)%9), Port: 80 + i, Weight: int(n) % 101})
	}
	return list
}

func setBackendServers(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.groups, a)
	if id == "" {
		return nil
	}
	g := w.groups[id]
	g.BackendServers = servers(b)
	w.groups[id] = g
	return state.VServerGroups.Edit(tx, id, func(g *state.VServerGroup) error {
		g.BackendServers = servers(b)
		return nil
	})
}

// deleteGroup refuses a group in use, as the cloud does.
func deleteGroup(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.groups, a)
	if _, used := state.ListenersByVServerGroup.First(tx.View, id); used {
		return nil
	}
	state.VServerGroups.Delete(tx, id)
	delete(w.groups, id)
	return nil
}

func setTag(w *twin, tx *state.Tx, a, b byte) error {
	id := pick(w.loadBalancers, a)
	if id == "" {
		return nil
	}
	tag := state.Tag{Owner: hangzhou, ResourceType: state.TagLoadBalancer, ResourceID: id,
		Key: fmt.Sprintf("key-%d", b%4), Value: fmt.Sprintf("value-%d", b/4%4)}
	state.SetTag(tx, tag.ResourceType, id, tag.Key, tag.Value)
	w.tags[state.TagID(tag.ResourceType, id, tag.Key)] = tag
	return nil
}

func deleteTag(w *twin, tx *state.Tx, a, _ byte) error {
	id := pick(w.tags, a)
	state.Tags.Delete(tx, id)
	delete(w.tags, id)
	return nil
}

var errRollBack = errors.New("roll back")

// play reads transactions from the script: how many operations, whether it is
// rolled back, and then three bytes an operation. It returns the twin of what
// was committed.
func play(t testing.TB, s *state.Store, script []byte) *twin {
	t.Helper()
	now := newTwin()
	for len(script) > 0 {
		header := script[0]
		script = script[1:]
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
	return now
}

// compare tells how the state differs from the twin.
func (w *twin) compare(v *state.View) error {
	addresses := make(map[string]state.Address)
	for _, lb := range w.loadBalancers {
		addresses[state.AddressID(vSwitchID, lb.Address)] = state.Address{
			Pool: vSwitchID, IP: lb.Address, Holder: state.LoadBalancers.Kind(), HolderID: lb.ID}
	}
	return cmp.Or(
		same("load balancers", w.loadBalancers, state.LoadBalancers.All(v)),
		same("listeners", w.listeners, state.Listeners.All(v)),
		same("groups", w.groups, state.VServerGroups.All(v)),
		same("tags", w.tags, state.Tags.All(v)),
		same("addresses", addresses, state.Addresses.All(v)),
		w.compareIndexes(v),
	)
}

// same tells whether the table holds exactly the values of the twin, in order of
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
		got := state.LoadBalancersByName.Count(v, hangzhou.AccountID, hangzhou.RegionID, name)
		want := count(w.loadBalancers, func(lb state.LoadBalancer) bool { return lb.Name == name })
		tagged := len(state.ResourcesTagged(v, state.TagLoadBalancer, []state.TagFilter{{Key: key}}))
		wantTagged := count(w.tags, func(t state.Tag) bool { return t.Key == key })
		if got != want || tagged != wantTagged {
			return fmt.Errorf("by %s %d, want %d; by %s %d, want %d", name, got, want, key, tagged, wantTagged)
		}
	}
	for id := range w.groups {
		got := state.ListenersByVServerGroup.Count(v, id)
		if want := count(w.listeners, func(l state.Listener) bool { return l.VServerGroupID == id }); got != want {
			return fmt.Errorf("%d listeners by group %s, want %d", got, id, want)
		}
	}
	for i := range 9 {
		id := fmt.Sprintf("i-%d", i)
		has := func(g state.VServerGroup) bool {
			return slices.ContainsFunc(g.BackendServers, func(s state.BackendServer) bool { return s.ServerID == id })
		}
		if got, want := state.VServerGroupsByServer.Count(v, id), count(w.groups, has); got != want {
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

// consistent is what every reader must find at any moment: each load balancer
// has one address, each address a load balancer, each listener its own.
func consistent(v *state.View) error {
	n := 0
	for lb := range state.LoadBalancers.All(v) {
		n++
		a, found := state.Addresses.Find(v, state.AddressID(vSwitchID, lb.Address))
		if !found || a.HolderID != lb.ID {
			return fmt.Errorf("%s has not got its address %s", lb.ID, lb.Address)
		}
	}
	if addresses := state.AddressesByPool.Count(v, vSwitchID); addresses != n {
		return fmt.Errorf("%d load balancers have %d addresses", n, addresses)
	}
	for l := range state.Listeners.All(v) {
		if _, found := state.LoadBalancers.Find(v, l.LoadBalancerID); !found {
			return fmt.Errorf("listener %s has outlived its load balancer", l.ID())
		}
	}
	return nil
}

// TestModel plays random transactions against the store and a twin of maps,
// beside readers that must always find a consistent state. What was committed
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
			s := open(t, e)
			update(t, s, state.Owner{}, plant)
			stop := read(t, s)
			want := play(t, s, randomScript(t, seed))
			stop()
			checkAndClose(t, s)

			if e, err = openEngine(); err != nil {
				t.Fatal(err)
			}
			view(t, opened(t, e), hangzhou, func(v *state.View) {
				if err := want.compare(v); err != nil {
					t.Errorf("after the reopening: %v", err)
				}
			})
		})
	}
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

// read starts readers that run until stop is called.
func read(t *testing.T, s *state.Store) (stop func()) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if err := s.View(hangzhou, consistent); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() { close(ended); wg.Wait() }
}

// FuzzOps plays any bytes as operations.
func FuzzOps(f *testing.F) {
	f.Add([]byte{7, 0, 0, 0, 3, 0, 0, 6, 0, 3, 4, 0, 0, 9, 0, 1, 10, 0, 0, 8, 0, 0, 2, 0, 0})
	f.Add([]byte{255, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		e := &memory.Engine{}
		s := open(t, e)
		update(t, s, state.Owner{}, plant)
		want := play(t, s, script[:min(len(script), 4096)])
		checkAndClose(t, s)
		view(t, opened(t, e), hangzhou, func(v *state.View) {
			if err := want.compare(v); err != nil {
				t.Errorf("after the reopening: %v", err)
			}
		})
	})
}

// Many writers at once: everything that was acknowledged is there, and nothing
// is given out twice.
func TestConcurrentWriters(t *testing.T) {
	e := &memory.Engine{}
	s := planted(t, e)
	var wg sync.WaitGroup
	var mu sync.Mutex
	acknowledged := newTwin()
	for range 16 {
		wg.Go(func() {
			made := newTwin()
			err := s.Update(hangzhou, func(tx *state.Tx) error { return createLoadBalancer(made, tx, 0, 0) })
			if err != nil && factOf(err) != state.NoFreeAddress {
				t.Errorf("Update: %v", err)
			}
			if err == nil {
				mu.Lock()
				maps.Copy(acknowledged.loadBalancers, made.loadBalancers)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := len(acknowledged.loadBalancers); n != 12 {
		t.Errorf("%d load balancers got one of 12 addresses", n)
	}
	view(t, s, hangzhou, func(v *state.View) {
		if err := acknowledged.compare(v); err != nil {
			t.Error(err)
		}
	})
}

// The clock may move while transactions run.
func TestManualClockIsSafe(t *testing.T) {
	clock := state.NewManualClock(start)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { clock.Advance(time.Second); clock.Now() })
	}
	wg.Wait()
	if want := start.Add(8 * time.Second); !clock.Now().Equal(want) {
		t.Errorf("Now = %v, want %v", clock.Now(), want)
	}
}
