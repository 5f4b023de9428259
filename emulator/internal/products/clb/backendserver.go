package clb

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// backendServerActions are about the default server group.
var backendServerActions = []gateway.Action{
	change("AddBackendServers", addBackendServers).Refusing(errBackendServersMalformed),
	change("RemoveBackendServers", removeBackendServers).Refusing(errBackendServersMalformed),
	change("SetBackendServers", setBackendServers).Refusing(errBackendServersMalformed),
}

// The refusals of this file.
var (
	errBackendServersInvalid = refusals.New("BackendServersInvalid", 400, "InvalidParameter",
		"The specified BackendServers is invalid.", "CLB-0201")
	errBackendServerExists = refusals.New("BackendServerExists", 400, "InvalidParameter",
		"The resource already exists.", "CLB-0203")
	errTooManyBackendServers = refusals.New("TooManyBackendServers", 400, "TooManyBackendServers",
		"The total number of input real servers exceeds max supported number: %s", "CLB-0201")
	errServerIDEmpty = refusals.New("ServerIDEmpty", 400, "BackendServer.ServerIdEmpty",
		"The specified ServerId can not be empty.", "CLB-0201")
	errBackendPortInvalid = refusals.New("BackendPortInvalid", 400, "InvalidParameter",
		"The specified Port must be between 1 and 65535.", "CLB-0202")
	errWeightInvalid = refusals.New("WeightInvalid", 400, "InvalidWeight.Malformed",
		"A specified weight is not valid.", "CLB-0201")
	errBackendTypeInvalid = refusals.New("BackendTypeInvalid", 400, "BackendServer.InvalidType",
		"The specified Type is invalid.", "CLB-0200")
	errServerUnknown = refusals.New("ServerUnknown", 400, "InvalidServerId.NotExist",
		"The specified ServerId is not exist.", "CLB-0200").
		In(404, "InvalidServerId.NotFound", "The specified ServerId does not exist.", "CLB-0201",
			"AddBackendServers")
	errServerNotRunning = refusals.New("ServerNotRunning", 400, "ObtainIpFail",
		"The specified BackendServers is invalid; some of the specified backend servers do not exist or are not running.", "CLB-0201")
	errNetworkInterfaceUnknown = refusals.New("NetworkInterfaceUnknown", 404, "ResourceNotFound.vServers",
		"The specified enis %s does not exist.", "CLB-0200")
	errServerIPConflict = refusals.New("ServerIPConflict", 400, "InvalidBackendServers.ServerIpConflict",
		"The backend server ip %s is conflict.", "CLB-0203")
	errNetworkConflict = refusals.New("NetworkConflict", 400, "NetworkConflict",
		"there are network conflicts in specified parameter.", "CLB-0201")
	errENIOnSharedInstance = refusals.New("ENIOnSharedInstance", 400, "OperationFailed.ActionNotSupport",
		"The loadbalancer does not support backend servers of eni type", "CLB-0202").
		In(400, "OperationFailed.ActionNotSupport", "The loadbalancer does not support such action.", "CLB-0200",
			"AddBackendServers", "CreateMasterSlaveServerGroup")
	errNoIPv6Backends = refusals.New("NoIPv6Backends", 400, "LBNotSupportIpv6Backend",
		"The specified loadbalancer does not support ipv6 backend.", "CLB-0200").
		In(400, "OperationDeny.LbNotSupportIPv6Server", "The specified loadbalancer does not support ipv6 server.", "CLB-0200",
			"AddVServerGroupBackendServers")
	errDefaultGroupBusy = refusals.New("DefaultGroupBusy", 409, "BackendServer.configuring",
		"A previous configuration of the load balancer is pending; please try again later.", "CLB-0201")
)

// maxBackendServersPerCall is the number that a CCM sends by default; the documentation
// says 20. CLB-0120.
const maxBackendServersPerCall = 40

// maxDescription is longer than documented: a CCM describes a server by the name
// of its group. CLB-0124.
const maxDescription = 255

// backendServerParam is an element of the JSON text BackendServers. The keys are
// found in any case, and others mean nothing: a CCM sends both.
type backendServerParam struct {
	ServerID    gateway.Text            `json:"ServerId"`
	ServerIP    gateway.Text            `json:"ServerIp"`
	Port        gateway.Int             `json:"Port"`
	Weight      *gateway.Int            `json:"Weight"`
	Type        kinds.BackendServerType `json:"Type"`
	Description string                  `json:"Description"`
}

// UnmarshalJSON reads a server, or its id alone, as older clients and pages write it. CLB-0197.
func (s *backendServerParam) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &s.ServerID)
	}
	type plain backendServerParam
	return json.Unmarshal(text, (*plain)(s))
}

