package nlb

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var serverGroupActions = []gateway.Action{
	changes.ByJob(changing, "CreateServerGroup", createServerGroup, ofServerGroupJob).
		Refusing(errDrainTimeoutIllegal, errGroupNameIllegal, errHealthCheckDomainIllegal, errHealthCheckURLIllegal),
	changes.ByJob(changing, "UpdateServerGroupAttribute", updateServerGroupAttribute, ofServerGroupJob).
		Refusing(errDrainTimeoutIllegal, errGroupNameIllegal, errHealthCheckDomainIllegal, errHealthCheckURLIllegal),
	changes.ByJob(changing, "DeleteServerGroup", deleteServerGroup, ofServerGroupJob),
	gateway.Read("ListServerGroups", listServerGroups),
}

// The refusals of this file.
var (
	errGroupNameIllegal = refusals.New("GroupNameIllegal", 400, "IllegalParam.ServerGroupName",
		"The param of ServerGroupName is illegal.", "NLB-0001")
	errDrainTimeoutIllegal = refusals.New("DrainTimeoutIllegal", 400, "IllegalParam.ConnectionDrainTimeout",
		"The param of ConnectionDrainTimeout is illegal.", "NLB-0001")
	errVPCWithoutIPv6 = refusals.New("VPCWithoutIPv6", 400, "OperationDenied.VpcNotSupportIpv6",
		"The operation is not allowed because of VpcNotSupportIpv6.", "NLB-0001")
	errPreserveClientIP = refusals.New("PreserveClientIP", 400, "IllegalParam.PreserveClientIpSwitch",
		"The server group associated with the tcpssl listener does not support enabling PreserveClientIp.", "NLB-0001")
	errGroupBusy = refusals.New("GroupBusy", 400, "IncorrectStatus.serverGroup",
		"The status of servergroup [%s] is incorrect.", "NLB-0001").
		In(400, "OperationFailed.ResourceIsConfiguring", "The operation failed because of ResourceIsConfiguring.", "NLB-0038",
			"AddServersToServerGroup")
	errGroupInUse = refusals.New("GroupInUse", 400, "ResourceInUse.ServerGroup",
		"The specified resource of ServerGroup is in use.", "NLB-0001")
	errServerGroupNameMissing = missing("ServerGroupName")
)

type serverGroupJob struct {
	JobID         string `rpc:"JobId"`
	ServerGroupID string `rpc:"ServerGroupId"`
}

// ofServerGroupJob answers with a job and the group that it is about.
func ofServerGroupJob(job *kinds.Job) *serverGroupJob { return &serverGroupJob{job.ID, job.ResourceID} }

// serverGroupSettings holds a group's changeable settings.
type serverGroupSettings struct {
	ServerGroupName         string `rpc:"ServerGroupName,len=2..128,form=letterFirst,invalid=GroupNameIllegal"`
	Scheduler               string `rpc:"Scheduler,words=Wrr|Wlc|Rr|Sch|Tch|Qch,invalid=Illegal"`
	IPVersionAffinityMode   string `rpc:"IpVersionAffinityMode,enum=Affinity|NonAffinity,invalid=Illegal"`
	PreserveClientIPEnabled *bool  `rpc:"PreserveClientIpEnabled"`
	ConnectionDrainEnabled  *bool  `rpc:"ConnectionDrainEnabled"`
	ConnectionDrainTimeout  *int   `rpc:"ConnectionDrainTimeout,min=0,max=900,invalid=DrainTimeoutIllegal"`
	healthCheckSettings
}

// defaultDrainTimeout applies to a group that drains and never had a timeout: NLB-0033.
const defaultDrainTimeout = 10

// apply puts the given settings into a group, which must then be as groups can be.
func (s *serverGroupSettings) apply(g *kinds.NLBServerGroup) error {
	if s.ServerGroupName != "" {
		g.Name = s.ServerGroupName
	}
	if s.Scheduler != "" {
		g.Scheduler = s.Scheduler
		if g.Scheduler == "Qch" && g.Protocol != kinds.NLBUDP {
			return errIllegal.Of("Scheduler")
		}
	}
	if s.IPVersionAffinityMode != "" {
		g.IPVersionAffinityMode = s.IPVersionAffinityMode
	}
	set(&g.PreserveClientIPEnabled, s.PreserveClientIPEnabled)
	set(&g.ConnectionDrainEnabled, s.ConnectionDrainEnabled)
	set(&g.ConnectionDrainTimeout, s.ConnectionDrainTimeout)
	if g.ConnectionDrainEnabled && s.ConnectionDrainEnabled != nil && s.ConnectionDrainTimeout == nil && g.ConnectionDrainTimeout == 0 {
		g.ConnectionDrainTimeout = defaultDrainTimeout
	}
	return s.healthCheckSettings.apply(g)
}

