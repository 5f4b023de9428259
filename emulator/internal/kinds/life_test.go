package kinds_test

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/memory"
)

const day = 24 * time.Hour

// openAt opens a store on e with a clock, without a cleanup.
func openAt(t testing.TB, e engine.Engine, clock state.Clock) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e, Clock: clock, Seed: 1})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// timed returns a healthy store with a clock that the test moves.
func timed(t testing.TB, plants ...func(*state.Tx) error) (*state.Store, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(start)
	s := openAt(t, &memory.Engine{}, clock)
	t.Cleanup(func() { checkAndClose(t, s) })
	update(t, s, state.Owner{}, plant)
	for _, p := range append([]func(*state.Tx) error{plantHealthy, plantStaged}, plants...) {
		update(t, s, hangzhou, p)
	}
	return s, clock
}

// plantStaged adds what has stages and is not in plantHealthy.
func plantStaged(tx *state.Tx) error {
	kinds.IPv6Gateways.Put(tx, &kinds.IPv6Gateway{Owner: hangzhou, ID: "ipv6gw-1", VPCID: vpcID, Status: kinds.GatewayAvailable})
	kinds.NATGateways.Put(tx, &kinds.NATGateway{Owner: hangzhou, ID: "ngw-1", VPCID: vpcID, VSwitchID: vSwitchID, PrivateIPAddress: "192.168.0.201", Status: kinds.GatewayAvailable})
	kinds.Addresses.Put(tx, &kinds.Address{Pool: vSwitchID, IP: "192.168.0.201", Holder: kinds.NATGateways.Kind(), HolderID: "ngw-1"})
	kinds.RouteEntries.Put(tx, &kinds.RouteEntry{Owner: hangzhou, ID: "rte-1", RouteTableID: routeTableID, VPCID: vpcID, Status: kinds.RouteEntryAvailable})
	kinds.AccessControlLists.Put(tx, &kinds.AccessControlList{Owner: hangzhou, ID: "acl-1", Name: "a", AddressIPVersion: "ipv4"})
	kinds.TLSCipherPolicies.Put(tx, &kinds.TLSCipherPolicy{Owner: hangzhou, ID: "tls-1"})
	kinds.QuotaApplications.Put(tx, &kinds.QuotaApplication{AccountID: hangzhou.AccountID, ID: "application-1", Quota: kinds.QuotaListeners, Desired: 60, Status: kinds.ApplicationAgree})
	state.ClientTokens.Put(tx, &state.ClientToken{AccountID: hangzhou.AccountID, Action: "Do", Token: "t", ResourceID: "lb-1", CreateTime: tx.Now()})
	plantNLB(tx)
	return nil
}

// plantNLB adds one of each kind of NLB.
func plantNLB(tx *state.Tx) {
	kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: hangzhou, ID: "net-1", VPCID: vpcID, Status: kinds.NLBActive, AddressType: kinds.NLBIntranet,
		ZoneMappings: []kinds.NLBZoneMapping{{VSwitchID: vSwitchID, PrivateIPv4Address: "192.168.0.200"}}})
	kinds.Addresses.Put(tx, &kinds.Address{Pool: vSwitchID, IP: "192.168.0.200", Holder: kinds.NLBLoadBalancers.Kind(), HolderID: "net-1"})
	kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: hangzhou, ID: "sgp-1", VPCID: vpcID, Status: kinds.NLBGroupAvailable,
		Servers: []kinds.NLBServer{{ID: "i-1", Port: 80}, {ID: "i-1", Port: 81}}})
	kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: hangzhou, ID: "lsn-1", LoadBalancerID: "net-1", Protocol: kinds.NLBTCP, Port: 80,
		ServerGroupID: "sgp-1", Status: kinds.NLBListenerRunning})
	kinds.NLBLocks.Put(tx, &kinds.Lock{Owner: hangzhou, LoadBalancerID: "net-1"})
	kinds.NLBJobs.Put(tx, &kinds.Job{Owner: hangzhou, ID: "job-1", Status: kinds.JobProcessing, CreateTime: tx.Now()})
}

func profile(name string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: name})
		return nil
	}
}

// timeOf returns how long a stage lasts where a resource enters it: stages that begin
// only when the world has a time for them have none of their own.
func timeOf(stage state.Stage) time.Duration {
	return cmp.Or(kinds.Schema.Stages()[stage], time.Second)
}

// lasting returns a change to the realistic profile, in which the stage takes its time.
func lasting(stage state.Stage) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeRealistic,
			Delays: map[state.Stage]time.Duration{stage: timeOf(stage)}})
		return nil
	}
}

