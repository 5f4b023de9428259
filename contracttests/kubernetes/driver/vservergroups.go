package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
)

// batch is the number of backends that a CCM sends in one call.
const batch = 40

// server is a backend in the form in which calls carry it.
type server struct {
	ServerID    string `json:"ServerId"`
	Port        int    `json:"Port,string"`
	Weight      int    `json:"Weight,string"`
	Type        string `json:"Type"`
	Description string `json:"Description"`
}

// sameAs says whether two entries stand for one backend; their weights may differ.
func (s server) sameAs(other server) bool {
	return s.ServerID == other.ServerID && s.Port == other.Port
}

// ensureGroups makes a group with the right backends for each node port, and
// returns their ids.
func (b *loadBalancer) ensureGroups(id string, service *corev1.Service, nodes []*corev1.Node) (map[int32]string, error) {
	present, err := b.groups(id)
	if err != nil {
		return nil, err
	}
	weights, err := b.weights(service, nodes)
	if err != nil {
		return nil, err
	}
	groups := make(map[int32]string)
	for _, port := range service.Spec.Ports {
		name := b.ownName(service, port.NodePort)
		group, ok := present[name]
		if !ok {
			if group, err = b.createGroup(id, name); err != nil {
				return nil, err
			}
			present[name] = group
		}
		groups[port.NodePort] = group
		if err := b.ensureServers(group, servers(weights, name, int(port.NodePort))); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

func servers(weights map[string]int, name string, port int) (all []server) {
	for instance, weight := range weights {
		all = append(all, server{instance, port, weight, "ecs", name})
	}
	slices.SortFunc(all, func(a, b server) int { return strings.Compare(a.ServerID, b.ServerID) })
	return all
}

// groups are the ids of a load balancer's groups by their names.
func (b *loadBalancer) groups(id string) (map[string]string, error) {
	request := slb.CreateDescribeVServerGroupsRequest()
	request.LoadBalancerId = id
	response, err := b.slb.DescribeVServerGroups(request)
	if err != nil {
		return nil, err
	}
	groups := make(map[string]string)
	for _, group := range response.VServerGroups.VServerGroup {
		groups[group.VServerGroupName] = group.VServerGroupId
	}
	return groups, nil
}

func (b *loadBalancer) createGroup(id, name string) (string, error) {
	request := slb.CreateCreateVServerGroupRequest()
	request.LoadBalancerId, request.VServerGroupName = id, name
	response, err := b.slb.CreateVServerGroup(request)
	if err != nil {
		return "", err
	}
	return response.VServerGroupId, nil
}

// ensureServers adds, removes and changes backends, in a CCM's order.
func (b *loadBalancer) ensureServers(group string, wanted []server) error {
	request := slb.CreateDescribeVServerGroupAttributeRequest()
	request.VServerGroupId = group
	response, err := b.slb.DescribeVServerGroupAttribute(request)
	if err != nil {
		return err
	}
	var present []server
	for _, s := range response.BackendServers.BackendServer {
		present = append(present, server{s.ServerId, s.Port, s.Weight, s.Type, s.Description})
	}
	added, removed, changed := difference(wanted, present)
	if err := inBatches(added, func(list string) error { return b.addServers(group, list) }); err != nil {
		return err
	}
	if err := inBatches(removed, func(list string) error { return b.removeServers(group, list) }); err != nil {
		return err
	}
	return inBatches(changed, func(list string) error { return b.setServers(group, list) })
}

func (b *loadBalancer) addServers(group, list string) error {
	request := slb.CreateAddVServerGroupBackendServersRequest()
	request.VServerGroupId, request.BackendServers = group, list
	_, err := b.slb.AddVServerGroupBackendServers(request)
	return err
}

func (b *loadBalancer) removeServers(group, list string) error {
	request := slb.CreateRemoveVServerGroupBackendServersRequest()
	request.VServerGroupId, request.BackendServers = group, list
	_, err := b.slb.RemoveVServerGroupBackendServers(request)
	return err
}

func (b *loadBalancer) setServers(group, list string) error {
	request := slb.CreateSetVServerGroupAttributeRequest()
	request.VServerGroupId, request.BackendServers = group, list
	_, err := b.slb.SetVServerGroupAttribute(request)
	return err
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

func inBatches(servers []server, call func(list string) error) error {
	for chunk := range slices.Chunk(servers, batch) {
		list, err := json.Marshal(chunk)
		if err != nil {
			return err
		}
		if err := call(string(list)); err != nil {
			return err
		}
	}
	return nil
}

// deleteUnusedGroups removes own groups that no port of the Service needs.
func (b *loadBalancer) deleteUnusedGroups(id string, service *corev1.Service) error {
	groups, err := b.groups(id)
	if err != nil {
		return err
	}
	for _, port := range service.Spec.Ports {
		delete(groups, b.ownName(service, port.NodePort))
	}
	for name, group := range groups {
		if !b.owns(service, name) {
			continue
		}
		request := slb.CreateDeleteVServerGroupRequest()
		request.VServerGroupId = group
		if _, err := b.slb.DeleteVServerGroup(request); err != nil {
			return err
		}
	}
	return nil
}
