package kinds

import "github.com/clbemu/clbemu/state"

// What version 0.1 emulated of VPCs and this one does not: HAVIPs, reserved blocks of
// vSwitches, EIP segments, and IPv4 gateways with their route tables.
var _ = []state.Kind{
	Schema.Retire("HAVIP", "vpc:havip", func(tx *state.Tx, id string) {
		ReleaseAddresses(tx, "HAVIP", id)
		for e := range EIPsByInstance.List(tx.View, id) {
			freed := *e
			freed.Free()
			EIPs.Put(tx, &freed)
		}
		dropRoutesTo(tx, id)
	}),
	Schema.Retire("CIDRReservation", "vpc:cidrreservation", nil),
	Schema.Retire("EIPSegment", "", func(tx *state.Tx, id string) {
		for e := range EIPs.All(tx.View) {
			if e.SegmentID == id {
				alone := *e
				alone.SegmentID = ""
				EIPs.Put(tx, &alone)
			}
		}
	}),
	Schema.Retire("IPv4Gateway", "vpc:ipv4gateway", dropRoutesTo),
}

var _ = RouteTables.Retire(func(t *RouteTable) bool { return t.AssociateType != "" })

func dropRoutesTo(tx *state.Tx, nextHop string) {
	for e := range RouteEntriesByNextHop.List(tx.View, nextHop) {
		RouteEntries.Remove(tx, e.ID)
	}
}
