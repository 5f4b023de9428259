package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// ResourceGroup groups the resources of an account.
type ResourceGroup struct {
	AccountID string
	ID        string
	// Name is an identifier where there is a DisplayName, and else any text.
	Name        string
	DisplayName string    `json:",omitempty"`
	CreateTime  time.Time `json:",omitzero"`
}

// Belonging is the group's account: groups have no region.
func (g *ResourceGroup) Belonging() state.Owner { return state.Owner{AccountID: g.AccountID} }

// ResourceGroups by id.
var ResourceGroups = state.NewTable(Schema, "ResourceGroup", func(g *ResourceGroup) string { return g.ID }, state.Setting(),
	state.IDForm("rg-", 11), state.Tagged(TagResourceGroup))

// ResourceGroupOf returns the group of a new resource: the named one, or the
// account's default.
func ResourceGroupOf(v *state.View, id string) (string, error) {
	if id == "" {
		account, err := Accounts.Get(v, v.Scope().AccountID)
		if err != nil {
			return "", err
		}
		return account.DefaultResourceGroupID, nil
	}
	group, err := ResourceGroups.Get(v, id)
	if err != nil {
		return "", err
	}
	return group.ID, nil
}