const listenerID = "lb-1_https_443"

const gone = "gone"

// statusOf reads a status, which is gone when the resource is.
func statusOf[T any, S ~string](table *state.Table[T], id string, status func(*T) S) func(*state.View) string {
	return func(v *state.View) string {
		r, ok := table.Find(v, id)
		if !ok {
			return gone
		}
		return string(status(r))
	}
}

var (
	listenerStatus    = statusOf(kinds.Listeners, listenerID, func(l *kinds.Listener) kinds.ListenerStatus { return l.Status })
	groupActivity     = statusOf(kinds.VServerGroups, "rsp-1", func(g *kinds.VServerGroup) string { return g.Activity })
	balancerActivity  = statusOf(kinds.LoadBalancers, "lb-1", func(lb *kinds.LoadBalancer) string { return lb.Activity })
	tokenActivity     = statusOf(state.ClientTokens, tokenID, func(c *state.ClientToken) string { return c.Activity })
	aclActivity       = statusOf(kinds.AccessControlLists, "acl-1", func(a *kinds.AccessControlList) string { return a.Activity })
	extensionActivity = statusOf(kinds.DomainExtensions, "de-1", func(d *kinds.DomainExtension) string { return d.Activity })
	policyActivity    = statusOf(kinds.TLSCipherPolicies, "tls-1", func(p *kinds.TLSCipherPolicy) string { return p.Activity })
	entryStatus       = statusOf(kinds.RouteEntries, "rte-1", func(e *kinds.RouteEntry) string { return e.Status })
	ipv6Gateway       = statusOf(kinds.IPv6Gateways, "ipv6gw-1", func(g *kinds.IPv6Gateway) kinds.GatewayStatus { return g.Status })
	natGateway        = statusOf(kinds.NATGateways, "ngw-1", func(g *kinds.NATGateway) kinds.GatewayStatus { return g.Status })
	eipStatus         = statusOf(kinds.EIPs, "eip-1", func(e *kinds.EIP) kinds.EIPStatus { return e.Status })
	nlbStatus         = statusOf(kinds.NLBLoadBalancers, "net-1", func(lb *kinds.NLBLoadBalancer) string { return lb.Status })
	nlbLock           = statusOf(kinds.NLBLocks.Table, "net-1", func(l *kinds.Lock) string { return l.Activity })
	nlbListener       = statusOf(kinds.NLBListeners, "lsn-1", func(l *kinds.NLBListener) string { return l.Status })
	nlbGroup          = statusOf(kinds.NLBServerGroups, "sgp-1", func(g *kinds.NLBServerGroup) string { return g.Status })
	nlbJob            = statusOf(kinds.NLBJobs.Table, "job-1", func(j *kinds.Job) string { return j.Status })
	application       = statusOf(kinds.QuotaApplications, "application-1", func(a *kinds.QuotaApplication) string { return a.Status })
	instanceStatus    = statusOf(kinds.Instances, "i-1", func(i *kinds.Instance) string { return i.Status })
	interfaceChange   = statusOf(kinds.NetworkInterfaces, "eni-1", func(n *kinds.NetworkInterface) string { return n.Activity })
)

var tokenID = state.ClientTokenID(hangzhou.AccountID, "Do", "t")

