package conditions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

func (c *change) editRegion(change func(*kinds.Region) error) error {
	return kinds.Regions.Edit(c.tx, c.region, change)
}

// setYear sells what a year sold, and sets the quotas that another year has otherwise.
func setYear(c *change, _, value string) error {
	for _, then := range kinds.YearQuotas {
		for name := range then {
			limit := "default"
			if n, ok := kinds.YearQuotas[value][name]; ok {
				limit = strconv.Itoa(n)
			}
			if err := setQuota(c, string(name), limit); err != nil {
				return err
			}
		}
	}
	return c.editRegion(func(r *kinds.Region) error {
		r.SetYear(value)
		return nil
	})
}

func getYear(c *change) []Setting {
	r, _ := kinds.Regions.Find(c.View, c.region)
	if year := r.Year(); year != "" {
		return []Setting{{Name: "cloud.year", Value: year}}
	}
	return nil
}

// What a region sells.
func sharedSold(r *kinds.Region) *bool { return &r.SharedInstancesSold }

func payBySpecSold(r *kinds.Region) *bool { return &r.PayBySpecSold }

func subscriptionsSold(r *kinds.Region) *bool { return &r.SubscriptionsSold }

func setSold(sold func(*kinds.Region) *bool) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		return c.editRegion(func(r *kinds.Region) error {
			*sold(r) = isTrue(value)
			return nil
		})
	}
}

func getSold(name string, sold func(*kinds.Region) *bool) func(*change) []Setting {
	return one(name, func(c *change) string {
		r, _ := kinds.Regions.Find(c.View, c.region)
		return strconv.FormatBool(*sold(r))
	})
}

func setIPv6(c *change, _, value string) error {
	sold := isTrue(value)
	return c.editRegion(func(r *kinds.Region) error {
		if sold && r.PublicIPv6CIDRBlock == "" {
			return errors.New("the region has no IPv6 block")
		}
		r.IPv6Halted = !sold
		return nil
	})
}

func getIPv6(c *change) string {
	r, _ := kinds.Regions.Find(c.View, c.region)
	return strconv.FormatBool(r.SellsIPv6())
}

// stocked lists the goods of a zone: load balancers by type, and listeners by protocol.
var (
	stocked     = append([]string{string(kinds.AddressTypeInternet), string(kinds.AddressTypeIntranet)}, listenersOf...)
	listenersOf = []string{string(kinds.HTTP), string(kinds.HTTPS)}
)

func setAddressesSold(c *change, _, value string) error {
	return c.editRegion(func(r *kinds.Region) error {
		r.AddressesHalted = !isTrue(value)
		return nil
	})
}

func getAddressesSold(c *change) string {
	r, _ := kinds.Regions.Find(c.View, c.region)
	return strconv.FormatBool(!r.AddressesHalted)
}

func setStock(c *change, named, value string) error {
	zone, kind, _ := strings.Cut(named, ".")
	stock := kinds.ZoneStock{ZoneID: zone, AddressType: kinds.AddressType(kind)}
	if kind != "" && !slices.Contains(stocked, kind) {
		return errors.New("want internet, intranet, http or https behind the zone")
	}
	return c.editRegion(func(r *kinds.Region) error {
		if err := hasZone(r, zone); err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(r.SoldOut), func(is kinds.ZoneStock) bool {
			return is == stock || kind == "" && is.ZoneID == zone && !slices.Contains(listenersOf, string(is.AddressType))
		})
		if value == "soldout" {
			left = append(left, stock)
		}
		r.SoldOut = left
		return nil
	})
}

func getStock(c *change) []Setting {
	r, _ := kinds.Regions.Find(c.View, c.region)
	var list []Setting
	for _, is := range r.SoldOut {
		name := "stock." + is.ZoneID
		if is.AddressType != "" {
			name += "." + string(is.AddressType)
		}
		list = append(list, Setting{Name: name, Value: "soldout"})
	}
	return list
}

func setFreeAddresses(c *change, named, value string) error {
	vSwitch, ok := kinds.VSwitches.Find(c.View, named)
	if !ok {
		return fmt.Errorf("there is no vSwitch %s", named)
	}
	if value == "all" {
		kinds.FreeAllAddresses(c.tx, vSwitch)
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return err
	}
	if err := kinds.SetFreeAddresses(c.tx, vSwitch, n); err != nil {
		return fmt.Errorf("the vSwitch has fewer free addresses than that")
	}
	return nil
}

// getFreeAddresses lists the free addresses of all vSwitches, or of those where they were
// set.
func getFreeAddresses(onlySet bool) func(c *change) []Setting {
	return func(c *change) (list []Setting) {
		for vSwitch := range kinds.VSwitches.All(c.In(state.Owner{AccountID: c.account.ID, RegionID: c.region})) {
			if !onlySet || kinds.WithholdsAddresses(c.View, vSwitch) {
				list = append(list, Setting{Name: "vswitch." + vSwitch.ID + ".freeAddresses", Value: strconv.Itoa(kinds.AvailableAddresses(c.View, vSwitch))})
			}
		}
		return list
	}
}

// nothing stands for an empty list.
const nothing = "none"

// setLacks sets what a zone lacks, or the region if none is named.
func setLacks(c *change, zone, value string) error {
	return c.editRegion(func(r *kinds.Region) error {
		if err := hasZone(r, zone); zone != "" && err != nil {
			return err
		}
		lacks := maps.Clone(r.Lacks)
		if lacks == nil {
			lacks = make(map[string][]string)
		}
		if delete(lacks, zone); value != nothing {
			lacks[zone] = strings.Split(value, ",")
		}
		r.Lacks = lacks
		return nil
	})
}

func hasZone(r *kinds.Region, zone string) error {
	if slices.ContainsFunc(r.Zones, func(z kinds.Zone) bool { return z.ID == zone }) {
		return nil
	}
	return fmt.Errorf("there is no zone %s in %s: there are %s", zone, r.ID, resources.List(slices.Values(r.Zones), func(z kinds.Zone) string { return z.ID }))
}

func getLacks(c *change) (list []Setting) {
	r, _ := kinds.Regions.Find(c.View, c.region)
	for _, zone := range slices.Sorted(maps.Keys(r.Lacks)) {
		name := "region.lacks"
		if zone != "" {
			name = "zone." + zone + ".lacks"
		}
		list = append(list, Setting{Name: name, Value: strings.Join(r.Lacks[zone], ",")})
	}
	return list
}
