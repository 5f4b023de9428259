package kinds

import (
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// StagedHealth is a health that a server is to have, in all groups or in one of them,
// whatever a check would find.
type StagedHealth struct {
	state.Owner
	// ServerID is the server's id, or its address if it has none.
	ServerID string
	// GroupID and Port narrow it to a group, and to a port of the group.
	GroupID string `json:",omitempty"`
	Port    int    `json:",omitempty"`
	Health  topology.Status
}

// StagedHealthID spells what a StagedHealth is about: <server>[/<group>[:<port>]].
func StagedHealthID(serverID, groupID string, port int) string {
	id := serverID
	if groupID != "" {
		id += "/" + groupID
	}
	if port != 0 {
		id += ":" + strconv.Itoa(port)
	}
	return id
}

// ID returns the row's StagedHealthID.
func (s *StagedHealth) ID() string { return StagedHealthID(s.ServerID, s.GroupID, s.Port) }

// StagedHealths by StagedHealthID.
var StagedHealths = state.NewTable(Schema, "StagedHealth", (*StagedHealth).ID, state.Setting(),
	state.Checks(func(c *state.Checker, s *StagedHealth) {
		if s.Health != topology.Normal && s.Health != topology.Abnormal && s.Health != topology.Unavailable {
			c.Fail("StagedHealth %s is %q", s.ID(), s.Health)
		}
		if s.Port != 0 && s.GroupID == "" {
			c.Fail("StagedHealth %s has a port and no group", s.ID())
		}
	}))

// Health returns the staged health of members that are checked, and what found says of others.
func Health(found topology.Health) topology.Health { return staged{found} }

// AttachedHealth is Health that asks what is attached to the store of a view.
var AttachedHealth = Health(topology.Attached{})

type staged struct{ found topology.Health }

var _ topology.Health = staged{}

// Of implements topology.Health.
func (s staged) Of(v *state.View, f *topology.Frontend, g *topology.Group, m *topology.Member) topology.Status {
	if topology.Checked(f, g) {
		port := f.PortOf(m)
		for _, server := range []string{m.ServerID, m.Address} {
			for _, id := range []string{StagedHealthID(server, g.ID, port), StagedHealthID(server, g.ID, 0), StagedHealthID(server, "", 0)} {
				if h, ok := StagedHealths.Find(v, id); ok {
					return h.Health
				}
			}
		}
	}
	return s.found.Of(v, f, g, m)
}

// KnownServer reports whether an id or address can be a member of a group: it is an
// instance, a network interface, or a member already.
func KnownServer(v *state.View, id string) bool {
	if _, ok := Instances.Find(v, id); ok {
		return true
	}
	if _, ok := NetworkInterfaces.Find(v, id); ok {
		return true
	}
	for g := range topology.Groups(v) {
		for i := range g.Members {
			if g.Members[i].ServerID == id || g.Members[i].Address == id {
				return true
			}
		}
	}
	return false
}

// Address returns the address at which a server answers, or "" if the server is gone.
func (s BackendServer) Address(v *state.View) string {
	if s.Type != BackendServerECS {
		return s.ServerIP
	}
	return instanceAddress(v, s.ServerID)
}

// Address returns the address at which a server of an NLB answers, or "" if the server is gone.
func (s *NLBServer) Address(v *state.View) string {
	if s.IP == "" && s.Type == NLBServerECS {
		return instanceAddress(v, s.ID)
	}
	return s.IP
}

func instanceAddress(v *state.View, id string) string {
	if n, ok := NetworkInterfacesByInstance.First(v, id, NetworkInterfacePrimary); ok {
		return n.PrivateIPAddresses[0]
	}
	return ""
}

func instanceRuns(v *state.View, id string) bool {
	instance, ok := Instances.Find(v, id)
	return ok && instance.Status == InstanceRunning
}

func interfaceIsUsed(v *state.View, id string) bool {
	n, ok := NetworkInterfaces.Find(v, id)
	return ok && n.Status == NetworkInterfaceInUse
}
