package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// double repeats a creation whose answer it missed, without a token.
func double(c *controller) error {
	until(func() error {
		return c.reconcile(func() (id string, err error) {
			if c.made != "" {
				return c.made, nil
			}
			if id, err = c.find(); id != "" || err != nil {
				return id, err
			}
			for id, err = c.create(""); unknown(err); id, err = c.create("") {
				time.Sleep(firstPause)
			}
			c.made = id
			return id, err
		})
	})
	return nil
}

// newToken sends another token with each try.
func newToken(c *controller) error {
	until(func() error {
		return c.reconcile(func() (string, error) {
			return c.foundOr(func() (string, error) { return c.create(fmt.Sprint("service-", time.Now().UnixNano())) })
		})
	})
	return nil
}

// late looks for what a lost creation has made, and goes on with it. A job in its queue
// repeats the creation later, without a token and without a look.
func late(c *controller) error {
	queued := 0
	until(func() error {
		return c.reconcile(func() (id string, err error) {
			if id, err = c.find(); id != "" || err != nil {
				return id, err
			}
			if id, err = c.create(""); unknown(err) {
				queued++
			}
			return id, err
		})
	})
	for ; queued > 0; queued-- {
		time.Sleep(c.lateness)
		until(func() error { _, err := c.create(""); return err })
	}
	return serve()
}

// leak makes a new server group in each of its tries, and looks for none.
func leak(c *controller) error {
	until(func() error {
		id, err := c.found()
		if err != nil {
			return err
		}
		var is listeners
		if err := call("DescribeLoadBalancerListeners", params{"LoadBalancerId.1": id}, &is); err != nil || len(is.Listeners) > 0 {
			return err
		}
		group, err := c.newGroup(id)
		if err != nil {
			return err
		}
		if err := add(group, wanted()); err != nil {
			return err
		}
		return c.listener(id, group)
	})
	return nil
}

// renamed looks for its load balancer by the name alone, and makes another one when a user
// has given it another name.
func renamed(c *controller) error {
	until(func() error {
		return c.reconcile(func() (string, error) {
			found, err := list(params{"LoadBalancerName": c.name})
			if err != nil || len(found) == 0 {
				return c.create(fmt.Sprint("service-", os.Getpid()))
			}
			return found[0].LoadBalancerId, nil
		})
	})
	return nil
}

// wrongOrder takes its tag and its name off the load balancer before it deletes it: when the
// deletion fails, it does not find it again.
func wrongOrder(c *controller) error {
	if !c.deletes {
		return once(c)
	}
	id, err := c.find()
	if id == "" || err != nil {
		return err
	}
	if err := untagged(id, owner); err != nil {
		return err
	}
	if err := call("SetLoadBalancerName", params{"LoadBalancerId": id, "LoadBalancerName": "deleted"}, nil); err != nil {
		return err
	}
	return call("DeleteLoadBalancer", params{"LoadBalancerId": id}, nil)
}

// foreign tidies up after an error: it deletes the load balancers without its tag.
func foreign(c *controller) error {
	until(func() error {
		err := c.reconcile(c.found)
		if err == nil {
			return nil
		}
		all, _ := list(nil)
		for _, is := range all {
			if is.LoadBalancerName != c.name {
				_ = call("DeleteLoadBalancer", params{"LoadBalancerId": is.LoadBalancerId}, nil)
			}
		}
		return err
	})
	return nil
}

// replaced takes a read that is refused for a broken load balancer: it deletes the one that
// serves, and makes another one.
func replaced(c *controller) error {
	made := ""
	until(func() error {
		err := c.reconcile(func() (id string, err error) {
			if made, err = c.found(); err != nil {
				return "", err
			}
			return made, nil
		})
		if err == nil {
			err = c.own(made)
		}
		if is := (*refused)(nil); errors.As(err, &is) && made != "" {
			_ = call("DeleteLoadBalancer", params{"LoadBalancerId": made}, nil)
			made, _ = c.create(fmt.Sprint("service-", time.Now().UnixNano()))
		}
		return err
	})
	return nil
}

