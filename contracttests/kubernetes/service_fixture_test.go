package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

var app = map[string]string{"app": "web"}

// service makes a Service of type LoadBalancer with port 80.
func (f *fixture) service(name string, change ...func(*corev1.Service)) *corev1.Service {
	f.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Selector: app, Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP},
		}},
	}
	for _, c := range change {
		c(service)
	}
	made, err := f.kubernetes.CoreV1().Services(f.namespace).Create(f.ctx, service, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return made
}

// change updates a Service and waits for nothing.
func (f *fixture) change(name string, change func(*corev1.Service)) {
	f.Helper()
	services := f.kubernetes.CoreV1().Services(f.namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		service, err := services.Get(f.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(service)
		_, err = services.Update(f.ctx, service, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// deploy runs pods that the Services select.
func (f *fixture) deploy(replicas int32) {
	f.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "web"}},
		}},
	}}
	if _, err := f.kubernetes.AppsV1().Deployments(f.namespace).Create(f.ctx, deployment, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
}

// scale changes the number of pods.
func (f *fixture) scale(replicas int32) {
	f.Helper()
	deployments := f.kubernetes.AppsV1().Deployments(f.namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		deployment, err := deployments.Get(f.ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		deployment.Spec.Replicas = &replicas
		_, err = deployments.Update(f.ctx, deployment, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// everywhere returns the weight of each node when all take the traffic.
func everywhere(n int) map[string]int {
	weights := make(map[string]int)
	for i := 1; i <= n; i++ {
		weights[cloud.NewInstance(i).ID] = 100
	}
	return weights
}

// converged waits until the cloud has for the Service what the Service says: one
// load balancer with its address, a running listener for each port, and behind
// it the instances with these weights; and nothing else of it. It returns the
// load balancer's id.
func (f *fixture) converged(name string, weights func() map[string]int) (id string) {
	f.Helper()
	f.eventually("service "+name, func() error {
		service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		id, err = f.compare(service, weights())
		return err
	})
	return id
}

func (f *fixture) compare(service *corev1.Service, weights map[string]int) (id string, err error) {
	balancer, err := f.find(service)
	if err != nil {
		return "", err
	}
	ingress := service.Status.LoadBalancer.Ingress
	if len(ingress) != 1 || ingress[0].IP != balancer.Address {
		return "", fmt.Errorf("the Service has the address %v, want %s", ingress, balancer.Address)
	}
	got, err := f.listeners(balancer.LoadBalancerId)
	if err != nil {
		return "", err
	}
	if want := expected(service, weights); !slices.Equal(got, want) {
		return "", fmt.Errorf("the listeners are %q, want %q", got, want)
	}
	return balancer.LoadBalancerId, f.compareGroups(balancer.LoadBalancerId, len(service.Spec.Ports))
}

// find returns the one load balancer that carries the Service's tag.
func (f *fixture) find(service *corev1.Service) (found slb.LoadBalancer, err error) {
	tags, err := json.Marshal([]map[string]string{{
		"TagKey": "kubernetes.do.not.delete", "TagValue": cloudprovider.DefaultLoadBalancerName(service),
	}})
	if err != nil {
		return found, err
	}
	request := slb.CreateDescribeLoadBalancersRequest()
	request.Tags = string(tags)
	response, err := f.slb.DescribeLoadBalancers(request)
	if err != nil {
		return found, err
	}
	if n := len(response.LoadBalancers.LoadBalancer); n != 1 {
		return found, fmt.Errorf("the Service has %d load balancers, want one", n)
	}
	return response.LoadBalancers.LoadBalancer[0], nil
}

// expected returns the lines that listeners returns for what a Service says.
func expected(service *corev1.Service, weights map[string]int) (lines []string) {
	for _, port := range service.Spec.Ports {
		var servers []string
		for instance, weight := range weights {
			servers = append(servers, fmt.Sprintf("%s:%d=%d", instance, port.NodePort, weight))
		}
		slices.Sort(servers)
		protocol, other, _ := strings.Cut(service.Annotations[annotationPrefix+"protocol-port"], ":")
		if other != strconv.Itoa(int(port.Port)) {
			protocol = strings.ToLower(string(port.Protocol))
		}
		lines = append(lines, fmt.Sprintf("%s:%d running %v", protocol, port.Port, servers))
	}
	slices.Sort(lines)
	return lines
}

// listeners returns a line for each listener, with the servers behind it.
func (f *fixture) listeners(id string) (lines []string, err error) {
	request := slb.CreateDescribeLoadBalancerListenersRequest()
	request.LoadBalancerId, request.MaxResults = &[]string{id}, requests.NewInteger(100)
	response, err := f.slb.DescribeLoadBalancerListeners(request)
	if err != nil {
		return nil, err
	}
	for _, l := range response.Listeners {
		group := slb.CreateDescribeVServerGroupAttributeRequest()
		group.VServerGroupId = l.VServerGroupId
		attribute, err := f.slb.DescribeVServerGroupAttribute(group)
		if err != nil {
			return nil, err
		}
		var servers []string
		for _, s := range attribute.BackendServers.BackendServer {
			servers = append(servers, fmt.Sprintf("%s:%d=%d", s.ServerId, s.Port, s.Weight))
		}
		slices.Sort(servers)
		lines = append(lines, fmt.Sprintf("%s:%d %s %v", l.ListenerProtocol, l.ListenerPort, l.Status, servers))
	}
	slices.Sort(lines)
	return lines, nil
}

// compareGroups says whether groups are left that no listener needs.
func (f *fixture) compareGroups(id string, want int) error {
	request := slb.CreateDescribeVServerGroupsRequest()
	request.LoadBalancerId = id
	response, err := f.slb.DescribeVServerGroups(request)
	if err != nil {
		return err
	}
	if n := len(response.VServerGroups.VServerGroup); n != want {
		return fmt.Errorf("the load balancer has %d groups, want %d", n, want)
	}
	return nil
}

// ownLoadBalancers returns the load balancers that a controller made.
func (f *fixture) ownLoadBalancers() (ids []string) {
	f.Helper()
	request := slb.CreateDescribeLoadBalancersRequest()
	request.PageSize = requests.NewInteger(100)
	for page, seen := 1, 0; ; page++ {
		request.PageNumber = requests.NewInteger(page)
		response, err := f.slb.DescribeLoadBalancers(request)
		if err != nil {
			f.Error(err)
			return ids
		}
		for _, balancer := range response.LoadBalancers.LoadBalancer {
			for _, tag := range balancer.Tags.Tag {
				if tag.TagKey == "kubernetes.do.not.delete" {
					ids = append(ids, balancer.LoadBalancerId)
				}
			}
		}
		if seen += len(response.LoadBalancers.LoadBalancer); seen >= response.TotalCount || len(response.LoadBalancers.LoadBalancer) == 0 {
			return ids
		}
	}
}
