package state

// tables lists what a store holds, in the order in which an export is written
// and an import read.
var tables = []anyTable{
	Sequences, ClockSettings, LifeCycles, Transitions, Accounts, Quotas, Throttles, AccessKeys, Policies, Faults, Regions, ResourceGroups, ClientTokens,
	VPCs, VSwitches, RouteTables, RouteEntries, EIPs, Addresses,
	Instances, NetworkInterfaces, SecurityGroups,
	ServerCertificates, CACertificates, AccessControlLists,
	LoadBalancers, VServerGroups, Listeners, Rules, DomainExtensions, Tags,
}

var tableByName = func() map[Kind]anyTable {
	byName := make(map[Kind]anyTable, len(tables))
	for _, t := range tables {
		byName[t.name()] = t
	}
	return byName
}()
