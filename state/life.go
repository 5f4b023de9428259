package state

import (
	"fmt"
	"strconv"
	"time"
)

// Asynchronous life is a table of stages. Entering a stage sets the status that
// a resource has meanwhile and schedules the one that follows; nothing runs in
// the background. Every transaction first brings the state up to its own time, and
// every View sees it so.

// Stage is a time that a resource spends on the way to another status.
type Stage string

// The stages.
const (
	StageListenerStarting         Stage = "listener.starting"
	StageListenerStopping         Stage = "listener.stopping"
	StageListenerConfiguring      Stage = "listener.configuring"
	StageVServerGroupProcessing   Stage = "vservergroup.processing"
	StageLoadBalancerConfiguring  Stage = "loadbalancer.configuring"
	StageClientTokenProcessing    Stage = "clienttoken.processing"
	StageRouteEntryPending        Stage = "routeentry.pending"
	StageRouteEntryDeleting       Stage = "routeentry.deleting"
	StageEIPAssociating           Stage = "eip.associating"
	StageEIPUnassociating         Stage = "eip.unassociating"
	StageNetworkInterfaceChanging Stage = "networkinterface.changing"
)

// stage is a row of the table. A stage without a fixed end goes back to where
// the resource came from.
type stage struct {
	kind     Kind
	from, to string
	after    time.Duration // in the realistic profile
}

// How long the stages take is not published: CLB-0500.
var stages = map[Stage]stage{
	StageListenerStarting:         {Listeners.kind, string(ListenerStarting), string(ListenerRunning), 2 * time.Second},
	StageListenerStopping:         {Listeners.kind, string(ListenerStopping), string(ListenerStopped), 2 * time.Second},
	StageListenerConfiguring:      {Listeners.kind, string(ListenerConfiguring), "", time.Second},
	StageVServerGroupProcessing:   {VServerGroups.kind, Busy, Idle, 500 * time.Millisecond},
	StageLoadBalancerConfiguring:  {LoadBalancers.kind, Busy, Idle, 500 * time.Millisecond},
	StageClientTokenProcessing:    {ClientTokens.kind, Busy, Idle, 2 * time.Second},
	StageRouteEntryPending:        {RouteEntries.kind, RouteEntryPending, RouteEntryAvailable, 3 * time.Second},
	StageRouteEntryDeleting:       {RouteEntries.kind, RouteEntryDeleting, "", 3 * time.Second},
	StageEIPAssociating:           {EIPs.kind, string(EIPAssociating), string(EIPInUse), 3 * time.Second},
	StageEIPUnassociating:         {EIPs.kind, string(EIPUnassociating), string(EIPAvailable), 3 * time.Second},
	StageNetworkInterfaceChanging: {NetworkInterfaces.kind, Busy, Idle, time.Second},
}

// Busy and Idle are the two states of what has no status on the wire but takes
// one change at a time.
const (
	Busy = "busy"
	Idle = ""
)

// statusSetters change the status of a resource from one to another, and leave it
// alone when it has moved on meanwhile.
var statusSetters = map[Kind]func(tx *Tx, id, from, to string){
	Listeners.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, Listeners, id, func(l *Listener) *ListenerStatus { return &l.Status }, from, to)
	},
	VServerGroups.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, VServerGroups, id, func(g *VServerGroup) *string { return &g.Activity }, from, to)
	},
	LoadBalancers.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, LoadBalancers, id, func(lb *LoadBalancer) *string { return &lb.Activity }, from, to)
	},
	ClientTokens.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, ClientTokens, id, func(t *ClientToken) *string { return &t.Activity }, from, to)
	},
	NetworkInterfaces.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, NetworkInterfaces, id, func(n *NetworkInterface) *string { return &n.Activity }, from, to)
	},
	RouteEntries.kind: func(tx *Tx, id, from, to string) {
		if to == "" {
			if e, ok := RouteEntries.Find(tx.View, id); ok && within(e.Status, from) {
				RouteEntries.Delete(tx, id)
			}
			return
		}
		setStatus(tx, RouteEntries, id, func(e *RouteEntry) *string { return &e.Status }, from, to)
	},
	EIPs.kind: func(tx *Tx, id, from, to string) {
		setStatus(tx, EIPs, id, func(e *EIP) *EIPStatus {
			if EIPStatus(to) == EIPAvailable && within(string(e.Status), from) {
				e.InstanceID, e.InstanceType = "", ""
			}
			return &e.Status
		}, from, to)
	},
}

func setStatus[T any, S ~string](tx *Tx, t *Table[T], id string, status func(*T) *S, from, to string) {
	// What is gone has no status to change.
	_ = t.Edit(tx, id, func(r *T) error {
		if s := status(r); within(string(*s), from) {
			*s = S(to)
		}
		return nil
	})
}

