package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
)

// timeout is the longest wait of the controller for an answer.
const timeout = 2 * time.Second

// controller reconciles one Service. It keeps nothing in memory: each run looks at what
// the cloud has, and makes the calls that are missing.
type controller struct {
	slb     *slb.Client
	name    string
	servers []string
	ports   []int
	deleted bool
}

func (c *controller) reconcile() error {
	id, err := c.find()
	if err != nil {
		return err
	}
	if c.deleted {
		return c.delete(id)
	}
	if id == "" {
		if id, err = c.create(); err != nil {
			return err
		}
	}
	if err := c.ensureOwn(id); err != nil {
		return err
	}
	group, err := c.ensureGroup(id)
	if err != nil {
		return err
	}
	if err := c.ensureServers(group); err != nil {
		return err
	}
	return c.ensureListeners(id, group)
}

// owner is the tag that identifies the controller's load balancer, whatever its name.
const owner = "example.com/service"

func (c *controller) tag() string {
	tags, _ := json.Marshal([]map[string]string{{"TagKey": owner, "TagValue": c.name}}) // texts
	return string(tags)
}

// find returns the id of the Service's load balancer, or "" if there is none. A user may have taken
// its tag away, or its name: ensureOwn puts back what is missing.
func (c *controller) find() (id string, err error) {
	byTag := slb.CreateDescribeLoadBalancersRequest()
	byTag.Tags = c.tag()
	if id, err = c.findOne(byTag); id != "" || err != nil {
		return id, err
	}
	byName := slb.CreateDescribeLoadBalancersRequest()
	byName.LoadBalancerName = c.name
	return c.findOne(byName)
}

func (c *controller) findOne(request *slb.DescribeLoadBalancersRequest) (id string, err error) {
	found, err := c.slb.DescribeLoadBalancers(request)
	if err != nil {
		return "", fmt.Errorf("find the load balancer: %w", err)
	}
	switch all := found.LoadBalancers.LoadBalancer; len(all) {
	case 0:
		return "", nil
	case 1:
		return all[0].LoadBalancerId, nil
	default:
		return "", fmt.Errorf("there are %d load balancers of %s", len(all), c.name)
	}
}

// create makes the load balancer with its tag, in one call. Its token makes a call that
// is repeated, because its answer was lost, come to the same load balancer.
func (c *controller) create() (id string, err error) {
	request := slb.CreateCreateLoadBalancerRequest()
	request.LoadBalancerName, request.ClientToken = c.name, "service-"+c.name
	request.AddressType, request.InstanceChargeType = "internet", "PayByCLCU"
	request.Tag = &[]slb.CreateLoadBalancerTag{{Key: owner, Value: c.name}}
	made, err := c.slb.CreateLoadBalancer(request)
	if err != nil {
		return "", fmt.Errorf("create the load balancer: %w", err)
	}
	return made.LoadBalancerId, nil
}

// ensureOwn starts a load balancer that a user stopped, and gives it its name and its
// tag back.
func (c *controller) ensureOwn(id string) error {
	look := slb.CreateDescribeLoadBalancerAttributeRequest()
	look.LoadBalancerId = id
	is, err := c.slb.DescribeLoadBalancerAttribute(look)
	if err != nil {
		return fmt.Errorf("look at the load balancer: %w", err)
	}
	if is.LoadBalancerStatus == "inactive" {
		start := slb.CreateSetLoadBalancerStatusRequest()
		start.LoadBalancerId, start.LoadBalancerStatus = id, "active"
		if _, err := c.slb.SetLoadBalancerStatus(start); err != nil {
			return fmt.Errorf("start the load balancer: %w", err)
		}
	}
	if !slices.ContainsFunc(is.Tags.Tag, func(t slb.Tag) bool { return t.TagKey == owner && t.TagValue == c.name }) {
		tag := slb.CreateTagResourcesRequest()
		tag.ResourceType, tag.ResourceId = "instance", &[]string{id}
		tag.Tag = &[]slb.TagResourcesTag{{Key: owner, Value: c.name}}
		if _, err := c.slb.TagResources(tag); err != nil {
			return fmt.Errorf("tag the load balancer: %w", err)
		}
	}
	if is.LoadBalancerName == c.name {
		return nil
	}
	rename := slb.CreateSetLoadBalancerNameRequest()
	rename.LoadBalancerId, rename.LoadBalancerName = id, c.name
	if _, err := c.slb.SetLoadBalancerName(rename); err != nil {
		return fmt.Errorf("name the load balancer: %w", err)
	}
	return nil
}

