package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// The annotations and tags of a CCM that the driver knows.
const (
	annotationID       = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
	annotationOverride = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-force-override-listeners"
	tagService         = "kubernetes.do.not.delete"
	tagCluster         = "ack.aliyun.com"
)

// loadBalancer makes a Service's load balancer what the Service says.
type loadBalancer struct {
	slb       *slb.Client
	clusterID string
	vpcID     string // of Network Load Balancers
	slices    discoverylisters.EndpointSliceLister
	// locks has one for each Service, which the service controller and the watch
	// of endpoints may want to change at once.
	locks sync.Map
}

func newSLB(o options, accessKeyID, secret string) (*slb.Client, error) {
	client, err := slb.NewClientWithOptions(o.region, sdk.NewConfig().WithScheme("HTTP"),
		credentials.NewAccessKeyCredential(accessKeyID, secret))
	if err != nil {
		return nil, fmt.Errorf("make the SDK's client: %w", err)
	}
	client.Domain = o.endpoint
	return client, nil
}

func (b *loadBalancer) lock(service *corev1.Service) (unlock func()) {
	held, _ := b.locks.LoadOrStore(service.UID, &sync.Mutex{})
	mu := held.(*sync.Mutex)
	mu.Lock()
	return mu.Unlock
}

// GetLoadBalancerName is the name that a CCM gives too.
func (b *loadBalancer) GetLoadBalancerName(_ context.Context, _ string, service *corev1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(service)
}

// GetLoadBalancer implements cloudprovider.LoadBalancer.
func (b *loadBalancer) GetLoadBalancer(_ context.Context, _ string, service *corev1.Service) (*corev1.LoadBalancerStatus, bool, error) {
	found, err := b.find(service)
	if err != nil || found == nil {
		return nil, false, err
	}
	return found.status(), true, nil
}

// EnsureLoadBalancer implements cloudprovider.LoadBalancer.
func (b *loadBalancer) EnsureLoadBalancer(_ context.Context, _ string, service *corev1.Service, nodes []*corev1.Node) (*corev1.LoadBalancerStatus, error) {
	defer b.lock(service)()
	found, err := b.find(service)
	if err == nil && found == nil {
		found, err = b.create(service)
	}
	if err != nil {
		return nil, err
	}
	return found.status(), b.apply(found.id, service, nodes)
}

// apply brings groups before the listeners that need them, and removes groups
// after the listeners that needed them.
func (b *loadBalancer) apply(id string, service *corev1.Service, nodes []*corev1.Node) error {
	groups, err := b.ensureGroups(id, service, nodes)
	if err != nil {
		return err
	}
	if overridesListeners(service) {
		if err := b.ensureListeners(id, service, groups); err != nil {
			return err
		}
	}
	return b.deleteUnusedGroups(id, service)
}

// UpdateLoadBalancer implements cloudprovider.LoadBalancer.
func (b *loadBalancer) UpdateLoadBalancer(_ context.Context, _ string, service *corev1.Service, nodes []*corev1.Node) error {
	defer b.lock(service)()
	found, err := b.find(service)
	if err == nil && found == nil {
		err = fmt.Errorf("service %s/%s has no load balancer to update", service.Namespace, service.Name)
	}
	if err != nil {
		return err
	}
	_, err = b.ensureGroups(found.id, service, nodes)
	return err
}

// EnsureLoadBalancerDeleted implements cloudprovider.LoadBalancer. A reused load
// balancer stays, without what the driver put on it.
func (b *loadBalancer) EnsureLoadBalancerDeleted(_ context.Context, _ string, service *corev1.Service) error {
	defer b.lock(service)()
	found, err := b.find(service)
	if err != nil || found == nil {
		return err
	}
	if service.Annotations[annotationID] != "" {
		bare := service.DeepCopy()
		bare.Spec.Ports = nil
		return b.apply(found.id, bare, nil)
	}
	return b.delete(found.id)
}

// balancer has the fields of a load balancer that the driver reads.
type balancer struct{ id, address string }

func (found balancer) status() *corev1.LoadBalancerStatus {
	return &corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: found.address}}}
}

