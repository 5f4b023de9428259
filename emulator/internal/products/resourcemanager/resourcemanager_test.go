package resourcemanager_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/resourcemanager"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

type params = gatewaytest.Params

// plant adds a group of the account, and one of another.
func plant(tx *state.Tx) error {
	if err := world.Default().Plant(tx); err != nil {
		return err
	}
	kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: "1234567890123456", ID: "rg-team", Name: "team"})
	kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: "1", ID: "rg-foreign", Name: "foreign"})
	return nil
}

// The action tables match the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	gatewaytest.MatchActions(t, resourcemanager.Product(gateway.Deps{}), "testdata/actions.json", map[string]string{
		"ListResourceGroups->ResourceGroups.ResourceGroup[].Tags.Tag[].Key":   "the SDK's Tag serves all actions: these answer TagKey and TagValue",
		"ListResourceGroups->ResourceGroups.ResourceGroup[].Tags.Tag[].Value": "the SDK's Tag serves all actions: these answer TagKey and TagValue",
		"GetResourceGroup->ResourceGroup.Tags.Tag[].Key":                      "the SDK's Tag serves all actions: these answer TagKey and TagValue",
		"GetResourceGroup->ResourceGroup.Tags.Tag[].Value":                    "the SDK's Tag serves all actions: these answer TagKey and TagValue",
		"ListResourceGroups->ResourceGroups.ResourceGroup[].RegionStatuses":   "only the detail of a group has them",
		"ListResourceGroups->ResourceGroupListAclMode":                        "who may see which group is not emulated",
	})
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) {
	gatewaytest.MatchTags(t, resourcemanager.Product(gateway.Deps{}))
}

