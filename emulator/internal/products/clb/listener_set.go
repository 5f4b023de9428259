package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// groupSwitch turns the use of a server group on and off in Set actions.
type groupSwitch struct {
	VServerGroup string `rpc:"VServerGroup,enum=on|off"`
}

// change moves a listener to a group, or back to its port of the default group.
// A group id without the switch is not looked at: CLB-0144.
func (s groupSwitch) change(l *kinds.Listener, id *string) error {
	switch s.VServerGroup {
	case kinds.On:
		if id == nil {
			return errVServerGroupMissing
		}
		l.VServerGroupID, l.MasterSlaveServerGroupID = *id, ""
	case kinds.Off:
		if l.BackendServerPort == 0 {
			return errVServerGroupNeeded
		}
		l.VServerGroupID = ""
	}
	return nil
}

// layer4Switch has the same for master/slave groups, which only TCP and UDP use.
type layer4Switch struct {
	groupSwitch
	MasterSlaveServerGroup string `rpc:"MasterSlaveServerGroup,enum=on|off"`
}

func (s layer4Switch) change(l *kinds.Listener, vServerGroup, masterSlaveGroup *string) error {
	switch s.MasterSlaveServerGroup {
	case kinds.On:
		if s.VServerGroup == kinds.On || masterSlaveGroup == nil {
			return errServerGroupsMismatch
		}
		l.MasterSlaveServerGroupID, l.VServerGroupID = *masterSlaveGroup, ""
		return nil
	case kinds.Off:
		if l.MasterSlaveServerGroupID != "" && s.VServerGroup != kinds.On && l.BackendServerPort == 0 {
			return errVServerGroupNeeded
		}
		l.MasterSlaveServerGroupID = ""
	}
	return s.groupSwitch.change(l, vServerGroup)
}

type setTCPListenerRequest struct {
	listenerRef
	layer4Switch
	Bandwidth           *int    `rpc:"Bandwidth,min=-1,max=5120,except=0"`
	HealthCheckInterval *int    `rpc:"HealthCheckInterval,min=1,max=50"`
	SynProxy            *string `rpc:"SynProxy,enum=enable|disable"`
	tcpSettings
}

func (req *setTCPListenerRequest) target() (listenerRef, kinds.Protocol) {
	return req.listenerRef, kinds.TCP
}

func (req *setTCPListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	assign(&l.HealthCheck.Interval, req.HealthCheckInterval)
	assign(&l.SynProxy, req.SynProxy)
	req.tcpSettings.apply(l)
}

func (req *setTCPListenerRequest) switchServerGroup(l *kinds.Listener) error {
	return req.layer4Switch.change(l, req.VServerGroupID, req.MasterSlaveServerGroupID)
}

type setUDPListenerRequest struct {
	listenerRef
	layer4Switch
	Bandwidth           *int `rpc:"Bandwidth,min=-1,max=5120,except=0"`
	HealthCheckInterval *int `rpc:"HealthCheckInterval,min=1,max=50"`
	udpSettings
}

func (req *setUDPListenerRequest) target() (listenerRef, kinds.Protocol) {
	return req.listenerRef, kinds.UDP
}

func (req *setUDPListenerRequest) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	assign(&l.HealthCheck.Interval, req.HealthCheckInterval)
	req.udpSettings.apply(l)
}

func (req *setUDPListenerRequest) switchServerGroup(l *kinds.Listener) error {
	return req.layer4Switch.change(l, req.VServerGroupID, req.MasterSlaveServerGroupID)
}

// layer7Change holds the fields that the Set actions of HTTP and HTTPS share.
type layer7Change struct {
	listenerRef
	groupSwitch
	Bandwidth     *int    `rpc:"Bandwidth,min=-1,max=5120,except=0"`
	StickySession *string `rpc:"StickySession,enum=on|off"`
	HealthCheck   *string `rpc:"HealthCheck,enum=on|off"`
	layer7Settings
}

func (req *layer7Change) apply(l *kinds.Listener) {
	assign(&l.Bandwidth, req.Bandwidth)
	assign(&l.StickySession, req.StickySession)
	assign(&l.HealthCheck.Switch, req.HealthCheck)
	req.layer7Settings.apply(l)
}

func (req *layer7Change) switchServerGroup(l *kinds.Listener) error {
	return req.groupSwitch.change(l, req.VServerGroupID)
}

type setHTTPListenerRequest struct{ layer7Change }

func (req *setHTTPListenerRequest) target() (listenerRef, kinds.Protocol) {
	return req.listenerRef, kinds.HTTP
}

type setHTTPSListenerRequest struct {
	layer7Change
	httpsSettings
}

func (req *setHTTPSListenerRequest) target() (listenerRef, kinds.Protocol) {
	return req.listenerRef, kinds.HTTPS
}

func (req *setHTTPSListenerRequest) apply(l *kinds.Listener) {
	req.layer7Change.apply(l)
	req.httpsSettings.apply(l)
}