// anyStatus is from where a stage may be entered.
const anyStatus = "*"

func within(status, from string) bool { return from == anyStatus || status == from }

// Enter brings a resource into a stage: to its end at once where the stage takes
// no time. A stage without an end of its own goes back to the status then.
func Enter(tx *Tx, name Stage, id string, then ...string) {
	row, ok := stages[name]
	if !ok {
		panic(fmt.Sprintf("state: unknown stage %s", name))
	}
	to := row.to
	if len(then) > 0 {
		to = then[0]
	}
	delay := tx.Delay(name)
	if delay <= 0 && row.from == Busy {
		return
	}
	set := statusSetters[row.kind]
	if delay <= 0 {
		set(tx, id, anyStatus, to)
		return
	}
	set(tx, id, anyStatus, row.from)
	Schedule(tx, tx.Now().Add(delay), Transition{Kind: row.kind, ResourceID: id, From: row.from, To: to})
}

// Transition is a change whose time has not come.
type Transition struct {
	ID         string
	Due        time.Time
	Kind       Kind
	ResourceID string
	From, To   string
}

// Transitions by id.
var Transitions = newTable("Transition", func(t *Transition) string { return t.ID })

// transitionsByDue has them in order of time.
var transitionsByDue = Transitions.index("due", func(t *Transition) [][]string {
	return one(timeKey(t.Due))
})

// timeKey sorts as times do.
func timeKey(t time.Time) string { return fmt.Sprintf("%020d.%09d", t.Unix(), t.Nanosecond()) }

// Schedule puts a transition on the list. A resource has one of each beginning:
// a later one takes the place of an earlier.
func Schedule(tx *Tx, due time.Time, t Transition) {
	t.Due = due
	t.ID = string(t.Kind) + "/" + t.ResourceID + "/" + t.From
	Transitions.Put(tx, &t)
}

// maxTransitions bounds what one transaction brings up to date, so that a rule
// which schedules itself without end is noticed.
const maxTransitions = 1 << 20

// settle does what is due, in order of time, each at its own time, and as seen
// from everywhere.
func (tx *Tx) settle() {
	now := tx.now
	tx = tx.In(Owner{})
	for range maxTransitions {
		t, ok := nextDue(tx.View, now)
		if !ok {
			return
		}
		tx.now = t.Due
		Transitions.Delete(tx, t.ID)
		if happen, ok := events[eventKey{t.Kind, t.From}]; ok {
			happen(tx, t)
			continue
		}
		statusSetters[t.Kind](tx, t.ResourceID, t.From, t.To)
	}
	panic("state: more than " + strconv.Itoa(maxTransitions) + " transitions at once")
}

// nextDue is the first transition whose time has come. Views see all of them.
func nextDue(v *View, now time.Time) (*Transition, bool) {
	t, ok := transitionsByDue.First(v)
	return t, ok && !t.Due.After(now)
}

// eventKey names the transitions that are more than a change of status.
type eventKey struct {
	kind Kind
	from string
}

var events = map[eventKey]func(*Tx, *Transition){
	{LoadBalancers.kind, fromOrdered}: applyInternetSpec,
	{Accounts.kind, fromArrears}:      lockAccount,
	{Accounts.kind, fromLocked}:       releaseAccount,
}

// known tells whether the transition can happen: one from an imported state may
// be of a kind that has no life.
func (t *Transition) known() bool {
	_, event := events[eventKey{t.Kind, t.From}]
	return event || statusSetters[t.Kind] != nil
}

// The profiles of life cycles.
const (
	LifeInstant   = "instant"
	LifeRealistic = "realistic"
)

// LifeCycle says how long the stages take.
type LifeCycle struct {
	ID      string
	Profile string
	// Delays take the place of the profile's.
	Delays map[Stage]time.Duration `json:",omitempty"`
}

// LifeCycles holds the one life cycle, under LifeCycleID.
var LifeCycles = newTable("LifeCycle", func(l *LifeCycle) string { return l.ID })

// LifeCycleID is the id of the one LifeCycle.
const LifeCycleID = "life"

// Delay is how long a stage takes now: nothing, unless the world says so.
func (v *View) Delay(name Stage) time.Duration {
	life, ok := LifeCycles.Find(v, LifeCycleID)
	if !ok {
		return 0
	}
	if d, ok := life.Delays[name]; ok {
		return d
	}
	if life.Profile == LifeRealistic {
		return stages[name].after
	}
	return 0
}

// Stages lists the stages with what they take in the realistic profile.
func Stages() map[Stage]time.Duration {
	list := make(map[Stage]time.Duration, len(stages))
	for name, row := range stages {
		list[name] = row.after
	}
	return list
}
