package pull

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// settingKinds returns the kinds of the account and its settings.
func settingKinds() []*kind { return []*kind{accounts(), regions(), quotas()} }

// accounts returns the kind of accounts, which no list has: the account is the caller's.
func accounts() *kind {
	return of(kinds.Accounts, kind{}, nil)
}

// regions reads the zones of the one region, of which the answers have one each.
func regions() *kind {
	k := of(kinds.Regions, kind{
		lists: []read{
			{product: "Slb", action: "DescribeZones", list: "Zones.Zone"},
			{product: "Nlb", action: "DescribeZones", list: "Zones"},
		},
		id: "ZoneId",
	}, nil)
	k.put = func(b *builder, r row) (string, error) {
		region := kinds.Region{ID: b.p.Region, PublicCIDRBlock: "198.18.0.0/16", PublicIPv6CIDRBlock: "2001:db8:1::/64"}
		region.SetYear(kinds.Today)
		if known, ok := kinds.Regions.Find(b.tx.View, region.ID); ok {
			region = *known
		}
		zone := r.text("ZoneId")
		region.Zones = append(region.Zones, kinds.Zone{ID: zone, LocalName: r.text("LocalName")})
		for _, slave := range r.list("SlaveZones.SlaveZone") {
			region.ZonePairs = append(region.ZonePairs, kinds.ZonePair{Master: zone, Slave: slave.text("ZoneId")})
		}
		kinds.Regions.Put(b.tx, &region)
		return region.ID, nil
	}
	return k
}

// quotas keeps the limits that are not the usual ones. Their use is counted here as there.
func quotas() *kind {
	k := of(state.Quotas, kind{
		id: "QuotaActionCode",
	}, nil)
	for _, product := range []string{"slb", "nlb", "vpc", "cbwp", "natgw"} {
		k.lists = append(k.lists, read{product: "quotas", action: "ListProductQuotas", params: each("ProductCode", product), list: "Quotas", pages: byToken})
	}
	k.put = func(b *builder, r row) (string, error) {
		name := state.QuotaName(r.text("QuotaActionCode"))
		usual, known := b.limits[name]
		limit, err := strconv.Atoi(r.text("TotalQuota"))
		if known && err == nil && limit != usual {
			state.Quotas.Put(b.tx, &state.Quota{AccountID: b.p.account, Name: name, Limit: limit})
		}
		return string(name), nil
	}
	return k
}