// settleBackendServers enforces the rules of shape of a list. withPort is for groups
// whose members have their own ports.
func settleBackendServers(list []backendServerParam, withPort bool) error {
	if len(list) > maxBackendServersPerCall {
		return errTooManyBackendServers.Of(strconv.Itoa(maxBackendServersPerCall))
	}
	for i := range list {
		if err := list[i].settle(withPort); err != nil {
			return err
		}
	}
	return nil
}

// settle enforces the rules of shape, and makes a server an instance unless it says otherwise.
func (s *backendServerParam) settle(withPort bool) error {
	switch {
	case s.ServerID == "":
		return errServerIDEmpty
	case withPort && (s.Port < 1 || s.Port > 65535):
		return errBackendPortInvalid
	case utf8.RuneCountInString(s.Description) > maxDescription:
		return errBackendServersInvalid
	case s.Weight != nil && (*s.Weight < 0 || *s.Weight > 100):
		return errWeightInvalid
	}
	switch s.Type {
	case "":
		s.Type = kinds.BackendServerECS
	case kinds.BackendServerECS, kinds.BackendServerENI, kinds.BackendServerECI:
	default:
		return errBackendTypeInvalid
	}
	if !withPort {
		s.Port = 0
	}
	return nil
}

// required refuses an empty list where the action needs one.
func required(list []backendServerParam) error {
	if len(list) == 0 {
		return errBackendServersInvalid
	}
	return nil
}

func (s *backendServerParam) weight() int {
	if s.Weight == nil {
		return 100
	}
	return int(*s.Weight)
}

// is reports whether the parameter means the member: by id and port, and for
// network interfaces also by address, if the call has one.
func (s *backendServerParam) is(m kinds.BackendServer) bool {
	return string(s.ServerID) == m.ServerID && int(s.Port) == m.Port &&
		(s.Type == kinds.BackendServerECS || s.ServerIP == "" || string(s.ServerIP) == m.ServerIP)
}

func indexOf(members []kinds.BackendServer, s *backendServerParam) int {
	return slices.IndexFunc(members, s.is)
}

// checkReleased refuses to remove an instance that is not there any more, with which its
// membership ended: CLB-0206.
func checkReleased(v *state.View, members []kinds.BackendServer, gone []backendServerParam) error {
	for i := range gone {
		s := &gone[i]
		if !strings.HasPrefix(string(s.ServerID), "i-") || indexOf(members, s) >= 0 {
			continue
		}
		if _, ok := kinds.Instances.Find(v, string(s.ServerID)); !ok {
			return errServerNotRunning
		}
	}
	return nil
}

// without returns the members less the named ones; that one is not there
// is no error.
func without(members []kinds.BackendServer, gone []backendServerParam) []kinds.BackendServer {
	return slices.DeleteFunc(slices.Clone(members), func(m kinds.BackendServer) bool {
		return slices.ContainsFunc(gone, func(s backendServerParam) bool { return s.is(m) })
	})
}

// reweighted returns the members with the weights and descriptions that are
// given; it ignores servers that are not members. CLB-0121.
func reweighted(members []kinds.BackendServer, list []backendServerParam) []kinds.BackendServer {
	members = slices.Clone(members)
	for i := range list {
		at := indexOf(members, &list[i])
		if at < 0 {
			continue
		}
		members[at].Weight = list[i].weight()
		if list[i].Description != "" {
			members[at].Description = list[i].Description
		}
	}
	return members
}

// admit turns parameters into members of a group of the load balancer, or says
// why a server can't be one.
func admit(v *state.View, lb *kinds.LoadBalancer, list []backendServerParam) ([]kinds.BackendServer, error) {
	vpc := networkOf(v, lb)
	admitted := make([]kinds.BackendServer, 0, len(list))
	for i := range list {
		m, serverVPC, err := resolve(v, lb, &list[i])
		if err != nil {
			return nil, err
		}
		if vpc == "" {
			vpc = serverVPC // the first backend decides
		}
		if serverVPC != vpc {
			return nil, errNetworkConflict
		}
		admitted = append(admitted, m)
	}
	return admitted, nil
}

