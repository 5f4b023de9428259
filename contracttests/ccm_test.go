package contracttests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// The tests of these files make the calls of a cloud controller manager (CCM),
// with its fields and in its order, and read what it reads. What it branches on,
// down to words in messages, is asserted.

// What a CCM calls its things.
const (
	clusterID   = "c1"
	serviceName = "a0123456789abcdef0123456789abcde"
	lbTagKey    = "kubernetes.do.not.delete"
)

// ccm is a controller's view of the cloud.
type ccm struct {
	*sdkClients
	t   *testing.T
	raw *emulatortest.Client
}

func newCCM(t *testing.T) *ccm {
	t.Helper()
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = richWorld(t) }))
	return &ccm{sdkClients: newSDKClients(t, s.Host()), t: t, raw: s.Client()}
}

// call makes a call that must succeed.
func call[Q, R any](t testing.TB, do func(Q) (R, error), request Q) R {
	t.Helper()
	response, err := do(request)
	if err != nil {
		t.Fatalf("%T: %v", request, err)
	}
	return response
}

// refuse makes a call that must be refused with words that a CCM looks for.
func refuse[Q, R any](t testing.TB, do func(Q) (R, error), request Q, words string) {
	t.Helper()
	if _, err := do(request); err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("%T = %v, want an error with %q", request, err, words)
	}
}

func integer(n int) requests.Integer { return requests.NewInteger(n) }

// createRequest returns a CCM's request for a Service of type LoadBalancer without
// annotations.
func createRequest(clientToken string) *slb.CreateLoadBalancerRequest {
	r := slb.CreateCreateLoadBalancerRequest()
	r.AddressType = "internet"
	r.InternetChargeType = "paybytraffic"
	r.LoadBalancerName = serviceName
	r.InstanceChargeType = "PayByCLCU"
	r.AddressIPVersion = "ipv4"
	r.DeleteProtection = "on"
	r.ModificationProtectionStatus = "ConsoleProtection"
	r.ModificationProtectionReason = "managed.by.ack"
	r.ClientToken = clientToken
	r.Tag = &[]slb.CreateLoadBalancerTag{{Key: lbTagKey, Value: serviceName}, {Key: "ack.aliyun.com", Value: clusterID}}
	return r
}

// create makes the load balancer of a Service.
func (c *ccm) create() (id string) {
	c.t.Helper()
	return call(c.t, c.SLB.CreateLoadBalancer, createRequest("token-1")).LoadBalancerId
}

// findByTag looks for the load balancer of a Service as a CCM does.
func (c *ccm) findByTag() []slb.LoadBalancer {
	c.t.Helper()
	r := slb.CreateDescribeLoadBalancersRequest()
	r.Tags = fmt.Sprintf(`[{"TagValue":%q,"TagKey":%q}]`, serviceName, lbTagKey)
	return call(c.t, c.SLB.DescribeLoadBalancers, r).LoadBalancers.LoadBalancer
}

func (c *ccm) attribute(id string) *slb.DescribeLoadBalancerAttributeResponse {
	c.t.Helper()
	r := slb.CreateDescribeLoadBalancerAttributeRequest()
	r.LoadBalancerId = id
	return call(c.t, c.SLB.DescribeLoadBalancerAttribute, r)
}

func (c *ccm) tags(id string) map[string]string {
	c.t.Helper()
	r := slb.CreateListTagResourcesRequest()
	r.ResourceType = "instance"
	r.ResourceId = &[]string{id}
	tags := make(map[string]string)
	for _, tag := range call(c.t, c.SLB.ListTagResources, r).TagResources.TagResource {
		tags[tag.TagKey] = tag.TagValue
	}
	return tags
}

// listeners reads all pages.
func (c *ccm) listeners(id string) (all []slb.ListenerInDescribeLoadBalancerListeners) {
	c.t.Helper()
	r := slb.CreateDescribeLoadBalancerListenersRequest()
	r.LoadBalancerId = &[]string{id}
	r.MaxResults = integer(50)
	for {
		page := call(c.t, c.SLB.DescribeLoadBalancerListeners, r)
		all = append(all, page.Listeners...)
		if page.NextToken == "" {
			return all
		}
		r.NextToken = page.NextToken
	}
}

// listener returns the listener on a port with a protocol.
func (c *ccm) listener(id string, port int, protocol string) slb.ListenerInDescribeLoadBalancerListeners {
	c.t.Helper()
	for _, l := range c.listeners(id) {
		if l.ListenerPort == port && l.ListenerProtocol == protocol {
			return l
		}
	}
	c.t.Fatalf("no listener %s/%d", protocol, port)
	return slb.ListenerInDescribeLoadBalancerListeners{}
}

func (c *ccm) createGroup(id, name string) (groupID string) {
	c.t.Helper()
	r := slb.CreateCreateVServerGroupRequest()
	r.LoadBalancerId = id
	r.VServerGroupName = name
	return call(c.t, c.SLB.CreateVServerGroup, r).VServerGroupId
}

// backend is an element of BackendServers as a CCM writes it: in camel case and
// with fields of its own.
type backend struct {
	IsUserManaged bool
	NodeName      *string
	Description   string `json:"description"`
	ServerID      string `json:"serverId"`
	ServerIP      string `json:"serverIp"`
	Weight        int    `json:"weight"`
	Port          int    `json:"port"`
	Type          string `json:"type"`
	TargetRef     *string
	Invalid       bool
}

func node(id string, port, weight int) backend {
	return backend{ServerID: id, Port: port, Weight: weight, Type: "ecs", Description: fmt.Sprintf("k8s/%d/web/default/%s", port, clusterID)}
}

func backends(t testing.TB, list ...backend) string {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (c *ccm) addRequest(groupID string, list ...backend) *slb.AddVServerGroupBackendServersRequest {
	r := slb.CreateAddVServerGroupBackendServersRequest()
	r.VServerGroupId = groupID
	r.BackendServers = backends(c.t, list...)
	return r
}

func (c *ccm) group(groupID string) []slb.BackendServerInDescribeVServerGroupAttribute {
	c.t.Helper()
	r := slb.CreateDescribeVServerGroupAttributeRequest()
	r.VServerGroupId = groupID
	return call(c.t, c.SLB.DescribeVServerGroupAttribute, r).BackendServers.BackendServer
}
