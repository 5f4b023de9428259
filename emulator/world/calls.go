package world

import (
	"slices"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

// The handlers that clients call create the load balancers of a world too, so that a world
// holds nothing that no client could have created.

// The APIs of load balancers.
var (
	clbAPI = sync.OnceValue(func() *gateway.Product { return clb.Product(gateway.Deps{}) })
	nlbAPI = sync.OnceValue(func() *gateway.Product { return nlb.Product(gateway.Deps{}) })
)

// call is one call that creates a part of the world.
type call struct {
	api    *gateway.Product
	tx     *state.Tx // of the owner, and with the id that the new resource gets
	action string
	params gateway.Params
}

func newCall(api *gateway.Product, tx *state.Tx, action string) *call {
	return &call{api: api, tx: tx, action: action}
}

// with adds a parameter, unless it is empty.
func (c *call) with(name, value string) *call {
	if value != "" {
		c.params = append(c.params, gateway.Param{Name: name, Value: value})
	}
	return c
}

// has reports whether the call has a parameter. The parameters are not sorted yet.
func (c *call) has(name string) bool {
	return slices.ContainsFunc(c.params, func(p gateway.Param) bool { return p.Name == name })
}

// settings adds the parameters that the file names as the API does, and reports whether
// no parameter is given twice.
func (p *planter) settings(c *call, settings pairs) bool {
	before := len(p.problems)
	for _, s := range settings {
		if c.has(s.key) {
			p.fail(s.value, "%s is set by a field beside settings", s.key)
			continue
		}
		c.with(s.key, s.value.text)
	}
	return len(p.problems) == before
}

// perform makes the call. A refusal is a problem of the value at that place.
func (p *planter) perform(at scalar, c *call) (answer gateway.Answer, ok bool) {
	answer, err := c.api.Perform(c.tx, c.action, c.params)
	if err != nil {
		p.fail(at, "%s refuses it: %v", c.action, err)
	}
	return answer, err == nil
}

// bought plants what was bought before the account's money went, the zones sold out, and
// the cloud stopped selling it.
func (p *planter) bought(plant func()) {
	var restore []func()
	for a := range cloud.Accounts.All(p.tx.View) {
		solvent := *a
		solvent.Balance = resources.MaxBalance
		cloud.Accounts.Put(p.tx, &solvent)
		restore = append(restore, func() { cloud.Accounts.Put(p.tx, a) })
	}
	for r := range cloud.Regions.All(p.tx.View) {
		selling := *r
		selling.SoldOut = nil
		selling.SetYear(cloud.Year2021)
		cloud.Regions.Put(p.tx, &selling)
		restore = append(restore, func() { cloud.Regions.Put(p.tx, r) })
	}
	plant()
	for _, restore := range restore {
		restore()
	}
}
