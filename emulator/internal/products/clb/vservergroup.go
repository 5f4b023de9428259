package clb

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var vServerGroupActions = []gateway.Action{
	change("CreateVServerGroup", createVServerGroup).Refusing(errBackendServersMalformed),
	change("DeleteVServerGroup", deleteVServerGroup),
	change("SetVServerGroupAttribute", setVServerGroupAttribute).Refusing(errBackendServersMalformed),
	change("AddVServerGroupBackendServers", addVServerGroupBackendServers).Refusing(errBackendServersMalformed),
	change("RemoveVServerGroupBackendServers", removeVServerGroupBackendServers).Refusing(errBackendServersMalformed),
	change("ModifyVServerGroupBackendServers", modifyVServerGroupBackendServers).Refusing(errBackendServersMalformed),
	gateway.Read("DescribeVServerGroups", describeVServerGroups),
	gateway.Read("DescribeVServerGroupAttribute", describeVServerGroupAttribute),
}

// The refusals of this file.
var (
	errBackendServersMalformed = refusals.New("BackendServersMalformed", 400, "BackendServersMalformed",
		"the specified parameter BackendServers is unavailable.", "CLB-0201")
	errBackendServersDuplicated = refusals.New("BackendServersDuplicated", 400, "InvalidParameter",
		"The specified BackendServers contain duplicated value of ServerID and Port.", "CLB-0200")
	errVServerGroupInUse = refusals.New("VServerGroupInUse", 400, "RspoolVipExist",
		"there are vips associating with this vServer group.", "CLB-0200")
	errVServerGroupNothingToSet = refusals.New("VServerGroupNothingToSet", 400, "MissingParameter",
		"The VServerGroupName or BackendServers is required at lease one.", "CLB-0200")
	errVServerGroupBusy = refusals.New("VServerGroupBusy", 400, "VServerGroupProcessing",
		"A previous configuration of the VServer group is pending; please try again later.", "CLB-0201")
	errVServerGroupInRule = refusals.New("VServerGroupInRule", 400, "RspoolRuleExist",
		"there are rules associating with this vServer group.", "CLB-0200")
)

type createVServerGroupRequest struct {
	RegionID         string               `rpc:"RegionId,required"`
	LoadBalancerID   string               `rpc:"LoadBalancerId,required"`
	VServerGroupName string               `rpc:"VServerGroupName,len=1..255"` // longer than documented: CLB-0124
	BackendServers   []backendServerParam `rpc:"BackendServers,json,invalid=BackendServersMalformed"`
	Tags             []tagging.Tag        `rpc:"Tag"`
}

func (req *createVServerGroupRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// Validate enforces the rules of shape.
func (req *createVServerGroupRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	return settleBackendServers(req.BackendServers, true)
}

type vServerGroupResponse struct {
	VServerGroupID string               `rpc:"VServerGroupId"`
	BackendServers []vServerGroupServer `rpc:"BackendServers>BackendServer"`
}

type vServerGroupServer struct {
	ServerID       string `rpc:"ServerId"`
	ServerIP       string `rpc:"ServerIp"`
	ServerRegionID string `rpc:"ServerRegionId"`
	Type           string `rpc:"Type"`
	Port           int    `rpc:"Port"`
	Weight         int    `rpc:"Weight"`
	VPCID          string `rpc:"VpcId"`
	Description    string `rpc:"Description,omitempty"`
}

func newVServerGroupResponse(v *state.View, g *kinds.VServerGroup) *vServerGroupResponse {
	return &vServerGroupResponse{VServerGroupID: g.ID, BackendServers: vServerGroupServers(v, g)}
}

func vServerGroupServers(v *state.View, g *kinds.VServerGroup) []vServerGroupServer {
	list := make([]vServerGroupServer, len(g.BackendServers))
	for i, m := range g.BackendServers {
		list[i] = vServerGroupServer{
			ServerID: m.ServerID, ServerIP: m.Address(v), ServerRegionID: g.RegionID, Type: string(m.Type),
			Port: m.Port, Weight: m.Weight, VPCID: serverVPC(v, m), Description: m.Description,
		}
	}
	return list
}

func createVServerGroup(tx *state.Tx, req *createVServerGroupRequest) (*vServerGroupResponse, error) {
	lb, err := kinds.LoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	g := &kinds.VServerGroup{
		Owner:          tx.Scope(),
		ID:             tx.NewID(kinds.VServerGroups.Kind()),
		Name:           req.VServerGroupName,
		LoadBalancerID: lb.ID,
		CreateTime:     tx.Now(),
	}
	if g.Name == "" {
		g.Name = g.ID
	}
	if err := join(tx.View, lb, g, req.BackendServers); err != nil {
		return nil, err
	}
	kinds.VServerGroups.Put(tx, g)
	tagging.Set(tx, kinds.TagVServerGroup, g.ID, req.Tags)
	return newVServerGroupResponse(tx.View, g), nil
}

// join adds servers to the group. What is a member already stays as it is:
// CLB-0121.
func join(v *state.View, lb *kinds.LoadBalancer, g *kinds.VServerGroup, list []backendServerParam) error {
	if err := checkDuplicates(list); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(s backendServerParam) bool {
		return indexOf(g.BackendServers, &s) >= 0
	})
	added, err := admit(v, lb, fresh)
	if err != nil {
		return err
	}
	if err := checkBackendQuotas(v, lb, added); err != nil {
		return err
	}
	members := slices.Concat(g.BackendServers, added)
	if err := checkAddresses(v, members); err != nil {
		return err
	}
	g.BackendServers = members
	return nil
}

