package vpc

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var routeTableActions = []gateway.Action{
	gateway.Write("CreateRouteTable", createRouteTable),
	gateway.Write("DeleteRouteTable", deleteRouteTable).Refusing(errRouteTableIDMissing),
	gateway.Read("DescribeRouteTableList", describeRouteTableList),
}

// The refusals of this file.
var (
	errRouteTableIDMissing = refusals.New("RouteTableIDMissing", 400, "MissingParam.RouteTableId",
		"The param of RouteTableId is missing.", "CLB-0300")
	errRouteTableNameMalformed = refusals.New("RouteTableNameMalformed", 400, "InvalidParameter.RouteTableName.Malformed",
		"The specified route table name is not valid.", "CLB-0300")
	errRouteTableDescriptionMalformed = refusals.New("RouteTableDescriptionMalformed", 400, "InvalidParameter.Description.Malformed",
		"The specified Description is not valid.", "CLB-0300")
	errRouteTableIsSystem = refusals.New("RouteTableIsSystem", 400, "IncorrectRouteTableType",
		"Route table can be deleted by this action only when it's type is custom.", "CLB-0300")
	errRouteTableHasEntries = refusals.New("RouteTableHasEntries", 400, "IncorrectRouteTableStatus.RouteEntryExist",
		"You cannot delete the specified route table because it still has custom route entry.", "CLB-0300")
	errRouteTableAssociated = refusals.New("RouteTableAssociated", 404, "IncorrectRouteTableStatus",
		"The current status of the route table does not support this operation.", "CLB-0300")
)

type createRouteTableRequest struct {
	tagged
	RegionID    string `rpc:"RegionId,required"`
	VPCID       string `rpc:"VpcId,required"`
	Name        string `rpc:"RouteTableName,len=1..128,invalid=RouteTableNameMalformed"`
	Description string `rpc:"Description,len=1..256,invalid=RouteTableDescriptionMalformed"`
	ClientToken string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createRouteTableRequest) Validate() error {
	if err := plainText(r.Name, errRouteTableNameMalformed); err != nil {
		return err
	}
	if err := plainText(r.Description, errRouteTableDescriptionMalformed); err != nil {
		return err
	}
	return r.check()
}

type createRouteTableResponse struct {
	RouteTableID string `rpc:"RouteTableId"`
}