// Every refusal has a call that triggers it.
func TestErrors(t *testing.T) {
	gatewaytest.MatchErrors(t, resourcemanager.Product(gateway.Deps{}), plant, []gatewaytest.ErrorCase{
		{Name: "Status", Action: "ListResourceGroups", Params: params{"Status": "Happy"}, Status: 400, Code: "InvalidParameter.Status"},
		{Name: "PageSize", Action: "ListResourceGroups", Params: params{"PageSize": "101"}, Status: 400, Code: "InvalidPageSize"},
		{Name: "Unknown", Action: "GetResourceGroup", Params: params{"ResourceGroupId": "rg-none"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
		{Name: "Name", Action: "CreateResourceGroup", Params: params{"Name": "the team", "DisplayName": "x"}, Status: 400, Code: "InvalidParameter.Name"},
		{Name: "DisplayName", Action: "CreateResourceGroup", Params: params{"Name": "team-2", "DisplayName": strings.Repeat("x", 51)}, Status: 400, Code: "InvalidParameter.DisplayName"},
		{Name: "TagKey", Action: "CreateResourceGroup", Params: params{"Name": "team-2", "DisplayName": "x", "Tag.1.Key": "acs:"}, Status: 400, Code: "InvalidParameter.TagKey"},
		{Name: "Exists", Action: "CreateResourceGroup", Params: params{"Name": "team", "DisplayName": "x"}, Status: 409, Code: "EntityAlreadyExists.ResourceGroup"},
		{Name: "Default", Action: "CreateResourceGroup", Params: params{"Name": "default", "DisplayName": "x"}, Status: 409, Code: "EntityAlreadyExists.ResourceGroup"},
		{Name: "TooMany", Action: "CreateResourceGroup", Params: params{"Name": "more", "DisplayName": "x"}, Plant: plantMany, Status: 409, Code: "LimitExceeded.ResourceGroup"},
		{Name: "InUse", Action: "DeleteResourceGroup", Params: params{"ResourceGroupId": "rg-team"}, Plant: plantInGroup, Status: 409, Code: "DeleteConflict.ResourceGroup.Resource"},
		{Name: "Default", Action: "DeleteResourceGroup", Params: params{"ResourceGroupId": "rg-clbemu0default"}, Status: 409, Code: "DeleteConflict.ResourceGroup.Default"},
		{Name: "Foreign", Action: "DeleteResourceGroup", Params: params{"ResourceGroupId": "rg-foreign"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
		{Name: "Foreign", Action: "UpdateResourceGroup", Params: params{"ResourceGroupId": "rg-foreign", "NewDisplayName": "x"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
		{Name: "Foreign", Action: "TagResources", Params: with(tagTeam, "ResourceId.1", "rg-foreign"), Status: 404, Code: "EntityNotExists.ResourceGroup"},
		{Name: "Type", Action: "TagResources", Params: with(tagTeam, "ResourceType", "Account"), Status: 400, Code: "InvalidParameter.ResourceType"},
		{Name: "Value", Action: "TagResources", Params: with(tagTeam, "Tag.1.Value", "http://x"), Status: 400, Code: "InvalidParameter.TagValue"},
		{Name: "Quota", Action: "TagResources", Params: tagTeam, Plant: plantTags, Status: 409, Code: "LimitExceeded.Tag"},
		{Name: "Token", Action: "ListTagResources", Params: params{"ResourceType": "ResourceGroup", "NextToken": "mine"}, Status: 400, Code: "InvalidParameter.NextToken"},
		{Name: "Foreign", Action: "GetResourceGroup", Params: params{"ResourceGroupId": "rg-foreign"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
	})
}

var tagTeam = params{"ResourceType": "ResourceGroup", "ResourceId.1": "rg-team", "Tag.1.Key": "team", "Tag.1.Value": "net"}

func with(base params, name, value string) params { return base.With(params{name: value}) }

func plantMany(tx *state.Tx) error {
	for i := range 100 {
		kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: "1234567890123456", ID: fmt.Sprintf("rg-%d", i), Name: fmt.Sprintf("group-%d", i)})
	}
	return nil
}

func plantTags(tx *state.Tx) error {
	for i := range 20 {
		state.SetTag(tx.In(state.Owner{AccountID: "1234567890123456"}), kinds.TagResourceGroup, "rg-team", strconv.Itoa(i), "")
	}
	return nil
}

// plantInGroup puts a server group of NLB into the group.
func plantInGroup(tx *state.Tx) error {
	owner := state.Owner{AccountID: "1234567890123456", RegionID: "cn-shanghai"}
	kinds.VPCs.Put(tx.In(owner), &kinds.VPC{Owner: owner, ID: "vpc-grouped", CIDRBlock: "10.0.0.0/8", ResourceGroupID: "rg-team"})
	return nil
}

// Clients make, rename, tag and delete a group, which takes resources meanwhile.
func TestLife(t *testing.T) {
	store := gatewaytest.Store(t, plant)
	c := gatewaytest.NewClient(t, store, resourcemanager.Product(gateway.Deps{}))
	made := c.Do("CreateResourceGroup", params{"Name": "team-2", "DisplayName": "Second team", "Tag.1.Key": "a", "Tag.1.Value": "1"})
	id := made.Text("ResourceGroup.Id")
	of := params{"ResourceGroupId": id}
	if made.Text("ResourceGroup.Status") != "Creating" || made.Text("ResourceGroup.RegionStatuses.RegionStatus.0.Status") != "Creating" {
		t.Errorf("CreateResourceGroup = %v", made.Body)
	}
	c.Do("UpdateResourceGroup", of.With(params{"NewDisplayName": "The second"}))
	got := c.Do("GetResourceGroup", of.With(params{"IncludeTags": "true"}))
	for path, want := range map[string]string{"Name": "team-2", "DisplayName": "The second", "Status": "OK", "Tags.Tag.0.TagKey": "a", "CreateDate": "2026-01-02T03:04:05Z"} {
		if got.Text("ResourceGroup."+path) != want {
			t.Errorf("%s = %q, want %q", path, got.Text("ResourceGroup."+path), want)
		}
	}
	tags := params{"ResourceType": "resourcegroup", "ResourceId.1": id}
	c.Do("TagResources", tags.With(params{"Tag.1.Key": "b", "Tag.1.Value": "2"}))
	c.Do("UnTagResources", tags.With(params{"TagKey.1": "a"}))
	listed := c.Do("ListTagResources", tags)
	if _, more := listed.Body["NextToken"]; more || listed.Len("TagResources") != 1 || listed.Text("TagResources.0.TagKey") != "b" {
		t.Errorf("ListTagResources = %v, want b on the last page", listed.Body)
	}
	if got := c.Do("ListResourceGroups", params{"Tag.1.Key": "b", "IncludeTags": "true"}); got.Text("ResourceGroups.ResourceGroup.0.Tags.Tag.0.TagValue") != "2" {
		t.Errorf("ListResourceGroups by tag = %v", got.Body)
	}
	if got := c.Do("ListTagResources", params{"ResourceType": "ResourceGroup", "Tag.1.Key": "b"}); got.Text("TagResources.0.ResourceId") != id {
		t.Errorf("ListTagResources by tag = %v", got.Body)
	}
	c.Do("UntagResources", tags.With(params{"All": "true"}))
	if gone := c.Do("DeleteResourceGroup", of); gone.Text("ResourceGroup.Status") != "PendingDelete" {
		t.Errorf("DeleteResourceGroup = %v", gone.Body)
	}
	if again := c.Call("GetResourceGroup", of); again.Code != "EntityNotExists.ResourceGroup" {
		t.Errorf("GetResourceGroup of a deleted group = %d %s", again.Status, again.Code)
	}
}

// A Name is an identifier and a DisplayName is not, also of groups for which a state or a
// world has one text alone.
func TestNames(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, plant, func(tx *state.Tx) error {
		account, err := kinds.Accounts.Get(tx.View, "1234567890123456")
		if err != nil {
			return err
		}
		old := *account
		old.DefaultResourceGroupID = "rg-old"
		kinds.Accounts.Put(tx, &old)
		kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: account.ID, ID: "rg-old", Name: "default resource group"})
		kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: account.ID, ID: "rg-older", Name: "older group"})
		return nil
	}), resourcemanager.Product(gateway.Deps{}))
	for id, want := range map[string][2]string{
		"rg-clbemu0default": {"default", "default resource group"}, "rg-team": {"team", "team"},
		"rg-old": {"default", "default resource group"}, "rg-older": {"rg-older", "older group"},
	} {
		got := c.Do("GetResourceGroup", params{"ResourceGroupId": id})
		if names := [2]string{got.Text("ResourceGroup.Name"), got.Text("ResourceGroup.DisplayName")}; names != want {
			t.Errorf("%s has the names %q, want %q", id, names, want)
		}
	}
	c.Do("UpdateResourceGroup", params{"ResourceGroupId": "rg-old", "NewDisplayName": "renamed"})
	if got := c.Do("GetResourceGroup", params{"ResourceGroupId": "rg-old"}); got.Text("ResourceGroup.Name") != "default" {
		t.Errorf("a renamed default group = %v", got.Body)
	}
}

