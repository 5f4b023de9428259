package kubernetes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

const zoneMaps = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-zone-maps"

// withNLB starts the controller of NLB next to the others.
func withNLB(f *fixture) { f.controllers = ",nlb" }

// ofNLB makes a Service one of NLB.
func ofNLB(s *corev1.Service) {
	class := "alibabacloud.com/nlb"
	s.Spec.LoadBalancerClass = &class
	s.Annotations[zoneMaps] = "cn-hangzhou-h:" + cloud.VSwitch + ",cn-hangzhou-i:" + cloud.VSwitch2
}

// nlbListing is what lists of NLB have that the tests read.
type nlbListing struct {
	LoadBalancers []struct {
		LoadBalancerID   string `json:"LoadBalancerId"`
		DNSName          string
		SecurityGroupIDs []string `json:"SecurityGroupIds"`
	}
	Listeners []struct {
		ListenerProtocol, ListenerStatus string
		ListenerPort                     int
		ServerGroupID                    string `json:"ServerGroupId"`
	}
	ServerGroups []struct {
		ServerGroupID   string `json:"ServerGroupId"`
		ServerGroupName string
	}
	Servers []struct {
		ServerID string `json:"ServerId"`
		Weight   int
	}
}

// nlb makes a call of NLB.
func (f *fixture) nlb(action string, params map[string]string) (list nlbListing, err error) {
	request := requests.NewCommonRequest()
	request.Method, request.Scheme, request.Domain, request.Version, request.ApiName = "POST", "HTTP", f.cloud.Endpoint, "2022-04-30", action
	maps.Copy(request.QueryParams, params)
	response, err := f.slb.ProcessCommonRequest(request)
	if err != nil {
		return list, err
	}
	return list, json.Unmarshal(response.GetHttpContentBytes(), &list)
}

// convergedNLB waits until NLB has for the Service what the Service says: one load
// balancer whose name it has, a running listener for each port, and behind it all
// nodes; and nothing else of it.
func (f *fixture) convergedNLB(name string) (id string) {
	f.Helper()
	f.eventually("service "+name, func() error {
		service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		id, err = f.compareNLB(service)
		return err
	})
	return id
}

func (f *fixture) compareNLB(service *corev1.Service) (id string, err error) {
	balancers, err := f.nlb("ListLoadBalancers", map[string]string{
		"Tag.1.Key": "kubernetes.do.not.delete", "Tag.1.Value": cloudprovider.DefaultLoadBalancerName(service)})
	if err != nil {
		return "", err
	}
	if n := len(balancers.LoadBalancers); n != 1 {
		return "", fmt.Errorf("%d load balancers carry the Service's tag", n)
	}
	lb := balancers.LoadBalancers[0]
	if ingress := service.Status.LoadBalancer.Ingress; len(ingress) != 1 || ingress[0].Hostname != lb.DNSName {
		return "", fmt.Errorf("the Service has the address %v, want %s", ingress, lb.DNSName)
	}
	found, err := f.nlb("ListListeners", map[string]string{"LoadBalancerIds.1": lb.LoadBalancerID, "MaxResults": "100"})
	if err != nil {
		return "", err
	}
	var got, want []string
	for _, l := range found.Listeners {
		servers, err := f.nlbServers(l.ServerGroupID)
		if err != nil {
			return "", err
		}
		got = append(got, fmt.Sprintf("%s %d %s %v", l.ListenerProtocol, l.ListenerPort, l.ListenerStatus, servers))
	}
	for _, port := range service.Spec.Ports {
		want = append(want, fmt.Sprintf("%s %d Running %v", port.Protocol, port.Port, everywhere(nodes)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return "", fmt.Errorf("the listeners are %q, want %q", got, want)
	}
	groups, err := f.nlb("ListServerGroups", map[string]string{"MaxResults": "100"})
	own := 0
	for _, g := range groups.ServerGroups {
		if strings.Contains(g.ServerGroupName, "."+service.Name+".") {
			own++
		}
	}
	if err == nil && own != len(service.Spec.Ports) {
		err = fmt.Errorf("there are %d server groups for %d ports", own, len(service.Spec.Ports))
	}
	return lb.LoadBalancerID, err
}

func (f *fixture) nlbServers(groupID string) (map[string]int, error) {
	list, err := f.nlb("ListServerGroupServers", map[string]string{"ServerGroupId": groupID, "MaxResults": "100"})
	weights := make(map[string]int)
	for _, s := range list.Servers {
		weights[s.ServerID] = s.Weight
	}
	return weights, err
}

// noNLB waits until NLB has nothing of a Service.
func (f *fixture) noNLB() {
	f.Helper()
	f.eventually("nothing in NLB", func() error {
		balancers, err := f.nlb("ListLoadBalancers", nil)
		if err != nil {
			return err
		}
		groups, err := f.nlb("ListServerGroups", nil)
		if n := len(balancers.LoadBalancers) + len(groups.ServerGroups); err == nil && n > 0 {
			err = fmt.Errorf("there: %v, %v", balancers.LoadBalancers, groups.ServerGroups)
		}
		return err
	})
}

// toldOf waits for a warning about the Service with a text in it.
func (f *fixture) toldOf(name, text string) {
	f.Helper()
	f.eventually("a warning of "+name, func() error {
		events, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.InvolvedObject.Name == name && e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, text) {
				return nil
			}
		}
		return fmt.Errorf("none says %s", text)
	})
}

