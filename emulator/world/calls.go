package world

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/state"
)

// The handlers that clients call create the load balancers of a world too, and whatever its
// calls name, so that a world holds nothing that no client could have created.

// call is one call that creates a part of the world.
type call struct {
	api    *gateway.Product
	tx     *state.Tx // of the owner, and with the id that the new resource gets
	action string
	params gateway.Params
}

// call begins a call of a product that there is.
func (p *planter) call(product string, tx *state.Tx, action string) *call {
	at := slices.IndexFunc(p.products(), func(api *gateway.Product) bool { return api.Name == product })
	return &call{api: p.products()[at], tx: tx, action: action}
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

// made makes a call that the file names, of any product.
func (p *planter) made(s *callSpec) {
	var names []string
	for _, api := range p.products() {
		if api.Name == s.Product.text {
			p.madeBy(api, s)
			return
		}
		names = append(names, api.Name)
	}
	p.fail(s.Product, "there is no product %s%s", s.Product.text, spelling.DidYouMean(s.Product.text, names, "there are "+strings.Join(names, ", ")))
}

func (p *planter) madeBy(api *gateway.Product, s *callSpec) {
	var writes []string
	for _, a := range api.Actions {
		if a.Emulated && a.Mutates {
			writes = append(writes, a.Name)
		}
	}
	owner, ok := p.home(s.Account, s.Region)
	switch {
	case !ok:
		return
	case !slices.Contains(writes, s.Action.text):
		p.fail(s.Action, "%s has no action %s that changes something here%s", api.Name, s.Action.text, spelling.DidYouMean(s.Action.text, writes, "`clbemu actions` lists them"))
		return
	case s.ID.text != "" && (!resourceForm.takes(s.ID.text) || p.tx.Made(s.ID.text)):
		p.fail(s.ID, "%q is not the id of a new resource: it is taken, or has not the form %s", s.ID.text, resourceForm)
		return
	}
	tx := p.tx.In(owner)
	if s.ID.text != "" {
		tx = tx.Giving(s.ID.text)
	}
	c := p.call(api.Name, tx, s.Action.text)
	if !p.settings(c, s.Parameters) {
		return
	}
	if _, ok := p.perform(s.Action, c); ok && s.ID.text != "" && !p.tx.Made(s.ID.text) {
		p.fail(s.ID, "%s creates nothing with an id such as %s", s.Action.text, s.ID.text)
	}
}

// bought plants what was bought before the account's money went, the zones sold out, and
// the cloud stopped selling it.
func (p *planter) bought(plant func()) {
	var restore []func()
	for a := range kinds.Accounts.All(p.tx.View) {
		solvent := *a
		solvent.Balance = resources.MaxBalance
		kinds.Accounts.Put(p.tx, &solvent)
		restore = append(restore, func() { kinds.Accounts.Put(p.tx, a) })
	}
	for r := range kinds.Regions.All(p.tx.View) {
		selling := *r
		selling.SoldOut = nil
		selling.SetYear(kinds.Year2021)
		kinds.Regions.Put(p.tx, &selling)
		restore = append(restore, func() { kinds.Regions.Put(p.tx, r) })
	}
	plant()
	for _, restore := range restore {
		restore()
	}
}
