package resourcemanager

import (
	"cmp"
	"slices"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var resourceGroupActions = []gateway.Action{
	gateway.Read("ListResourceGroups", listResourceGroups).Refusing(errStatusUnknown),
	gateway.Read("GetResourceGroup", getResourceGroup),
	gateway.Write("CreateResourceGroup", createResourceGroup).Refusing(errDisplayNameInvalid),
	gateway.Write("UpdateResourceGroup", updateResourceGroup).Refusing(errDisplayNameInvalid),
	gateway.Write("DeleteResourceGroup", deleteResourceGroup),
}

// Struct tags name it.
var errStatusUnknown = refusals.New("StatusUnknown", 400, "InvalidParameter.Status", "The specified parameter Status is not valid.", "CLB-0373")

// groupOK is the status of each group: clbemu has no stages for them.
const groupOK = "OK"

type listResourceGroupsRequest struct {
	PageNumber       int           `rpc:"PageNumber,default=1,min=1"`
	PageSize         int           `rpc:"PageSize,default=10,min=1,max=100"`
	Status           string        `rpc:"Status,enum=Creating|OK|PendingDelete|Deleting,invalid=StatusUnknown"`
	Name             string        `rpc:"Name"`
	DisplayName      string        `rpc:"DisplayName"`
	ResourceGroupID  string        `rpc:"ResourceGroupId"`
	ResourceGroupIDs []string      `rpc:"ResourceGroupIds,max=100"`
	Tags             []tagging.Tag `rpc:"Tag,max=20"`
	IncludeTags      bool          `rpc:"IncludeTags"`
}

type listResourceGroupsResponse struct {
	TotalCount     int                 `rpc:"TotalCount"`
	PageNumber     int                 `rpc:"PageNumber"`
	PageSize       int                 `rpc:"PageSize"`
	ResourceGroups []resourceGroupView `rpc:"ResourceGroups>ResourceGroup"`
}

type resourceGroupView struct {
	ID          string `rpc:"Id"`
	Name        string `rpc:"Name"`
	DisplayName string `rpc:"DisplayName"`
	AccountID   string `rpc:"AccountId"`
	Status      string `rpc:"Status"`
	CreateDate  string `rpc:"CreateDate,omitempty"`
	// Tags lists the tags, if a request has IncludeTags.
	Tags []tagging.Shown `rpc:"Tags>Tag,omitempty"`
}

func (view *resourceGroupView) includeTags(v *state.View) {
	view.Tags = tagging.ShownOf(v, kinds.TagResourceGroup, view.ID)
}

// listResourceGroups lists the account's groups that carry all the tags.
func listResourceGroups(v *state.View, req *listResourceGroupsRequest) (*listResourceGroupsResponse, error) {
	found := []resourceGroupView{}
	hasTags := tagging.Filter(v.In(groups(v)), kinds.TagResourceGroup, req.Tags)
	for g := range kinds.ResourceGroups.All(v) {
		if view := viewResourceGroup(v, g); g.AccountID == v.Scope().AccountID && req.matches(view) && hasTags(g.ID) {
			found = append(found, view)
		}
	}
	if req.IncludeTags {
		for i := range found {
			found[i].includeTags(v)
		}
	}
	slices.SortFunc(found, func(a, b resourceGroupView) int { return cmp.Compare(a.ID, b.ID) })
	return &listResourceGroupsResponse{TotalCount: len(found), PageNumber: req.PageNumber, PageSize: req.PageSize,
		ResourceGroups: listing.Page(found, req.PageNumber, req.PageSize)}, nil
}

func (r *listResourceGroupsRequest) matches(g resourceGroupView) bool {
	is := func(filter, value string) bool { return filter == "" || filter == value }
	return is(r.Status, groupOK) && is(r.Name, g.Name) && is(r.DisplayName, g.DisplayName) && is(r.ResourceGroupID, g.ID) &&
		(len(r.ResourceGroupIDs) == 0 || slices.Contains(r.ResourceGroupIDs, g.ID))
}

// viewResourceGroup shows a group. One of a world or a state with a single text for both
// its names shows that, and where it is no identifier, default or its id as Name:
// CLB-0527.
func viewResourceGroup(v *state.View, g *kinds.ResourceGroup) resourceGroupView {
	view := resourceGroupView{ID: g.ID, Name: g.Name, DisplayName: cmp.Or(g.DisplayName, g.Name), AccountID: g.AccountID, Status: groupOK}
	if !g.CreateTime.IsZero() {
		view.CreateDate = g.CreateTime.UTC().Format(time.RFC3339)
	}
	if g.DisplayName == "" && !identifier().MatchString(g.Name) {
		view.Name = g.ID
		if account, ok := kinds.Accounts.Find(v, g.AccountID); ok && account.DefaultResourceGroupID == g.ID {
			view.Name = "default"
		}
	}
	return view
}

type getResourceGroupRequest struct {
	ResourceGroupID string `rpc:"ResourceGroupId,required"`
	IncludeTags     bool   `rpc:"IncludeTags"`
}

type getResourceGroupResponse struct {
	ResourceGroup resourceGroupDetail `rpc:"ResourceGroup"`
}

// resourceGroupDetail is a group with the regions that offer it, which are all.
type resourceGroupDetail struct {
	resourceGroupView
	RegionStatuses []regionStatus `rpc:"RegionStatuses>RegionStatus"`
}

type regionStatus struct {
	RegionID string `rpc:"RegionId"`
	Status   string `rpc:"Status"`
}

func getResourceGroup(v *state.View, req *getResourceGroupRequest) (*getResourceGroupResponse, error) {
	g, err := kinds.ResourceGroups.Get(v, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	resp := &getResourceGroupResponse{detail(v, g, groupOK)}
	if req.IncludeTags {
		resp.ResourceGroup.includeTags(v)
	}
	return resp, nil
}

// detail shows a group with a status, which is the same one everywhere.
func detail(v *state.View, g *kinds.ResourceGroup, status string) resourceGroupDetail {
	d := resourceGroupDetail{resourceGroupView: viewResourceGroup(v, g)}
	d.Status = status
	for region := range kinds.Regions.All(v) {
		d.RegionStatuses = append(d.RegionStatuses, regionStatus{RegionID: region.ID, Status: status})
	}
	return d
}
