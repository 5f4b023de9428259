package conditions

import (
	"cmp"
	"maps"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// Key is a setting of an account and a region, or of what its condition's scope leaves of
// these.
type Key struct {
	Condition string // its name with <…>
	Owner     state.Owner
	Name      string
}

// Settings returns the settings in force of all accounts and regions. What only measures is
// left out, unless it was set.
func Settings(v *state.View) map[Key]string {
	all := make(map[Key]string)
	v = v.In(state.Owner{})
	for account := range kinds.Accounts.All(v) {
		for region := range kinds.Regions.All(v) {
			c := &change{View: v, tx: &state.Tx{View: v}, account: account, region: region.ID}
			for i := range conditions {
				condition := &conditions[i]
				read := condition.read
				if condition.set != nil {
					read = condition.set
				}
				if read == nil {
					continue
				}
				owner := map[Scope]state.Owner{ofAccount: {AccountID: account.ID}, OfRegion: {AccountID: account.ID, RegionID: region.ID}}[condition.Scope]
				for _, s := range read(c) {
					all[Key{cmp.Or(nameOf(s.Name), condition.Name), owner, s.Name}] = s.Value
				}
			}
		}
	}
	return all
}

// nameOf returns the name of a setting's condition, since a condition may list the settings of
// another.
func nameOf(setting string) string {
	if c, _, ok := Find(setting); ok {
		return c.Name
	}
	return ""
}

// Unusual counts by condition the settings that differ from the usual ones.
func Unusual(settings, usual map[Key]string) map[string]int {
	counts := make(map[string]int, len(conditions))
	for i := range conditions {
		counts[conditions[i].Name] = 0
	}
	keys := slices.Concat(slices.Collect(maps.Keys(settings)), slices.Collect(maps.Keys(usual)))
	seen := make(map[Key]bool, len(keys))
	for _, key := range keys {
		value, is := settings[key]
		before, was := usual[key]
		if !seen[key] && (is != was || value != before) {
			counts[key.Condition]++
		}
		seen[key] = true
	}
	return counts
}
