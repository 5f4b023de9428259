package pull

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/state"
)

const (
	whyBill  = "bills are not read: the account has neither arrears nor an empty balance here"
	whyOffer = "no answer says it: the region sells what the cloud sells today"
	whyWorld = "no answer says it: the account behaves as that of clbemu's default world"
	whyBlock = "no answer says it: new public addresses come from a block for benchmarks"
)

// settingKinds are the account and what it may have.
func settingKinds() []*kind { return []*kind{accounts(), regions(), quotas()} }

// accounts is not read in a list: the account is the caller's.
func accounts() *kind {
	return of(cloud.Accounts, kind{
		fields: `
			ID                     -
			DefaultRegionID        -
			DefaultResourceGroupID -`,
		unread: map[string]string{
			"Name": "no answer says it", "Balance": whyBill, "ArrearsSince": whyBill, "GraceDays": whyWorld, "ReleaseDays": whyWorld,
			"NLB.GraceDays": whyWorld, "NLB.ReleaseDays": whyWorld, "LCUToSpec": whyWorld, "TagsCreators": whyWorld,
			"RefusesExpiredCertificates": whyWorld, "RefusesAttachedBackends": whyWorld, "RefusesQuotaApplications": whyWorld,
		},
	}, nil)
}

// regions reads the zones of the one region, of which the answers have one each.
func regions() *kind {
	k := of(cloud.Regions, kind{
		lists: []read{
			{product: "Slb", action: "DescribeZones", list: "Zones.Zone"},
			{product: "Nlb", action: "DescribeZones", list: "Zones"},
		},
		id: "ZoneId",
		fields: `
			ID                 -
			Zones[]            -
			ZonePairs[]        SlaveZones.SlaveZone
			ZonePairs[].Master -
			ZonePairs[].Slave  ZoneId`,
		unread: map[string]string{
			"LocalName": "no answer is asked for it", "PublicCIDRBlock": whyBlock, "PublicIPv6CIDRBlock": whyBlock,
			"SharedInstancesSold": whyOffer, "PayBySpecSold": whyOffer, "SubscriptionsSold": whyOffer, "IPv6Halted": whyOffer,
			"SoldOut[].ZoneID": whyOffer, "SoldOut[].AddressType": whyOffer,
		},
	}, nil)
	k.put = func(b *builder, r row) (string, error) {
		region := cloud.Region{ID: b.p.Region, PublicCIDRBlock: "198.18.0.0/16", PublicIPv6CIDRBlock: "2001:db8:1::/64"}
		region.SetYear(cloud.Today)
		if known, ok := cloud.Regions.Find(b.tx.View, region.ID); ok {
			region = *known
		}
		zone := r.text("ZoneId")
		region.Zones = append(region.Zones, cloud.Zone{ID: zone, LocalName: r.text("LocalName")})
		for _, slave := range r.list("SlaveZones.SlaveZone") {
			region.ZonePairs = append(region.ZonePairs, cloud.ZonePair{Master: zone, Slave: slave.text("ZoneId")})
		}
		cloud.Regions.Put(b.tx, &region)
		return region.ID, nil
	}
	return k
}

// quotas keeps the limits that are not the usual ones. Their use is counted here as there.
func quotas() *kind {
	k := of(state.Quotas, kind{
		id: "QuotaActionCode",
		fields: `
			AccountID -
			Name      QuotaActionCode
			Limit     TotalQuota`,
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
