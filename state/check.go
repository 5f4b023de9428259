package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// Check verifies that the working set and the engine hold the same, and every
// invariant of the resources. It returns one line a problem. Writers wait while
// it runs.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for pending := s.undurable(); pending != nil; pending = s.undurable() {
		s.mu.Unlock()
		<-pending.done
		s.mu.Lock()
	}
	if s.closed {
		return nil, ErrClosed
	}
	v := s.view(s.visible.Load().Txn(false), Owner{})
	problems := checkInvariants(v)
	kept, err := s.compareWithEngine(ctx, v)
	if errors.Is(err, engine.ErrDamaged) {
		return append(problems, err.Error()), nil
	}
	return append(problems, kept...), err
}

func (s *Store) compareWithEngine(ctx context.Context, v *View) ([]string, error) {
	memory := make(map[changeKey][]byte)
	for _, t := range tables {
		for id, r := range t.all(v) {
			change, err := encode(t.name(), id, r)
			if err != nil {
				return nil, err
			}
			memory[changeKey{t.name(), id}] = change.Value
		}
	}
	var problems []string
	err := s.engine.Load(ctx, func(table, id string, value []byte) error {
		key := changeKey{Kind(table), id}
		got, ok := memory[key]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s %s is kept but not in the working set", table, id))
		} else if !sameValue(key.kind, id, got, value) {
			problems = append(problems, fmt.Sprintf("%s %s differs between the working set and what is kept", table, id))
		}
		delete(memory, key)
		return nil
	})
	for key := range memory {
		problems = append(problems, fmt.Sprintf("%s %s is in the working set but not kept", key.kind, key.id))
	}
	slices.Sort(problems)
	return problems, err
}

// sameValue tells whether what is kept is what is in memory: to the byte, or as it
// is read, for a row that was written before a field was added.
func sameValue(kind Kind, id string, memory, kept []byte) bool {
	if bytes.Equal(memory, kept) {
		return true
	}
	r, _, err := tableByName[kind].decode(kept)
	if err != nil {
		return false
	}
	change, err := encode(kind, id, r)
	return err == nil && bytes.Equal(memory, change.Value)
}

// checker collects what is wrong with a state.
type checker struct {
	v        *View
	problems []string
}

func (c *checker) fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// refers checks that a resource, if it names another, names one that exists and
// belongs to the same account and region.
func refers[T, U any](c *checker, from *Table[T], r *T, to *Table[U], id string) {
	if id == "" {
		return
	}
	target, ok := to.Find(c.v, id)
	if !ok {
		c.fail("%s %s refers to %s %s, which does not exist", from.kind, from.id(r), to.kind, id)
		return
	}
	a, ok := any(r).(owned)
	if b, also := any(target).(owned); ok && also && a.owner() != b.owner() {
		c.fail("%s %s refers to %s %s, which is of another account or region", from.kind, from.id(r), to.kind, id)
	}
}

// belongs is refers where there must be another.
func belongs[T, U any](c *checker, from *Table[T], r *T, to *Table[U], id string) {
	if id == "" {
		c.fail("%s %s is of no %s", from.kind, from.id(r), to.kind)
	}
	refers(c, from, r, to, id)
}

// known checks that a word is one of those that there are.
func known[T any, S ~string](c *checker, from *Table[T], r *T, what string, word S, words ...S) {
	if !slices.Contains(words, word) {
		c.fail("%s %s has the %s %q, want one of %q", from.kind, from.id(r), what, word, words)
	}
}

// inRange checks that a number is what it can be.
func inRange[T any](c *checker, from *Table[T], r *T, what string, n, least, most int) {
	if n < least || n > most {
		c.fail("%s %s has the %s %d, want %d to %d", from.kind, from.id(r), what, n, least, most)
	}
}

// checkInvariants looks at every resource; v must see all of them.
func checkInvariants(v *View) []string {
	c := &checker{v: v}
	c.loadBalancers()
	c.vpcs()
	c.instances()
	c.addresses()
	c.tags()
	c.transitions()
	c.clock()
	return c.problems
}

