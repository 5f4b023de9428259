package clb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// The tags of load balancers that a controller made.
const (
	tagService = "kubernetes.do.not.delete"
	tagCluster = "ack.aliyun.com"
)

// balancer has the fields of a load balancer that the driver reads.
type balancer struct {
	LoadBalancerID, LoadBalancerName, Address, AddressType   string
	LoadBalancerSpec, InstanceChargeType, InternetChargeType string
	ResourceGroupID, DeleteProtection                        string
	Bandwidth                                                int
	Tags                                                     struct {
		Tag []struct{ TagKey, TagValue string }
	}
}

func (b *balancer) tagged(keys ...string) bool {
	for _, tag := range b.Tags.Tag {
		for _, key := range keys {
			if tag.TagKey == key {
				return true
			}
		}
	}
	return false
}

// find looks for the load balancer by the id of the annotation, else by the tag and then by the
// name that create gave it. It returns nil if there is none.
func (p *Product) find(service *corev1.Service) (*balancer, error) {
	if id := service.Annotations[annotation.ID]; id != "" {
		return p.describe(id)
	}
	tags, err := json.Marshal([]map[string]string{{"TagKey": tagService, "TagValue": name(service)}})
	if err != nil {
		return nil, err
	}
	for _, params := range []openapi.Params{{"Tags": string(tags)}, {"LoadBalancerName": name(service)}} {
		var reply struct {
			LoadBalancers struct{ LoadBalancer []balancer }
		}
		if err := p.Cloud.Call(openapi.SLB, "DescribeLoadBalancers", params, &reply); err != nil {
			return nil, err
		}
		switch found := reply.LoadBalancers.LoadBalancer; len(found) {
		case 0:
		case 1:
			return p.describe(found[0].LoadBalancerID)
		default:
			return nil, fmt.Errorf("%d load balancers belong to one service: %v", len(found), params)
		}
	}
	return nil, nil
}

func (p *Product) describe(id string) (*balancer, error) {
	found := &balancer{}
	if err := p.Cloud.Call(openapi.SLB, "DescribeLoadBalancerAttribute", openapi.Params{"LoadBalancerId": id}, found); err != nil {
		return nil, err
	}
	return found, nil
}

// mayCreate refuses to make a second load balancer for a Service that had one.
func mayCreate(service *corev1.Service, known bool) error {
	ingress := service.Status.LoadBalancer.Ingress
	switch {
	case known:
		return fmt.Errorf("alicloud: can not find loadbalancer by tag [%s:%s]", tagService, name(service))
	case len(ingress) > 0:
		return fmt.Errorf("alicloud: can not find loadbalancer, but it's defined in service [%s] this may happen when you delete the loadbalancer", ingress[0].IP)
	}
	return nil
}

// mayUse refuses load balancers of controllers, and another one than the Service has.
func (p *Product) mayUse(service *corev1.Service, found *balancer) error {
	if !reuses(service) {
		return nil
	}
	why := ""
	ingress := service.Status.LoadBalancer.Ingress
	switch {
	case found.tagged(tagService, tagCluster):
		why = "can not reuse loadbalancer created by kubernetes."
	case len(ingress) > 0 && ingress[0].IP != "" && ingress[0].IP != found.Address:
		why = fmt.Sprintf("service has been associated with ip [%s], cannot be bound to ip [%s]", ingress[0].IP, found.Address)
	default:
		return nil
	}
	return fmt.Errorf("alicloud: the loadbalancer %s can not be reused, %s", found.LoadBalancerID, why)
}

// create sends what a CCM sends. The UID as the client token makes a second try after a
// lost reply the same call.
func (p *Product) create(service *corev1.Service) (*balancer, error) {
	says := service.Annotations
	params := openapi.Params{
		"LoadBalancerName": name(service), "ClientToken": string(service.UID),
		"AddressType": cmp.Or(says[annotation.AddressType], "internet"), "AddressIPVersion": "ipv4",
		"InternetChargeType": cmp.Or(says[annotation.InternetChargeType], "paybytraffic"), "Bandwidth": says[annotation.Bandwidth],
		"InstanceChargeType": cmp.Or(says[annotation.InstanceChargeType], "PayByCLCU"), "LoadBalancerSpec": says[annotation.Spec],
		"MasterZoneId": says[annotation.MasterZone], "SlaveZoneId": says[annotation.SlaveZone], "ResourceGroupId": says[annotation.ResourceGroup],
		"DeleteProtection":             cmp.Or(says[annotation.DeleteProtection], "on"),
		"ModificationProtectionStatus": "ConsoleProtection", "ModificationProtectionReason": "managed.by.ack",
		"Tag.1.Key": tagService, "Tag.1.Value": name(service), "Tag.2.Key": tagCluster, "Tag.2.Value": p.ClusterID,
	}
	if params["AddressType"] == "intranet" {
		params["VpcId"], params["VSwitchId"] = p.VPC, cmp.Or(says[annotation.VSwitch], p.VSwitch)
		// Another vSwitch is another call, which the first one's token must not stand for.
		params["ClientToken"] += params["VSwitchId"]
	}
	var made struct{ LoadBalancerID string }
	if err := p.Cloud.Call(openapi.SLB, "CreateLoadBalancer", params, &made); err != nil {
		return nil, err
	}
	return p.describe(made.LoadBalancerID)
}

