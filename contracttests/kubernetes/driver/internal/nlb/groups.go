package nlb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/backends"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// types are NLB's names of the types of servers.
var types = map[string]string{"ecs": "Ecs", "eni": "Eni"}

// groups returns the ids of the Service's groups by their names.
func (p *Product) groups(service *corev1.Service) (map[string]string, error) {
	params := p.tags(service)
	params["MaxResults"] = "100"
	found, err := p.call("ListServerGroups", params)
	groups := make(map[string]string)
	for _, g := range found.ServerGroups {
		if strings.HasSuffix(g.ServerGroupName, p.ownSuffix(service)) {
			groups[g.ServerGroupName] = g.ServerGroupID
		}
	}
	return groups, err
}

// ensureGroups makes a group with the right servers for each port, and returns their ids by
// the names of the listeners that lead to them.
func (p *Product) ensureGroups(ctx context.Context, service *corev1.Service) (map[string]string, error) {
	present, err := p.groups(service)
	if err != nil {
		return nil, err
	}
	groups := make(map[string]string)
	for i := range service.Spec.Ports {
		port := &service.Spec.Ports[i]
		name := p.ownName(service, port.NodePort, port.Protocol)
		id := present[name]
		if id == "" {
			params := p.tags(service)
			maps.Copy(params, openapi.Params{"ServerGroupName": name, "VpcId": p.VPC, "Protocol": string(port.Protocol), "AnyPortEnabled": "false"})
			made, err := p.call("CreateServerGroup", params)
			if err != nil {
				return nil, err
			}
			if err := p.await(ctx, made.JobID); err != nil {
				return nil, err
			}
			id = made.ServerGroupID
		}
		groups[p.ownName(service, port.Port, port.Protocol)] = id
		wanted, _, err := p.Backends.Of(service, port)
		if err != nil {
			return nil, err
		}
		if err := p.ensureServers(ctx, id, name, wanted); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// ensureServers adds, removes and changes servers, in a CCM's order.
func (p *Product) ensureServers(ctx context.Context, group, name string, wanted []backends.Server) error {
	is, err := p.call("ListServerGroupServers", openapi.Params{"ServerGroupId": group, "MaxResults": "100"})
	if err != nil {
		return err
	}
	key := func(s backends.Server) string { return fmt.Sprintf("%s %s %d", s.ID, s.IP, s.Port) }
	present := make(map[string]backends.Server)
	for _, s := range is.Servers {
		found := backends.Server{ID: s.ServerID, Type: strings.ToLower(s.ServerType), Port: s.Port, Weight: s.Weight}
		if found.Type == "eni" {
			found.IP = s.ServerIP
		}
		present[key(found)] = found
	}
	var added, removed, changed []backends.Server
	for _, want := range wanted {
		found, there := present[key(want)]
		switch {
		case !there:
			added = append(added, want)
		case found.Weight != want.Weight:
			changed = append(changed, want)
		}
		delete(present, key(want))
	}
	for _, at := range slices.Sorted(maps.Keys(present)) {
		removed = append(removed, present[at])
	}
	for _, do := range []struct {
		action  string
		servers []backends.Server
	}{{"AddServersToServerGroup", added}, {"RemoveServersFromServerGroup", removed}, {"UpdateServerGroupServersAttribute", changed}} {
		for chunk := range slices.Chunk(do.servers, batch) {
			params := openapi.Params{"ServerGroupId": group}
			for i, s := range chunk {
				at := fmt.Sprintf("Servers.%d.", i+1)
				maps.Copy(params, openapi.Params{at + "ServerType": types[s.Type], at + "ServerId": s.ID, at + "ServerIp": s.IP, at + "Port": strconv.Itoa(s.Port)})
				if do.action != "RemoveServersFromServerGroup" {
					params[at+"Weight"], params[at+"Description"] = strconv.Itoa(s.Weight), name
				}
			}
			if err := p.work(ctx, do.action, params); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureListeners makes the load balancer's listeners match the Service's ports,
// and leaves other people's alone. It waits for all jobs together.
func (p *Product) ensureListeners(ctx context.Context, id string, service *corev1.Service, groups map[string]string) error {
	found, err := p.call("ListListeners", openapi.Params{"LoadBalancerIds.1": id, "MaxResults": "100"})
	if err != nil {
		return err
	}
	var jobs []string
	begin := func(action string, params openapi.Params) error {
		begun, err := p.call(action, params)
		jobs = append(jobs, begun.JobID)
		return err
	}
	present := make(map[string]bool)
	for _, l := range found.Listeners {
		group, wanted := groups[l.ListenerDescription]
		present[l.ListenerDescription] = true
		switch {
		case wanted && group != l.ServerGroupID:
			err = begin("UpdateListenerAttribute", openapi.Params{"ListenerId": l.ListenerID, "ServerGroupId": group})
		case !wanted && strings.HasSuffix(l.ListenerDescription, p.ownSuffix(service)):
			err = begin("DeleteListener", openapi.Params{"ListenerId": l.ListenerID})
		}
		if err != nil {
			return err
		}
	}
	for _, port := range service.Spec.Ports {
		name := p.ownName(service, port.Port, port.Protocol)
		if present[name] {
			continue
		}
		if err := begin("CreateListener", openapi.Params{"LoadBalancerId": id, "ListenerProtocol": string(port.Protocol),
			"ListenerPort": strconv.Itoa(int(port.Port)), "ListenerDescription": name, "ServerGroupId": groups[name]}); err != nil {
			return err
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return p.await(ctx, jobs...)
}

// deleteUnusedGroups removes the Service's groups that no listener leads to.
func (p *Product) deleteUnusedGroups(service *corev1.Service, used map[string]string) error {
	groups, err := p.groups(service)
	if err != nil {
		return err
	}
	ids := slices.Collect(maps.Values(used))
	for _, id := range groups {
		if slices.Contains(ids, id) {
			continue
		}
		if _, err := p.call("DeleteServerGroup", openapi.Params{"ServerGroupId": id}); err != nil {
			return err
		}
	}
	return nil
}
