package cloud

import "github.com/clbemu/clbemu/state"

// What DescribeHealthStatus says of a server.
const (
	HealthNormal      = "normal"
	HealthAbnormal    = "abnormal"
	HealthUnavailable = "unavailable"
)

// Address is the address that a server is reached at, "" when it is gone.
func (s BackendServer) Address(v *state.View) string {
	if s.Type != BackendServerECS {
		return s.ServerIP
	}
	return instanceAddress(v, s.ServerID)
}

func instanceAddress(v *state.View, id string) string {
	if n, ok := NetworkInterfacesByInstance.First(v, id, NetworkInterfacePrimary); ok {
		return n.PrivateIPAddresses[0]
	}
	return ""
}

// BackendServers are the servers that a listener forwards to.
func (l *Listener) BackendServers(v *state.View, lb *LoadBalancer) []BackendServer {
	if g, ok := VServerGroups.Find(v, l.VServerGroupID); ok {
		return g.BackendServers
	}
	if g, ok := MasterSlaveServerGroups.Find(v, l.MasterSlaveServerGroupID); ok {
		return g.Members()
	}
	return lb.BackendServers
}

// Health is what a listener's check would find of a server: nothing where none is
// made, and else whether the server is there. No packet is sent. CLB-0123.
func Health(v *state.View, l *Listener, s BackendServer) string {
	switch {
	case l.HealthCheck.Switch != On || l.Status != ListenerRunning:
		return HealthUnavailable
	case s.Type == BackendServerECS:
		return healthIf(instanceRuns(v, s.ServerID))
	}
	return healthIf(interfaceIsUsed(v, s.ServerID))
}

func healthIf(there bool) string {
	if there {
		return HealthNormal
	}
	return HealthAbnormal
}

func instanceRuns(v *state.View, id string) bool {
	instance, ok := Instances.Find(v, id)
	return ok && instance.Status == InstanceRunning
}

func interfaceIsUsed(v *state.View, id string) bool {
	n, ok := NetworkInterfaces.Find(v, id)
	return ok && n.Status == NetworkInterfaceInUse
}

// Address is the address that a server of an NLB is reached at, "" when it is gone.
func (s *NLBServer) Address(v *state.View) string {
	if s.IP == "" && s.Type == NLBServerECS {
		return instanceAddress(v, s.ID)
	}
	return s.IP
}

// NLBHealth is the same of an NLB's server. Whether an address answers that is no
// instance's is not known here.
func NLBHealth(v *state.View, l *NLBListener, g *NLBServerGroup, s *NLBServer) string {
	switch {
	case !g.HealthCheck.Enabled || l.Status != NLBListenerRunning || s.Type == NLBServerIP:
		return HealthUnavailable
	case s.Type == NLBServerECS:
		return healthIf(instanceRuns(v, s.ID))
	}
	return healthIf(interfaceIsUsed(v, s.ID))
}