func (c *checker) loadBalancers() {
	for lb := range LoadBalancers.All(c.v) {
		belongs(c, LoadBalancers, lb, Accounts, lb.AccountID)
		refers(c, LoadBalancers, lb, VPCs, lb.VPCID)
		refers(c, LoadBalancers, lb, VSwitches, lb.VSwitchID)
		c.holds(LoadBalancers.kind, lb.ID, lb.Address)
		c.backendServers(LoadBalancers.kind, lb.ID, lb.BackendServers)
	}
	for g := range VServerGroups.All(c.v) {
		belongs(c, VServerGroups, g, LoadBalancers, g.LoadBalancerID)
		c.backendServers(VServerGroups.kind, g.ID, g.BackendServers)
	}
	for l := range Listeners.All(c.v) {
		c.listener(l)
	}
	for r := range Rules.All(c.v) {
		belongs(c, Rules, r, Listeners, r.ListenerID)
		belongs(c, Rules, r, VServerGroups, r.VServerGroupID)
		if l, ok := Listeners.Find(c.v, r.ListenerID); ok && l.LoadBalancerID != r.LoadBalancerID {
			c.fail("%s %s is of %s %s, and its listener of %s", Rules.kind, r.ID, LoadBalancers.kind, r.LoadBalancerID, l.LoadBalancerID)
		}
		c.group(Rules.kind, r.ID, r.LoadBalancerID, r.VServerGroupID)
	}
	for d := range DomainExtensions.All(c.v) {
		belongs(c, DomainExtensions, d, Listeners, ListenerID(d.LoadBalancerID, HTTPS, d.ListenerPort))
		belongs(c, DomainExtensions, d, ServerCertificates, d.ServerCertificateID)
	}
}

func (c *checker) listener(l *Listener) {
	belongs(c, Listeners, l, LoadBalancers, l.LoadBalancerID)
	refers(c, Listeners, l, ServerCertificates, l.ServerCertificateID)
	refers(c, Listeners, l, CACertificates, l.CACertificateID)
	refers(c, Listeners, l, VServerGroups, l.VServerGroupID)
	for _, id := range l.AclIDs {
		refers(c, Listeners, l, AccessControlLists, id)
	}
	c.group(Listeners.kind, l.ID(), l.LoadBalancerID, l.VServerGroupID)
	known(c, Listeners, l, "protocol", l.Protocol, TCP, UDP, HTTP, HTTPS)
	known(c, Listeners, l, "status", l.Status, ListenerStarting, ListenerRunning, ListenerConfiguring, ListenerStopping, ListenerStopped)
	inRange(c, Listeners, l, "port", l.Port, 1, 65535)
	for other := range ListenersByLoadBalancer.List(c.v, l.LoadBalancerID, PortKey(l.Port)) {
		if other != l && (other.Protocol == UDP) == (l.Protocol == UDP) {
			c.fail("%s %s shares its port with %s", Listeners.kind, l.ID(), other.ID())
		}
	}
}

// group checks that what forwards to a group forwards to one of its load balancer.
func (c *checker) group(from Kind, fromID, loadBalancerID, groupID string) {
	if g, ok := VServerGroups.Find(c.v, groupID); ok && g.LoadBalancerID != loadBalancerID {
		c.fail("%s %s forwards to %s %s of another load balancer", from, fromID, VServerGroups.kind, g.ID)
	}
}

func (c *checker) backendServers(kind Kind, id string, servers []BackendServer) {
	type member struct {
		id, ip string
		port   int
	}
	seen := make(map[member]bool, len(servers))
	for _, s := range servers {
		m := member{s.ServerID, s.ServerIP, s.Port}
		if seen[m] {
			c.fail("%s %s has %s twice on port %d", kind, id, s.ServerID, s.Port)
		}
		seen[m] = true
		if s.Weight < 0 || s.Weight > 100 {
			c.fail("%s %s has %s with weight %d", kind, id, s.ServerID, s.Weight)
		}
	}
}

