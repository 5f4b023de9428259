package resourcemanager

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/gateway/listing"
	"github.com/clbemu/clbemu/emulator/gateway/tagging"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

var resourceGroupActions = []gateway.Action{
	gateway.Read("ListResourceGroups", listResourceGroups),
	gateway.Read("GetResourceGroup", getResourceGroup),
}

// It is asked for by tags.
var _ = refusals.New("StatusUnknown", 400, "InvalidParameter.Status", "The specified parameter Status is not valid.", "CLB-0373")

// groupOK is the status of each group: none is being made or deleted here.
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
}

// listResourceGroups lists the account's groups. They carry no tags.
func listResourceGroups(v *state.View, req *listResourceGroupsRequest) (*listResourceGroupsResponse, error) {
	found := []resourceGroupView{}
	for g := range cloud.ResourceGroups.All(v) {
		if g.AccountID == v.Scope().AccountID && req.matches(g) {
			found = append(found, viewResourceGroup(g))
		}
	}
	slices.SortFunc(found, func(a, b resourceGroupView) int { return cmp.Compare(a.ID, b.ID) })
	return &listResourceGroupsResponse{TotalCount: len(found), PageNumber: req.PageNumber, PageSize: req.PageSize,
		ResourceGroups: listing.Page(found, req.PageNumber, req.PageSize)}, nil
}

func (r *listResourceGroupsRequest) matches(g *cloud.ResourceGroup) bool {
	is := func(filter, value string) bool { return filter == "" || filter == value }
	return is(r.Status, groupOK) && is(r.Name, g.Name) && is(r.DisplayName, g.Name) && is(r.ResourceGroupID, g.ID) &&
		(len(r.ResourceGroupIDs) == 0 || slices.Contains(r.ResourceGroupIDs, g.ID)) && len(r.Tags) == 0
}

func viewResourceGroup(g *cloud.ResourceGroup) resourceGroupView {
	return resourceGroupView{ID: g.ID, Name: g.Name, DisplayName: g.Name, AccountID: g.AccountID, Status: groupOK}
}

type getResourceGroupRequest struct {
	ResourceGroupID string `rpc:"ResourceGroupId,required"`
}

type getResourceGroupResponse struct {
	ResourceGroup resourceGroupDetail `rpc:"ResourceGroup"`
}

// resourceGroupDetail is a group with where it can be used: in every region.
type resourceGroupDetail struct {
	resourceGroupView
	RegionStatuses []regionStatus `rpc:"RegionStatuses>RegionStatus"`
}

type regionStatus struct {
	RegionID string `rpc:"RegionId"`
	Status   string `rpc:"Status"`
}

func getResourceGroup(v *state.View, req *getResourceGroupRequest) (*getResourceGroupResponse, error) {
	g, err := cloud.ResourceGroups.Get(v, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	detail := resourceGroupDetail{resourceGroupView: viewResourceGroup(g)}
	for region := range cloud.Regions.All(v) {
		detail.RegionStatuses = append(detail.RegionStatuses, regionStatus{RegionID: region.ID, Status: groupOK})
	}
	return &getResourceGroupResponse{ResourceGroup: detail}, nil
}
