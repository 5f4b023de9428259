package gateway

import "slices"

// Guess is evidence of low confidence that successful calls meet. The journal names it like the
// evidence of a refusal.
type Guess struct {
	Evidence string
	Actions  []string
	// When reports whether a call meets it; nil for all calls of the actions.
	When func(p Params, response any) bool
}

// guess returns the evidence of the first guess that a successful call met, or "" if there is none.
func (c *Call) guess(response any) string {
	if c.product == nil {
		return ""
	}
	for _, g := range c.product.Guesses {
		if slices.Contains(g.Actions, c.ActionName) && (g.When == nil || g.When(c.Params, response)) {
			return g.Evidence
		}
	}
	return ""
}
