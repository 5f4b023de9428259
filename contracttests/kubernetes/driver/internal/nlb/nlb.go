// Package nlb makes Network Load Balancers what Services say. It must not know when, or why,
// it is asked.
package nlb

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/backends"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/controller"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// class is the class of Services of Network Load Balancers.
const class = "alibabacloud.com/nlb"

// The tags of what a controller made.
const (
	tagService = "kubernetes.do.not.delete"
	tagCluster = "ack.aliyun.com"
)

// batch is the number of servers that a CCM sends in one call.
const batch = 40

// How long the driver waits for a load balancer and for a job, and how often it asks.
const (
	activeTime = 2 * time.Minute
	jobTime    = 30 * time.Second
	askEvery   = 500 * time.Millisecond
)

// Product makes load balancers.
type Product struct {
	Cloud     *openapi.Client
	Backends  *backends.Finder
	ClusterID string
	VPC       string
}

// Serves reports whether a Service of type LoadBalancer is one for NLB.
func (p *Product) Serves(service *corev1.Service) bool {
	return service.Spec.LoadBalancerClass != nil && *service.Spec.LoadBalancerClass == class
}

// Ensure makes the load balancer of a Service what the Service says. Groups come before the
// listeners that need them, and go after those that needed them.
func (p *Product) Ensure(ctx context.Context, service *corev1.Service, _ bool) (done controller.Outcome, err error) {
	found, err := p.find(service)
	if err == nil && found == nil {
		found, err = p.create(ctx, service)
	}
	if err != nil {
		return done, err
	}
	done.ID, done.Ingress = found.LoadBalancerID, corev1.LoadBalancerIngress{Hostname: found.DNSName}
	if err := p.ensureZones(ctx, found, service); err != nil {
		return done, err
	}
	groups, err := p.ensureGroups(ctx, service)
	if err != nil {
		return done, err
	}
	if err := p.ensureListeners(ctx, found.LoadBalancerID, service, groups); err != nil {
		return done, err
	}
	return done, p.deleteUnusedGroups(service, groups)
}

// Remove deletes everything that belongs to the Service, or leaves a load balancer that is to be
// preserved as it is, for whoever wants it.
func (p *Product) Remove(ctx context.Context, service *corev1.Service) (done controller.Outcome, err error) {
	found, err := p.find(service)
	if err != nil {
		return done, err
	}
	if found == nil {
		return done, p.deleteUnusedGroups(service, nil)
	}
	done.ID = found.LoadBalancerID
	if _, err := p.call("UpdateLoadBalancerProtection", openapi.Params{"LoadBalancerId": found.LoadBalancerID, "DeletionProtectionEnabled": "false"}); err != nil {
		return done, err
	}
	if annotation.Is(service, annotation.Preserve, "true") {
		_, err := p.call("UntagResources", openapi.Params{"ResourceType": "loadbalancer", "ResourceId.1": found.LoadBalancerID,
			"TagKey.1": tagService, "TagKey.2": tagCluster})
		return done, err
	}
	if err := p.work(ctx, "DeleteLoadBalancer", openapi.Params{"LoadBalancerId": found.LoadBalancerID}); err != nil {
		return done, err
	}
	return done, p.deleteUnusedGroups(service, nil)
}

// reply has the fields of answers that the driver reads.
type reply struct {
	JobID, ServerGroupID, LoadBalancerID string
	LoadBalancers                        []balancer
	Listeners                            []struct {
		ListenerID, ListenerDescription, ServerGroupID string
	}
	ServerGroups []struct {
		ServerGroupID, ServerGroupName string
	}
	Servers []struct {
		ServerID, ServerIP, ServerType string
		Port, Weight                   int
	}
	Jobs []struct {
		ID, Status string
	}
}

func (p *Product) call(action string, params openapi.Params) (is reply, err error) {
	err = p.Cloud.Call(openapi.NLB, action, params, &is)
	return is, err
}

// tags returns the tags that a CCM gives to what it makes.
func (p *Product) tags(service *corev1.Service) openapi.Params {
	return openapi.Params{"Tag.1.Key": tagService, "Tag.1.Value": cloudprovider.DefaultLoadBalancerName(service),
		"Tag.2.Key": tagCluster, "Tag.2.Value": p.ClusterID}
}

// ownName returns the name of a listener or a group. One with another name has another owner.
func (p *Product) ownName(service *corev1.Service, port int32, protocol corev1.Protocol) string {
	return fmt.Sprintf("k8s.%d.%s%s", port, protocol, p.ownSuffix(service))
}

func (p *Product) ownSuffix(service *corev1.Service) string {
	return fmt.Sprintf(".%s.%s.%s", service.Name, service.Namespace, p.ClusterID)
}