// measure logs how long something takes, and how many calls it needs of the cloud; it
// must make none itself.
func (f *fixture) measure(what string, do func()) {
	f.Helper()
	calls := func() int {
		n, err := f.cloud.Calls(f.ctx)
		if err != nil {
			f.Fatal(err)
		}
		return n
	}
	begun, before := time.Now(), calls()
	do()
	f.Logf("%s: %s, %d calls", what, time.Since(begun).Round(10*time.Millisecond), calls()-before)
}

// TestNLBService proves that a Network Load Balancer follows its Service through its
// life: ports that come and go, another protocol on a port, the end.
func TestNLBService(t *testing.T) {
	f := start(t, withNLB)
	f.deploy(2)
	f.measure("to its address", func() {
		f.service("web", ofNLB)
		f.eventually("an address", func() error {
			service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, "web", metav1.GetOptions{})
			if err == nil && len(service.Status.LoadBalancer.Ingress) == 0 {
				err = errors.New("the Service has none")
			}
			return err
		})
	})
	first := f.convergedNLB("web")

	f.change("web", func(s *corev1.Service) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP})
	})
	f.convergedNLB("web")
	f.change("web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 })
	f.convergedNLB("web")
	f.change("web", func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP })
	f.convergedNLB("web")
	f.change("web", func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[1:] })
	if id := f.convergedNLB("web"); id != first {
		t.Errorf("the load balancer is %s after changes of ports, want %s as before", id, first)
	}
	f.measure("to its deletion", func() { f.deleteService("web") })
	f.noNLB()
}

// jobFailed is what a controller says of a server group whose job failed: a CCM looks for
// the group, and the driver at the job.
func jobFailed() string {
	if ccmBinary() == "" {
		return " failed"
	}
	return "serverGroup is not found"
}

// TestNLBTroubles proves that a CCM tells what the cloud refuses, and goes on when
// the cause is gone.
func TestNLBTroubles(t *testing.T) {
	for _, trouble := range []struct{ name, condition, begin, end, told string }{
		{"full", "vswitch." + cloud.VSwitch2 + ".freeAddresses", "0", "all", "VSwitchIp is not enough"},
		{"arrears", "account.arrears", "true", "false", "UnpaidBill"},
		{"failing", "life.nlb.job.failing", "1s", "default", jobFailed()},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			f := start(t, withNLB)
			f.deploy(2)
			f.control("world", "set", trouble.condition+"="+trouble.begin)
			f.service("web", ofNLB)
			f.toldOf("web", trouble.told)
			f.control("world", "set", trouble.condition+"="+trouble.end)
			f.convergedNLB("web")
			f.deleteService("web")
			f.noNLB()
		})
	}
}
