package nlb

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// balancer has the fields of a load balancer that the driver reads.
type balancer struct {
	LoadBalancerID, LoadBalancerStatus, DNSName string
	ZoneMappings                                []struct{ ZoneID, VSwitchID string }
}

// find looks for the load balancer by the tag and then by the name that create gave it. It returns
// nil if there is none.
func (p *Product) find(service *corev1.Service) (*balancer, error) {
	name := cloudprovider.DefaultLoadBalancerName(service)
	for _, params := range []openapi.Params{{"Tag.1.Key": tagService, "Tag.1.Value": name}, {"LoadBalancerNames.1": name}} {
		if found, err := p.findBy(params); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

func (p *Product) findBy(params openapi.Params) (*balancer, error) {
	is, err := p.call("ListLoadBalancers", params)
	switch {
	case err != nil || len(is.LoadBalancers) == 0:
		return nil, err
	case len(is.LoadBalancers) > 1:
		return nil, fmt.Errorf("%d load balancers belong to one service: %v", len(is.LoadBalancers), params)
	}
	return &is.LoadBalancers[0], nil
}

// create sends what a CCM sends, and waits until the load balancer can be used. It asks by
// id: a ClientToken may lead to one that has lost its tag and its name.
func (p *Product) create(ctx context.Context, service *corev1.Service) (*balancer, error) {
	params, err := zoneMaps(service)
	if err != nil {
		return nil, err
	}
	name := cloudprovider.DefaultLoadBalancerName(service)
	maps.Copy(params, openapi.Params{
		"LoadBalancerName": name, "AddressType": "Internet", "VpcId": p.VPC, "ClientToken": string(service.UID),
		"DeletionProtectionConfig.Enabled": "true", "ModificationProtectionConfig.Status": "ConsoleProtection",
		"ModificationProtectionConfig.Reason": "managed.by.ack",
	})
	maps.Copy(params, p.tags(service))
	made, err := p.call("CreateLoadBalancer", params)
	if err != nil {
		return nil, err
	}
	var found *balancer
	err = wait.PollUntilContextTimeout(ctx, askEvery, activeTime, true, func(context.Context) (bool, error) {
		found, err = p.findBy(openapi.Params{"LoadBalancerIds.1": made.LoadBalancerID})
		return err == nil && found != nil && found.LoadBalancerStatus == "Active", err
	})
	return found, err
}

// zoneMaps returns the zones of the annotation, as parameters.
func zoneMaps(service *corev1.Service) (openapi.Params, error) {
	params := make(openapi.Params)
	for i, zone := range strings.Split(service.Annotations[annotation.ZoneMaps], ",") {
		parts := strings.Split(zone, ":")
		if len(parts) < 2 {
			return nil, fmt.Errorf("the annotation %s has %q, want zone:vSwitch", annotation.ZoneMaps, zone)
		}
		params[fmt.Sprintf("ZoneMappings.%d.ZoneId", i+1)] = parts[0]
		params[fmt.Sprintf("ZoneMappings.%d.VSwitchId", i+1)] = parts[1]
	}
	return params, nil
}

// ensureZones sends the whole list when a zone of the annotation is not there.
func (p *Product) ensureZones(ctx context.Context, found *balancer, service *corev1.Service) error {
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
			params["LoadBalancerId"] = found.LoadBalancerID
			return p.work(ctx, "UpdateLoadBalancerZones", params)
		}
	}
	return nil
}

// work makes a call and waits for its job.
func (p *Product) work(ctx context.Context, action string, params openapi.Params) error {
	begun, err := p.call(action, params)
	if err != nil {
		return err
	}
	return p.await(ctx, begun.JobID)
}

// await waits for jobs; none may fail.
func (p *Product) await(ctx context.Context, jobs ...string) error {
	params := make(openapi.Params)
	for i, id := range jobs {
		params[fmt.Sprintf("JobIds.%d", i+1)] = id
	}
	return wait.PollUntilContextTimeout(ctx, askEvery, jobTime, true, func(context.Context) (bool, error) {
		is, err := p.call("ListAsynJobs", params)
		if err != nil {
			return false, err
		}
		done := true
		for _, job := range is.Jobs {
			if job.Status == "Failed" {
				return false, fmt.Errorf("job %s failed", job.ID)
			}
			done = done && job.Status == "Succeeded"
		}
		return done, nil
	})
}
