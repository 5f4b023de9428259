package conditions

import (
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/resources"
)

func (c *change) editAccount(change func(*cloud.Account)) error {
	return cloud.Accounts.Edit(c.tx, c.account.ID, func(a *cloud.Account) error {
		change(a)
		return nil
	})
}

func setNumber(assign func(*cloud.Account, int)) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		return c.editAccount(func(a *cloud.Account) { assign(a, n) })
	}
}

func setBalance(c *change, _, value string) error {
	balance, err := resources.ParseBalance(value)
	if err != nil {
		return err
	}
	return c.editAccount(func(a *cloud.Account) { a.Balance = balance })
}

func setArrears(c *change, _, value string) error {
	return cloud.SetArrears(c.tx, c.account.ID, isTrue(value))
}

// The flags of an account.
func lcuToSpec(a *cloud.Account) *bool { return &a.LCUToSpec }

func tagsCreators(a *cloud.Account) *bool { return &a.TagsCreators }

func incomplete(a *cloud.Account) *bool { return &a.Incomplete }

func unpayable(a *cloud.Account) *bool { return &a.Unpayable }

func refusesExpired(a *cloud.Account) *bool { return &a.RefusesExpiredCertificates }

func refusesAttached(a *cloud.Account) *bool { return &a.RefusesAttachedBackends }

func refusesApplications(a *cloud.Account) *bool { return &a.RefusesQuotaApplications }

// setLinkedRole makes a service-linked role absent, or present.
func setLinkedRole(c *change, named, value string) error {
	return c.editAccount(func(a *cloud.Account) {
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

func setFlag(flag func(*cloud.Account) *bool) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		return c.editAccount(func(a *cloud.Account) { *flag(a) = isTrue(value) })
	}
}

func getFlag(name string, flag func(*cloud.Account) *bool) func(*change) []Setting {
	return one(name, func(c *change) string { return strconv.FormatBool(*flag(c.account)) })
}