// find looks for the load balancer by the id of the annotation, else by the tag
// and then by the name that create gave it. Nil is none.
func (b *loadBalancer) find(service *corev1.Service) (*balancer, error) {
	if id := service.Annotations[annotationID]; id != "" {
		request := slb.CreateDescribeLoadBalancerAttributeRequest()
		request.LoadBalancerId = id
		response, err := b.slb.DescribeLoadBalancerAttribute(request)
		if err != nil {
			return nil, err
		}
		return &balancer{response.LoadBalancerId, response.Address}, nil
	}
	name := cloudprovider.DefaultLoadBalancerName(service)
	tags, err := json.Marshal([]map[string]string{{"TagKey": tagService, "TagValue": name}})
	if err != nil {
		return nil, err
	}
	byTag := slb.CreateDescribeLoadBalancersRequest()
	byTag.Tags = string(tags)
	if found, err := b.findOne(byTag); found != nil || err != nil {
		return found, err
	}
	byName := slb.CreateDescribeLoadBalancersRequest()
	byName.LoadBalancerName = name
	return b.findOne(byName)
}

func (b *loadBalancer) findOne(request *slb.DescribeLoadBalancersRequest) (*balancer, error) {
	response, err := b.slb.DescribeLoadBalancers(request)
	if err != nil {
		return nil, err
	}
	found := response.LoadBalancers.LoadBalancer
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return &balancer{found[0].LoadBalancerId, found[0].Address}, nil
	default:
		return nil, fmt.Errorf("%d load balancers belong to one service: %s%s", len(found), request.Tags, request.LoadBalancerName)
	}
}

// create sends what a CCM sends for a Service without annotations. The UID as
// the client token makes a second try after a lost reply the same call.
func (b *loadBalancer) create(service *corev1.Service) (*balancer, error) {
	if len(service.Status.LoadBalancer.Ingress) > 0 {
		return nil, fmt.Errorf("service %s/%s has an address, but its load balancer is gone: not creating another", service.Namespace, service.Name)
	}
	name := cloudprovider.DefaultLoadBalancerName(service)
	request := slb.CreateCreateLoadBalancerRequest()
	request.LoadBalancerName = name
	request.AddressType = "internet"
	request.InternetChargeType = "paybytraffic"
	request.InstanceChargeType = "PayByCLCU"
	request.AddressIPVersion = "ipv4"
	request.DeleteProtection = "on"
	request.ModificationProtectionStatus = "ConsoleProtection"
	request.ModificationProtectionReason = "managed.by.ack"
	request.ClientToken = string(service.UID)
	request.Tag = &[]slb.CreateLoadBalancerTag{{Key: tagService, Value: name}, {Key: tagCluster, Value: b.clusterID}}
	response, err := b.slb.CreateLoadBalancer(request)
	if err != nil {
		return nil, err
	}
	return &balancer{response.LoadBalancerId, response.Address}, nil
}

func (b *loadBalancer) delete(id string) error {
	protection := slb.CreateSetLoadBalancerDeleteProtectionRequest()
	protection.LoadBalancerId, protection.DeleteProtection = id, "off"
	if _, err := b.slb.SetLoadBalancerDeleteProtection(protection); err != nil {
		return err
	}
	request := slb.CreateDeleteLoadBalancerRequest()
	request.LoadBalancerId = id
	if _, err := b.slb.DeleteLoadBalancer(request); err != nil && !strings.Contains(err.Error(), "LoadBalancerId does not exist") {
		return err
	}
	return nil
}

// overridesListeners is false for a reused load balancer whose listeners belong
// to its owner.
func overridesListeners(service *corev1.Service) bool {
	return service.Annotations[annotationID] == "" || service.Annotations[annotationOverride] == "true"
}

// ownName is the name of the driver's listeners and groups; what is called
// otherwise has another owner.
func (b *loadBalancer) ownName(service *corev1.Service, port int32) string {
	return fmt.Sprintf("k8s/%d%s", port, b.ownSuffix(service))
}

func (b *loadBalancer) ownSuffix(service *corev1.Service) string {
	return fmt.Sprintf("/%s/%s/%s", service.Name, service.Namespace, b.clusterID)
}

func (b *loadBalancer) owns(service *corev1.Service, name string) bool {
	return strings.HasPrefix(name, "k8s/") && strings.HasSuffix(name, b.ownSuffix(service))
}