// set takes over the given values.
func set[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

type createServerGroupRequest struct {
	changes.Order
	tagged
	serverGroupSettings
	ServerGroupType  string `rpc:"ServerGroupType,default=Instance,words=Instance|Ip,invalid=Illegal"`
	VPCID            string `rpc:"VpcId,required"`
	Protocol         string `rpc:"Protocol,default=TCP,words=TCP|UDP|TCPSSL|TCP_UDP,invalid=Illegal"`
	AddressIPVersion string `rpc:"AddressIPVersion,default=Ipv4,words=Ipv4|DualStack,invalid=Illegal"`
	AnyPortEnabled   bool   `rpc:"AnyPortEnabled"`
	ResourceGroupID  string `rpc:"ResourceGroupId"`
}

// Validate enforces the rules of shape.
func (req *createServerGroupRequest) Validate() error {
	switch {
	case req.ServerGroupName == "":
		return errServerGroupNameMissing
	case req.HTTPMethod != nil && *req.HTTPMethod == "": // NLB-0048
		return errIllegal.Of("HttpCheckMethod")
	}
	return req.check()
}

// createServerGroup creates a group. One for TLS does not preserve the client's address
// by default, and a call that asks for it fails: NLB-0025.
func createServerGroup(tx *state.Tx, req *createServerGroupRequest) (*changes.Work, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return nil, err
	}
	resourceGroup, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	if req.AddressIPVersion == dualStack && vpc.IPv6CIDRBlock == "" {
		return nil, errVPCWithoutIPv6
	}
	g := &kinds.NLBServerGroup{
		CreateTime: tx.Now(),
		Owner:      tx.Scope(), ID: tx.NewID(kinds.NLBServerGroups.Kind()), Type: req.ServerGroupType, Protocol: req.Protocol, VPCID: vpc.ID,
		Status: kinds.NLBGroupCreating, AddressIPVersion: req.AddressIPVersion, Scheduler: "Wrr", AnyPortEnabled: req.AnyPortEnabled,
		PreserveClientIPEnabled: req.Protocol != kinds.NLBTCPSSL, HealthCheck: newHealthCheck(req.Protocol), ResourceGroupID: resourceGroup,
	}
	if g.AddressIPVersion == dualStack {
		g.IPVersionAffinityMode = "NonAffinity"
	}
	if err := req.apply(g); err != nil {
		return nil, err
	}
	if err := tx.Use(kinds.QuotaNLBServerGroups, tx.Scope().RegionID, 1); err != nil {
		return nil, err
	}
	return &changes.Work{ResourceType: "servergroup", ResourceID: g.ID, Do: func() error {
		kinds.NLBServerGroups.Put(tx, g)
		req.set(tx, kinds.TagNLBServerGroup, g.ID)
		state.Enter(tx, kinds.StageNLBGroupCreating, g.ID)
		return nil
	}}, nil
}

// availableGroup returns a group that takes a change now.
func availableGroup(v *state.View, id string) (*kinds.NLBServerGroup, error) {
	g, err := kinds.NLBServerGroups.Get(v, id)
	if err == nil && g.Status != kinds.NLBGroupAvailable {
		err = errGroupBusy.Of(id)
	}
	return g, err
}

// regroup returns the work that stores a changed group.
func regroup(tx *state.Tx, g *kinds.NLBServerGroup) *changes.Work {
	return &changes.Work{ResourceType: "servergroup", ResourceID: g.ID, Do: func() error {
		kinds.NLBServerGroups.Put(tx, g)
		state.Enter(tx, kinds.StageNLBGroupConfiguring, g.ID)
		return nil
	}}
}

type updateServerGroupAttributeRequest struct {
	changes.Order
	ServerGroupID string `rpc:"ServerGroupId,required"`
	serverGroupSettings
}

func updateServerGroupAttribute(tx *state.Tx, req *updateServerGroupAttributeRequest) (*changes.Work, error) {
	g, err := availableGroup(tx.View, req.ServerGroupID)
	if err != nil {
		return nil, err
	}
	changed := *g
	if err := req.apply(&changed); err != nil {
		return nil, err
	}
	for l := range kinds.NLBListenersByServerGroup.List(tx.View, g.ID) {
		if l.Protocol == kinds.NLBTCPSSL && changed.PreserveClientIPEnabled {
			return nil, errPreserveClientIP
		}
	}
	return regroup(tx, &changed), nil
}

type serverGroupRequest struct {
	changes.Order
	ServerGroupID string `rpc:"ServerGroupId,required"`
}

func deleteServerGroup(tx *state.Tx, req *serverGroupRequest) (*changes.Work, error) {
	g, err := availableGroup(tx.View, req.ServerGroupID)
	if err != nil {
		return nil, err
	}
	if _, used := kinds.NLBListenersByServerGroup.First(tx.View, g.ID); used {
		return nil, errGroupInUse
	}
	return removing(tx, "servergroup", kinds.NLBServerGroups, g.ID), nil
}

type listServerGroupsRequest struct {
	fewTagsRequest
	ServerGroupIDs   []string `rpc:"ServerGroupIds,max=20,invalid=Illegal"`
	ServerGroupNames []string `rpc:"ServerGroupNames,max=20,invalid=Illegal"`
	ServerGroupType  string   `rpc:"ServerGroupType"`
	ResourceGroupID  string   `rpc:"ResourceGroupId"`
	VPCID            string   `rpc:"VpcId"`
}