func (c *checker) vpcs() {
	for s := range VSwitches.All(c.v) {
		belongs(c, VSwitches, s, VPCs, s.VPCID)
		refers(c, VSwitches, s, RouteTables, s.RouteTableID)
	}
	for t := range RouteTables.All(c.v) {
		belongs(c, RouteTables, t, VPCs, t.VPCID)
	}
	for e := range RouteEntries.All(c.v) {
		belongs(c, RouteEntries, e, RouteTables, e.RouteTableID)
	}
	for e := range EIPs.All(c.v) {
		c.holds(EIPs.kind, e.ID, e.IPAddress)
		if (e.Status == EIPAvailable) != (e.InstanceID == "") {
			c.fail("%s %s is %s with instance %q", EIPs.kind, e.ID, e.Status, e.InstanceID)
		}
		if e.InstanceType == "SlbInstance" {
			refers(c, EIPs, e, LoadBalancers, e.InstanceID)
		}
	}
}

func (c *checker) instances() {
	for i := range Instances.All(c.v) {
		refers(c, Instances, i, VSwitches, i.VSwitchID)
		if _, ok := NetworkInterfacesByInstance.First(c.v, i.ID, NetworkInterfacePrimary); !ok {
			c.fail("%s %s has no primary network interface", Instances.kind, i.ID)
		}
	}
	for n := range NetworkInterfaces.All(c.v) {
		refers(c, NetworkInterfaces, n, VSwitches, n.VSwitchID)
		refers(c, NetworkInterfaces, n, Instances, n.InstanceID)
		for _, ip := range n.PrivateIPAddresses {
			c.holds(NetworkInterfaces.kind, n.ID, ip)
		}
	}
	for g := range SecurityGroups.All(c.v) {
		refers(c, SecurityGroups, g, VPCs, g.VPCID)
	}
}

// holds checks that the address is allocated to the resource.
func (c *checker) holds(kind Kind, id, ip string) {
	for a := range AddressesByHolder.List(c.v, string(kind), id) {
		if a.IP == ip {
			return
		}
	}
	c.fail("%s %s uses %s, which is not allocated to it", kind, id, ip)
}

// addresses checks that every allocated address is in use by its holder.
func (c *checker) addresses() {
	for a := range Addresses.All(c.v) {
		var used []string
		switch a.Holder {
		case LoadBalancers.kind:
			if lb, ok := LoadBalancers.Find(c.v, a.HolderID); ok {
				used = []string{lb.Address}
			}
		case EIPs.kind:
			if e, ok := EIPs.Find(c.v, a.HolderID); ok {
				used = []string{e.IPAddress}
			}
		case NetworkInterfaces.kind:
			if n, ok := NetworkInterfaces.Find(c.v, a.HolderID); ok {
				used = n.PrivateIPAddresses
			}
		case reservation:
			if s, ok := VSwitches.Find(c.v, a.HolderID); ok && s.ID == a.Pool {
				used = []string{a.IP}
			}
		}
		if !slices.Contains(used, a.IP) {
			c.fail("%s %s is allocated to %s %s, which does not use it", Addresses.kind, AddressID(a.Pool, a.IP), a.Holder, a.HolderID)
		}
	}
}

func (c *checker) tags() {
	for t := range Tags.All(c.v) {
		owner, ok := taggedOwner(c.v, t.ResourceType, t.ResourceID)
		switch {
		case !ok:
			c.fail("%s %s is on something that does not exist", Tags.kind, t.Key+" of "+t.ResourceID)
		case owner != t.Owner:
			c.fail("%s %s is of another account or region than what it is on", Tags.kind, t.Key+" of "+t.ResourceID)
		}
	}
}

// transitions checks that each is one that can happen.
func (c *checker) transitions() {
	for t := range Transitions.All(c.v) {
		if !t.known() {
			c.fail("%s %s is of a %s, which has no such stage", Transitions.kind, t.ID, t.Kind)
		}
	}
}

// clock checks that the emulated time is one that AdjustClock could have set.
func (c *checker) clock() {
	for s := range ClockSettings.All(c.v) {
		if s.Scale < 0 || s.Scale > maxScale || s.Emulated.Year() > maxYear {
			c.fail("%s %s shows %s and goes at %v", ClockSettings.kind, s.ID, s.Emulated.Format(time.RFC3339), s.Scale)
		}
	}
}
