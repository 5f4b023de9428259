package control

import (
	"fmt"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Requires is for state.Config: it returns a line for each thing without which nobody
// can call, or which a start would pass over. The view must see everything.
func Requires(v *state.View) (problems []string) {
	missing := func(what string) {
		problems = append(problems, "there is no "+what+": no client could make a call")
	}
	accounts, regions, keys := false, false, false
	for range cloud.Regions.All(v) {
		regions = true
	}
	for account := range cloud.Accounts.All(v) {
		accounts = true
		if _, ok := cloud.Regions.Find(v, account.DefaultRegionID); !ok && regions {
			problems = append(problems, fmt.Sprintf("Account %s has the default region %q, which does not exist", account.ID, account.DefaultRegionID))
		}
	}
	for range cloud.AccessKeys.All(v) {
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
	for k := range cloud.Faults.All(v) {
		if _, err := ruleKept(k); err != nil {
			problems = append(problems, fmt.Sprintf("fault rule %s: %s", k.Name, err))
		}
	}
	if err := roomForRules(v); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}
