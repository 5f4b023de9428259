package resourcemanager_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/resourcemanager"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

type params = gatewaytest.Params

// plant adds a group of the account, and one of another.
func plant(tx *state.Tx) error {
	if err := world.Default().Plant(tx); err != nil {
		return err
	}
	cloud.ResourceGroups.Put(tx, &cloud.ResourceGroup{AccountID: "1234567890123456", ID: "rg-team", Name: "team"})
	cloud.ResourceGroups.Put(tx, &cloud.ResourceGroup{AccountID: "1", ID: "rg-foreign", Name: "foreign"})
	return nil
}

// The action tables are those of the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	gatewaytest.MatchActions(t, resourcemanager.Product(gateway.Deps{}), "testdata/actions.json", map[string]string{
		"ListResourceGroups.IncludeTags":                                    "groups carry no tags",
		"GetResourceGroup.IncludeTags":                                      "groups carry no tags",
		"ListResourceGroups->ResourceGroups.ResourceGroup[].Tags":           "groups carry no tags",
		"GetResourceGroup->ResourceGroup.Tags":                              "groups carry no tags",
		"ListResourceGroups->ResourceGroups.ResourceGroup[].CreateDate":     "the world does not say when a group was made",
		"GetResourceGroup->ResourceGroup.CreateDate":                        "the world does not say when a group was made",
		"ListResourceGroups->ResourceGroups.ResourceGroup[].RegionStatuses": "only the detail of a group has them",
		"ListResourceGroups->ResourceGroupListAclMode":                      "who may see which group is not emulated",
	})
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) {
	gatewaytest.MatchTags(t, resourcemanager.Product(gateway.Deps{}))
}

// Every refusal comes about.
func TestErrors(t *testing.T) {
	gatewaytest.MatchErrors(t, resourcemanager.Product(gateway.Deps{}), plant, []gatewaytest.ErrorCase{
		{Name: "Status", Action: "ListResourceGroups", Params: params{"Status": "Happy"}, Status: 400, Code: "InvalidParameter.Status"},
		{Name: "PageSize", Action: "ListResourceGroups", Params: params{"PageSize": "101"}, Status: 400, Code: "InvalidPageSize"},
		{Name: "Unknown", Action: "GetResourceGroup", Params: params{"ResourceGroupId": "rg-none"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
		{Name: "Foreign", Action: "GetResourceGroup", Params: params{"ResourceGroupId": "rg-foreign"}, Status: 404, Code: "EntityNotExists.ResourceGroup"},
	})
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
	if got := c.Do("GetResourceGroup", params{"ResourceGroupId": "rg-team"}); got.Text("ResourceGroup.Name") != "team" || got.Len("ResourceGroup.RegionStatuses.RegionStatus") != 2 {
		t.Errorf("GetResourceGroup = %v", got.Body)
	}
}
