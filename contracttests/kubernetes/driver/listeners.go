package main

import (
	"strconv"
	"strings"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
)

// listener has the fields of a listener that the driver reads and writes.
type listener struct {
	port                          int32
	protocol                      string // tcp or udp
	group, description, scheduler string
	stopped                       bool
}

// key is equal for the same listener: TCP and UDP share a port.
func (l listener) key() string { return l.protocol + ":" + strconv.Itoa(int(l.port)) }

// ensureListeners makes the load balancer's listeners match the Service's
// ports, and leaves other people's alone.
func (b *loadBalancer) ensureListeners(id string, service *corev1.Service, groups map[int32]string) error {
	present, err := b.listeners(id)
	if err != nil {
		return err
	}
	wanted := make(map[string]listener)
	for _, port := range service.Spec.Ports {
		l := listener{port: port.Port, protocol: strings.ToLower(string(port.Protocol)), group: groups[port.NodePort],
			description: b.ownName(service, port.Port), scheduler: "rr"}
		wanted[l.key()] = l
	}
	for key, l := range present {
		if _, ok := wanted[key]; !ok && b.owns(service, l.description) {
			if err := b.callListener("Delete", "", id, l, nil); err != nil {
				return err
			}
		}
	}
	for key, l := range wanted {
		is, exists := present[key]
		if err := b.ensureListener(id, l, is, exists); err != nil {
			return err
		}
	}
	return nil
}

// ensureListener creates or changes one listener. A new one is stopped.
func (b *loadBalancer) ensureListener(id string, want, is listener, exists bool) error {
	settings := map[string]string{"VServerGroupId": want.group, "Description": want.description, "Scheduler": want.scheduler}
	switch {
	case !exists:
		settings["Bandwidth"] = "-1"
		if err := b.callListener("Create", "", id, want, settings); err != nil {
			return err
		}
	case is.group != want.group || is.description != want.description || is.scheduler != want.scheduler:
		settings["VServerGroup"] = "on"
		if err := b.callListener("Set", "Attribute", id, want, settings); err != nil {
			return err
		}
	}
	if exists && !is.stopped {
		return nil
	}
	start := slb.CreateStartLoadBalancerListenerRequest()
	start.LoadBalancerId, start.ListenerPort, start.ListenerProtocol = id, requests.NewInteger(int(want.port)), want.protocol
	_, err := b.slb.StartLoadBalancerListener(start)
	return err
}

// callListener makes a call whose action names the protocol, such as
// CreateLoadBalancerTCPListener; a deletion names it in a parameter.
func (b *loadBalancer) callListener(verb, suffix, id string, l listener, settings map[string]string) error {
	request := requests.NewCommonRequest()
	request.Product, request.Version, request.Domain, request.Scheme = "Slb", "2014-05-15", b.slb.Domain, "HTTP"
	request.ApiName = verb + "LoadBalancer" + strings.ToUpper(l.protocol) + "Listener" + suffix
	request.QueryParams["LoadBalancerId"] = id
	request.QueryParams["ListenerPort"] = strconv.Itoa(int(l.port))
	if verb == "Delete" {
		request.ApiName = "DeleteLoadBalancerListener"
		request.QueryParams["ListenerProtocol"] = l.protocol
	}
	for name, value := range settings {
		request.QueryParams[name] = value
	}
	_, err := b.slb.ProcessCommonRequest(request)
	return err
}

// listeners are all that a load balancer has.
func (b *loadBalancer) listeners(id string) (map[string]listener, error) {
	request := slb.CreateDescribeLoadBalancerListenersRequest()
	request.LoadBalancerId, request.MaxResults = &[]string{id}, requests.NewInteger(50)
	all := make(map[string]listener)
	for {
		page, err := b.slb.DescribeLoadBalancerListeners(request)
		if err != nil {
			return nil, err
		}
		for _, l := range page.Listeners {
			is := listener{int32(l.ListenerPort), l.ListenerProtocol, l.VServerGroupId, l.Description, l.Scheduler, l.Status == "stopped"}
			all[is.key()] = is
		}
		if request.NextToken = page.NextToken; request.NextToken == "" {
			return all, nil
		}
	}
}
