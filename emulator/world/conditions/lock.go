package conditions

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// noLock is the value that takes a lock off.
const noLock = "none"

func setLock(c *change, id, value string) error {
	owner := state.Owner{AccountID: c.account.ID, RegionID: c.region}
	lb, known := kinds.NLBLoadBalancers.Find(c.In(owner), id)
	if value == noLock && !known {
		return nil // it is gone, and its lock
	}
	if !known || lb.Owner != owner {
		return fmt.Errorf("there is no Network Load Balancer %s in %s", id, c.region)
	}
	changed := *lb
	changed.OtherLock = kinds.NLBLock(value)
	if value == noLock {
		changed.OtherLock = ""
	}
	kinds.NLBLoadBalancers.Put(c.tx, &changed)
	return nil
}

func getLocks(c *change) (list []Setting) {
	for lb := range kinds.NLBLoadBalancersByRegion.List(c.View, c.account.ID, c.region) {
		if lb.OtherLock != "" {
			list = append(list, Setting{Name: "nlb." + lb.ID + ".lock", Value: string(lb.OtherLock)})
		}
	}
	return list
}
