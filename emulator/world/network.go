package world

import (
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
)

func (p *planter) vpc(s *vpcSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !isFree(p, kinds.VPCs, s.ID, resourceForm, "vpc-") {
		return
	}
	vpc := &kinds.VPC{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, Description: s.Description.text,
		VRouterID:       s.VRouter.text,
		ResourceGroupID: p.resourceGroup(owner, s.ResourceGroup),
	}
	_, vpc.CIDRBlock = p.cidr(s.CIDRBlock, ipv4, 28)
	for _, block := range s.SecondaryCIDRBlocks {
		prefix, text := p.cidr(block, ipv4, 28)
		if resources.Overlaps(prefix, vpc.CIDRBlock) {
			p.fail(block, "%s overlaps %s, the VPC's first block", text, vpc.CIDRBlock)
		}
		vpc.SecondaryCIDRBlocks = append(vpc.SecondaryCIDRBlocks, text)
	}
	_, vpc.IPv6CIDRBlock = p.cidr(s.IPv6CIDRBlock, ipv6, 64)
	if vpc.IsDefault = p.word(s.Default, "false", "true") == "true"; vpc.IsDefault {
		for other := range kinds.VPCsByRegion.List(p.tx.View, owner.AccountID, owner.RegionID) {
			if other.IsDefault {
				p.fail(s.Default, "%s is the default VPC of %s already", other.ID, owner.RegionID)
			}
		}
	}
	resources.AddVPC(p.tx, vpc)
	p.tag(owner, kinds.TagVPC, vpc.ID, s.Tags)
	p.table(vpc, &routeTableSpec{ID: s.SystemRouteTable}, kinds.RouteTableSystem)
}

func (p *planter) routeTable(s *routeTableSpec) {
	if vpc, ok := refer(p, kinds.VPCs, s.VPC); ok {
		p.table(vpc, s, kinds.RouteTableCustom)
	}
}

// table puts a route table with the route that each has from the beginning.
func (p *planter) table(vpc *kinds.VPC, s *routeTableSpec, kind kinds.RouteTableType) {
	if !isFree(p, kinds.RouteTables, s.ID, resourceForm, "vtb-") {
		return
	}
	t := &kinds.RouteTable{
		ID: s.ID.text, Type: kind, Name: s.Name.text, Description: s.Description.text,
		ResourceGroupID: p.resourceGroup(vpc.Owner, s.ResourceGroup),
	}
	resources.AddRouteTable(p.tx, vpc, t)
	p.tag(t.Owner, kinds.TagRouteTable, t.ID, s.Tags)
}

func (p *planter) vSwitch(s *vSwitchSpec) {
	vpc, ok := refer(p, kinds.VPCs, s.VPC)
	if !ok || !isFree(p, kinds.VSwitches, s.ID, resourceForm, "vsw-") {
		return
	}
	region, _ := kinds.Regions.Find(p.tx.View, vpc.RegionID)
	p.inRegion(region, s.Zone)
	sw := &kinds.VSwitch{
		ID: s.ID.text, ZoneID: s.Zone.text,
		CIDRBlock:       p.vSwitchBlock(vpc, s.CIDRBlock),
		IPv6CIDRBlock:   p.vSwitchIPv6Block(vpc, s.IPv6CIDRBlock),
		Name:            s.Name.text,
		Description:     s.Description.text,
		RouteTableID:    p.tableOf(vpc, s.RouteTable),
		ResourceGroupID: p.resourceGroup(vpc.Owner, s.ResourceGroup),
	}
	if sw.IsDefault = p.word(s.Default, "false", "true") == "true"; sw.IsDefault {
		p.defaultVSwitch(vpc, sw, s.Default)
	}
	resources.AddVSwitch(p.tx, vpc, sw)
	p.tag(sw.Owner, kinds.TagVSwitch, sw.ID, s.Tags)
}

// defaultVSwitch: only the default VPC has them, one a zone.
func (p *planter) defaultVSwitch(vpc *kinds.VPC, sw *kinds.VSwitch, at scalar) {
	if !vpc.IsDefault {
		p.fail(at, "VPC %s is not the default one, so it has no default vSwitch", vpc.ID)
	}
	for other := range kinds.VSwitchesByVPC.List(p.tx.View, vpc.ID) {
		if other.IsDefault && other.ZoneID == sw.ZoneID {
			p.fail(at, "%s is the default vSwitch of %s already", other.ID, sw.ZoneID)
		}
	}
}