type listServerGroupsResponse struct {
	ServerGroups []serverGroup `rpc:"ServerGroups"`
	listing.Paging
}

type serverGroup struct {
	ServerGroupID           string        `rpc:"ServerGroupId"`
	ServerGroupName         string        `rpc:"ServerGroupName"`
	ServerGroupType         string        `rpc:"ServerGroupType"`
	ServerGroupStatus       string        `rpc:"ServerGroupStatus"`
	Protocol                string        `rpc:"Protocol"`
	RegionID                string        `rpc:"RegionId"`
	VPCID                   string        `rpc:"VpcId"`
	AddressIPVersion        string        `rpc:"AddressIPVersion"`
	IPVersionAffinityMode   string        `rpc:"IpVersionAffinityMode,omitempty"`
	Scheduler               string        `rpc:"Scheduler"`
	AnyPortEnabled          bool          `rpc:"AnyPortEnabled"`
	PreserveClientIPEnabled bool          `rpc:"PreserveClientIpEnabled"`
	ConnectionDrainEnabled  bool          `rpc:"ConnectionDrainEnabled"`
	ConnectionDrainTimeout  int           `rpc:"ConnectionDrainTimeout"`
	ResourceGroupID         string        `rpc:"ResourceGroupId"`
	ServerCount             int           `rpc:"ServerCount"`
	RelatedLoadBalancerIDs  []string      `rpc:"RelatedLoadBalancerIds"`
	HealthCheck             healthCheck   `rpc:"HealthCheck"`
	AliUID                  int           `rpc:"AliUid"`
	Tags                    []tagging.Tag `rpc:"Tags"`
}

// listServerGroups takes those that have all the tags.
func listServerGroups(v *state.View, req *listServerGroupsRequest) (*listServerGroupsResponse, error) {
	part, page, err := req.part(v, func(g *kinds.NLBServerGroup) string { return kinds.Newest(g.CreateTime) + "/" + g.ID })
	if err != nil {
		return nil, err
	}
	return &listServerGroupsResponse{Paging: page, ServerGroups: listing.Views(v, part, newServerGroup)}, nil
}

func (req *listServerGroupsRequest) part(v *state.View, place func(*kinds.NLBServerGroup) string) ([]*kinds.NLBServerGroup, listing.Paging, error) {
	if field, value, ok := req.one(); ok {
		return listing.InOrder(v, kinds.NLBServerGroupsInOrder, req.ByToken, place, field, value)
	}
	hasTags := tagging.Filter(v, kinds.TagNLBServerGroup, req.Tags)
	var found []*kinds.NLBServerGroup
	for g := range kinds.NLBServerGroupsByRegion.InScope(v) {
		if listing.Among(req.ServerGroupIDs, g.ID) && listing.Among(req.ServerGroupNames, g.Name) && listing.Matches(req.ServerGroupType, g.Type) &&
			listing.Matches(req.ResourceGroupID, g.ResourceGroupID) && listing.Matches(req.VPCID, g.VPCID) && hasTags(g.ID) {
			found = append(found, g)
		}
	}
	return listing.Cut(found, req.ByToken, place)
}

// one returns the field and its value of a request for all groups, or for those with one value,
// that an index has in order.
func (req *listServerGroupsRequest) one() (field, value string, ok bool) {
	rest := *req
	rest.Region, rest.ByToken, rest.VPCID, rest.ServerGroupType = gateway.Region{}, listing.ByToken{}, "", ""
	if !reflect.ValueOf(rest).IsZero() {
		return "", "", false
	}
	return listing.One("VpcId", req.VPCID, "ServerGroupType", req.ServerGroupType)
}

func newServerGroup(v *state.View, g *kinds.NLBServerGroup) serverGroup {
	var related []string
	for l := range kinds.NLBListenersByServerGroup.List(v, g.ID) {
		if !slices.Contains(related, l.LoadBalancerID) {
			related = append(related, l.LoadBalancerID)
		}
	}
	account, _ := strconv.Atoi(g.AccountID) // a world's accounts are numbers
	return serverGroup{
		AliUID: account, ServerGroupID: g.ID, ServerGroupName: g.Name, ServerGroupType: g.Type, ServerGroupStatus: g.Status, Protocol: g.Protocol,
		RegionID: g.RegionID, VPCID: g.VPCID, AddressIPVersion: g.AddressIPVersion, IPVersionAffinityMode: g.IPVersionAffinityMode,
		Scheduler: g.Scheduler, AnyPortEnabled: g.AnyPortEnabled, PreserveClientIPEnabled: g.PreserveClientIPEnabled,
		ConnectionDrainEnabled: g.ConnectionDrainEnabled, ConnectionDrainTimeout: g.ConnectionDrainTimeout, ResourceGroupID: g.ResourceGroupID,
		ServerCount: len(g.Servers), RelatedLoadBalancerIDs: related, HealthCheck: newHealthCheckView(g.HealthCheck),
		Tags: tagging.Of(v, kinds.TagNLBServerGroup, g.ID),
	}
}
