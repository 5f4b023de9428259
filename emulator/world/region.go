package world

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
)

func (p *planter) region(s *regionSpec) {
	if !isFree(p, kinds.Regions, s.ID, regionForm, "") {
		return
	}
	r := &kinds.Region{
		ID: s.ID.text, LocalName: s.LocalName.text,
		PublicCIDRBlock: p.publicBlock(s.PublicCIDRBlock),
	}
	r.SetYear(p.year)
	r.SharedInstancesSold = p.flag(s.SharedInstancesSold, r.SharedInstancesSold)
	r.PayBySpecSold = p.flag(s.PayBySpecSold, r.PayBySpecSold)
	r.SubscriptionsSold = p.flag(s.SubscriptionsSold, r.SubscriptionsSold)
	_, r.PublicIPv6CIDRBlock = p.cidr(s.PublicIPv6CIDRBlock, ipv6, 64)
	for _, z := range s.Zones {
		p.zone(r, &z)
	}
	if len(r.Zones) == 0 {
		p.fail(s.ID, "region %s needs at least one zone", r.ID)
	}
	for _, pair := range s.ZonePairs {
		p.inRegion(r, pair.Master)
		p.inRegion(r, pair.Slave)
		r.ZonePairs = append(r.ZonePairs, kinds.ZonePair{Master: pair.Master.text, Slave: pair.Slave.text})
	}
	for _, stock := range s.SoldOut {
		p.inRegion(r, stock.Zone)
		t := p.word(stock.AddressType, "", string(kinds.AddressTypeInternet), string(kinds.AddressTypeIntranet))
		r.SoldOut = append(r.SoldOut, kinds.ZoneStock{ZoneID: stock.Zone.text, AddressType: kinds.AddressType(t)})
	}
	kinds.Regions.Put(p.tx, r)
}

// inRegion checks that a zone is one of the region's.
func (p *planter) inRegion(r *kinds.Region, zone scalar) {
	if zone.text != "" && !hasZone(r, zone.text) {
		p.fail(zone, "region %s has no zone %s", r.ID, zone.text)
	}
}

func (p *planter) zone(r *kinds.Region, s *zoneSpec) {
	switch {
	case s.ID.text == "":
		return
	case !regionForm.takes(s.ID.text):
		p.fail(s.ID, "%q is not the id of a zone, such as cn-hangzhou-h", s.ID.text)
	case hasZone(r, s.ID.text):
		p.fail(s.ID, "there is another zone %s", s.ID.text)
	}
	for other := range kinds.Regions.All(p.tx.View) {
		if hasZone(other, s.ID.text) {
			p.fail(s.ID, "there is another zone %s, in region %s", s.ID.text, other.ID)
		}
	}
	r.Zones = append(r.Zones, kinds.Zone{ID: s.ID.text, LocalName: s.LocalName.text})
}

func hasZone(r *kinds.Region, id string) bool {
	return slices.ContainsFunc(r.Zones, func(z kinds.Zone) bool { return z.ID == id })
}

// publicBlock returns the block of a region's public addresses; no two regions may give
// out the same.
func (p *planter) publicBlock(s scalar) string {
	prefix, text := p.cidr(s, ipv4, 29)
	if text == "" {
		return ""
	}
	for other := range kinds.Regions.All(p.tx.View) {
		if resources.Overlaps(prefix, other.PublicCIDRBlock) {
			p.fail(s, "%s overlaps %s of region %s", text, other.PublicCIDRBlock, other.ID)
		}
	}
	return text
}
