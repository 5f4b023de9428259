package cluster

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Node is a machine to register.
type Node struct {
	Name string
	// ProviderID is region.instance; a cloud controller manager finds the
	// instance by it.
	ProviderID string
	// Address is the node's own; kwok gives its pods addresses of PodCIDR.
	Address, PodCIDR string
	// Taints are the node's initial taints.
	Taints []corev1.Taint
}

// NewNode returns the nth node of a cluster, with its part of PodCIDR.
func NewNode(n int, providerID, address string) Node {
	return Node{Name: fmt.Sprintf("node-%d", n), ProviderID: providerID, Address: address, PodCIDR: fmt.Sprintf("172.20.%d.0/24", n)}
}

// AddNode registers a node and waits until it is Ready and takes pods.
func (c *Cluster) AddNode(ctx context.Context, n Node) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: map[string]string{corev1.LabelHostname: n.Name}},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, PodCIDR: n.PodCIDR, PodCIDRs: []string{n.PodCIDR}, Taints: n.Taints},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: n.Address}, {Type: corev1.NodeHostName, Address: n.Name},
		}},
	}
	if _, err := c.Client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("register node %s: %w", n.Name, err)
	}
	err := wait.PollUntilContextTimeout(ctx, pollEvery, startTime, true, func(ctx context.Context) (bool, error) {
		node, err := c.Client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		return err == nil && isReady(node) && !slices.ContainsFunc(node.Spec.Taints, notReady), err
	})
	if err != nil {
		return fmt.Errorf("node %s does not get Ready: %w", n.Name, err)
	}
	return nil
}

// notReady reports whether a taint is the one of each new node until the controllers have seen it
// Ready.
func notReady(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady }

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
