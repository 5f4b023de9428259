// Package resources creates the resources of a world as the cloud does, with everything
// that the cloud adds by itself: for the world file, and for later additions. It must
// not know who calls it.
package resources

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// The bounds of what an account may have.
const (
	MaxBalance = 1_000_000_000
	MaxDays    = 365
)

// Owner finds the account and the region that are meant: the first account and its
// region where nothing else is said.
func Owner(v *state.View, where controlapi.Where) (state.Owner, error) {
	owner := state.Owner{AccountID: where.AccountID, RegionID: where.RegionID}
	account, ok := cloud.Accounts.Find(v, owner.AccountID)
	if owner.AccountID == "" {
		for account = range cloud.Accounts.All(v) {
			ok = true
			break
		}
	}
	if !ok {
		return owner, fmt.Errorf("there is no account %s: there are %s", owner.AccountID, List(cloud.Accounts.All(v), func(a *cloud.Account) string { return a.ID }))
	}
	owner.AccountID = account.ID
	if owner.RegionID == "" {
		owner.RegionID = account.DefaultRegionID
	}
	if _, ok := cloud.Regions.Find(v, owner.RegionID); !ok {
		return owner, fmt.Errorf("there is no region %s: there are %s", owner.RegionID, List(cloud.Regions.All(v), func(r *cloud.Region) string { return r.ID }))
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
