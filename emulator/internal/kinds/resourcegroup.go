package kinds

import (
	"maps"
	"slices"
	"time"

	"github.com/clbemu/clbemu/state"
)

// ResourceGroup groups the resources of an account.
type ResourceGroup struct {
	AccountID string
	ID        string
	// Name is an identifier if there is a DisplayName, and any text otherwise.
	Name        string
	DisplayName string    `json:",omitempty"`
	CreateTime  time.Time `json:",omitzero"`
}

// Belonging returns the group's account. Groups have no region.
func (g *ResourceGroup) Belonging() state.Owner { return state.Owner{AccountID: g.AccountID} }

// TagResourceGroup is the type of the tags of ResourceGroups.
const TagResourceGroup state.TagResourceType = "resourcemanager:resourcegroup"

// ResourceGroups by id.
var ResourceGroups = state.NewTable(Schema, "ResourceGroup", func(g *ResourceGroup) string { return g.ID }, state.Setting(),
	state.IDForm("rg-", 11), state.Tagged(TagResourceGroup, ProductResourceManager, "ResourceGroup"))

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

// mover moves resources of a kind to another group.
type mover struct {
	has  func(v *state.View, id string) bool
	move func(tx *state.Tx, id, group string) error
}

// movers are the kinds that each product's MoveResourceGroup moves, by its words for them.
var movers = make(map[string]map[string][]mover)

// moved declares that a product's MoveResourceGroup knows the kind by the word, and what
// goes along with a resource. A word may stand for several kinds.
func moved[T any](product, word string, table *state.Table[T], group func(*T) *string, along ...func(tx *state.Tx, id, group string)) struct{} {
	if movers[product] == nil {
		movers[product] = make(map[string][]mover)
	}
	movers[product][word] = append(movers[product][word], mover{
		has: func(v *state.View, id string) bool { _, ok := table.Find(v, id); return ok },
		move: func(tx *state.Tx, id, to string) error {
			for _, take := range along {
				take(tx, id, to)
			}
			return table.Edit(tx, id, func(r *T) error { *group(r) = to; return nil })
		},
	})
	return struct{}{}
}

// MovedTypes returns a product's words for the kinds that it moves, in order.
func MovedTypes(product string) []string { return slices.Sorted(maps.Keys(movers[product])) }

// MoveToGroup moves a resource of a product to a group that exists. The word must be one
// of MovedTypes; of several kinds that lack the resource, the last refuses it.
func MoveToGroup(tx *state.Tx, product, word, id, group string) error {
	kinds := movers[product][word]
	at := slices.IndexFunc(kinds, func(m mover) bool { return m.has(tx.View, id) })
	if at < 0 {
		at = len(kinds) - 1
	}
	return kinds[at].move(tx, id, group)
}