// resolve finds the server and the VPC that it is in.
func resolve(v *state.View, lb *kinds.LoadBalancer, s *backendServerParam) (kinds.BackendServer, string, error) {
	m := kinds.BackendServer{
		ServerID: string(s.ServerID), Type: s.Type, Port: int(s.Port), Weight: s.weight(), Description: s.Description,
	}
	if s.Type == kinds.BackendServerECS {
		instance, ok := kinds.Instances.Find(v, m.ServerID)
		if !ok {
			return m, "", errServerUnknown
		}
		if instance.Status != kinds.InstanceRunning {
			return m, "", errServerNotRunning
		}
		return m, instance.VPCID, nil
	}
	if isShared(lb) {
		return m, "", errENIOnSharedInstance
	}
	n, ok := kinds.NetworkInterfaces.Find(v, m.ServerID)
	if !ok {
		return m, "", errNetworkInterfaceUnknown.Of(m.ServerID)
	}
	m.ServerIP = string(s.ServerIP)
	if m.ServerIP == "" {
		m.ServerIP = n.PrivateIPAddresses[0]
	}
	if strings.Contains(m.ServerIP, ":") && lb.AddressIPVersion != ipv6 {
		return m, "", errNoIPv6Backends
	}
	if !slices.Contains(n.PrivateIPAddresses, m.ServerIP) && !slices.Contains(n.IPv6Addresses, m.ServerIP) {
		return m, "", errServerNotRunning
	}
	return m, n.VPCID, nil
}

// isShared reports whether an instance is a shared-resource one, without a spec.
func isShared(lb *kinds.LoadBalancer) bool {
	return lb.InstanceChargeType == kinds.PayBySpec && lb.Spec == ""
}

// networkOf returns the VPC that the backends of a load balancer must be in: its own, or the VPC of
// its present backends. "" is any.
func networkOf(v *state.View, lb *kinds.LoadBalancer) string {
	if lb.VPCID != "" {
		return lb.VPCID
	}
	if vpc := firstVPC(v, lb.BackendServers); vpc != "" {
		return vpc
	}
	for g := range kinds.VServerGroupsByLoadBalancer.List(v, lb.ID) {
		if vpc := firstVPC(v, g.BackendServers); vpc != "" {
			return vpc
		}
	}
	for g := range kinds.MasterSlaveServerGroupsByLoadBalancer.List(v, lb.ID) {
		if vpc := firstVPC(v, g.Members()); vpc != "" {
			return vpc
		}
	}
	return ""
}

// firstVPC returns the VPC of the first member that still exists.
func firstVPC(v *state.View, members []kinds.BackendServer) string {
	for _, m := range members {
		if vpc := serverVPC(v, m); vpc != "" {
			return vpc
		}
	}
	return ""
}

// serverVPC returns the VPC of a server, or "" if the server is deleted.
func serverVPC(v *state.View, m kinds.BackendServer) string {
	if m.Type == kinds.BackendServerECS {
		if instance, ok := kinds.Instances.Find(v, m.ServerID); ok {
			return instance.VPCID
		}
	} else if n, ok := kinds.NetworkInterfaces.Find(v, m.ServerID); ok {
		return n.VPCID
	}
	return ""
}

// checkAddresses refuses two members that are the same address and port under
// two ids, such as an instance and its network interface.
func checkAddresses(v *state.View, members []kinds.BackendServer) error {
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		ip := m.Address(v)
		at := ip + ":" + strconv.Itoa(m.Port)
		if ip != "" && seen[at] {
			return errServerIPConflict.Of(ip)
		}
		seen[at] = true
	}
	return nil
}

// checkBackendQuotas enforces the quota of the load balancer, over all its groups
// (CLB-0122), and the quota of each server, over all load balancers.
func checkBackendQuotas(v *state.View, lb *kinds.LoadBalancer, added []kinds.BackendServer) error {
	if len(added) == 0 {
		return nil
	}
	if err := v.Use(kinds.QuotaBackendServers, lb.ID, len(added)); err != nil {
		return err
	}
	more := make(map[string]int, len(added))
	for _, m := range added {
		more[m.ServerID]++
	}
	for _, m := range added {
		if err := v.Use(kinds.QuotaServerAttached, m.ServerID, more[m.ServerID]); err != nil {
			return err
		}
	}
	return nil
}

type addBackendServersRequest struct {
	loadBalancerRequest
	BackendServers []backendServerParam `rpc:"BackendServers,json,invalid=BackendServersMalformed"`
}

// Validate enforces the rules of shape.
func (req *addBackendServersRequest) Validate() error {
	if len(req.BackendServers) == 0 {
		return gateway.Missing("BackendServers")
	}
	return settleBackendServers(req.BackendServers, false)
}

type defaultGroupResponse struct {
	LoadBalancerID string               `rpc:"LoadBalancerId"`
	BackendServers []defaultGroupServer `rpc:"BackendServers>BackendServer"`
}

// defaultGroupMember has no address for an instance, unlike in a vServer group:
// CLB-0204.
type defaultGroupMember struct {
	ServerID    string `rpc:"ServerId"`
	ServerIP    string `rpc:"ServerIp,omitempty"`
	Type        string `rpc:"Type"`
	VPCID       string `rpc:"VpcId"`
	Description string `rpc:"Description,omitempty"`
}

