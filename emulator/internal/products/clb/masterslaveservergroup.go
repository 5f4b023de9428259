package clb

import (
	"encoding/json"

	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var masterSlaveServerGroupActions = []gateway.Action{
	change("CreateMasterSlaveServerGroup", createMasterSlaveServerGroup).Refusing(errBackendServersMalformed),
	change("DeleteMasterSlaveServerGroup", deleteMasterSlaveServerGroup),
	gateway.Read("DescribeMasterSlaveServerGroups", describeMasterSlaveServerGroups),
	gateway.Read("DescribeMasterSlaveServerGroupAttribute", describeMasterSlaveServerGroupAttribute),
}

// The refusals of this file.
var (
	errNotTwoServers = refusals.New("NotTwoServers", 400, "BACKEND_SERVERS_NUM_MUST_BE_TWO",
		"Backend servers num must be 2.", "CLB-0200")
	errNotMasterAndSlave = refusals.New("NotMasterAndSlave", 400, "BACKEND_SERVERS_CAN_ONLY_CONTAIN_ONE_MASTER_AND_ONE_SLAVE",
		"Backend servers can only contain one master and one slave.", "CLB-0200")
	errServerTypeInvalid = refusals.New("ServerTypeInvalid", 400, "INVALID_SERVER_TYPE",
		"Invalid server type.", "CLB-0200")
	errPairedServerIDEmpty = refusals.New("PairedServerIDEmpty", 400, "BACKEND_SERVER_ID_CAN_NOT_EMPTY",
		"Backend server id can not empty.", "CLB-0200")
	errPairedPortEmpty = refusals.New("PairedPortEmpty", 400, "BACKEND_SERVER_PORT_CAN_NOT_EMPTY",
		"Backend server port can not empty.", "CLB-0200")
	errSameServerTwice = refusals.New("SameServerTwice", 400, "BACKEND_SERVERS_HAVE_SAME_PORT_AND_SERVERID",
		"Backend servers have same port and serverId.", "CLB-0200")
	errPairedPortInvalid = refusals.New("PairedPortInvalid", 400, "RealServerPortNotSupport",
		"Real server port not support.", "CLB-0200")
)

type createMasterSlaveServerGroupRequest struct {
	RegionID                   string                   `rpc:"RegionId,required"`
	LoadBalancerID             string                   `rpc:"LoadBalancerId,required"`
	MasterSlaveServerGroupName string                   `rpc:"MasterSlaveServerGroupName,len=1..255"`
	MasterSlaveBackendServers  []masterSlaveServerParam `rpc:"MasterSlaveBackendServers,json,invalid=BackendServersMalformed"`
	Tags                       []tagging.Tag            `rpc:"Tag"`
}

func (req *createMasterSlaveServerGroupRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// masterSlaveServerParam is an element of the JSON text MasterSlaveBackendServers.
type masterSlaveServerParam struct {
	backendServerParam
	ServerType kinds.ServerType `json:"ServerType"`
}

// UnmarshalJSON reads the fields of both, since the embedded one reads itself.
func (s *masterSlaveServerParam) UnmarshalJSON(text []byte) error {
	type plain backendServerParam
	return json.Unmarshal(text, &struct {
		*plain
		ServerType *kinds.ServerType `json:"ServerType"`
	}{(*plain)(&s.backendServerParam), &s.ServerType})
}

// Validate enforces the rules of shape: two servers, one of each type.
func (req *createMasterSlaveServerGroupRequest) Validate() error {
	if err := checkTags(req.Tags); err != nil {
		return err
	}
	if len(req.MasterSlaveBackendServers) != 2 {
		return errNotTwoServers
	}
	for i := range req.MasterSlaveBackendServers {
		if err := req.MasterSlaveBackendServers[i].check(); err != nil {
			return err
		}
	}
	first, second := &req.MasterSlaveBackendServers[0], &req.MasterSlaveBackendServers[1]
	switch {
	case first.ServerType == second.ServerType:
		return errNotMasterAndSlave
	case checkDuplicates(req.servers()) != nil:
		return errSameServerTwice
	}
	return nil
}

func (s *masterSlaveServerParam) check() error {
	switch {
	case s.ServerID == "":
		return errPairedServerIDEmpty
	case s.Port == 0:
		return errPairedPortEmpty
	case s.Port < 1 || s.Port > 65535:
		return errPairedPortInvalid
	case s.ServerType != kinds.ServerMaster && s.ServerType != kinds.ServerSlave:
		return errServerTypeInvalid
	}
	return s.backendServerParam.settle(true)
}

// servers returns the two servers without their types.
func (req *createMasterSlaveServerGroupRequest) servers() []backendServerParam {
	list := make([]backendServerParam, len(req.MasterSlaveBackendServers))
	for i, s := range req.MasterSlaveBackendServers {
		list[i] = s.backendServerParam
	}
	return list
}

type masterSlaveServerGroupResponse struct {
	MasterSlaveServerGroupID  string              `rpc:"MasterSlaveServerGroupId"`
	MasterSlaveBackendServers []masterSlaveServer `rpc:"MasterSlaveBackendServers>MasterSlaveBackendServer"`
}

type masterSlaveServer struct {
	ServerID    string `rpc:"ServerId"`
	ServerIP    string `rpc:"ServerIp"`
	ServerType  string `rpc:"ServerType"`
	Type        string `rpc:"Type"`
	Port        int    `rpc:"Port"`
	Weight      int    `rpc:"Weight"`
	VPCID       string `rpc:"VpcId"`
	Description string `rpc:"Description,omitempty"`
}

func masterSlaveServers(v *state.View, g *kinds.MasterSlaveServerGroup) []masterSlaveServer {
	list := make([]masterSlaveServer, len(g.BackendServers))
	for i, m := range g.BackendServers {
		list[i] = masterSlaveServer{
			ServerID: m.ServerID, ServerIP: m.Address(v), ServerType: string(m.ServerType), Type: string(m.Type),
			Port: m.Port, Weight: m.Weight, VPCID: serverVPC(v, m.BackendServer), Description: m.Description,
		}
	}
	return list
}

// createMasterSlaveServerGroup makes a pair for good: no action changes its
// members or their weights. CLB-0180.
func createMasterSlaveServerGroup(tx *state.Tx, req *createMasterSlaveServerGroupRequest) (*masterSlaveServerGroupResponse, error) {
	lb, err := kinds.LoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	members, err := admit(tx.View, lb, req.servers())
	if err != nil {
		return nil, err
	}
	if err := checkBackendQuotas(tx.View, lb, members); err != nil {
		return nil, err
	}
	if err := checkAddresses(tx.View, members); err != nil {
		return nil, err
	}
	g := &kinds.MasterSlaveServerGroup{
		Owner:          tx.Scope(),
		ID:             tx.NewID(kinds.MasterSlaveServerGroups.Kind()),
		Name:           req.MasterSlaveServerGroupName,
		LoadBalancerID: lb.ID,
		CreateTime:     tx.Now(),
	}
	if g.Name == "" {
		g.Name = g.ID
	}
	for i, m := range members {
		g.BackendServers = append(g.BackendServers, kinds.MasterSlaveBackendServer{BackendServer: m, ServerType: req.MasterSlaveBackendServers[i].ServerType})
	}
	kinds.MasterSlaveServerGroups.Put(tx, g)
	tagging.Set(tx, kinds.TagMasterSlaveServerGroup, g.ID, req.Tags)
	return &masterSlaveServerGroupResponse{g.ID, masterSlaveServers(tx.View, g)}, nil
}

type masterSlaveServerGroupRequest struct {
	RegionID                 string `rpc:"RegionId,required"`
	MasterSlaveServerGroupID string `rpc:"MasterSlaveServerGroupId,required"`
}

func (req *masterSlaveServerGroupRequest) LoadBalancerOf(v *state.View) (string, error) {
	return owner(v, kinds.MasterSlaveServerGroups, req.MasterSlaveServerGroupID, func(g *kinds.MasterSlaveServerGroup) string { return g.LoadBalancerID })
}

func deleteMasterSlaveServerGroup(tx *state.Tx, req *masterSlaveServerGroupRequest) (*gateway.Empty, error) {
	if _, used := kinds.ListenersByMasterSlaveServerGroup.First(tx.View, req.MasterSlaveServerGroupID); used {
		return nil, errVServerGroupInUse
	}
	kinds.MasterSlaveServerGroups.Remove(tx, req.MasterSlaveServerGroupID)
	return &gateway.Empty{}, nil
}

type describeMasterSlaveServerGroupsRequest struct {
	RegionID        string           `rpc:"RegionId,required"`
	LoadBalancerID  string           `rpc:"LoadBalancerId,required"`
	IncludeListener bool             `rpc:"IncludeListener"`
	Tags            []tagFilterParam `rpc:"Tag,max=20"`
	Description     string           `rpc:"Description"`
}

type describeMasterSlaveServerGroupsResponse struct {
	MasterSlaveServerGroups []masterSlaveServerGroupItem `rpc:"MasterSlaveServerGroups>MasterSlaveServerGroup"`
}

type masterSlaveServerGroupItem struct {
	MasterSlaveServerGroupID   string              `rpc:"MasterSlaveServerGroupId"`
	MasterSlaveServerGroupName string              `rpc:"MasterSlaveServerGroupName"`
	ServiceManagedMode         string              `rpc:"ServiceManagedMode"`
	CreateTime                 string              `rpc:"CreateTime"`
	AssociatedObjects          associatedListeners `rpc:"AssociatedObjects"`
	Tags                       []tagging.Shown     `rpc:"Tags>Tag"`
}

// associatedListeners lists the listeners that forward to a group, if the call asked
// for them: no rule does.
type associatedListeners struct {
	Listeners []associatedListener `rpc:"Listeners>Listener"`
}

func describeMasterSlaveServerGroups(v *state.View, req *describeMasterSlaveServerGroupsRequest) (*describeMasterSlaveServerGroupsResponse, error) {
	if _, err := kinds.LoadBalancers.Get(v, req.LoadBalancerID); err != nil {
		return nil, err
	}
	resp := &describeMasterSlaveServerGroupsResponse{}
	for g := range kinds.MasterSlaveServerGroupsByLoadBalancer.List(v, req.LoadBalancerID) {
		if !strings.Contains(g.Name, req.Description) || !state.HasTags(v, kinds.TagMasterSlaveServerGroup, g.ID, tagFilters(req.Tags)) {
			continue
		}
		item := masterSlaveServerGroupItem{
			MasterSlaveServerGroupID:   g.ID,
			MasterSlaveServerGroupName: g.Name,
			ServiceManagedMode:         unmanaged,
			CreateTime:                 gateway.Second(g.CreateTime),
			Tags:                       tagging.ShownOf(v, kinds.TagMasterSlaveServerGroup, g.ID),
		}
		if req.IncludeListener {
			for l := range kinds.ListenersByMasterSlaveServerGroup.List(v, g.ID) {
				item.AssociatedObjects.Listeners = append(item.AssociatedObjects.Listeners, associatedListener{l.Port, string(l.Protocol)})
			}
		}
		resp.MasterSlaveServerGroups = append(resp.MasterSlaveServerGroups, item)
	}
	return resp, nil
}

type describeMasterSlaveServerGroupAttributeResponse struct {
	MasterSlaveServerGroupID   string              `rpc:"MasterSlaveServerGroupId"`
	MasterSlaveServerGroupName string              `rpc:"MasterSlaveServerGroupName"`
	LoadBalancerID             string              `rpc:"LoadBalancerId"`
	ServiceManagedMode         string              `rpc:"ServiceManagedMode"`
	CreateTime                 string              `rpc:"CreateTime"`
	MasterSlaveBackendServers  []masterSlaveServer `rpc:"MasterSlaveBackendServers>MasterSlaveBackendServer"`
	Tags                       []tagging.Shown     `rpc:"Tags>Tag"`
}

func describeMasterSlaveServerGroupAttribute(v *state.View, req *masterSlaveServerGroupRequest) (*describeMasterSlaveServerGroupAttributeResponse, error) {
	g, err := kinds.MasterSlaveServerGroups.Get(v, req.MasterSlaveServerGroupID)
	if err != nil {
		return nil, err
	}
	return &describeMasterSlaveServerGroupAttributeResponse{
		MasterSlaveServerGroupID:   g.ID,
		MasterSlaveServerGroupName: g.Name,
		LoadBalancerID:             g.LoadBalancerID,
		ServiceManagedMode:         unmanaged,
		CreateTime:                 gateway.Second(g.CreateTime),
		MasterSlaveBackendServers:  masterSlaveServers(v, g),
		Tags:                       tagging.ShownOf(v, kinds.TagMasterSlaveServerGroup, g.ID),
	}, nil
}
