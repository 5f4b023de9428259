package clb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errNoRoleForLogs = refusals.New("NoRoleForLogs", 400, "NoPermission."+kinds.RoleForLogs,
		"You are not authorized to create the service linked role. Role Name: "+kinds.RoleForLogs+". Service Name: logdelivery.slb.aliyuncs.com. "+
			"Please ensure the user has been granted the ram:CreateServiceLinkedRole permission", "CLB-0587")
	errNoRoleForEIPs = refusals.New("NoRoleForEIPs", 400, "NoPermission."+kinds.RoleForEIPs,
		"You are not authorized to create the service linked role. Role Name: "+kinds.RoleForEIPs+". Service Name: eipaccess.slb.aliyuncs.com. "+
			"Please ensure the user has been granted the ram:CreateServiceLinkedRole permission", "CLB-0587")
)

// needRole creates a service-linked role of the account if it has none, which is refused unless the
// caller may. CLB-0587.
func needRole(tx *state.Tx, caller gateway.Caller, role string, refusal error) error {
	id := tx.Scope().AccountID
	account, err := kinds.Accounts.Get(tx.View, id)
	if err != nil || !slices.Contains(account.AbsentRoles, role) {
		return err
	}
	if key, ok := kinds.AccessKeys.Find(tx.View, caller.AccessKeyID); ok && key.May(tx.View, "ram:CreateServiceLinkedRole", "acs:ram:*:"+id+":role/*") != kinds.Allowed {
		return refusal
	}
	return kinds.Accounts.Edit(tx, id, func(a *kinds.Account) error {
		a.AbsentRoles = slices.DeleteFunc(slices.Clone(a.AbsentRoles), func(r string) bool { return r == role })
		return nil
	})
}
