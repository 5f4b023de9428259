package kinds

import (
	"fmt"

	"github.com/clbemu/clbemu/state"
)

// Requires returns a line for each thing without which no client can call. The view must
// see everything.
func Requires(v *state.View) (problems []string) {
	missing := func(what string) {
		problems = append(problems, "there is no "+what+": no client could make a call")
	}
	accounts, regions, keys := false, false, false
	for range Regions.All(v) {
		regions = true
	}
	for account := range Accounts.All(v) {
		accounts = true
		if _, ok := Regions.Find(v, account.DefaultRegionID); !ok && regions {
			problems = append(problems, fmt.Sprintf("Account %s has the default region %q, which does not exist", account.ID, account.DefaultRegionID))
		}
	}
	for range AccessKeys.All(v) {
		keys = true
	}
	if !accounts {
		missing("Account")
	}
	if !regions {
		missing("Region")
	}
	if !keys {
		missing("AccessKey")
	}
	return problems
}
