package main

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// list returns the nodes and pods that can be imported, and the nodes' instances: nodes with an
// address and an instance that was not deleted, and their pods. Others follow once they have what
// they lack.
func (w *watcher) list(deleted map[string]bool) (out *corev1.List, ids []string, err error) {
	out = &corev1.List{TypeMeta: metav1.TypeMeta{Kind: "List", APIVersion: "v1"}}
	nodes, err := w.nodes.List(labels.Everything())
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) })
	known := make(map[string]bool)
	for _, n := range nodes {
		id := instanceOf(n)
		if id == "" || deleted[id] || !hasAddress(n) {
			continue
		}
		known[n.Name], ids = true, append(ids, id)
		if err := appendObject(out, "Node", n); err != nil {
			return nil, nil, err
		}
	}
	if w.pods == nil {
		return out, ids, nil
	}
	pods, err := w.pods.List(labels.Everything())
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range pods {
		if known[p.Spec.NodeName] && p.Status.PodIP != "" {
			if err := appendObject(out, "Pod", p); err != nil {
				return nil, nil, err
			}
		}
	}
	return out, ids, nil
}

func appendObject(list *corev1.List, kind string, o any) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	fields["kind"], fields["apiVersion"] = kind, "v1"
	if text, err = json.Marshal(fields); err != nil {
		return err
	}
	list.Items = append(list.Items, runtime.RawExtension{Raw: text})
	return nil
}

// instanceOf returns the instance that a node names, or "" if it names none yet.
func instanceOf(n *corev1.Node) string {
	_, id, _ := strings.Cut(strings.TrimPrefix(n.Spec.ProviderID, "alicloud://"), ".")
	return id
}

func hasAddress(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool {
		ip, err := netip.ParseAddr(a.Address)
		return a.Type == corev1.NodeInternalIP && err == nil && ip.Is4()
	})
}

// differ reports whether anything that is imported has changed. Objects were stripped.
func differ(before, after any) bool { return !reflect.DeepEqual(without(before), without(after)) }

// without returns the object without its version.
func without(o any) any {
	switch o := o.(type) {
	case *corev1.Node:
		c := *o
		c.ResourceVersion = ""
		return c
	case *corev1.Pod:
		c := *o
		c.ResourceVersion = ""
		return c
	}
	return o
}
