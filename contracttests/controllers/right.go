package main

import "time"

// polling looks every two seconds whether all is as it should be.
func polling(c *controller) error {
	for {
		if err := c.reconcile(c.found); err != nil {
			time.Sleep(firstPause)
		}
		time.Sleep(pollEvery)
	}
}

const pollEvery = 2 * time.Second

// adopting sends no token: it takes over what a lost call has made, for which it looks often enough
// to outlast a read that is late.
func adopting(c *controller) error {
	until(func() error {
		return c.reconcile(func() (id string, err error) {
			if c.made != "" {
				return c.made, nil // a list may not show it yet
			}
			for look := 0; look == 0 || look < c.looks; look++ {
				if look > 0 {
					time.Sleep(pollEvery / 4)
				}
				if id, err = c.find(); id != "" || err != nil {
					return id, err
				}
			}
			id, err = c.create("")
			if unknown(err) {
				c.looks = 10
			}
			c.made = id
			return id, err
		})
	})
	return nil
}

// token repeats a creation whose answer it missed, with the same token, and does not look first.
func token(c *controller) error {
	until(func() error {
		return c.reconcile(func() (id string, err error) {
			if id, err = c.find(); id != "" || err != nil {
				return id, err
			}
			for id, err = c.created(); unknown(err); id, err = c.created() {
				time.Sleep(firstPause)
			}
			return id, err
		})
	})
	return nil
}

// once does its work once, and ends with an error if that fails: whoever runs it, as a unit
// or a Job, starts it again.
func once(c *controller) error { return c.reconcile(c.found) }

// event works when something happens, here its start, and then waits.
func event(c *controller) error {
	until(func() error { return c.reconcile(c.found) })
	return serve()
}