// staged are all the stages, with what the resource is meanwhile and afterwards.
var staged = []struct {
	stage         state.Stage
	id            string
	then          []string
	status        func(*state.View) string
	during, after string
}{
	{kinds.StageListenerStarting, listenerID, nil, listenerStatus, "starting", "running"},
	{kinds.StageListenerStopping, listenerID, nil, listenerStatus, "stopping", "stopped"},
	{kinds.StageListenerConfiguring, listenerID, []string{"running"}, listenerStatus, "configuring", "running"},
	{kinds.StageVServerGroupProcessing, "rsp-1", nil, groupActivity, state.Busy, state.Idle},
	{kinds.StageLoadBalancerConfiguring, "lb-1", nil, balancerActivity, state.Busy, state.Idle},
	{kinds.StageDomainExtensionConfiguring, "de-1", nil, extensionActivity, state.Busy, state.Idle},
	{kinds.StageACLConfiguring, "acl-1", nil, aclActivity, state.Busy, state.Idle},
	{kinds.StageTLSCipherPolicyConfiguring, "tls-1", nil, policyActivity, state.Busy, state.Idle},
	{state.StageClientTokenProcessing, tokenID, nil, tokenActivity, state.Busy, state.Idle},
	{kinds.StageRouteEntryPending, "rte-1", nil, entryStatus, "Pending", "Available"},
	{kinds.StageRouteEntryDeleting, "rte-1", nil, entryStatus, "Deleting", gone},
	{kinds.StageIPv6GatewayPending, "ipv6gw-1", nil, ipv6Gateway, "Pending", "Available"},
	{kinds.StageIPv6GatewayDeleting, "ipv6gw-1", nil, ipv6Gateway, "Deleting", gone},
	{kinds.StageNATGatewayCreating, "ngw-1", nil, natGateway, "Creating", "Available"},
	{kinds.StageNATGatewayDeleting, "ngw-1", nil, natGateway, "Deleting", gone},
	{kinds.StageEIPAssociating, "eip-1", nil, eipStatus, "Associating", "InUse"},
	{kinds.StageEIPUnassociating, "eip-1", nil, eipStatus, "Unassociating", "Available"},
	{kinds.StageInstancePending, "i-1", nil, instanceStatus, kinds.InstancePending, kinds.InstanceRunning},
	{kinds.StageInstanceStarting, "i-1", nil, instanceStatus, kinds.InstanceStarting, kinds.InstanceRunning},
	{kinds.StageInstanceStopping, "i-1", nil, instanceStatus, kinds.InstanceStopping, kinds.InstanceStopped},
	{kinds.StageNetworkInterfaceChanging, "eni-1", nil, interfaceChange, state.Busy, state.Idle},
	{kinds.StageNLBProvisioning, "net-1", nil, nlbStatus, "Provisioning", "Active"},
	{kinds.StageNLBConfiguring, "net-1", nil, nlbStatus, "Configuring", "Active"},
	{kinds.NLBLocks.Held, "net-1", nil, nlbLock, state.Busy, state.Idle},
	{kinds.StageNLBListenerProvisioning, "lsn-1", nil, nlbListener, "Provisioning", "Running"},
	{kinds.StageNLBListenerConfiguring, "lsn-1", []string{"Running"}, nlbListener, "Configuring", "Running"},
	{kinds.StageNLBListenerStarting, "lsn-1", nil, nlbListener, "Starting", "Running"},
	{kinds.StageNLBListenerStopping, "lsn-1", nil, nlbListener, "Stopping", "Stopped"},
	{kinds.StageNLBListenerDeleting, "lsn-1", nil, nlbListener, "Deleting", gone},
	{kinds.StageNLBGroupCreating, "sgp-1", nil, nlbGroup, "Creating", "Available"},
	{kinds.StageNLBGroupConfiguring, "sgp-1", nil, nlbGroup, "Configuring", "Available"},
	{kinds.NLBJobs.Working, "job-1", nil, nlbJob, "Processing", "Succeeded"},
	{kinds.StageQuotaReview, "application-1", nil, application, "Process", "Agree"},
	{kinds.NLBJobs.Failing, "job-1", nil, nlbJob, "Processing", "Failed"},
}

func enter(t testing.TB, s *state.Store, stage state.Stage, id string, then ...string) {
	t.Helper()
	update(t, s, hangzhou, func(tx *state.Tx) error {
		state.Enter(tx, stage, id, then...)
		return nil
	})
}

func wantStatus(t testing.TB, s *state.Store, when string, status func(*state.View) string, want string) {
	t.Helper()
	view(t, s, hangzhou, func(v *state.View) {
		if got := status(v); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	})
}

// A stage lasts for exactly its time in the realistic profile, and not at all in
// the instant one.
func TestStages(t *testing.T) {
	if len(staged) != len(kinds.Schema.Stages()) {
		t.Errorf("%d of %d stages are tested", len(staged), len(kinds.Schema.Stages()))
	}
	for _, c := range staged {
		t.Run(string(c.stage), func(t *testing.T) {
			s, clock := timed(t, lasting(c.stage))
			enter(t, s, c.stage, c.id, c.then...)
			wantStatus(t, s, "at first", c.status, c.during)
			clock.Advance(timeOf(c.stage) - 1)
			wantStatus(t, s, "just before the end", c.status, c.during)
			clock.Advance(1)
			wantStatus(t, s, "at the end", c.status, c.after)

			s, _ = timed(t, profile(state.LifeInstant))
			enter(t, s, c.stage, c.id, c.then...)
			wantStatus(t, s, "without a delay", c.status, c.after)
			view(t, s, hangzhou, func(v *state.View) {
				for left := range state.Transitions.All(v) {
					t.Errorf("a stage without a delay leaves %+v", *left)
				}
			})
		})
	}
}