// ensureGroup returns the server group of the load balancer. CreateVServerGroup takes no
// token: where an answer was lost, there may be two, and the later ones go.
func (c *controller) ensureGroup(id string) (group string, err error) {
	request := slb.CreateDescribeVServerGroupsRequest()
	request.LoadBalancerId = id
	found, err := c.slb.DescribeVServerGroups(request)
	if err != nil {
		return "", fmt.Errorf("look at the server groups: %w", err)
	}
	for _, is := range found.VServerGroups.VServerGroup {
		if is.VServerGroupName == c.name {
			return is.VServerGroupId, nil
		}
	}
	create := slb.CreateCreateVServerGroupRequest()
	create.LoadBalancerId, create.VServerGroupName = id, c.name
	made, err := c.slb.CreateVServerGroup(create)
	if err != nil {
		return "", fmt.Errorf("create the server group: %w", err)
	}
	return made.VServerGroupId, nil
}

// serverPort is the port of the servers, and weight their weight.
const (
	serverPort = 8080
	weight     = 100
)

// ensureServers adds the servers that are missing, and then removes the others.
func (c *controller) ensureServers(group string) error {
	request := slb.CreateDescribeVServerGroupAttributeRequest()
	request.VServerGroupId = group
	found, err := c.slb.DescribeVServerGroupAttribute(request)
	if err != nil {
		return fmt.Errorf("look at the servers: %w", err)
	}
	var present, missing, extra []string
	for _, s := range found.BackendServers.BackendServer {
		present = append(present, s.ServerId)
		if !slices.Contains(c.servers, s.ServerId) {
			extra = append(extra, s.ServerId)
		}
	}
	for _, s := range c.servers {
		if !slices.Contains(present, s) {
			missing = append(missing, s)
		}
	}
	if len(missing) > 0 {
		add := slb.CreateAddVServerGroupBackendServersRequest()
		add.VServerGroupId, add.BackendServers = group, backends(missing)
		if _, err := c.slb.AddVServerGroupBackendServers(add); err != nil {
			return fmt.Errorf("add servers: %w", err)
		}
	}
	if len(extra) > 0 {
		remove := slb.CreateRemoveVServerGroupBackendServersRequest()
		remove.VServerGroupId, remove.BackendServers = group, backends(extra)
		if _, err := c.slb.RemoveVServerGroupBackendServers(remove); err != nil {
			return fmt.Errorf("remove servers: %w", err)
		}
	}
	return nil
}

func backends(servers []string) string {
	var list []map[string]any
	for _, s := range servers {
		list = append(list, map[string]any{"ServerId": s, "Port": serverPort, "Weight": weight})
	}
	text, _ := json.Marshal(list) // texts and numbers
	return string(text)
}

// ensureListeners creates, starts and deletes listeners until each port has its own.
func (c *controller) ensureListeners(id, group string) error {
	request := slb.CreateDescribeLoadBalancerListenersRequest()
	request.LoadBalancerId = &[]string{id}
	found, err := c.slb.DescribeLoadBalancerListeners(request)
	if err != nil {
		return fmt.Errorf("look at the listeners: %w", err)
	}
	status := make(map[int]string)
	for _, l := range found.Listeners {
		status[l.ListenerPort] = l.Status
	}
	for _, port := range c.ports {
		if status[port] == "" {
			create := slb.CreateCreateLoadBalancerTCPListenerRequest()
			create.LoadBalancerId, create.ListenerPort, create.VServerGroupId, create.Bandwidth = id, requests.NewInteger(port), group, requests.NewInteger(-1)
			if _, err := c.slb.CreateLoadBalancerTCPListener(create); err != nil {
				return fmt.Errorf("create the listener: %w", err)
			}
		}
		if status[port] != "running" {
			start := slb.CreateStartLoadBalancerListenerRequest()
			start.LoadBalancerId, start.ListenerPort, start.ListenerProtocol = id, requests.NewInteger(port), "tcp"
			if _, err := c.slb.StartLoadBalancerListener(start); err != nil {
				return fmt.Errorf("start the listener: %w", err)
			}
		}
		delete(status, port)
	}
	for port := range status {
		remove := slb.CreateDeleteLoadBalancerListenerRequest()
		remove.LoadBalancerId, remove.ListenerPort, remove.ListenerProtocol = id, requests.NewInteger(port), "tcp"
		if _, err := c.slb.DeleteLoadBalancerListener(remove); err != nil {
			return fmt.Errorf("delete a listener: %w", err)
		}
	}
	return nil
}

// delete removes the load balancer with everything that belongs to it.
func (c *controller) delete(id string) error {
	if id == "" {
		return nil
	}
	request := slb.CreateDeleteLoadBalancerRequest()
	request.LoadBalancerId = id
	if _, err := c.slb.DeleteLoadBalancer(request); err != nil {
		return fmt.Errorf("delete the load balancer: %w", err)
	}
	return nil
}
