package nlb

import (
	"cmp"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

var healthActions = []gateway.Action{gateway.Read("GetListenerHealthStatus", getListenerHealthStatus)}

// The statuses of servers that are not normal: NLB-0035.
const (
	serverInitial     = "Initial" // the check has found nothing yet
	serverUnhealthy   = "Unhealthy"
	serverUnavailable = "Unavailable"
)

type getListenerHealthStatusRequest struct {
	gateway.Region
	listing.ByToken
	ListenerID string `rpc:"ListenerId,required"`
}

type getListenerHealthStatusResponse struct {
	Listeners []listenerHealth `rpc:"ListenerHealthStatus"`
	listing.Paging
}

type listenerHealth struct {
	ListenerID       string        `rpc:"ListenerId"`
	ListenerPort     int           `rpc:"ListenerPort"`
	ListenerProtocol string        `rpc:"ListenerProtocol"`
	StartPort        string        `rpc:"StartPort,omitempty"`
	EndPort          string        `rpc:"EndPort,omitempty"`
	ServerGroups     []groupHealth `rpc:"ServerGroupInfos"`
}

type groupHealth struct {
	ServerGroupID string `rpc:"ServerGroupId"`
	// The cloud spells it so.
	HealthCheckEnabled bool           `rpc:"HeathCheckEnabled"`
	NonNormalServers   []serverHealth `rpc:"NonNormalServers"`
}

type serverHealth struct {
	ServerID string       `rpc:"ServerId"`
	ServerIP string       `rpc:"ServerIp"`
	Port     int          `rpc:"Port"`
	Status   string       `rpc:"Status"`
	Reason   healthReason `rpc:"Reason"`
}

type healthReason struct {
	ReasonCode topology.Cause `rpc:"ReasonCode,omitempty"`
}

func getListenerHealthStatus(v *state.View, req *getListenerHealthStatusRequest) (*getListenerHealthStatusResponse, error) {
	l, err := kinds.NLBListeners.Get(v, req.ListenerID)
	if err != nil {
		return nil, err
	}
	shown := listenerHealth{ListenerID: l.ID, ListenerPort: l.Port, ListenerProtocol: l.Protocol}
	if l.Port == 0 {
		shown.StartPort, shown.EndPort = strconv.Itoa(l.StartPort), strconv.Itoa(l.EndPort)
	}
	if f, ok := state.FindShown[topology.Frontend](v, l.ID); ok {
		if g, ok := f.Group(); ok {
			shown.ServerGroups = []groupHealth{groupHealthOf(v, &f, &g)}
		}
	}
	return &getListenerHealthStatusResponse{[]listenerHealth{shown}, listing.Paging{TotalCount: 1, MaxResults: req.MaxResults}}, nil
}

func groupHealthOf(v *state.View, f *topology.Frontend, g *topology.Group) groupHealth {
	shown := groupHealth{ServerGroupID: g.ID, HealthCheckEnabled: g.Check.Enabled, NonNormalServers: []serverHealth{}}
	for i := range g.Members {
		m := &g.Members[i]
		s := serverHealth{ServerID: m.ServerID, ServerIP: m.Address, Port: m.Port}
		switch found := kinds.AttachedHealth.Of(v, f, g, m); {
		case !g.Check.Enabled:
			s.Status = serverUnavailable
		case found == topology.Normal:
			continue
		case found == topology.Abnormal:
			s.Status, s.Reason.ReasonCode = serverUnhealthy, cmp.Or(topology.CauseOf(v, f, g, m), topology.ConnectTimeout)
		default:
			s.Status = serverInitial
		}
		shown.NonNormalServers = append(shown.NonNormalServers, s)
	}
	return shown
}