// A stage's own delay overrides the profile's, whichever that is.
func TestStageDelays(t *testing.T) {
	for name, want := range map[string]time.Duration{state.LifeInstant: 0, state.LifeRealistic: 2 * time.Second} {
		s, _ := timed(t, func(tx *state.Tx) error {
			state.LifeCycles.Put(tx, &state.LifeCycle{ID: state.LifeCycleID, Profile: name,
				Delays: map[state.Stage]time.Duration{kinds.StageListenerStarting: time.Hour}})
			return nil
		})
		view(t, s, hangzhou, func(v *state.View) {
			if got := v.Delay(kinds.StageListenerStarting); got != time.Hour {
				t.Errorf("%s: the delay of its own = %s, want 1h", name, got)
			}
			if got := v.Delay(kinds.StageListenerStopping); got != want {
				t.Errorf("%s: the profile's delay = %s, want %s", name, got, want)
			}
		})
	}
}

// A stage entered again before its end starts over.
func TestStageEnteredAgain(t *testing.T) {
	s, clock := timed(t, profile(state.LifeRealistic))
	enter(t, s, kinds.StageVServerGroupProcessing, "rsp-1")
	clock.Advance(300 * time.Millisecond)
	enter(t, s, kinds.StageVServerGroupProcessing, "rsp-1")
	clock.Advance(400 * time.Millisecond)
	wantStatus(t, s, "at the first end", groupActivity, state.Busy)
	clock.Advance(100 * time.Millisecond)
	wantStatus(t, s, "at the second end", groupActivity, state.Idle)
}

// The end of a stage that another one has overtaken changes nothing.
func TestStageOvertaken(t *testing.T) {
	s, clock := timed(t, profile(state.LifeRealistic))
	enter(t, s, kinds.StageListenerStarting, listenerID)
	clock.Advance(time.Second)
	enter(t, s, kinds.StageListenerStopping, listenerID)
	clock.Advance(time.Second)
	wantStatus(t, s, "at the end of the first", listenerStatus, "stopping")
	clock.Advance(time.Second)
	wantStatus(t, s, "at the end of the second", listenerStatus, "stopped")
}

// A resource deleted meanwhile stays gone, an EIP that became free stays so, and no
// transition is left over.
func TestStageOfTheDeleted(t *testing.T) {
	stays := map[string]string{"eip-1": "Available", "tls-1": state.Idle, "acl-1": state.Idle}
	for _, c := range staged {
		t.Run(string(c.stage), func(t *testing.T) {
			s, clock := timed(t, lasting(c.stage))
			enter(t, s, c.stage, c.id, c.then...)
			update(t, s, hangzhou, func(tx *state.Tx) error {
				kinds.LoadBalancers.Remove(tx, "lb-1")
				kinds.NLBLoadBalancers.Remove(tx, "net-1")
				kinds.NLBServerGroups.Remove(tx, "sgp-1")
				kinds.NLBJobs.Remove(tx, "job-1")
				kinds.QuotaApplications.Remove(tx, "application-1")
				kinds.RouteEntries.Delete(tx, "rte-1")
				kinds.IPv6Gateways.Remove(tx, "ipv6gw-1")
				kinds.NATGateways.Remove(tx, "ngw-1")
				kinds.NetworkInterfaces.Remove(tx, "eni-1")
				kinds.Instances.Remove(tx, "i-1")
				state.ClientTokens.Delete(tx, tokenID)
				return nil
			})
			clock.Advance(time.Hour)
			want, ok := stays[c.id]
			if !ok {
				want = gone
			}
			wantStatus(t, s, "after its time", c.status, want)
			view(t, s, hangzhou, func(v *state.View) {
				for left := range state.Transitions.All(v) {
					t.Errorf("left after its time: %+v", *left)
				}
			})
		})
	}
}

// What took the id of something that was deleted stays as it was made.
func TestStageOfTheDeletedAndMadeAgain(t *testing.T) {
	s, clock := timed(t, profile(state.LifeRealistic))
	enter(t, s, kinds.StageListenerStarting, listenerID)
	update(t, s, hangzhou, func(tx *state.Tx) error {
		l, err := kinds.Listeners.Get(tx.View, listenerID)
		again := *l
		again.Status = kinds.ListenerStopped
		kinds.Listeners.Delete(tx, listenerID)
		kinds.Listeners.Put(tx, &again)
		return err
	})
	clock.Advance(time.Hour)
	wantStatus(t, s, "the recreated listener", listenerStatus, "stopped")
}

// schedule returns a change that lets the listener go from one status to another after some time.
func schedule(after time.Duration, from, to string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.Schedule(tx, tx.Now().Add(after), state.Transition{Kind: kinds.Listeners.Kind(), ResourceID: listenerID, From: from, To: to})
		return nil
	}
}

