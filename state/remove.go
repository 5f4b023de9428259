package state

// What goes along when a resource does. An EIP stays and becomes free.

// RemoveLoadBalancer takes away a load balancer and all that is its alone.
func RemoveLoadBalancer(tx *Tx, lb *LoadBalancer) {
	for l := range ListenersByLoadBalancer.List(tx.View, lb.ID) {
		RemoveListener(tx, l)
	}
	for g := range VServerGroupsByLoadBalancer.List(tx.View, lb.ID) {
		RemoveVServerGroup(tx, g)
	}
	for eip := range EIPsByInstance.List(tx.View, lb.ID) {
		freed := *eip
		freed.Status, freed.InstanceID, freed.InstanceType = EIPAvailable, "", ""
		EIPs.Put(tx, &freed)
	}
	ReleaseAddresses(tx, LoadBalancers.kind, lb.ID)
	DeleteTagsOf(tx, TagLoadBalancer, lb.ID)
	LoadBalancers.Delete(tx, lb.ID)
}

// RemoveListener takes away a listener with its rules, domain extensions and
// tags.
func RemoveListener(tx *Tx, l *Listener) {
	for r := range RulesByListener.List(tx.View, l.ID()) {
		Rules.Delete(tx, r.ID)
	}
	if l.Protocol == HTTPS {
		for d := range DomainExtensionsByListener.List(tx.View, l.LoadBalancerID, PortKey(l.Port)) {
			DomainExtensions.Delete(tx, d.ID)
		}
	}
	DeleteTagsOf(tx, TagListener, l.ID())
	Listeners.Delete(tx, l.ID())
}

// RemoveVServerGroup takes away a group with its tags.
func RemoveVServerGroup(tx *Tx, g *VServerGroup) {
	DeleteTagsOf(tx, TagVServerGroup, g.ID)
	VServerGroups.Delete(tx, g.ID)
}
