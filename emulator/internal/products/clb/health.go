package clb

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

var healthActions = []gateway.Action{gateway.Read("DescribeHealthStatus", describeHealthStatus)}

type describeHealthStatusRequest struct {
	RegionID         string         `rpc:"RegionId"`
	LoadBalancerID   string         `rpc:"LoadBalancerId,required"`
	ListenerPort     int            `rpc:"ListenerPort,min=1,max=65535"`
	ListenerProtocol kinds.Protocol `rpc:"ListenerProtocol,enum=tcp|udp|http|https"`
}

type describeHealthStatusResponse struct {
	BackendServers []backendHealth `rpc:"BackendServers>BackendServer"`
}

type backendHealth struct {
	ListenerPort       int    `rpc:"ListenerPort"`
	Protocol           string `rpc:"Protocol"`
	ServerID           string `rpc:"ServerId"`
	ServerIP           string `rpc:"ServerIp"`
	Port               int    `rpc:"Port"`
	Type               string `rpc:"Type"`
	VPCID              string `rpc:"VpcId"`
	ServerHealthStatus string `rpc:"ServerHealthStatus"`
	Weight             string `rpc:"Weight"`
	Description        string `rpc:"Description,omitempty"`
}

func describeHealthStatus(v *state.View, req *describeHealthStatusRequest) (*describeHealthStatusResponse, error) {
	lb, err := kinds.LoadBalancers.Get(v, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if req.ListenerPort != 0 {
		if _, err := findListener(v, lb.ID, req.ListenerPort, req.ListenerProtocol); err != nil {
			return nil, err
		}
	}
	resp := &describeHealthStatusResponse{}
	shown, _ := topology.FindLoadBalancer(v, lb.ID)
	for f := range shown.Frontends {
		if (req.ListenerPort == 0 || f.FirstPort == req.ListenerPort) && (req.ListenerProtocol == "" || f.Protocol == string(req.ListenerProtocol)) {
			resp.BackendServers = append(resp.BackendServers, healthBehind(v, &f)...)
		}
	}
	return resp, nil
}

func healthBehind(v *state.View, f *topology.Frontend) []backendHealth {
	g, _ := f.Group()
	list := make([]backendHealth, len(g.Members))
	for i := range g.Members {
		m := &g.Members[i]
		list[i] = backendHealth{
			ListenerPort: f.FirstPort, Protocol: f.Protocol, ServerID: m.ServerID, ServerIP: m.Address,
			Port: f.PortOf(m), Type: m.Type, VPCID: serverVPC(v, kinds.BackendServer{ServerID: m.ServerID, Type: kinds.BackendServerType(m.Type)}),
			ServerHealthStatus: string(kinds.AttachedHealth.Of(v, f, &g, m)), Weight: strconv.Itoa(m.Weight), Description: m.Description,
		}
	}
	return list
}
