package replicas_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

var (
	seed  = flag.Uint64("seed", 0, "seed of the tests' choices (0: a random one)")
	storm = flag.Duration("storm", 0, "how long replicas and etcd are disturbed (0: once in each way)")
	kinds = flag.String("disturb", "", "regular expression of the storm's disturbances (all)")
)

// chances returns the random choices of a test by the flag -seed.
func chances(t *testing.T) *rand.Rand {
	t.Helper()
	return binary.Chances(t, *seed, fmt.Sprintf("-storm %s -disturb %q", *storm, *kinds))
}

// nameOp sets or reads a text of a load balancer, which is a register for porcupine.
type nameOp struct {
	at  textOf
	set string // "" reads
}

// textOf is a text of a load balancer. Two of them are kept in one row, so that who writes an
// older row takes back what was acknowledged of the other.
type textOf struct{ id, field string }

// setters are the calls that set texts, by the field that reads them.
var setters = map[string]struct{ action, param string }{
	"LoadBalancerName":             {"SetLoadBalancerName", "LoadBalancerName"},
	"ModificationProtectionReason": {"SetLoadBalancerModificationProtection", "ModificationProtectionReason"},
}

type nameSeen struct {
	read string
	lost bool // the answer: whether it was executed is not known
}

var names = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := make(map[textOf][]porcupine.Operation)
		for _, op := range history {
			at := op.Input.(nameOp).at
			by[at] = append(by[at], op)
		}
		return slices.Collect(maps.Values(by))
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		do, saw := input.(nameOp), output.(nameSeen)
		switch {
		case do.set != "" && saw.lost:
			return []any{state, do.set}
		case do.set != "":
			return []any{do.set}
		case saw.lost:
			return []any{state}
		case saw.read == state || state == "": // the first read learns the name
			return []any{saw.read}
		}
		return nil
	},
}).ToModel()

// history is what clients do while replicas and etcd are disturbed, and what they see.
type history struct {
	t      *testing.T
	main   *place
	forked *place // a durable cloud
	chance *rand.Rand

	mu          sync.Mutex
	rounds      int
	calls, lost int // of texts
	listeners   int // that were asked for
	longest     time.Duration
}

// place is a cloud, as it is reached at each of the replicas.
type place struct {
	at   []*replica
	made map[string]string // load balancers, by their names
}

func newHistory(t *testing.T, all []*replica, chance *rand.Rand) *history {
	all[0].set("throttle.profile=off")
	const name = "kept"
	if _, err := all[0].control.CreateCloud(t.Context(), name, controlapi.NewCloud{Durable: true}); err != nil {
		t.Fatal(err)
	}
	forked := &place{made: make(map[string]string)}
	for _, r := range all {
		forked.at = append(forked.at, r.ofCloud(name))
	}
	return &history{t: t, main: &place{all, make(map[string]string)}, forked: forked, chance: chance}
}

// clients is how many call at a time.
const clients = 6

// round calls until disturb returns. Porcupine's work grows with the calls whose outcome
// is not known, so that each round has load balancers of its own.
func (h *history) round(disturb func()) {
	h.t.Helper()
	type register struct {
		at *place
		id string
	}
	var registers []register
	for n, at := range []*place{h.main, h.main, h.forked, h.forked} {
		registers = append(registers, register{at, h.make(at, h.chance, fmt.Sprintf("register-%d-%d", len(at.made), n))})
	}
	shelf := &shelf{id: h.make(h.main, h.chance, fmt.Sprintf("shelf-%d", len(h.main.made))), open: make(map[int]bool)}
	ctx, stop := context.WithCancel(h.t.Context())
	begun := time.Now()
	var ops []porcupine.Operation
	var running sync.WaitGroup
	for c := range clients {
		chance := rand.New(rand.NewPCG(h.chance.Uint64(), uint64(c)))
		running.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for n := 0; ctx.Err() == nil; n++ {
				switch {
				case n%32 == 0 && n < 32*16: // a long run must not use up the region's addresses
					h.make(h.main, chance, fmt.Sprintf("made-%s-%d-%d", shelf.id, c, n))
				case n%8 == 4:
					shelf.add(h, chance)
				default:
					r := registers[chance.IntN(len(registers))]
					op := h.name(begun, c, r.at, r.id, chance)
					h.mu.Lock()
					ops = append(ops, op)
					h.mu.Unlock()
				}
				<-pace.C
			}
		})
	}
	disturb()
	stop()
	running.Wait()
	h.calls += len(ops)
	h.rounds++
	if result := porcupine.CheckOperationsTimeout(names, decided(ops), 5*time.Minute); result != porcupine.Ok {
		h.t.Errorf("the history of %d calls of texts is %s", len(ops), result)
	}
	shelf.check(h)
}

