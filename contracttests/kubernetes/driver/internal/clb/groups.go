package clb

import (
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/backends"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/controller"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// batch is the number of backend servers that a CCM sends in one call.
const batch = 40

// group is a vServer group; its id is empty until it is made.
type group struct{ id, name string }

// server is a backend server in the form in which calls carry it.
type server struct {
	ServerID    string `json:"ServerId"`
	ServerIP    string `json:"ServerIp"`
	Port        int    `json:"Port,string"`
	Weight      int    `json:"Weight,string"`
	Type        string
	Description string
}

// sameAs reports whether two entries stand for one server; their weights may differ.
func (s server) sameAs(other server) bool {
	return s.ServerID == other.ServerID && s.Port == other.Port && (s.Type != "eni" || s.ServerIP == other.ServerIP)
}

// groups returns the groups of a load balancer.
func (p *Product) groups(found *balancer) (all []*group, err error) {
	var reply struct {
		VServerGroups struct {
			VServerGroup []struct{ VServerGroupID, VServerGroupName string }
		}
	}
	err = p.Cloud.Call(openapi.SLB, "DescribeVServerGroups", openapi.Params{"LoadBalancerId": found.LoadBalancerID}, &reply)
	for _, g := range reply.VServerGroups.VServerGroup {
		all = append(all, &group{g.VServerGroupID, g.VServerGroupName})
	}
	return all, err
}

// planGroups makes a group with the right servers for each port, and returns them in the
// order of the ports.
func (p *Product) planGroups(planned *plan, service *corev1.Service, present []*group) (targets []*group, err error) {
	servers := 0
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		named := p.ownName(service, groupPort(service, port))
		target := &group{name: named}
		if at := slices.IndexFunc(present, func(g *group) bool { return g.name == named }); at >= 0 {
			target = present[at]
		} else {
			present = append(present, target)
			planned.add("CreateVgroup", named, func() error { return p.createGroup(planned.balancer, target) })
		}
		targets = append(targets, target)
		wanted, strange, err := p.Backends.Of(service, port)
		if err != nil {
			return nil, err
		}
		for _, address := range strange {
			planned.notes = append(planned.notes, controller.Note{Type: corev1.EventTypeWarning, Reason: "SkipSyncBackends",
				Text: "Not sync pods [" + address + "] whose eni is invalid: can not find eniid for ip " + address + " in vpc " + p.VPC})
		}
		servers += len(wanted)
		if err := p.planServers(planned, target, wanted); err != nil {
			return nil, err
		}
	}
	if servers == 0 && len(targets) > 0 {
		planned.notes = append(planned.notes, controller.Note{Type: corev1.EventTypeNormal, Reason: "UnAvailableLoadBalancer",
			Text: "There are no available nodes for LoadBalancer"})
	}
	return targets, nil
}

// groupPort returns the port in a group's name: the one to which the load balancer sends.
func groupPort(service *corev1.Service, port *corev1.ServicePort) string {
	if annotation.Is(service, annotation.BackendType, "eni") {
		return port.TargetPort.String()
	}
	return strconv.Itoa(int(port.NodePort))
}

func (p *Product) createGroup(found *balancer, g *group) error {
	var made struct{ VServerGroupID string }
	err := p.Cloud.Call(openapi.SLB, "CreateVServerGroup", openapi.Params{"LoadBalancerId": found.LoadBalancerID, "VServerGroupName": g.name}, &made)
	g.id = made.VServerGroupID
	return err
}

// planServers adds, removes and changes servers, in a CCM's order.
func (p *Product) planServers(planned *plan, g *group, found []backends.Server) error {
	var wanted, present []server
	for _, s := range found {
		wanted = append(wanted, server{s.ID, s.IP, s.Port, s.Weight, s.Type, g.name})
	}
	if g.id != "" {
		var err error
		if present, err = p.servers(g); err != nil {
			return err
		}
	}
	added, removed, changed := difference(wanted, present)
	send := func(code, action string, servers []server) {
		if len(servers) > 0 {
			planned.add(code, g.name, func() error { return p.send(action, g, servers) })
		}
	}
	if len(added) > 0 {
		planned.add("AddVServerGroupBackendServers", g.name, func() error {
			err := p.send("AddVServerGroupBackendServers", g, added)
			if len(removed) == 0 || !openapi.Refused(err, "InstanceBackendServerNumberOverLimit") {
				return err
			}
			// The quota has no room for the new servers until the old ones are gone.
			if err := p.send("RemoveVServerGroupBackendServers", g, removed); err != nil {
				return err
			}
			removed = nil
			return p.send("AddVServerGroupBackendServers", g, added)
		})
	}
	if len(removed) > 0 {
		planned.add("RemoveVgroup", g.name, func() error { return p.send("RemoveVServerGroupBackendServers", g, removed) })
	}
	send("UpdateVgroup", "SetVServerGroupAttribute", changed)
	return nil
}

// servers returns the servers of a group.
func (p *Product) servers(g *group) (present []server, err error) {
	var reply struct {
		BackendServers struct {
			BackendServer []struct {
				ServerID, ServerIP, Type, Description string
				Port, Weight                          int
			}
		}
	}
	err = p.Cloud.Call(openapi.SLB, "DescribeVServerGroupAttribute", openapi.Params{"VServerGroupId": g.id}, &reply)
	for _, s := range reply.BackendServers.BackendServer {
		is := server{s.ServerID, s.ServerIP, s.Port, s.Weight, s.Type, s.Description}
		if s.Type != "eni" {
			is.ServerIP = "" // a CCM names none
		}
		present = append(present, is)
	}
	return present, err
}

func (p *Product) send(action string, g *group, servers []server) error {
	for chunk := range slices.Chunk(servers, batch) {
		list, err := json.Marshal(chunk)
		if err != nil {
			return err
		}
		if err := p.Cloud.Call(openapi.SLB, action, openapi.Params{"VServerGroupId": g.id, "BackendServers": string(list)}, nil); err != nil {
			return err
		}
	}
	return nil
}

// difference says what makes the present servers the wanted ones.
func difference(wanted, present []server) (added, removed, changed []server) {
	for _, want := range wanted {
		switch i := slices.IndexFunc(present, want.sameAs); {
		case i < 0:
			added = append(added, want)
		case present[i] != want:
			changed = append(changed, want)
		}
	}
	for _, is := range present {
		if !slices.ContainsFunc(wanted, is.sameAs) {
			removed = append(removed, is)
		}
	}
	return added, removed, changed
}
