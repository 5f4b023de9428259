package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
)

const annotationZoneMaps = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-zone-maps"

// How long the driver waits for a load balancer and for a job, and how often it asks.
const (
	activeTime = 2 * time.Minute
	jobTime    = 30 * time.Second
	askEvery   = 500 * time.Millisecond
)

// networkLoadBalancer makes a Service's Network Load Balancer what the Service says.
type networkLoadBalancer struct{ *loadBalancer }

// nlbReply has the fields of answers that the driver reads.
type nlbReply struct {
	LoadBalancerID string `json:"LoadbalancerId"`
	JobID          string `json:"JobId"`
	ServerGroupID  string `json:"ServerGroupId"`
	Status         string
	LoadBalancers  []nlbBalancer
	Listeners      []struct {
		ListenerID          string `json:"ListenerId"`
		ListenerDescription string
		ServerGroupID       string `json:"ServerGroupId"`
	}
	ServerGroups []struct {
		ServerGroupID   string `json:"ServerGroupId"`
		ServerGroupName string
	}
	Servers []struct {
		ServerID string `json:"ServerId"`
		Port     int
		Weight   int
	}
	Jobs []struct {
		ID     string `json:"Id"`
		Status string
	}
}

// nlbBalancer has the fields of a load balancer that the driver reads.
type nlbBalancer struct {
	ID           string `json:"LoadBalancerId"`
	Status       string `json:"LoadBalancerStatus"`
	DNSName      string
	ZoneMappings []struct {
		ZoneID    string `json:"ZoneId"`
		VSwitchID string `json:"VSwitchId"`
	}
}

func (b *networkLoadBalancer) call(action string, params map[string]string) (reply nlbReply, err error) {
	request := requests.NewCommonRequest()
	request.Method, request.Scheme, request.Domain, request.Version, request.ApiName = "POST", "HTTP", b.slb.Domain, "2022-04-30", action
	maps.Copy(request.QueryParams, params)
	response, err := b.slb.ProcessCommonRequest(request)
	if err != nil {
		return reply, err
	}
	return reply, json.Unmarshal(response.GetHttpContentBytes(), &reply)
}

// ensure returns the name of the load balancer. Groups come before the listeners
// that need them, and go after those that needed them.
func (b *networkLoadBalancer) ensure(ctx context.Context, service *corev1.Service, nodes []*corev1.Node) (hostname string, err error) {
	found, err := b.find(service)
	if err == nil && found == nil {
		found, err = b.create(ctx, service)
	}
	if err != nil {
		return "", err
	}
	if err := b.ensureZones(ctx, found, service); err != nil {
		return "", err
	}
	groups, err := b.ensureGroups(ctx, service, nodes)
	if err != nil {
		return "", err
	}
	if err := b.ensureListeners(ctx, found.ID, service, groups); err != nil {
		return "", err
	}
	return found.DNSName, b.deleteUnusedGroups(service, groups)
}

// remove deletes everything that belongs to the Service.
func (b *networkLoadBalancer) remove(ctx context.Context, service *corev1.Service) error {
	found, err := b.find(service)
	if err != nil {
		return err
	}
	if found != nil {
		if _, err := b.call("UpdateLoadBalancerProtection", map[string]string{"LoadBalancerId": found.ID, "DeletionProtectionEnabled": "false"}); err != nil {
			return err
		}
		if err := b.work(ctx, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": found.ID}); err != nil {
			return err
		}
	}
	return b.deleteUnusedGroups(service, nil)
}

// find looks for the load balancer by the tag and then by the name that create gave
// it. Nil is none.
func (b *networkLoadBalancer) find(service *corev1.Service) (*nlbBalancer, error) {
	name := cloudprovider.DefaultLoadBalancerName(service)
	for _, params := range []map[string]string{{"Tag.1.Key": tagService, "Tag.1.Value": name}, {"LoadBalancerNames.1": name}} {
		reply, err := b.call("ListLoadBalancers", params)
		if err != nil {
			return nil, err
		}
		switch n := len(reply.LoadBalancers); {
		case n == 1:
			return &reply.LoadBalancers[0], nil
		case n > 1:
			return nil, fmt.Errorf("%d load balancers belong to one service: %v", n, params)
		}
	}
	return nil, nil
}