// decided leaves out what any order of the others is good for: calls without an answer that
// read, or set a name that no read saw. Such calls may be made after all others.
func decided(ops []porcupine.Operation) []porcupine.Operation {
	seen := make(map[string]bool)
	for _, op := range ops {
		if op.Input.(nameOp).set == "" {
			seen[op.Output.(nameSeen).read] = true
		}
	}
	return slices.DeleteFunc(ops, func(op porcupine.Operation) bool {
		return op.Output.(nameSeen).lost && !seen[op.Input.(nameOp).set]
	})
}

// make creates a load balancer, and asks until it is answered.
func (h *history) make(at *place, chance *rand.Rand, name string) (id string) {
	id, _, err := createAgain(h.t.Context(), at.at, chance, name)
	if err != nil {
		h.t.Errorf("%s: %v", name, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at.made[name] = id
	return id
}

// name reads or sets a text, once.
func (h *history) name(begun time.Time, client int, at *place, id string, chance *rand.Rand) porcupine.Operation {
	field := slices.Sorted(maps.Keys(setters))[chance.IntN(len(setters))]
	do := nameOp{at: textOf{id, field}}
	action, params := "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id}
	if chance.IntN(2) == 0 {
		do.set = fmt.Sprintf("n%d", chance.Uint32())
		action, params[setters[field].param] = setters[field].action, do.set
		if field == "ModificationProtectionReason" {
			params["ModificationProtectionStatus"] = "ConsoleProtection"
		}
	}
	op := porcupine.Operation{ClientId: client, Input: do, Call: time.Since(begun).Nanoseconds()}
	reply, err := at.at[chance.IntN(len(at.at))].api.Call(slb, action, params)
	op.Return = time.Since(begun).Nanoseconds()
	op.Output = nameSeen{read: reply.Text(field)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.longest = max(h.longest, time.Duration(op.Return-op.Call))
	if err == nil && reply.Status < http.StatusInternalServerError && reply.Status != http.StatusOK {
		h.t.Errorf("%s %v = %d %v", action, params, reply.Status, reply.Body)
	}
	if err != nil || reply.Status != http.StatusOK {
		// It may be executed until the end, if it is at all.
		op.Output, op.Return = nameSeen{lost: true}, (24 * time.Hour).Nanoseconds()
		h.lost++
	}
	return op
}

// shelf is a load balancer with as many listeners as its quota allows.
type shelf struct {
	id   string
	open map[int]bool
	full bool
}

// quotaOfListeners is the default of slb_quota_listeners_num.
const quotaOfListeners = 50

func (s *shelf) add(h *history, chance *rand.Rand) {
	port := 1 + chance.IntN(4*quotaOfListeners)
	reply, err := h.main.at[chance.IntN(len(h.main.at))].api.Call(slb, "CreateLoadBalancerTCPListener", map[string]string{
		"LoadBalancerId": s.id, "ListenerPort": strconv.Itoa(port), "BackendServerPort": "80", "Bandwidth": "-1"})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners++
	switch code := reply.Text("Code"); {
	case err != nil || reply.Status >= http.StatusInternalServerError:
	case reply.Status == http.StatusOK:
		s.open[port] = true
	case code == "ListenerAlreadyExists":
	case code == "ListenerNumberOverLimit":
		s.full = true
	default:
		h.t.Errorf("CreateLoadBalancerTCPListener = %v", reply.Body)
	}
}

// check reads the listeners: all that were acknowledged are there, and exactly as many as
// the quota allows where one was refused.
func (s *shelf) check(h *history) {
	var ports []int
	eventually(h.t, "the listeners are listed", func() error {
		reply, err := h.main.at[0].api.Call(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": s.id})
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("%v", reply.Body)
		}
		if err != nil {
			return err
		}
		ports = nil
		for _, port := range reply.Body["ListenerPorts"].(map[string]any)["ListenerPort"].([]any) {
			ports = append(ports, int(port.(float64)))
		}
		return nil
	})
	for port := range s.open {
		if !slices.Contains(ports, port) {
			h.t.Errorf("the listener of port %d was acknowledged and is gone", port)
		}
	}
	if len(ports) > quotaOfListeners || s.full && len(ports) != quotaOfListeners {
		h.t.Errorf("there are %d listeners with a quota of %d, of which one was refused: %v", len(ports), quotaOfListeners, s.full)
	}
}

// check compares what every replica lists with what was acknowledged.
func (h *history) check(disturbances int) {
	h.t.Helper()
	h.t.Logf("%d disturbances in %d rounds; %d calls of texts, %d without an answer, the longest of %s; %d calls for listeners; %d load balancers made, and %d in the durable cloud",
		disturbances, h.rounds, h.calls, h.lost, h.longest.Round(time.Millisecond), h.listeners, len(h.main.made), len(h.forked.made))
	for _, r := range h.main.at {
		r.await()
	}
	for _, at := range []*place{h.main, h.forked} {
		for _, r := range at.at {
			got := r.loadBalancers()
			if len(got) != len(at.made) {
				h.t.Errorf("%s lists %d load balancers, and %d were made", r.name, len(got), len(at.made))
			}
			ids := slices.Sorted(maps.Values(got))
			for name, id := range at.made {
				if _, found := slices.BinarySearch(ids, id); !found {
					h.t.Errorf("%s lacks %s, which is %s", r.name, name, id)
				}
			}
		}
		again := 0
		for name, id := range at.made {
			if got := h.make(at, h.chance, name); got != id {
				h.t.Errorf("the token of %s made %s, and then %s", name, id, got)
			}
			if again++; again == 20 {
				break
			}
		}
	}
}

// A leader that is cut off answers nothing that may be old, and a follower says that it is
// not ready. Both go on once they are reached again.
func TestCutOff(t *testing.T) {
	net := newNetwork(t)
	members := startEtcdAt(t, net.address, 1)
	all := fleetOn(t, net.hosts(3), members, "--read", "local")
	leader, others := leaderOf(t, all)
	id, err := leader.create(t.Context(), "old", "old")
	if err != nil {
		t.Fatal(err)
	}
	net.cut(slices.Index(all, leader))
	eventually(t, "another replica leads and writes", func() error {
		reply, err := others[0].api.Call(slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": id, "LoadBalancerName": "new"})
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("%v", reply.Body)
		}
		return err
	})
	if reply, err := leader.api.Call(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id}); err == nil && reply.Status != http.StatusServiceUnavailable && reply.Text("LoadBalancerName") == "old" {
		t.Errorf("the leader that was cut off answers what was changed: %v", reply)
	}
	eventually(t, "the one that led is not ready", func() error { return notReady(leader) })
	net.heal(slices.Index(all, leader))
	leader.await()
	if got := leader.loadBalancers(); got["new"] != id {
		t.Errorf("when it is reached again, it lists %v", got)
	}

	leader, others = leaderOf(t, all)
	// The call below finds a connection to the leader that is open, and silent.
	if _, err := others[0].create(t.Context(), "before", "before"); err != nil {
		t.Error(err)
	}
	net.cut(slices.Index(all, others[0]))
	eventually(t, "the follower is not ready", func() error { return notReady(others[0]) })
	reply, err := others[0].api.Call(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
	if err != nil || reply.Status != http.StatusServiceUnavailable {
		t.Errorf("a follower that was cut off for long answers %v, %v", reply, err)
	}
	net.heal(slices.Index(all, others[0]))
	others[0].await()
	if _, err := others[0].create(t.Context(), "after", "after"); err != nil {
		t.Errorf("when it is reached again: %v", err)
	}
}

func notReady(r *replica) error {
	if r.control.Ready(r.t.Context()) == nil {
		return errors.New("it is ready")
	}
	return nil
}
