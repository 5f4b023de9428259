package world

import (
	"slices"

	"github.com/clbemu/clbemu/state"
)

func (p *planter) region(s *regionSpec) {
	if !declare(p, state.Regions, s.ID, regionForm, "") {
		return
	}
	r := &state.Region{
		ID: s.ID.text, LocalName: s.LocalName.text,
		PublicCIDRBlock:     p.publicBlock(s.PublicCIDRBlock),
		SharedInstancesSold: p.word(s.SharedInstancesSold, "false", "true") == "true",
	}
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
		r.ZonePairs = append(r.ZonePairs, state.ZonePair{Master: pair.Master.text, Slave: pair.Slave.text})
	}
	for _, stock := range s.SoldOut {
		p.inRegion(r, stock.Zone)
		t := p.word(stock.AddressType, "", string(state.AddressTypeInternet), string(state.AddressTypeIntranet))
		r.SoldOut = append(r.SoldOut, state.ZoneStock{ZoneID: stock.Zone.text, AddressType: state.AddressType(t)})
	}
	state.Regions.Put(p.tx, r)
}

// inRegion checks that a zone is one of the region's.
func (p *planter) inRegion(r *state.Region, zone scalar) {
	if zone.text != "" && !hasZone(r, zone.text) {
		p.fail(zone, "region %s has no zone %s", r.ID, zone.text)
	}
}

func (p *planter) zone(r *state.Region, s *zoneSpec) {
	switch {
	case s.ID.text == "":
		return
	case !regionForm.MatchString(s.ID.text):
		p.fail(s.ID, "%q is not the id of a zone, such as cn-hangzhou-h", s.ID.text)
	case hasZone(r, s.ID.text):
		p.fail(s.ID, "there is another zone %s", s.ID.text)
	}
	for other := range state.Regions.All(p.tx.View) {
		if hasZone(other, s.ID.text) {
			p.fail(s.ID, "there is another zone %s, in region %s", s.ID.text, other.ID)
		}
	}
	r.Zones = append(r.Zones, state.Zone{ID: s.ID.text, LocalName: s.LocalName.text})
}

func hasZone(r *state.Region, id string) bool {
	return slices.ContainsFunc(r.Zones, func(z state.Zone) bool { return z.ID == id })
}

// publicBlock is where a region's public addresses come from; no two regions
// may give out the same.
func (p *planter) publicBlock(s scalar) string {
	prefix, text := p.cidr(s, ipv4, 29)
	if text == "" {
		return ""
	}
	for other := range state.Regions.All(p.tx.View) {
		if overlaps(prefix, other.PublicCIDRBlock) {
			p.fail(s, "%s overlaps %s of region %s", text, other.PublicCIDRBlock, other.ID)
		}
	}
	return text
}

func (p *planter) account(s *accountSpec) {
	if !declare(p, state.Accounts, s.ID, digits, "") {
		return
	}
	// The days are those of the cloud: CLB-0454.
	a := &state.Account{
		ID: s.ID.text, Name: s.Name.text, DefaultResourceGroupID: s.DefaultResourceGroup.text,
		Balance:     p.number(s.Balance, 10_000, -maxBalance, maxBalance),
		GraceDays:   p.number(s.GraceDays, 7, 0, maxDays),
		ReleaseDays: p.number(s.ReleaseDays, 7, 0, maxDays),
		LCUToSpec:   p.word(s.LCUToSpec, "false", "true") == "true",
	}
	if r, ok := refer(p, state.Regions, s.DefaultRegion); ok {
		a.DefaultRegionID = r.ID
	}
	for _, g := range s.ResourceGroups {
		if declare(p, state.ResourceGroups, g.ID, resourceForm, "rg-") {
			state.ResourceGroups.Put(p.tx, &state.ResourceGroup{AccountID: a.ID, ID: g.ID.text, Name: g.Name.text})
		}
	}
	if g, ok := refer(p, state.ResourceGroups, s.DefaultResourceGroup); ok && g.AccountID != a.ID {
		p.fail(s.DefaultResourceGroup, "%s is a resource group of account %s", g.ID, g.AccountID)
	}
	for _, k := range s.AccessKeys {
		p.accessKey(a, &k)
	}
	state.Accounts.Put(p.tx, a)
	p.accounts = append(p.accounts, a.ID)
}

func (p *planter) accessKey(a *state.Account, s *accessKeySpec) {
	if !declare(p, state.AccessKeys, s.ID, keyForm, "") {
		return
	}
	status := p.word(s.Status, string(state.AccessKeyActive), string(state.AccessKeyInactive))
	state.AccessKeys.Put(p.tx, &state.AccessKey{
		ID: s.ID.text, Secret: s.Secret.text, AccountID: a.ID, Status: state.AccessKeyStatus(status),
	})
}