type defaultGroupServer struct {
	defaultGroupMember
	Weight int `rpc:"Weight"`
}

// spelledGroupResponse has the weights as texts, as some answers do: CLB-0194.
type spelledGroupResponse struct {
	LoadBalancerID string          `rpc:"LoadBalancerId"`
	BackendServers []spelledServer `rpc:"BackendServers>BackendServer"`
}

type spelledServer struct {
	defaultGroupMember
	Weight string `rpc:"Weight"`
}

func spelled(resp *defaultGroupResponse, err error) (*spelledGroupResponse, error) {
	if err != nil {
		return nil, err
	}
	list := make([]spelledServer, len(resp.BackendServers))
	for i, s := range resp.BackendServers {
		list[i] = spelledServer{s.defaultGroupMember, strconv.Itoa(s.Weight)}
	}
	return &spelledGroupResponse{resp.LoadBalancerID, list}, nil
}

func defaultGroupServers(v *state.View, lb *kinds.LoadBalancer) []defaultGroupServer {
	list := make([]defaultGroupServer, len(lb.BackendServers))
	for i, m := range lb.BackendServers {
		list[i] = defaultGroupServer{Weight: m.Weight, defaultGroupMember: defaultGroupMember{
			ServerID: m.ServerID, ServerIP: m.ServerIP, Type: string(m.Type), VPCID: serverVPC(v, m), Description: m.Description,
		}}
	}
	return list
}

// addBackendServers adds to the default group. One named twice in the
// call is added once. One that is a member stays as it is, unless the account was
// told to refuse it: CLB-0193.
func addBackendServers(tx *state.Tx, req *addBackendServersRequest) (*spelledGroupResponse, error) {
	account, err := kinds.Accounts.Get(tx.View, tx.Scope().AccountID)
	if err != nil {
		return nil, err
	}
	return spelled(editDefaultGroup(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		var list []backendServerParam
		for i := range req.BackendServers {
			s := req.BackendServers[i]
			member := indexOf(lb.BackendServers, &s) >= 0
			if member && account.RefusesAttachedBackends {
				return errBackendServerExists
			}
			if !member && !slices.ContainsFunc(list, func(o backendServerParam) bool { return o.ServerID == s.ServerID && o.ServerIP == s.ServerIP }) {
				list = append(list, s)
			}
		}
		added, err := admit(tx.View, lb, list)
		if err != nil {
			return err
		}
		if err := checkBackendQuotas(tx.View, lb, added); err != nil {
			return err
		}
		members := slices.Concat(lb.BackendServers, added)
		if err := checkAddresses(tx.View, members); err != nil {
			return err
		}
		lb.BackendServers = members
		return nil
	}))
}

// editDefaultGroup changes the default group, which takes one change at a time.
func editDefaultGroup(tx *state.Tx, id string, change func(*kinds.LoadBalancer) error) (*defaultGroupResponse, error) {
	_, err := editLoadBalancer(tx, id, func(lb *kinds.LoadBalancer) error {
		if lb.Activity == state.Busy {
			return errDefaultGroupBusy
		}
		return change(lb)
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageLoadBalancerConfiguring, id)
	lb, err := kinds.LoadBalancers.Get(tx.View, id)
	if err != nil {
		return nil, err
	}
	return &defaultGroupResponse{LoadBalancerID: id, BackendServers: defaultGroupServers(tx.View, lb)}, nil
}

type removeBackendServersRequest struct {
	loadBalancerRequest
	BackendServers []backendServerParam `rpc:"BackendServers,json,required,invalid=BackendServersMalformed"`
}

// Validate enforces the rules of shape. A list of plain ids, the form of the oldest
// clients, is taken too: CLB-0197.
func (req *removeBackendServersRequest) Validate() error {
	if err := required(req.BackendServers); err != nil {
		return err
	}
	return settleBackendServers(req.BackendServers, false)
}

func removeBackendServers(tx *state.Tx, req *removeBackendServersRequest) (*defaultGroupResponse, error) {
	return editDefaultGroup(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		if err := checkReleased(tx.View, lb.BackendServers, req.BackendServers); err != nil {
			return err
		}
		lb.BackendServers = without(lb.BackendServers, req.BackendServers)
		return nil
	})
}

func setBackendServers(tx *state.Tx, req *addBackendServersRequest) (*spelledGroupResponse, error) {
	return spelled(editDefaultGroup(tx, req.LoadBalancerID, func(lb *kinds.LoadBalancer) error {
		lb.BackendServers = reweighted(lb.BackendServers, req.BackendServers)
		return nil
	}))
}