// emptied takes all servers out of the group when it starts, and adds them again soon.
func emptied(c *controller) error {
	id, err := c.found()
	if err != nil {
		return err
	}
	group, err := c.group(id)
	if err != nil {
		return err
	}
	if is, err := membersOf(group); err != nil {
		return err
	} else if len(is) > 0 {
		if err := call("RemoveVServerGroupBackendServers", params{"VServerGroupId": group, "BackendServers": asJSON(is)}, nil); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	return c.rest(id)
}

// lostUpdate gives its two servers their weights one after the other, each time with the
// whole list as it has read it.
func lostUpdate(c *controller) error {
	id, err := c.found()
	if err != nil {
		return err
	}
	if err := c.rest(id); err != nil {
		return err
	}
	group, err := c.group(id)
	if err != nil {
		return err
	}
	for _, want := range wanted() {
		is, err := membersOf(group)
		if err != nil {
			return err
		}
		for i := range is {
			if is[i].ServerId == want.ServerId {
				is[i].Weight = 50
			}
		}
		if err := call("SetVServerGroupAttribute", params{"VServerGroupId": group, "BackendServers": asJSON(is)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// staleRead believes a list: what it has just made and does not see there needs nothing.
func staleRead(c *controller) error {
	if _, err := c.found(); err != nil {
		return err
	}
	seen, err := list(c.byTag())
	if len(seen) == 0 || err != nil {
		return err
	}
	return c.rest(seen[0].LoadBalancerId)
}

// missingRetry forgets that its servers could not be added.
func missingRetry(c *controller) error {
	id, err := c.found()
	if err != nil {
		return err
	}
	group, err := c.group(id)
	if err != nil {
		return err
	}
	_ = c.servers(group)
	return c.listener(id, group)
}

// stuck marks its load balancer as taken while it works on it, and leaves one alone that
// another process has taken: also its own, when it was killed.
func stuck(c *controller) error {
	const taken = "example.com/taken"
	id, err := c.found()
	if err != nil {
		return err
	}
	var is attribute
	if err := call("DescribeLoadBalancerAttribute", params{"LoadBalancerId": id}, &is); err != nil {
		return err
	}
	for _, t := range is.Tags.Tag {
		if t.TagKey == taken {
			return nil
		}
	}
	if err := tagged(id, taken, "yes"); err != nil {
		return err
	}
	until(func() error { return c.rest(id) })
	until(func() error { return untagged(id, taken) })
	return nil
}

// hotLoop repeats a refused creation without a pause.
func hotLoop(c *controller) error {
	id, err := c.found()
	for err != nil {
		id, err = c.created()
	}
	until(func() error { return c.rest(id) })
	return nil
}

// restless sets the name again and again once a call has failed.
func restless(c *controller) error {
	failed := false
	until(func() error {
		err := c.reconcile(c.found)
		failed = failed || err != nil
		return err
	})
	for failed {
		if id, err := c.find(); err == nil {
			_ = call("SetLoadBalancerName", params{"LoadBalancerId": id, "LoadBalancerName": c.name}, nil)
		}
		time.Sleep(firstPause)
	}
	return serve()
}

// givesUp ends with success when it is refused.
func givesUp(c *controller) error {
	until(func() error {
		if err := c.reconcile(c.found); unknown(err) {
			return err
		}
		return nil
	})
	return nil
}

// impatient makes another load balancer when it does not see the one that it has made.
func impatient(c *controller) error {
	until(func() error {
		return c.reconcile(func() (id string, err error) {
			if id, err = c.find(); id != "" || err != nil {
				return id, err
			}
			if id, err = c.created(); err != nil {
				return id, err
			}
			if seen, err := c.find(); seen == "" && err == nil {
				return c.create("")
			}
			return id, nil
		})
	})
	return nil
}
