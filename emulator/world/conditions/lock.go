package conditions

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/state"
)

// noLock is the value that takes a lock off.
const noLock = "none"

func setLock(c *change, id, value string) error {
	owner := state.Owner{AccountID: c.account.ID, RegionID: c.region}
	lb, known := cloud.NLBLoadBalancers.Find(c.In(owner), id)
	if value == noLock && !known {
		return nil // it is gone, and its lock
	}
	if !known || lb.Owner != owner {
		return fmt.Errorf("there is no Network Load Balancer %s in %s", id, c.region)
	}
	changed := *lb
	changed.OtherLock = cloud.NLBLock(value)
	if value == noLock {
		changed.OtherLock = ""
	}
	cloud.NLBLoadBalancers.Put(c.tx, &changed)
	return nil
}

func getLocks(c *change) (list []Setting) {
	for lb := range cloud.NLBLoadBalancersByRegion.List(c.View, c.account.ID, c.region) {
		if lb.OtherLock != "" {
			list = append(list, Setting{Name: "nlb." + lb.ID + ".lock", Value: string(lb.OtherLock)})
		}
	}
	return list
}