func checkDuplicates(list []backendServerParam) error {
	type identity struct {
		id, ip gateway.Text
		port   gateway.Int
	}
	seen := make(map[identity]bool, len(list))
	for _, s := range list {
		is := identity{id: s.ServerID, port: s.Port}
		if s.Type != kinds.BackendServerECS {
			is.ip = s.ServerIP
		}
		if seen[is] {
			return errBackendServersDuplicated
		}
		seen[is] = true
	}
	return nil
}

type vServerGroupRequest struct {
	RegionID       string `rpc:"RegionId,required"`
	VServerGroupID string `rpc:"VServerGroupId,required"`
}

func (req *vServerGroupRequest) LoadBalancerOf(v *state.View) (string, error) {
	return owner(v, kinds.VServerGroups, req.VServerGroupID, func(g *kinds.VServerGroup) string { return g.LoadBalancerID })
}

func deleteVServerGroup(tx *state.Tx, req *vServerGroupRequest) (*gateway.Empty, error) {
	g, err := kinds.VServerGroups.Get(tx.View, req.VServerGroupID)
	if err != nil {
		return nil, err
	}
	if g.Activity == state.Busy {
		return nil, errVServerGroupBusy
	}
	if _, used := kinds.ListenersByVServerGroup.First(tx.View, g.ID); used {
		return nil, errVServerGroupInUse
	}
	if _, used := kinds.RulesByVServerGroup.First(tx.View, g.ID); used {
		return nil, errVServerGroupInRule
	}
	kinds.VServerGroups.Remove(tx, g.ID)
	return &gateway.Empty{}, nil
}

type vServerGroupBackendServersRequest struct {
	vServerGroupRequest
	BackendServers []backendServerParam `rpc:"BackendServers,json,required,invalid=BackendServersMalformed"`
}

// Validate enforces the rules of shape.
func (req *vServerGroupBackendServersRequest) Validate() error {
	if err := required(req.BackendServers); err != nil {
		return err
	}
	return settleBackendServers(req.BackendServers, true)
}

// editVServerGroup changes a group, which takes one call at a time, and passes its load
// balancer to the changes.
func editVServerGroup(tx *state.Tx, id string, changes ...func(*kinds.LoadBalancer, *kinds.VServerGroup) error) (*kinds.VServerGroup, error) {
	for i, change := range changes {
		err := kinds.VServerGroups.Edit(tx, id, func(g *kinds.VServerGroup) error {
			lb, err := kinds.LoadBalancers.Get(tx.View, g.LoadBalancerID)
			switch {
			case err != nil:
				return err
			case i == 0 && g.Activity == state.Busy:
				return errVServerGroupBusy
			}
			return change(lb, g)
		})
		if err != nil {
			return nil, err
		}
	}
	state.Enter(tx, kinds.StageVServerGroupProcessing, id)
	return kinds.VServerGroups.Get(tx.View, id)
}

