package clb

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// setting is a parameter of listeners that an annotation gives.
type setting struct{ annotation, parameter, protocols string }

// settings lists all settings that the driver knows.
var settings = []setting{
	{annotation.Scheduler, "Scheduler", "tcp udp http https"},
	{annotation.Drain, "ConnectionDrain", "tcp udp"},
	{annotation.DrainTimeout, "ConnectionDrainTimeout", "tcp udp"},
	{annotation.Certificate, "ServerCertificateId", "https"},
	{annotation.CheckInterval, "HealthCheckInterval", "tcp udp http https"},
	{annotation.Sticky, "StickySession", "http https"},
	{annotation.StickyType, "StickySessionType", "http https"},
	{annotation.CookieTimeout, "CookieTimeout", "http https"},
	{annotation.ACLStatus, "AclStatus", "tcp udp http https"},
	{annotation.ACLType, "AclType", "tcp udp http https"},
	{annotation.ACLID, "AclId", "tcp udp http https"},
}

// defaults returns the settings that a CCM sends for a new listener. Nothing sets a listener back
// to them.
func defaults(protocol string) openapi.Params {
	params := openapi.Params{"Scheduler": "rr", "Bandwidth": "-1"}
	if strings.HasPrefix(protocol, "http") {
		params["HealthCheck"], params["StickySession"] = "off", "off"
	}
	return params
}

// listener holds a listener's settings by the names of parameters.
type listener map[string]any

func (l listener) get(name string) string {
	if value, ok := l[name]; ok && value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// key returns a key that is equal for the same listener: TCP and UDP share a port.
func (l listener) key() string { return l.get("ListenerProtocol") + ":" + l.get("ListenerPort") }

// planListeners makes the load balancer's listeners match the Service's ports, and leaves
// other people's alone.
func (p *Product) planListeners(planned *plan, service *corev1.Service, targets []*group) error {
	present, err := p.listeners(planned.balancer)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool)
	protocols := protocolsOf(service)
	for _, port := range service.Spec.Ports {
		wanted[protocols(port)+":"+strconv.Itoa(int(port.Port))] = true
	}
	for _, key := range slices.Sorted(maps.Keys(present)) {
		if is := present[key]; !wanted[key] && p.owns(service, is.get("Description")) {
			planned.add("DeleteListener", is.get("ListenerPort"), func() error {
				return p.callListener(planned.balancer, "DeleteLoadBalancerListener", is.get("ListenerProtocol"), is.get("ListenerPort"), nil)
			})
		}
	}
	for i, port := range service.Spec.Ports {
		protocol, number := protocols(port), strconv.Itoa(int(port.Port))
		says := openapi.Params{"Description": p.ownName(service, number)}
		for _, s := range settings {
			if slices.Contains(strings.Fields(s.protocols), protocol) && service.Annotations[s.annotation] != "" {
				says[s.parameter] = service.Annotations[s.annotation]
			}
		}
		p.planListener(planned, protocol, number, says, targets[i], present[protocol+":"+number])
	}
	return nil
}

// protocolsOf returns the protocol of a port's listener: the Service's own, or the
// annotation's, such as https:443,http:80.
func protocolsOf(service *corev1.Service) func(corev1.ServicePort) string {
	named := make(map[string]string)
	for field := range strings.SplitSeq(service.Annotations[annotation.ProtocolPort], ",") {
		protocol, port, _ := strings.Cut(field, ":")
		named[port] = protocol
	}
	return func(port corev1.ServicePort) string {
		return cmp.Or(named[strconv.Itoa(int(port.Port))], strings.ToLower(string(port.Protocol)))
	}
}

// planListener creates or changes one listener. A new one is stopped.
func (p *Product) planListener(planned *plan, protocol, port string, says openapi.Params, target *group, is listener) {
	set := func(code, action string, params openapi.Params) {
		planned.add(code, port, func() error {
			params["VServerGroupId"] = target.id
			return p.callListener(planned.balancer, action, protocol, port, params)
		})
	}
	start := func(code string) {
		planned.add(code, port, func() error {
			return p.callListener(planned.balancer, "StartLoadBalancerListener", protocol, port, nil)
		})
	}
	if is == nil {
		params := defaults(protocol)
		maps.Copy(params, says)
		set("CreateListener", "CreateLoadBalancer"+strings.ToUpper(protocol)+"Listener", params)
		start("CreateListener")
		return
	}
	if is.get("Status") == "stopped" {
		start("StartListener")
	}
	same := is.get("VServerGroupId") == target.id && target.id != ""
	for name, value := range says {
		same = same && is.get(name) == value
	}
	if !same {
		params := maps.Clone(says)
		params["VServerGroup"] = "on"
		set("UpdateListener", "SetLoadBalancer"+strings.ToUpper(protocol)+"ListenerAttribute", params)
	}
}

// callListener makes a call about a listener. Those whose action does not name the protocol
// name it in a parameter, which the others ignore.
func (p *Product) callListener(found *balancer, action, protocol, port string, params openapi.Params) error {
	all := openapi.Params{"LoadBalancerId": found.LoadBalancerID, "ListenerPort": port}
	if !strings.Contains(action, strings.ToUpper(protocol)) {
		all["ListenerProtocol"] = protocol
	}
	maps.Copy(all, params)
	return p.Cloud.Call(openapi.SLB, action, all, nil)
}

// listeners returns all listeners of a load balancer, by their keys.
func (p *Product) listeners(found *balancer) (map[string]listener, error) {
	params := openapi.Params{"LoadBalancerId.1": found.LoadBalancerID, "MaxResults": "50"}
	all := make(map[string]listener)
	for {
		var page struct {
			Listeners []listener
			NextToken string
		}
		if err := p.Cloud.Call(openapi.SLB, "DescribeLoadBalancerListeners", params, &page); err != nil {
			return nil, err
		}
		for _, l := range page.Listeners {
			for _, protocol := range []string{"TCP", "UDP", "HTTP", "HTTPS"} {
				if config, ok := l[protocol+"ListenerConfig"].(map[string]any); ok {
					maps.Copy(l, config)
				}
			}
			all[l.key()] = l
		}
		if params["NextToken"] = page.NextToken; page.NextToken == "" {
			return all, nil
		}
	}
}