// create sends what a CCM sends, and waits until the load balancer can be used.
func (b *networkLoadBalancer) create(ctx context.Context, service *corev1.Service) (*nlbBalancer, error) {
	params, err := zoneMaps(service)
	if err != nil {
		return nil, err
	}
	name := cloudprovider.DefaultLoadBalancerName(service)
	maps.Copy(params, map[string]string{
		"LoadBalancerName": name, "AddressType": "Internet", "VpcId": b.vpcID, "ClientToken": string(service.UID),
		"DeletionProtectionConfig.Enabled": "true", "ModificationProtectionConfig.Status": "ConsoleProtection",
		"ModificationProtectionConfig.Reason": "managed.by.ack",
	})
	maps.Copy(params, b.tags(service))
	if _, err := b.call("CreateLoadBalancer", params); err != nil {
		return nil, err
	}
	var found *nlbBalancer
	err = wait.PollUntilContextTimeout(ctx, askEvery, activeTime, true, func(context.Context) (bool, error) {
		found, err = b.find(service)
		return err == nil && found != nil && found.Status == "Active", err
	})
	return found, err
}

// tags are those that a CCM gives to what it makes.
func (b *networkLoadBalancer) tags(service *corev1.Service) map[string]string {
	return map[string]string{"Tag.1.Key": tagService, "Tag.1.Value": cloudprovider.DefaultLoadBalancerName(service),
		"Tag.2.Key": tagCluster, "Tag.2.Value": b.clusterID}
}

// ensureZones sends the whole list when a zone of the annotation is not there.
func (b *networkLoadBalancer) ensureZones(ctx context.Context, found *nlbBalancer, service *corev1.Service) error {
	params, err := zoneMaps(service)
	if err != nil {
		return err
	}
	for n := 1; params[fmt.Sprintf("ZoneMappings.%d.ZoneId", n)] != ""; n++ {
		there := false
		for _, z := range found.ZoneMappings {
			there = there || z.ZoneID == params[fmt.Sprintf("ZoneMappings.%d.ZoneId", n)] && z.VSwitchID == params[fmt.Sprintf("ZoneMappings.%d.VSwitchId", n)]
		}
		if !there {
			params["LoadBalancerId"] = found.ID
			return b.work(ctx, "UpdateLoadBalancerZones", params)
		}
	}
	return nil
}

// work makes a call and waits for its job.
func (b *networkLoadBalancer) work(ctx context.Context, action string, params map[string]string) error {
	reply, err := b.call(action, params)
	if err != nil {
		return err
	}
	return b.await(ctx, reply.JobID)
}

// await waits for jobs; none may fail.
func (b *networkLoadBalancer) await(ctx context.Context, jobs ...string) error {
	params := make(map[string]string)
	for i, id := range jobs {
		params[fmt.Sprintf("JobIds.%d", i+1)] = id
	}
	return wait.PollUntilContextTimeout(ctx, askEvery, jobTime, true, func(context.Context) (bool, error) {
		reply, err := b.call("ListAsynJobs", params)
		if err != nil {
			return false, err
		}
		done := true
		for _, job := range reply.Jobs {
			if job.Status == "Failed" {
				return false, fmt.Errorf("job %s failed", job.ID)
			}
			done = done && job.Status == "Succeeded"
		}
		return done, nil
	})
}

// nlbName is the name of a listener or a group; what is called otherwise belongs
// to another owner.
func (b *networkLoadBalancer) nlbName(service *corev1.Service, port int32, protocol corev1.Protocol) string {
	return fmt.Sprintf("k8s.%d.%s%s", port, protocol, b.nlbSuffix(service))
}

func (b *networkLoadBalancer) nlbSuffix(service *corev1.Service) string {
	return fmt.Sprintf(".%s.%s.%s", service.Name, service.Namespace, b.clusterID)
}

// groups are the ids of the Service's groups by their names.
func (b *networkLoadBalancer) groups(service *corev1.Service) (map[string]string, error) {
	params := b.tags(service)
	params["MaxResults"] = "100"
	reply, err := b.call("ListServerGroups", params)
	groups := make(map[string]string)
	for _, g := range reply.ServerGroups {
		if strings.HasSuffix(g.ServerGroupName, b.nlbSuffix(service)) {
			groups[g.ServerGroupName] = g.ServerGroupID
		}
	}
	return groups, err
}

