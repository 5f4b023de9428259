package cluster_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
)

// TestCluster proves that a Deployment gets pods, and its Service endpoints, on
// the nodes that were registered, and that the end leaves no listener.
func TestCluster(t *testing.T) {
	c := cluster.New(t)
	node := cluster.NewNode(1, "cn-hangzhou.i-1", "192.168.0.11")
	if err := c.AddNode(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	deploy(t, c)
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		slices, err := c.Client.DiscoveryV1().EndpointSlices("default").List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=web"})
		if err != nil || len(slices.Items) != 1 || len(slices.Items[0].Endpoints) != 3 {
			return false, err
		}
		for _, endpoint := range slices.Items[0].Endpoints {
			if *endpoint.NodeName != "node-1" || !*endpoint.Conditions.Ready {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Errorf("the Service does not get three ready endpoints on node-1: %v", err)
	}
	c.Stop()
	if _, err := c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the API server answers after Stop")
	}
}

func deploy(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	replicas, app := int32(3), map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "web", Image: "web"}},
		}},
	}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Selector: app, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	if _, err := c.Client.AppsV1().Deployments("default").Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