func addVServerGroupBackendServers(tx *state.Tx, req *vServerGroupBackendServersRequest) (*vServerGroupResponse, error) {
	g, err := editVServerGroup(tx, req.VServerGroupID, func(lb *kinds.LoadBalancer, g *kinds.VServerGroup) error {
		return join(tx.View, lb, g, req.BackendServers)
	})
	if err != nil {
		return nil, err
	}
	return newVServerGroupResponse(tx.View, g), nil
}

func removeVServerGroupBackendServers(tx *state.Tx, req *vServerGroupBackendServersRequest) (*vServerGroupResponse, error) {
	g, err := editVServerGroup(tx, req.VServerGroupID, func(_ *kinds.LoadBalancer, g *kinds.VServerGroup) error {
		if err := checkReleased(tx.View, g.BackendServers, req.BackendServers); err != nil {
			return err
		}
		g.BackendServers = without(g.BackendServers, req.BackendServers)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newVServerGroupResponse(tx.View, g), nil
}

type modifyVServerGroupBackendServersRequest struct {
	vServerGroupRequest
	OldBackendServers []backendServerParam `rpc:"OldBackendServers,json,invalid=BackendServersMalformed"`
	NewBackendServers []backendServerParam `rpc:"NewBackendServers,json,invalid=BackendServersMalformed"`
}

// Validate enforces the rules of shape; neither list may be empty.
func (req *modifyVServerGroupBackendServersRequest) Validate() error {
	switch {
	case len(req.OldBackendServers) == 0:
		return gateway.Missing("OldBackendServers")
	case len(req.NewBackendServers) == 0:
		return gateway.Missing("NewBackendServers")
	}
	if err := settleBackendServers(req.OldBackendServers, true); err != nil {
		return err
	}
	return settleBackendServers(req.NewBackendServers, true)
}

// modifyVServerGroupBackendServers takes the old servers out before the new ones
// come in, so that a client can exchange a full group.
func modifyVServerGroupBackendServers(tx *state.Tx, req *modifyVServerGroupBackendServersRequest) (*vServerGroupResponse, error) {
	shrink := func(_ *kinds.LoadBalancer, g *kinds.VServerGroup) error {
		g.BackendServers = without(g.BackendServers, req.OldBackendServers)
		return nil
	}
	grow := func(lb *kinds.LoadBalancer, g *kinds.VServerGroup) error {
		return join(tx.View, lb, g, req.NewBackendServers)
	}
	g, err := editVServerGroup(tx, req.VServerGroupID, shrink, grow)
	if err != nil {
		return nil, err
	}
	return newVServerGroupResponse(tx.View, g), nil
}

type setVServerGroupAttributeRequest struct {
	vServerGroupRequest
	VServerGroupName string               `rpc:"VServerGroupName,len=1..255"`
	BackendServers   []backendServerParam `rpc:"BackendServers,json,invalid=BackendServersMalformed"`
}

// Validate enforces the rules of shape.
func (req *setVServerGroupAttributeRequest) Validate() error {
	if req.VServerGroupName == "" && len(req.BackendServers) == 0 {
		return errVServerGroupNothingToSet
	}
	return settleBackendServers(req.BackendServers, true)
}

type setVServerGroupAttributeResponse struct {
	VServerGroupID   string               `rpc:"VServerGroupId"`
	VServerGroupName string               `rpc:"VServerGroupName"`
	BackendServers   []vServerGroupServer `rpc:"BackendServers>BackendServer"`
}

func setVServerGroupAttribute(tx *state.Tx, req *setVServerGroupAttributeRequest) (*setVServerGroupAttributeResponse, error) {
	g, err := editVServerGroup(tx, req.VServerGroupID, func(_ *kinds.LoadBalancer, g *kinds.VServerGroup) error {
		if req.VServerGroupName != "" {
			g.Name = req.VServerGroupName
		}
		g.BackendServers = reweighted(g.BackendServers, req.BackendServers)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &setVServerGroupAttributeResponse{g.ID, g.Name, vServerGroupServers(tx.View, g)}, nil
}

type describeVServerGroupsRequest struct {
	RegionID        string           `rpc:"RegionId,required"`
	LoadBalancerID  string           `rpc:"LoadBalancerId,required"`
	IncludeRule     bool             `rpc:"IncludeRule"`
	IncludeListener bool             `rpc:"IncludeListener"`
	Tags            []tagFilterParam `rpc:"Tag,max=20"`
	Description     string           `rpc:"Description"`
}

type describeVServerGroupsResponse struct {
	VServerGroups []vServerGroupItem `rpc:"VServerGroups>VServerGroup"`
}

type vServerGroupItem struct {
	VServerGroupID     string            `rpc:"VServerGroupId"`
	VServerGroupName   string            `rpc:"VServerGroupName"`
	ServerCount        int64             `rpc:"ServerCount"`
	ServiceManagedMode string            `rpc:"ServiceManagedMode"`
	CreateTime         string            `rpc:"CreateTime"`
	AssociatedObjects  associatedObjects `rpc:"AssociatedObjects"`
	Tags               []tagging.Shown   `rpc:"Tags>Tag"`
}

// associatedObjects lists the listeners and rules that forward to a group, as far as
// the call asked for them.
type associatedObjects struct {
	Listeners []associatedListener `rpc:"Listeners>Listener"`
	Rules     []ruleView           `rpc:"Rules>Rule"`
}

type associatedListener struct {
	Port     int    `rpc:"Port"`
	Protocol string `rpc:"Protocol"`
}

func describeVServerGroups(v *state.View, req *describeVServerGroupsRequest) (*describeVServerGroupsResponse, error) {
	if _, err := kinds.LoadBalancers.Get(v, req.LoadBalancerID); err != nil {
		return nil, err
	}
	resp := &describeVServerGroupsResponse{}
	for g := range kinds.VServerGroupsByLoadBalancer.List(v, req.LoadBalancerID) {
		if !strings.Contains(g.Name, req.Description) || !state.HasTags(v, kinds.TagVServerGroup, g.ID, tagFilters(req.Tags)) {
			continue
		}
		item := vServerGroupItem{
			VServerGroupID:     g.ID,
			VServerGroupName:   g.Name,
			ServerCount:        int64(len(g.BackendServers)),
			ServiceManagedMode: unmanaged,
			CreateTime:         gateway.Second(g.CreateTime),
			Tags:               tagging.ShownOf(v, kinds.TagVServerGroup, g.ID),
		}
		if req.IncludeListener {
			for l := range kinds.ListenersByVServerGroup.List(v, g.ID) {
				item.AssociatedObjects.Listeners = append(item.AssociatedObjects.Listeners,
					associatedListener{l.Port, string(l.Protocol)})
			}
		}
		if req.IncludeRule {
			for r := range kinds.RulesByVServerGroup.List(v, g.ID) {
				item.AssociatedObjects.Rules = append(item.AssociatedObjects.Rules, viewRule(v, r))
			}
		}
		resp.VServerGroups = append(resp.VServerGroups, item)
	}
	return resp, nil
}

type describeVServerGroupAttributeResponse struct {
	VServerGroupID     string               `rpc:"VServerGroupId"`
	VServerGroupName   string               `rpc:"VServerGroupName"`
	LoadBalancerID     string               `rpc:"LoadBalancerId"`
	ServiceManagedMode string               `rpc:"ServiceManagedMode"`
	CreateTime         string               `rpc:"CreateTime"`
	BackendServers     []vServerGroupServer `rpc:"BackendServers>BackendServer"`
	Tags               []tagging.Shown      `rpc:"Tags>Tag"`
}

func describeVServerGroupAttribute(v *state.View, req *vServerGroupRequest) (*describeVServerGroupAttributeResponse, error) {
	g, err := kinds.VServerGroups.Get(v, req.VServerGroupID)
	if err != nil {
		return nil, err
	}
	return &describeVServerGroupAttributeResponse{
		VServerGroupID:     g.ID,
		VServerGroupName:   g.Name,
		LoadBalancerID:     g.LoadBalancerID,
		ServiceManagedMode: unmanaged,
		CreateTime:         gateway.Second(g.CreateTime),
		BackendServers:     vServerGroupServers(v, g),
		Tags:               tagging.ShownOf(v, kinds.TagVServerGroup, g.ID),
	}, nil
}