func createRouteTable(tx *state.Tx, req *createRouteTableRequest) (*createRouteTableResponse, error) {
	id, err := state.Once(tx, "CreateRouteTable", req.ClientToken, req, kinds.RouteTables, func() (string, error) {
		return putCustomRouteTable(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createRouteTableResponse{RouteTableID: id}, nil
}

func putCustomRouteTable(tx *state.Tx, req *createRouteTableRequest) (string, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return "", err
	}
	if err := tx.Use(kinds.QuotaRouteTables, vpc.ID, 1); err != nil {
		return "", err
	}
	id := putRouteTable(tx, vpc, &kinds.RouteTable{
		Type:        kinds.RouteTableCustom,
		Name:        req.Name,
		Description: req.Description,
	})
	req.set(tx, kinds.TagRouteTable, id)
	return id, nil
}

// putRouteTable adds the table to the VPC with the system entries that every
// table of the VPC has: to the cloud's services, and to each vSwitch; evidence
// CLB-0311.
func putRouteTable(tx *state.Tx, vpc *kinds.VPC, t *kinds.RouteTable) string {
	t.Owner = vpc.Owner
	t.ID = tx.NewID(kinds.RouteTables.Kind())
	t.VPCID = vpc.ID
	t.VRouterID = vpc.VRouterID
	t.ResourceGroupID = vpc.ResourceGroupID
	t.CreateTime = tx.Now()
	kinds.RouteTables.Put(tx, t)
	kinds.AddSystemRoute(tx, t, kinds.ServiceBlock)
	for s := range kinds.VSwitchesByVPC.List(tx.View, vpc.ID) {
		kinds.AddSystemRoute(tx, t, s.CIDRBlock)
	}
	return t.ID
}

// systemRouteTable returns the id of the VPC's first table.
func systemRouteTable(v *state.View, vpcID string) string {
	for t := range kinds.RouteTablesByVPC.List(v, vpcID) {
		if t.Type == kinds.RouteTableSystem {
			return t.ID
		}
	}
	return ""
}

type deleteRouteTableRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	RouteTableID string `rpc:"RouteTableId,required,missing=RouteTableIDMissing"`
}

func deleteRouteTable(tx *state.Tx, req *deleteRouteTableRequest) (*gateway.Empty, error) {
	t, err := kinds.RouteTables.Get(tx.View, req.RouteTableID)
	if err != nil {
		return nil, err
	}
	if t.Type == kinds.RouteTableSystem {
		return nil, errRouteTableIsSystem
	}
	if customEntries(tx.View, t.ID) > 0 {
		return nil, errRouteTableHasEntries
	}
	for s := range kinds.VSwitchesByVPC.List(tx.View, t.VPCID) {
		if s.RouteTableID == t.ID {
			return nil, errRouteTableAssociated
		}
	}
	kinds.RouteTables.Remove(tx, t.ID)
	return &gateway.Empty{}, nil
}

type describeRouteTableListRequest struct {
	listing.ByNumber
	tagged
	RegionID        string `rpc:"RegionId,required"`
	RouterType      string `rpc:"RouterType,default=VRouter,enum=VRouter|VBR"`
	RouterID        string `rpc:"RouterId"`
	VPCID           string `rpc:"VpcId"`
	RouteTableID    string `rpc:"RouteTableId"`
	Name            string `rpc:"RouteTableName"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	RouteTableType  string `rpc:"RouteTableType,enum=System|Custom"`
}

type describeRouteTableListResponse struct {
	listing.Numbered
	Code        string           `rpc:"Code"`
	Success     bool             `rpc:"Success"`
	RouteTables []routeTableView `rpc:"RouterTableList>RouterTableListType"`
}

type routeTableView struct {
	RouteTableID           string        `rpc:"RouteTableId"`
	RouteTableType         string        `rpc:"RouteTableType"`
	Name                   string        `rpc:"RouteTableName"`
	Description            string        `rpc:"Description"`
	VPCID                  string        `rpc:"VpcId"`
	RouterID               string        `rpc:"RouterId"`
	RouterType             string        `rpc:"RouterType"`
	Status                 string        `rpc:"Status"`
	AssociateType          string        `rpc:"AssociateType"`
	VSwitchIDs             []string      `rpc:"VSwitchIds>VSwitchId"`
	RoutePropagationEnable bool          `rpc:"RoutePropagationEnable"`
	ResourceGroupID        string        `rpc:"ResourceGroupId"`
	OwnerID                int64         `rpc:"OwnerId"`
	CreationTime           string        `rpc:"CreationTime"`
	Tags                   []tagging.Tag `rpc:"Tags>Tag"`
}

func describeRouteTableList(v *state.View, req *describeRouteTableListRequest) (*describeRouteTableListResponse, error) {
	hasTags := req.filter(v, kinds.TagRouteTable)
	found := listing.Pick(kinds.RouteTablesByRegion.InScope(v), func(t *kinds.RouteTable) bool {
		return req.matches(t) && hasTags(t.ID)
	})
	tables, page := listing.Number(found, req.PageNumber, req.PageSize)
	// Terraform takes a reply with another code for a failure; evidence CLB-0315.
	return &describeRouteTableListResponse{Numbered: page, Code: "200", Success: true, RouteTables: listing.Views(v, tables, viewRouteTable)}, nil
}

// matches: only VPCs have routers, so the routers of physical
// connections (VBR) have no tables.
func (r *describeRouteTableListRequest) matches(t *kinds.RouteTable) bool {
	return r.RouterType == "VRouter" &&
		listing.Matches(r.RouterID, t.VRouterID) &&
		listing.Matches(r.VPCID, t.VPCID) &&
		listing.Matches(r.RouteTableID, t.ID) &&
		listing.Matches(r.Name, t.Name) &&
		listing.Matches(r.ResourceGroupID, t.ResourceGroupID) &&
		listing.Matches(r.RouteTableType, string(t.Type))
}

func viewRouteTable(v *state.View, t *kinds.RouteTable) routeTableView {
	view := routeTableView{
		RouteTableID:           t.ID,
		RouteTableType:         string(t.Type),
		Name:                   t.Name,
		Description:            t.Description,
		VPCID:                  t.VPCID,
		RouterID:               t.VRouterID,
		RouterType:             "VRouter",
		Status:                 statusAvailable,
		AssociateType:          "VSwitch",
		RoutePropagationEnable: !t.PropagationDisabled,
		ResourceGroupID:        t.ResourceGroupID,
		OwnerID:                ownerID(t.AccountID),
		CreationTime:           gateway.Second(t.CreateTime),
		Tags:                   tagging.Of(v, kinds.TagRouteTable, t.ID),
	}
	for s := range kinds.VSwitchesByVPC.List(v, t.VPCID) {
		if s.RouteTableID == t.ID {
			view.VSwitchIDs = append(view.VSwitchIDs, s.ID)
		}
	}
	return view
}
