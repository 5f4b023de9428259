package world

import (
	"net/netip"
	"strings"

	"github.com/clbemu/clbemu/state"
)

// serviceBlock is where the cloud's own services live: every route table leads
// there, and no other route may. Evidence CLB-0450.
const serviceBlock = "100.64.0.0/10"

const routeAvailable = "Available"

func overlaps(prefix netip.Prefix, block string) bool {
	other, err := netip.ParsePrefix(block)
	return err == nil && prefix.IsValid() && prefix.Overlaps(other)
}

func (p *planter) vpc(s *vpcSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !declare(p, state.VPCs, s.ID, resourceForm, "vpc-") {
		return
	}
	vpc := &state.VPC{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, Description: s.Description.text,
		VRouterID:       s.VRouter.text,
		ResourceGroupID: p.resourceGroup(owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	if vpc.VRouterID == "" {
		vpc.VRouterID = "vrt-" + strings.TrimPrefix(vpc.ID, "vpc-")
	}
	_, vpc.CIDRBlock = p.cidr(s.CIDRBlock, ipv4, 28)
	for _, block := range s.SecondaryCIDRBlocks {
		prefix, text := p.cidr(block, ipv4, 28)
		if overlaps(prefix, vpc.CIDRBlock) {
			p.fail(block, "%s overlaps %s, the VPC's first block", text, vpc.CIDRBlock)
		}
		vpc.SecondaryCIDRBlocks = append(vpc.SecondaryCIDRBlocks, text)
	}
	_, vpc.IPv6CIDRBlock = p.cidr(s.IPv6CIDRBlock, ipv6, 64)
	state.VPCs.Put(p.tx, vpc)
	p.tag(owner, state.TagVPC, vpc.ID, s.Tags)
	p.table(vpc, &routeTableSpec{ID: s.SystemRouteTable}, state.RouteTableSystem)
}

func (p *planter) routeTable(s *routeTableSpec) {
	if vpc, ok := refer(p, state.VPCs, s.VPC); ok {
		p.table(vpc, s, state.RouteTableCustom)
	}
}

// table puts a route table with the route that each has from the beginning.
func (p *planter) table(vpc *state.VPC, s *routeTableSpec, kind state.RouteTableType) {
	if !declare(p, state.RouteTables, s.ID, resourceForm, "vtb-") {
		return
	}
	t := &state.RouteTable{
		Owner: vpc.Owner, ID: s.ID.text, VPCID: vpc.ID, VRouterID: vpc.VRouterID, Type: kind,
		Name: s.Name.text, Description: s.Description.text,
		ResourceGroupID: p.resourceGroup(vpc.Owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	state.RouteTables.Put(p.tx, t)
	p.tag(t.Owner, state.TagRouteTable, t.ID, s.Tags)
	p.systemRoute(t, serviceBlock)
}

func (p *planter) systemRoute(t *state.RouteTable, block string) {
	state.RouteEntries.Put(p.tx, &state.RouteEntry{
		Owner: t.Owner, ID: p.tx.In(t.Owner).NewID(state.RouteEntries.Kind()), RouteTableID: t.ID, VPCID: t.VPCID,
		DestinationCIDRBlock: block, Type: state.RouteTableSystem, Status: routeAvailable,
		CreateTime: p.tx.Now(),
	})
}

func (p *planter) vSwitch(s *vSwitchSpec) {
	vpc, ok := refer(p, state.VPCs, s.VPC)
	if !ok || !declare(p, state.VSwitches, s.ID, resourceForm, "vsw-") {
		return
	}
	region, _ := state.Regions.Find(p.tx.View, vpc.RegionID)
	p.inRegion(region, s.Zone)
	sw := &state.VSwitch{
		Owner: vpc.Owner, ID: s.ID.text, VPCID: vpc.ID, ZoneID: s.Zone.text,
		CIDRBlock:       p.vSwitchBlock(vpc, s.CIDRBlock),
		IPv6CIDRBlock:   p.vSwitchIPv6Block(vpc, s.IPv6CIDRBlock),
		Name:            s.Name.text,
		Description:     s.Description.text,
		RouteTableID:    p.tableOf(vpc, s.RouteTable),
		ResourceGroupID: p.resourceGroup(vpc.Owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	state.VSwitches.Put(p.tx, sw)
	p.tag(sw.Owner, state.TagVSwitch, sw.ID, s.Tags)
	for t := range state.RouteTablesByVPC.List(p.tx.View, vpc.ID) {
		if sw.CIDRBlock != "" {
			p.systemRoute(t, sw.CIDRBlock)
		}
	}
}

// vSwitchBlock checks that the block lies in the VPC and beside its other vSwitches.
func (p *planter) vSwitchBlock(vpc *state.VPC, s scalar) string {
	prefix, text := p.cidr(s, ipv4, 29)
	if text == "" {
		return ""
	}
	if !within(prefix, append(vpc.SecondaryCIDRBlocks, vpc.CIDRBlock)...) {
		p.fail(s, "%s is outside VPC %s (%s)", text, vpc.ID, vpc.CIDRBlock)
	}
	for other := range state.VSwitchesByVPC.List(p.tx.View, vpc.ID) {
		if overlaps(prefix, other.CIDRBlock) {
			p.fail(s, "%s overlaps %s of vSwitch %s", text, other.CIDRBlock, other.ID)
		}
	}
	return text
}

func (p *planter) vSwitchIPv6Block(vpc *state.VPC, s scalar) string {
	prefix, text := p.cidr(s, ipv6, 64)
	switch {
	case text == "":
	case vpc.IPv6CIDRBlock == "":
		p.fail(s, "VPC %s has no IPv6 block for %s to lie in", vpc.ID, text)
	case !within(prefix, vpc.IPv6CIDRBlock):
		p.fail(s, "%s is outside VPC %s (%s)", text, vpc.ID, vpc.IPv6CIDRBlock)
	}
	for other := range state.VSwitchesByVPC.List(p.tx.View, vpc.ID) {
		if overlaps(prefix, other.IPv6CIDRBlock) {
			p.fail(s, "%s overlaps %s of vSwitch %s", text, other.IPv6CIDRBlock, other.ID)
		}
	}
	return text
}

// tableOf is the route table that id names, or the VPC's own.
func (p *planter) tableOf(vpc *state.VPC, id scalar) string {
	if t, ok := refer(p, state.RouteTables, id); ok {
		if t.VPCID != vpc.ID {
			p.fail(id, "%s is a route table of VPC %s, not of %s", t.ID, t.VPCID, vpc.ID)
		}
		return t.ID
	}
	for t := range state.RouteTablesByVPC.List(p.tx.View, vpc.ID) {
		if t.Type == state.RouteTableSystem {
			return t.ID
		}
	}
	return ""
}

func (p *planter) routeEntry(s *routeEntrySpec) {
	table, ok := refer(p, state.RouteTables, s.RouteTable)
	if !ok {
		return
	}
	p.nextHop(table, s)
	prefix, text := p.cidr(s.DestinationCIDRBlock, ipv4, 32)
	if text == "" {
		return
	}
	if within(prefix, serviceBlock) {
		p.fail(s.DestinationCIDRBlock, "%s lies in %s, which the cloud keeps for itself", text, serviceBlock)
	} else if _, twice := state.RouteEntriesByTable.First(p.tx.View, table.ID, text); twice {
		p.fail(s.DestinationCIDRBlock, "route table %s has a route to %s already", table.ID, text)
	}
	state.RouteEntries.Put(p.tx, &state.RouteEntry{
		Owner: table.Owner, ID: p.tx.In(table.Owner).NewID(state.RouteEntries.Kind()), RouteTableID: table.ID,
		VPCID: table.VPCID, DestinationCIDRBlock: text, Type: state.RouteTableCustom, Status: routeAvailable,
		NextHopType: p.word(s.NextHopType, nextHopInstance, nextHopInterface), NextHopID: s.NextHop.text,
		Name: s.Name.text, Description: s.Description.text, CreateTime: p.tx.Now(),
	})
}

// What a route of the file can lead to.
const (
	nextHopInstance  = "Instance"
	nextHopInterface = "NetworkInterface"
)

// nextHop checks that the route leads to something in the table's VPC.
func (p *planter) nextHop(table *state.RouteTable, s *routeEntrySpec) {
	vpcID := table.VPCID
	if s.NextHopType.text == nextHopInterface {
		if n, ok := refer(p, state.NetworkInterfaces, s.NextHop); ok {
			vpcID = n.VPCID
		}
	} else if i, ok := refer(p, state.Instances, s.NextHop); ok {
		vpcID = i.VPCID
	}
	if vpcID != table.VPCID {
		p.fail(s.NextHop, "%s is in VPC %s, the route table in %s", s.NextHop.text, vpcID, table.VPCID)
	}
}
