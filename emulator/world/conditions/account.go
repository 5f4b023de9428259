package conditions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
)

func (c *change) editAccount(change func(*kinds.Account)) error {
	return kinds.Accounts.Edit(c.tx, c.account.ID, func(a *kinds.Account) error {
		change(a)
		return nil
	})
}

func setNumber(assign func(*kinds.Account, int)) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		return c.editAccount(func(a *kinds.Account) { assign(a, n) })
	}
}

func setBalance(c *change, _, value string) error {
	balance, err := resources.ParseBalance(value)
	if err != nil {
		return err
	}
	return c.editAccount(func(a *kinds.Account) { a.Balance = balance })
}

func setArrears(c *change, _, value string) error {
	return kinds.SetArrears(c.tx, c.account.ID, isTrue(value))
}

// The flags of an account.
func lcuToSpec(a *kinds.Account) *bool { return &a.LCUToSpec }

func tagsCreators(a *kinds.Account) *bool { return &a.TagsCreators }

func incomplete(a *kinds.Account) *bool { return &a.Incomplete }

func unpayable(a *kinds.Account) *bool { return &a.Unpayable }

func refusesExpired(a *kinds.Account) *bool { return &a.RefusesExpiredCertificates }

func refusesAttached(a *kinds.Account) *bool { return &a.RefusesAttachedBackends }

func refusesApplications(a *kinds.Account) *bool { return &a.RefusesQuotaApplications }

// setLinkedRole makes a service-linked role absent, or present.
func setLinkedRole(c *change, named, value string) error {
	if !slices.Contains(kinds.LinkedRoles, named) {
		return fmt.Errorf("want one of the roles %s", strings.Join(kinds.LinkedRoles, ", "))
	}
	return c.editAccount(func(a *kinds.Account) {
		absent := slices.DeleteFunc(slices.Clone(a.AbsentRoles), func(role string) bool { return role == named })
		if value == "absent" {
			absent = append(absent, named)
		}
		a.AbsentRoles = absent
	})
}

func getLinkedRoles(c *change) (list []Setting) {
	for _, role := range c.account.AbsentRoles {
		list = append(list, Setting{Name: "linkedRole." + role, Value: "absent"})
	}
	return list
}

func setFlag(flag func(*kinds.Account) *bool) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		return c.editAccount(func(a *kinds.Account) { *flag(a) = isTrue(value) })
	}
}

func getFlag(name string, flag func(*kinds.Account) *bool) func(*change) []Setting {
	return one(name, func(c *change) string { return strconv.FormatBool(*flag(c.account)) })
}