// planSettings changes what the annotations say otherwise, and leaves alone what they do
// not say.
func (p *Product) planSettings(planned *plan, service *corev1.Service) {
	found, says := planned.balancer, service.Annotations
	differs := func(annotation, is string) bool { return says[annotation] != "" && says[annotation] != is }
	refuse := func(what string) {
		planned.add("", "", func() error { return errors.New("alicloud: can not change " + what) })
	}
	change := func(code, action string, params openapi.Params) {
		planned.add(code, "", func() error {
			params := maps.Clone(params)
			params["LoadBalancerId"] = found.LoadBalancerID
			return p.Cloud.Call(openapi.SLB, action, params, nil)
		})
	}
	if !reuses(service) && !found.tagged(tagService) {
		planned.add("AddTags", "", func() error { return p.tag(service, found) })
	}
	if differs(annotation.AddressType, found.AddressType) {
		refuse("LoadBalancer AddressType once created. delete and retry")
	}
	if differs(annotation.ResourceGroup, found.ResourceGroupID) {
		refuse("ResourceGroupId once created")
	}
	switch {
	case differs(annotation.InstanceChargeType, found.InstanceChargeType):
		params := openapi.Params{"InstanceChargeType": says[annotation.InstanceChargeType]}
		if says[annotation.InstanceChargeType] == "PayBySpec" {
			params["LoadBalancerSpec"] = says[annotation.Spec]
		}
		change("ModifyLoadBalancerInstanceChargeType", "ModifyLoadBalancerInstanceChargeType", params)
	case says[annotation.InstanceChargeType] == "PayBySpec" && differs(annotation.Spec, found.LoadBalancerSpec):
		change("ModifySLBSpec", "ModifyLoadBalancerInstanceSpec", openapi.Params{"LoadBalancerSpec": says[annotation.Spec]})
	}
	charge := cmp.Or(says[annotation.InternetChargeType], found.InternetChargeType)
	if found.AddressType == "internet" && (charge != found.InternetChargeType ||
		charge == "paybybandwidth" && differs(annotation.Bandwidth, strconv.Itoa(found.Bandwidth))) {
		change("ModifyInternetSpec", "ModifyLoadBalancerInternetSpec", openapi.Params{
			"InternetChargeType": charge, "Bandwidth": cmp.Or(says[annotation.Bandwidth], strconv.Itoa(found.Bandwidth))})
	}
	if differs(annotation.DeleteProtection, found.DeleteProtection) {
		change("SetDeleteProtection", "SetLoadBalancerDeleteProtection", openapi.Params{"DeleteProtection": says[annotation.DeleteProtection]})
	}
}

func (p *Product) tag(service *corev1.Service, found *balancer) error {
	return p.Cloud.Call(openapi.SLB, "TagResources", openapi.Params{"ResourceType": "instance", "ResourceId.1": found.LoadBalancerID,
		"Tag.1.Key": tagService, "Tag.1.Value": name(service)}, nil)
}

func (p *Product) delete(found *balancer) error {
	if found.DeleteProtection == "on" {
		if err := p.protect(found, "off"); err != nil {
			return err
		}
	}
	err := p.Cloud.Call(openapi.SLB, "DeleteLoadBalancer", openapi.Params{"LoadBalancerId": found.LoadBalancerID}, nil)
	if openapi.Refused(err, "InvalidLoadBalancerId.NotFound") {
		return nil
	}
	return err
}

// giveUp leaves a load balancer to whoever wants it, who finds it without tags.
func (p *Product) giveUp(found *balancer) error {
	if err := p.protect(found, "off"); err != nil {
		return err
	}
	if err := p.Cloud.Call(openapi.SLB, "SetLoadBalancerModificationProtection", openapi.Params{
		"LoadBalancerId": found.LoadBalancerID, "ModificationProtectionStatus": "NonProtection"}, nil); err != nil {
		return err
	}
	return p.Cloud.Call(openapi.SLB, "UntagResources", openapi.Params{"ResourceType": "instance", "ResourceId.1": found.LoadBalancerID,
		"TagKey.1": tagService, "TagKey.2": tagCluster}, nil)
}

func (p *Product) protect(found *balancer, onOrOff string) error {
	return p.Cloud.Call(openapi.SLB, "SetLoadBalancerDeleteProtection", openapi.Params{
		"LoadBalancerId": found.LoadBalancerID, "DeleteProtection": onOrOff}, nil)
}