// Transitions that are due at once happen in the order of their times, whatever
// the order of their scheduling.
func TestTransitionsInOrder(t *testing.T) {
	cases := []struct {
		name  string
		plans []func(*state.Tx) error
		want  string
	}{
		{"in order", []func(*state.Tx) error{schedule(1, "running", "stopping"), schedule(2, "stopping", "stopped"), schedule(3, "stopped", "starting")}, "starting"},
		{"scheduled backwards", []func(*state.Tx) error{schedule(3*time.Second, "stopped", "starting"), schedule(1, "running", "stopping"), schedule(2, "stopping", "stopped")}, "starting"},
		{"the second too early", []func(*state.Tx) error{schedule(2*time.Second, "running", "stopping"), schedule(time.Second, "stopping", "stopped")}, "stopping"},
		{"nanoseconds count", []func(*state.Tx) error{schedule(time.Second+10, "running", "stopping"), schedule(time.Second+9, "stopping", "stopped")}, "stopping"},
		{"one is not due", []func(*state.Tx) error{schedule(1, "running", "stopping"), schedule(day+1, "stopping", "stopped")}, "stopping"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, clock := timed(t, c.plans...)
			clock.Advance(day)
			wantStatus(t, s, "after a day", listenerStatus, c.want)
		})
	}
}

// A View sees what is due, and so does a transaction, also after a refused one; each
// happens at its own time.
func TestSettled(t *testing.T) {
	refused := errors.New("refused")
	reads := map[string]func(s *state.Store, see func(*state.View)) error{
		"View": func(s *state.Store, see func(*state.View)) error {
			see(s.View(hangzhou))
			return nil
		},
		"Update": func(s *state.Store, see func(*state.View)) error {
			return s.Update(hangzhou, func(tx *state.Tx) error { see(tx.View); return nil })
		},
		"stranger": func(s *state.Store, see func(*state.View)) error {
			return s.Update(stranger, func(tx *state.Tx) error { see(tx.In(hangzhou).View); return nil })
		},
		"refused Update": func(s *state.Store, see func(*state.View)) error {
			if err := s.Update(hangzhou, func(*state.Tx) error { return refused }); !errors.Is(err, refused) {
				return err
			}
			see(s.View(hangzhou))
			return nil
		},
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			s, clock := timed(t, profile(state.LifeRealistic))
			enter(t, s, kinds.StageListenerStarting, listenerID)
			clock.Advance(time.Hour)
			err := read(s, func(v *state.View) {
				if got := listenerStatus(v); got != "running" || !v.Now().Equal(start.Add(time.Hour)) {
					t.Errorf("the listener is %q at %v", got, v.Now())
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Pending transitions survive a restart, and happen when the store opens
// after their time.
func TestTransitionsOverRestart(t *testing.T) {
	e, clock := &memory.Engine{}, state.NewManualClock(start)
	s := openAt(t, e, clock)
	for _, p := range []func(*state.Tx) error{plant, plantHealthy, plantStaged, profile(state.LifeRealistic)} {
		update(t, s, hangzhou, p)
	}
	enter(t, s, kinds.StageRouteEntryDeleting, "rte-1")
	enter(t, s, kinds.StageListenerStarting, listenerID)
	checkAndClose(t, s)

	clock.Advance(2 * time.Second)
	s = openAt(t, e, clock)
	defer checkAndClose(t, s)
	wantStatus(t, s, "after the restart", listenerStatus, "running")
	wantStatus(t, s, "after the restart", entryStatus, "Deleting")
	clock.Advance(time.Second)
	wantStatus(t, s, "a second later", entryStatus, gone)
}

// Times that a count of nanoseconds does not hold are in order too.
func TestTransitionsOfTheFarFuture(t *testing.T) {
	const year = 365 * day
	s, clock := timed(t, schedule(200*year, "running", "stopping"), schedule(280*year, "stopping", "stopped"))
	clock.Advance(210 * year)
	wantStatus(t, s, "after 210 years", listenerStatus, "stopping")
	clock.Advance(100 * year)
	wantStatus(t, s, "after 310 years", listenerStatus, "stopped")
}

// A stage that does not exist is a programming error.
func TestUnknownStage(t *testing.T) {
	inTx(t, hangzhou, func(tx *state.Tx) {
		defer func() {
			if p := recover(); p != "state: unknown stage rocket.starting" {
				t.Errorf("Enter panicked with %v", p)
			}
		}()
		state.Enter(tx, "rocket.starting", "r-1")
		t.Error("Enter of an unknown stage returned")
	})
}
