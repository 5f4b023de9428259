// Package resources creates the resources of a world as the cloud does, with everything
// that the cloud adds on its own: for the world file, and for later additions. It must
// not know who calls it.
package resources

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The bounds of what an account may have.
const (
	MaxBalance = 1_000_000_000
	MaxDays    = 365
)

var amount = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[0-9]+(\.[0-9]{1,2})?$`) })

// ParseBalance reads a balance in CNY, which may have cents.
func ParseBalance(text string) (float64, error) {
	balance, err := strconv.ParseFloat(text, 64)
	if err != nil || !amount().MatchString(text) || balance < -MaxBalance || balance > MaxBalance {
		return 0, fmt.Errorf("want an amount in CNY from %d to %d, such as 100 or 99.99", -MaxBalance, MaxBalance)
	}
	return balance, nil
}

// Unknown is the error about an account or a region that does not exist.
type Unknown struct{ reason string }

var _ error = (*Unknown)(nil)

// Error implements error.
func (e *Unknown) Error() string { return e.reason }

func unknown(format string, args ...any) error { return &Unknown{fmt.Sprintf(format, args...)} }

// Owner fills in what an owner leaves empty, with the first account and its region. Both
// must exist: the error is an *Unknown.
func Owner(v *state.View, owner state.Owner) (state.Owner, error) {
	account, ok := kinds.Accounts.Find(v, owner.AccountID)
	if owner.AccountID == "" {
		for account = range kinds.Accounts.All(v) {
			ok = true
			break
		}
	}
	if !ok {
		return owner, unknown("there is no account %s: there are %s", owner.AccountID, List(kinds.Accounts.All(v), func(a *kinds.Account) string { return a.ID }))
	}
	owner.AccountID = account.ID
	if owner.RegionID == "" {
		owner.RegionID = account.DefaultRegionID
	}
	if _, ok := kinds.Regions.Find(v, owner.RegionID); !ok {
		return owner, unknown("there is no region %s: there are %s", owner.RegionID, List(kinds.Regions.All(v), func(r *kinds.Region) string { return r.ID }))
	}
	return owner, nil
}

// List returns the ids of all, separated by commas, for an error.
func List[T any](all iter.Seq[T], id func(T) string) string {
	var ids []string
	for one := range all {
		ids = append(ids, id(one))
	}
	return strings.Join(slices.Sorted(slices.Values(ids)), ", ")
}