// vSwitchBlock checks that the block lies in the VPC and overlaps none of its other vSwitches.
func (p *planter) vSwitchBlock(vpc *kinds.VPC, s scalar) string {
	prefix, text := p.cidr(s, ipv4, 29)
	if text == "" {
		return ""
	}
	if !resources.Within(prefix, append(vpc.SecondaryCIDRBlocks, vpc.CIDRBlock)...) {
		p.fail(s, "%s is outside VPC %s (%s)", text, vpc.ID, vpc.CIDRBlock)
	}
	p.checkFree(s, prefix, vpc.ID, func(other *kinds.VSwitch) string { return other.CIDRBlock })
	return text
}

func (p *planter) vSwitchIPv6Block(vpc *kinds.VPC, s scalar) string {
	prefix, text := p.cidr(s, ipv6, 64)
	switch {
	case text == "":
	case vpc.IPv6CIDRBlock == "":
		p.fail(s, "VPC %s has no IPv6 block for %s to lie in", vpc.ID, text)
	case !resources.Within(prefix, vpc.IPv6CIDRBlock):
		p.fail(s, "%s is outside VPC %s (%s)", text, vpc.ID, vpc.IPv6CIDRBlock)
	}
	p.checkFree(s, prefix, vpc.ID, func(other *kinds.VSwitch) string { return other.IPv6CIDRBlock })
	return text
}

// checkFree wants no vSwitch of a VPC to have a part of the block.
func (p *planter) checkFree(s scalar, prefix netip.Prefix, vpcID string, blockOf func(*kinds.VSwitch) string) {
	for other := range kinds.VSwitchesByVPC.List(p.tx.View, vpcID) {
		if block := blockOf(other); resources.Overlaps(prefix, block) {
			p.fail(s, "%s overlaps %s of vSwitch %s", prefix, block, other.ID)
		}
	}
}

// tableOf returns the route table that id names, or "" for the VPC's own.
func (p *planter) tableOf(vpc *kinds.VPC, id scalar) string {
	if t, ok := refer(p, kinds.RouteTables, id); ok {
		if t.VPCID != vpc.ID {
			p.fail(id, "%s is a route table of VPC %s, not of %s", t.ID, t.VPCID, vpc.ID)
		}
		return t.ID
	}
	return ""
}

func (p *planter) routeEntry(s *routeEntrySpec) {
	table, ok := refer(p, kinds.RouteTables, s.RouteTable)
	if !ok {
		return
	}
	p.nextHop(table, s)
	prefix, text := p.cidr(s.DestinationCIDRBlock, ipv4, 32)
	if text == "" {
		return
	}
	if resources.Within(prefix, kinds.ServiceBlock) {
		p.fail(s.DestinationCIDRBlock, "%s lies in %s, which the cloud keeps for itself", text, kinds.ServiceBlock)
	} else if _, twice := kinds.RouteEntriesByTable.First(p.tx.View, table.ID, text); twice {
		p.fail(s.DestinationCIDRBlock, "route table %s has a route to %s already", table.ID, text)
	}
	kinds.RouteEntries.Put(p.tx, &kinds.RouteEntry{
		Owner: table.Owner, ID: p.tx.In(table.Owner).NewID(kinds.RouteEntries.Kind()), RouteTableID: table.ID,
		VPCID: table.VPCID, DestinationCIDRBlock: text, Type: kinds.RouteTableCustom, Status: kinds.RouteEntryAvailable,
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
func (p *planter) nextHop(table *kinds.RouteTable, s *routeEntrySpec) {
	vpcID := table.VPCID
	if s.NextHopType.text == nextHopInterface {
		if n, ok := refer(p, kinds.NetworkInterfaces, s.NextHop); ok {
			vpcID = n.VPCID
		}
	} else if i, ok := refer(p, kinds.Instances, s.NextHop); ok {
		vpcID = i.VPCID
	}
	if vpcID != table.VPCID {
		p.fail(s.NextHop, "%s is in VPC %s, the route table in %s", s.NextHop.text, vpcID, table.VPCID)
	}
}