// Each filter of ListResourceGroups selects among the account's own groups.
func TestListResourceGroups(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, plant), resourcemanager.Product(gateway.Deps{}))
	for _, f := range []struct {
		params params
		want   int
	}{
		{params{}, 3},
		{params{"PageSize": "1", "PageNumber": "2"}, 1},
		{params{"PageSize": "1", "PageNumber": "4"}, 0},
		{params{"Status": "OK"}, 3},
		{params{"Status": "Deleting"}, 0},
		{params{"Name": "team"}, 1},
		{params{"DisplayName": "team"}, 1},
		{params{"ResourceGroupId": "rg-team"}, 1},
		{params{"ResourceGroupIds.1": "rg-team", "ResourceGroupIds.2": "rg-foreign"}, 1},
		{params{"Tag.1.Key": "a"}, 0},
	} {
		if got := c.Do("ListResourceGroups", f.params).Len("ResourceGroups.ResourceGroup"); got != f.want {
			t.Errorf("ListResourceGroups(%v) = %d groups, want %d", f.params, got, f.want)
		}
	}
	if got := c.Do("GetResourceGroup", params{"ResourceGroupId": "rg-team"}); got.Text("ResourceGroup.Name") != "team" || got.Len("ResourceGroup.RegionStatuses.RegionStatus") < 10 {
		t.Errorf("GetResourceGroup = %v", got.Body)
	}
}
