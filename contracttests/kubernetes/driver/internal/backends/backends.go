// Package backends finds the servers that take the traffic of a Service: the nodes, or the
// pods by their network interfaces. It must not know which load balancer they are for.
package backends

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// fullWeight is the weight of each server that takes the same traffic, and the highest.
const fullWeight = 100

// Server is a backend server.
type Server struct {
	ID, Type string // of an instance (ecs), or of a network interface (eni)
	IP       string // of a pod
	Port     int
	Weight   int
}

// Finder finds servers.
type Finder struct {
	Cloud  *openapi.Client
	VPC    string
	Nodes  corelisters.NodeLister
	Slices discoverylisters.EndpointSliceLister
}

// Of returns the servers of a Service's port, ordered, and the addresses of pods that have
// no network interface in the VPC.
func (f *Finder) Of(service *corev1.Service, port *corev1.ServicePort) (servers []Server, strange []string, err error) {
	if annotation.Is(service, annotation.BackendType, "eni") {
		servers, strange, err = f.pods(service, port)
	} else {
		servers, err = f.nodes(service, port)
	}
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.ID+" "+a.IP, b.ID+" "+b.IP) })
	return servers, strange, err
}

// nodes returns the instances of the nodes. With the policy Local, it weighs each by its ready
// pods, and leaves out nodes without one.
func (f *Finder) nodes(service *corev1.Service, port *corev1.ServicePort) (servers []Server, err error) {
	nodes, err := f.Nodes.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	wanted, err := labels.Parse(service.Annotations[annotation.BackendLabel])
	if err != nil {
		return nil, fmt.Errorf("the annotation %s: %w", annotation.BackendLabel, err)
	}
	endpoints, err := f.ready(service)
	if err != nil {
		return nil, err
	}
	pods := make(map[string]int)
	for _, e := range endpoints {
		if e.NodeName != nil {
			pods[*e.NodeName]++
		}
	}
	for _, node := range nodes {
		_, instance, ok := strings.Cut(node.Spec.ProviderID, ".")
		if !ok || !takesTraffic(service, node) || !wanted.Matches(labels.Set(node.Labels)) {
			continue
		}
		weight := fullWeight
		if service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
			weight = min(pods[node.Name], fullWeight)
		}
		if weight > 0 {
			servers = append(servers, Server{ID: instance, Type: "ecs", Port: int(port.NodePort), Weight: weight})
		}
	}
	return servers, nil
}

// takesTraffic reports whether a node takes traffic: masters, and nodes that a label or the Service
// excludes, do not.
func takesTraffic(service *corev1.Service, node *corev1.Node) bool {
	for _, label := range []string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane", corev1.LabelNodeExcludeBalancers} {
		if _, has := node.Labels[label]; has {
			return false
		}
	}
	return !node.Spec.Unschedulable || !annotation.Is(service, annotation.RemoveUnscheduled, "on")
}

// pods returns the network interfaces of ready pods.
func (f *Finder) pods(service *corev1.Service, port *corev1.ServicePort) (servers []Server, strange []string, err error) {
	list, err := f.endpointSlices(service)
	if err != nil {
		return nil, nil, err
	}
	ports := make(map[string]int) // by address
	for _, slice := range list {
		for _, p := range slice.Ports {
			if p.Port == nil || p.Name != nil && *p.Name != port.Name {
				continue
			}
			for _, e := range slice.Endpoints {
				if isReady(&e) {
					ports[e.Addresses[0]] = int(*p.Port)
				}
			}
		}
	}
	interfaces, err := f.interfaces(slices.Sorted(maps.Keys(ports)))
	if err != nil {
		return nil, nil, err
	}
	for _, address := range slices.Sorted(maps.Keys(ports)) {
		if id := interfaces[address]; id != "" {
			servers = append(servers, Server{ID: id, IP: address, Type: "eni", Port: ports[address], Weight: fullWeight})
		} else {
			strange = append(strange, address)
		}
	}
	return servers, strange, nil
}

// most is the number of addresses that one call may ask for.
const most = 100

// interfaces returns the ids of network interfaces by address.
func (f *Finder) interfaces(addresses []string) (map[string]string, error) {
	found := make(map[string]string)
	for chunk := range slices.Chunk(addresses, most) {
		params := openapi.Params{"VpcId": f.VPC, "Status": "InUse", "MaxResults": fmt.Sprint(most)}
		for i, address := range chunk {
			params[fmt.Sprintf("PrivateIpAddress.%d", i+1)] = address
		}
		var reply struct {
			NetworkInterfaceSets struct {
				NetworkInterfaceSet []struct {
					NetworkInterfaceID string
					PrivateIPSets      struct {
						PrivateIPSet []struct{ PrivateIPAddress string }
					}
				}
			}
		}
		if err := f.Cloud.Call(openapi.ECS, "DescribeNetworkInterfaces", params, &reply); err != nil {
			return nil, err
		}
		for _, card := range reply.NetworkInterfaceSets.NetworkInterfaceSet {
			for _, address := range card.PrivateIPSets.PrivateIPSet {
				found[address.PrivateIPAddress] = card.NetworkInterfaceID
			}
		}
	}
	return found, nil
}

// ready returns the endpoints of a Service that take traffic.
func (f *Finder) ready(service *corev1.Service) (endpoints []discoveryv1.Endpoint, err error) {
	list, err := f.endpointSlices(service)
	for _, slice := range list {
		for _, e := range slice.Endpoints {
			if isReady(&e) {
				endpoints = append(endpoints, e)
			}
		}
	}
	return endpoints, err
}

func (f *Finder) endpointSlices(service *corev1.Service) ([]*discoveryv1.EndpointSlice, error) {
	return f.Slices.EndpointSlices(service.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
}

func isReady(e *discoveryv1.Endpoint) bool {
	return e.Conditions.Ready != nil && *e.Conditions.Ready && len(e.Addresses) > 0
}
