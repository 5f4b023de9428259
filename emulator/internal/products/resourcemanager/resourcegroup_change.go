package resourcemanager

import (
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errNameInvalid = refusals.New("NameInvalid", 400, "InvalidParameter.Name",
		"The specified parameter Name is not valid.", "CLB-0527")
	errDisplayNameInvalid = refusals.New("DisplayNameInvalid", 400, "InvalidParameter.DisplayName",
		"The specified parameter DisplayName is not valid.", "CLB-0527")
	errGroupExists = refusals.New("GroupExists", 409, "EntityAlreadyExists.ResourceGroup",
		"The resource group %s already exists.", "CLB-0527")
	errTooManyGroups = refusals.New("TooManyGroups", 409, "LimitExceeded.ResourceGroup",
		"The number of resource groups exceeds the limit.", "CLB-0527")
	errGroupInUse = refusals.New("GroupInUse", 409, "DeleteConflict.ResourceGroup.Resource",
		"The resource group %s has resources.", "CLB-0527")
	errGroupIsDefault = refusals.New("GroupIsDefault", 409, "DeleteConflict.ResourceGroup.Default",
		"The default resource group can't be deleted.", "CLB-0527")
)

// identifier matches a valid name of a group.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{3,50}$`) })

// maxGroups limits the groups of an account.
const maxGroups = 100

type createResourceGroupRequest struct {
	Name        string        `rpc:"Name,required"`
	DisplayName string        `rpc:"DisplayName,required,len=1..50,invalid=DisplayNameInvalid"`
	Tags        []tagging.Tag `rpc:"Tag,max=20,invalid=TagKeyInvalid"`
}

// Validate implements the gateway's check of shape.
func (r *createResourceGroupRequest) Validate() error {
	if !identifier().MatchString(r.Name) {
		return errNameInvalid.Of(r.Name)
	}
	return tagRefusals.Check(r.Tags)
}

// createResourceGroup creates a group whose name no other of the account has. It can be
// used at once: CLB-0527.
func createResourceGroup(tx *state.Tx, req *createResourceGroupRequest) (*getResourceGroupResponse, error) {
	account, count := tx.Scope().AccountID, 0
	for g := range kinds.ResourceGroups.All(tx.View) {
		if g.AccountID != account {
			continue
		}
		if viewResourceGroup(tx.View, g).Name == req.Name {
			return nil, errGroupExists.Of(req.Name)
		}
		count++
	}
	if count >= maxGroups {
		return nil, errTooManyGroups
	}
	g := &kinds.ResourceGroup{AccountID: account, ID: tx.NewID(kinds.ResourceGroups.Kind()), Name: req.Name, DisplayName: req.DisplayName, CreateTime: tx.Now()}
	kinds.ResourceGroups.Put(tx, g)
	tagging.Set(tx.In(g.Belonging()), kinds.TagResourceGroup, g.ID, req.Tags)
	return &getResourceGroupResponse{detail(tx.View, g, "Creating")}, nil
}

type updateResourceGroupRequest struct {
	ResourceGroupID string `rpc:"ResourceGroupId,required"`
	NewDisplayName  string `rpc:"NewDisplayName,required,len=1..50,invalid=DisplayNameInvalid"`
}

func updateResourceGroup(tx *state.Tx, req *updateResourceGroupRequest) (*getResourceGroupResponse, error) {
	g, err := kinds.ResourceGroups.Get(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	changed := *g
	changed.Name, changed.DisplayName = viewResourceGroup(tx.View, g).Name, req.NewDisplayName
	kinds.ResourceGroups.Put(tx, &changed)
	return &getResourceGroupResponse{detail(tx.View, &changed, groupOK)}, nil
}

type deleteResourceGroupRequest struct {
	ResourceGroupID string `rpc:"ResourceGroupId,required"`
}

// deleteResourceGroup deletes a group without resources, at once: CLB-0527.
func deleteResourceGroup(tx *state.Tx, req *deleteResourceGroupRequest) (*getResourceGroupResponse, error) {
	g, err := kinds.ResourceGroups.Get(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	account, err := kinds.Accounts.Get(tx.View, g.AccountID)
	switch {
	case err != nil:
		return nil, err
	case account.DefaultResourceGroupID == g.ID:
		return nil, errGroupIsDefault
	case state.AnyWith(tx.In(g.Belonging()).View, "ResourceGroupID", g.ID):
		return nil, errGroupInUse.Of(g.ID)
	}
	kinds.ResourceGroups.Remove(tx, g.ID)
	return &getResourceGroupResponse{detail(tx.View, g, "PendingDelete")}, nil
}
