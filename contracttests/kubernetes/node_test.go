package kubernetes_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// TestNodes proves that the backends follow the nodes: one that is added takes
// traffic, also while it is cordoned, until it is excluded or removed.
func TestNodes(t *testing.T) {
	f := start(t)
	f.service("web")
	f.converged("web", func() map[string]int { return everywhere(nodes) })

	added := node(nodes + 1)
	f.addNode(nodes + 1)
	all := func() map[string]int { return everywhere(nodes + 1) }
	f.converged("web", all)

	f.changeNode(added.Name, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	f.change("web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 8080 })
	f.converged("web", all)

	f.changeNode(added.Name, func(n *corev1.Node) { n.Labels[corev1.LabelNodeExcludeBalancers] = "" })
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	f.changeNode(added.Name, func(n *corev1.Node) { delete(n.Labels, corev1.LabelNodeExcludeBalancers) })
	f.converged("web", all)

	if err := f.kubernetes.CoreV1().Nodes().Delete(f.ctx, added.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.converged("web", func() map[string]int { return everywhere(nodes) })
}

// addNode registers a spare node until the test ends.
func (f *fixture) addNode(n int) {
	f.Helper()
	f.Cleanup(func() { f.removeNode(node(n).Name) })
	if err := f.cluster.AddNode(f.ctx, node(n)); err != nil {
		f.Fatal(err)
	}
}

// removeNode deletes a node if it is still there.
func (f *fixture) removeNode(name string) {
	nodes := f.kubernetes.CoreV1().Nodes()
	list, err := nodes.List(f.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err == nil && len(list.Items) == 1 {
		err = nodes.Delete(f.ctx, name, metav1.DeleteOptions{})
	}
	if err != nil {
		f.Error(err)
	}
}

func (f *fixture) changeNode(name string, change func(*corev1.Node)) {
	f.Helper()
	nodes := f.kubernetes.CoreV1().Nodes()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(f.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(node)
		_, err = nodes.Update(f.ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}
