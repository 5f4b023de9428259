package world

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/pull"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
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

// balance returns the balance that the world gives, or the default one.
func (p *planter) balance(s scalar) float64 {
	if s.text == "" {
		return 10_000
	}
	balance, err := resources.ParseBalance(s.text)
	if err != nil {
		p.fail(s, "%q: %v", s.text, err)
	}
	return balance
}

func (p *planter) account(s *accountSpec) {
	if !isFree(p, kinds.Accounts, s.ID, digits, "") {
		return
	}
	// The days are the cloud's: CLB-0454.
	a := &kinds.Account{
		ID: s.ID.text, Name: s.Name.text, DefaultResourceGroupID: s.DefaultResourceGroup.text,
		Balance:     p.balance(s.Balance),
		GraceDays:   p.number(s.GraceDays, 15, 0, resources.MaxDays),
		ReleaseDays: p.number(s.ReleaseDays, 15, 0, resources.MaxDays),
		NLB: &kinds.Arrears{GraceDays: p.number(s.NLBGraceDays, kinds.NLBArrears.GraceDays, 0, resources.MaxDays),
			ReleaseDays: p.number(s.NLBReleaseDays, kinds.NLBArrears.ReleaseDays, 0, resources.MaxDays)},
		LCUToSpec: p.flag(s.LCUToSpec, false),
	}
	if r, ok := refer(p, kinds.Regions, s.DefaultRegion); ok {
		a.DefaultRegionID = r.ID
	}
	for _, g := range s.ResourceGroups {
		if isFree(p, kinds.ResourceGroups, g.ID, resourceForm, "rg-") {
			kinds.ResourceGroups.Put(p.tx, &kinds.ResourceGroup{AccountID: a.ID, ID: g.ID.text, Name: g.Name.text, DisplayName: g.DisplayName.text})
		}
	}
	if g, ok := refer(p, kinds.ResourceGroups, s.DefaultResourceGroup); ok && g.AccountID != a.ID {
		p.fail(s.DefaultResourceGroup, "%s is a resource group of account %s", g.ID, g.AccountID)
	}
	for _, k := range s.AccessKeys {
		p.accessKey(a, &k)
	}
	for _, o := range s.OIDCProviders {
		p.oidcProvider(a, &o)
	}
	for name, limit := range kinds.YearQuotas[p.year] {
		state.Quotas.Put(p.tx, &state.Quota{AccountID: a.ID, Name: name, Limit: limit})
	}
	if p.word(s.Site, kinds.SiteMainland, kinds.SiteInternational) == kinds.SiteInternational {
		state.Quotas.Put(p.tx, &state.Quota{AccountID: a.ID, Name: kinds.QuotaLoadBalancers, Limit: kinds.LoadBalancersInternational})
	}
	kinds.Accounts.Put(p.tx, a)
	p.accounts = append(p.accounts, a.ID)
}

func (p *planter) accessKey(a *kinds.Account, s *accessKeySpec) {
	if !isFree(p, kinds.AccessKeys, s.ID, keyForm, "") {
		return
	}
	status := p.word(s.Status, string(kinds.AccessKeyActive), string(kinds.AccessKeyInactive))
	kinds.AccessKeys.Put(p.tx, &kinds.AccessKey{
		ID: s.ID.text, Secret: s.Secret.text, AccountID: a.ID, Status: kinds.AccessKeyStatus(status),
	})
}

// oidcProvider adds an identity provider to the account.
func (p *planter) oidcProvider(a *kinds.Account, s *oidcProviderSpec) {
	switch _, twice := a.OIDCProvider(s.Name.text); {
	case s.Name.text == "":
		p.fail(s.Name, "an OIDC provider has a name, such as ack-rrsa-c1")
	case twice:
		p.fail(s.Name, "there is another OIDC provider %s", s.Name.text)
	case s.Issuer.text == "":
		p.fail(s.Issuer, "OIDC provider %s has an issuer, as the iss of its tokens is", s.Name.text)
	case len(s.ClientIDs) == 0:
		p.fail(s.Name, "OIDC provider %s needs one of clientIds, such as sts.aliyuncs.com", s.Name.text)
	}
	provider := kinds.OIDCProvider{Name: s.Name.text, Issuer: s.Issuer.text, Keys: s.Keys.text}
	for _, id := range s.ClientIDs {
		provider.ClientIDs = append(provider.ClientIDs, id.text)
	}
	if _, err := provider.PublicKeys(); err != nil {
		p.fail(s.Keys, "the keys of OIDC provider %s: %v: give what `kubectl get --raw /openid/v1/jwks` prints", s.Name.text, err)
	}
	a.OIDCProviders = append(a.OIDCProviders, provider)
}

// FromAccount returns what copies a real account into a folder, as a state of a world with that
// account alone.
func FromAccount(dir string) *pull.Puller { return pull.New(dir) }
