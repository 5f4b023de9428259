package conditions

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

func setQuota(c *change, named, value string) error {
	name := state.QuotaName(named)
	if !slices.Contains(c.Schema().QuotaNames(), name) {
		return fmt.Errorf("there is no such quota: `clbemu quota` lists them")
	}
	if value == "default" {
		state.Quotas.Delete(c.tx, state.QuotaID(c.account.ID, name))
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return err
	}
	state.Quotas.Put(c.tx, &state.Quota{AccountID: c.account.ID, Name: name, Limit: n})
	return nil
}

func getQuotas(c *change) []Setting {
	var list []Setting
	for _, name := range c.Schema().QuotaNames() {
		if q, ok := state.Quotas.Find(c.View, state.QuotaID(c.account.ID, name)); ok {
			list = append(list, Setting{Name: "quota." + string(name), Value: strconv.Itoa(q.Limit)})
		}
	}
	return list
}

func setSite(c *change, _, value string) error {
	limit := "default"
	if value == kinds.SiteInternational {
		limit = strconv.Itoa(kinds.LoadBalancersInternational)
	}
	return setQuota(c, string(kinds.QuotaLoadBalancers), limit)
}

// getSite reads the site off the quota: one set to another number is of neither.
func getSite(c *change) []Setting {
	switch q, ok := state.Quotas.Find(c.View, state.QuotaID(c.account.ID, kinds.QuotaLoadBalancers)); {
	case !ok:
		return []Setting{{Name: "account.site", Value: kinds.SiteMainland}}
	case q.Limit == kinds.LoadBalancersInternational:
		return []Setting{{Name: "account.site", Value: kinds.SiteInternational}}
	}
	return nil
}
