package gatewaytest

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// stated reports whether a published statement proves a row of a product, by a case that
// holds: an action is refused with the row's code, and has no other row with that code.
func stated(p *gateway.Product, row *gateway.ErrorRow) bool {
	found, err := fidelity.About(row.Code)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(f fidelity.Found) bool {
		return f.File.Product == p.Name && f.Statement.Verdict() == fidelity.Holds && alone(p, row, f.File.Action)
	})
}

// alone reports whether a row is the one by which an action is refused with its code.
func alone(p *gateway.Product, row *gateway.ErrorRow, action string) bool {
	of := func(r *gateway.ErrorRow) bool {
		return r.Code == row.Code && (r.Actions == nil || slices.Contains(r.Actions, action))
	}
	if !of(row) {
		return false
	}
	for _, other := range p.Errors.Rows() {
		if of(&other) && (other.Fact != row.Fact || other.Kind != row.Kind) {
			return false
		}
	}
	return true
}
