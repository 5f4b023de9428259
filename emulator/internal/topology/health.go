package topology

import "github.com/clbemu/clbemu/state"

// Status is a member's status by the health checks of a frontend.
type Status string

// The statuses. Unavailable is for members without health checks.
const (
	Normal      Status = "normal"
	Abnormal    Status = "abnormal"
	Unavailable Status = "unavailable"
)

// Unchecked is shown in place of Unavailable for members of a group that no running
// frontend checks: they may well serve. Only the cloud's API calls them unavailable.
const Unchecked Status = "not checked"

// Health knows the status of members. The frontend is as the requests for the group find
// it: Frontend.By, or Frontend.For.
type Health interface {
	Of(v *state.View, f *Frontend, g *Group, m *Member) Status
}

// CheckOf returns the check of the members of a group: the frontend's, as the requests
// for the group find it, or else the group's.
func CheckOf(f *Frontend, g *Group) HealthCheck {
	if f.Check.Enabled {
		return f.Check
	}
	return g.Check
}

// Checked reports whether a frontend checks the members of a group.
func Checked(f *Frontend, g *Group) bool { return f.Running && CheckOf(f, g).Enabled }

// Shown returns a member's status as clbemu's own views show it; f is nil if no frontend
// forwards to the group.
func Shown(h Health, v *state.View, f *Frontend, g *Group, m *Member) Status {
	if f == nil || !Checked(f, g) {
		return Unchecked
	}
	return h.Of(v, f, g, m)
}

// Attached is the health that is attached to the store of a view, or else what is assumed.
type Attached struct{}

var _ Health = Attached{}

// Of implements Health.
func (Attached) Of(v *state.View, f *Frontend, g *Group, m *Member) Status {
	if h, ok := v.Attached().(Health); ok {
		return h.Of(v, f, g, m)
	}
	return Assumed{}.Of(v, f, g, m)
}

// Cause is why a check fails.
type Cause string

// The causes, by the words of NLB's API: NLB-0035. UnknownCause is for what a condition says.
const (
	UnknownCause       Cause = ""
	ConnectTimeout     Cause = "CONNECT_TIMEOUT"
	ConnectFailed      Cause = "CONNECT_FAILED"
	ConnectInterrupted Cause = "CONNECT_INTERRUPT"
	ResponseTimeout    Cause = "RECV_RESPONSE_TIMEOUT"
	OtherCode          Cause = "HTTP_CODE_NOT_MATCH"
	InvalidHeader      Cause = "HTTP_INVALID_HEADER"
)

// Prober is a Health that sends packets.
type Prober interface {
	Health
	// Cause returns why the check of an abnormal member fails.
	Cause(v *state.View, f *Frontend, g *Group, m *Member) Cause
	// Answers reports whether an address of a load balancer in a zone takes packets.
	Answers(loadBalancerID, zone, address string) bool
}

// CauseOf returns why the check of an abnormal member fails, by the prober that is attached
// to the store of a view. A server that does not run takes no packet.
func CauseOf(v *state.View, f *Frontend, g *Group, m *Member) Cause {
	if m.Presence == Absent {
		return ConnectTimeout
	}
	if p, ok := v.Attached().(Prober); ok {
		return p.Cause(v, f, g, m)
	}
	return UnknownCause
}

// Answers reports whether an address of a load balancer in a zone takes packets, by the
// prober that is attached to the store of a view. Without one it does.
func Answers(v *state.View, loadBalancerID, zone, address string) bool {
	p, ok := v.Attached().(Prober)
	return !ok || p.Answers(loadBalancerID, zone, address)
}

// Assumed sends no packet: a check finds a server that runs normal, and any other
// abnormal. CLB-0123.
type Assumed struct{}

var _ Health = Assumed{}

// Of implements Health.
func (Assumed) Of(_ *state.View, f *Frontend, g *Group, m *Member) Status {
	switch {
	case !Checked(f, g) || m.Presence == Unknown:
		return Unavailable
	case m.Presence == Present:
		return Normal
	}
	return Abnormal
}