// ensureGroups makes a group with the right servers for each node port, and returns
// their ids by the names of the listeners that lead to them.
func (b *networkLoadBalancer) ensureGroups(ctx context.Context, service *corev1.Service, nodes []*corev1.Node) (map[string]string, error) {
	present, err := b.groups(service)
	if err != nil {
		return nil, err
	}
	weights, err := b.weights(service, nodes)
	if err != nil {
		return nil, err
	}
	groups := make(map[string]string)
	for _, port := range service.Spec.Ports {
		name := b.nlbName(service, port.NodePort, port.Protocol)
		id := present[name]
		if id == "" {
			params := b.tags(service)
			maps.Copy(params, map[string]string{"ServerGroupName": name, "VpcId": b.vpcID, "Protocol": string(port.Protocol), "AnyPortEnabled": "false"})
			reply, err := b.call("CreateServerGroup", params)
			if err != nil {
				return nil, err
			}
			if err := b.await(ctx, reply.JobID); err != nil {
				return nil, err
			}
			id = reply.ServerGroupID
		}
		groups[b.nlbName(service, port.Port, port.Protocol)] = id
		if err := b.ensureServers(ctx, id, servers(weights, name, int(port.NodePort))); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// ensureServers adds, removes and changes servers, in a CCM's order.
func (b *networkLoadBalancer) ensureServers(ctx context.Context, group string, wanted []server) error {
	reply, err := b.call("ListServerGroupServers", map[string]string{"ServerGroupId": group, "MaxResults": "100"})
	if err != nil {
		return err
	}
	var present []server
	for _, s := range reply.Servers {
		i := slices.IndexFunc(wanted, func(want server) bool { return want.ServerID == s.ServerID && want.Port == s.Port })
		is := server{ServerID: s.ServerID, Port: s.Port, Weight: s.Weight}
		if i >= 0 {
			is.Type, is.Description = wanted[i].Type, wanted[i].Description // these never change
		}
		present = append(present, is)
	}
	added, removed, changed := difference(wanted, present)
	for _, do := range []struct {
		action string
		list   []server
	}{{"AddServersToServerGroup", added}, {"RemoveServersFromServerGroup", removed}, {"UpdateServerGroupServersAttribute", changed}} {
		for chunk := range slices.Chunk(do.list, batch) {
			params := map[string]string{"ServerGroupId": group}
			for i, s := range chunk {
				at := fmt.Sprintf("Servers.%d.", i+1)
				maps.Copy(params, map[string]string{at + "ServerType": "Ecs", at + "ServerId": s.ServerID, at + "Port": strconv.Itoa(s.Port)})
				if do.action != "RemoveServersFromServerGroup" {
					params[at+"Weight"], params[at+"Description"] = strconv.Itoa(s.Weight), s.Description
				}
			}
			if err := b.work(ctx, do.action, params); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureListeners makes the load balancer's listeners match the Service's ports,
// and leaves other people's alone. It waits for all jobs together.
func (b *networkLoadBalancer) ensureListeners(ctx context.Context, id string, service *corev1.Service, groups map[string]string) error {
	reply, err := b.call("ListListeners", map[string]string{"LoadBalancerIds.1": id, "MaxResults": "100"})
	if err != nil {
		return err
	}
	var jobs []string
	begin := func(action string, params map[string]string) error {
		reply, err := b.call(action, params)
		jobs = append(jobs, reply.JobID)
		return err
	}
	present := make(map[string]bool)
	for _, l := range reply.Listeners {
		group, wanted := groups[l.ListenerDescription]
		present[l.ListenerDescription] = true
		switch {
		case wanted && group != l.ServerGroupID:
			err = begin("UpdateListenerAttribute", map[string]string{"ListenerId": l.ListenerID, "ServerGroupId": group})
		case !wanted && strings.HasSuffix(l.ListenerDescription, b.nlbSuffix(service)):
			err = begin("DeleteListener", map[string]string{"ListenerId": l.ListenerID})
		}
		if err != nil {
			return err
		}
	}
	for _, port := range service.Spec.Ports {
		name := b.nlbName(service, port.Port, port.Protocol)
		if present[name] {
			continue
		}
		if err := begin("CreateListener", map[string]string{"LoadBalancerId": id, "ListenerProtocol": string(port.Protocol),
			"ListenerPort": strconv.Itoa(int(port.Port)), "ListenerDescription": name, "ServerGroupId": groups[name]}); err != nil {
			return err
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return b.await(ctx, jobs...)
}

// deleteUnusedGroups removes the Service's groups that no listener leads to.
func (b *networkLoadBalancer) deleteUnusedGroups(service *corev1.Service, used map[string]string) error {
	groups, err := b.groups(service)
	if err != nil {
		return err
	}
	ids := slices.Collect(maps.Values(used))
	for _, id := range groups {
		if slices.Contains(ids, id) {
			continue
		}
		if _, err := b.call("DeleteServerGroup", map[string]string{"ServerGroupId": id}); err != nil {
			return err
		}
	}
	return nil
}
