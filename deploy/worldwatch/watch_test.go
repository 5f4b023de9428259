package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// cloudOf keeps what it is given. It can lose it, and refuse.
type cloudOf struct {
	mu        sync.Mutex
	instances map[string]string
	life      string // of the state, in which instances are made
	pods      []string
	imports   chan struct{} // which were looked at
	unseen    bool          // the last one was not
	refuse    bool
	changed   chan struct{} // by others than imports
}

func (c *cloudOf) Import(_ context.Context, list *corev1.List) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse {
		c.refuse = false
		return "", errors.New("not now")
	}
	c.pods = nil
	for _, item := range list.Items {
		var o corev1.Pod // of a node, the name is enough
		var n corev1.Node
		if err := json.Unmarshal(item.Raw, &o); err != nil {
			return "", err
		}
		if o.Kind == "Pod" {
			c.pods = append(c.pods, o.Name+"="+o.Status.PodIP)
			continue
		}
		if err := json.Unmarshal(item.Raw, &n); err != nil {
			return "", err
		}
		if id := instanceOf(&n); c.instances[id] == "" {
			c.instances[id] = c.life
		}
	}
	c.unseen = true
	return "ok", nil
}

func (c *cloudOf) Instances(context.Context) (map[string]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unseen {
		c.unseen = false
		c.imports <- struct{}{}
	}
	return maps.Clone(c.instances), nil
}

// Follow is cut off after each change, as by a cloud that restarts.
func (c *cloudOf) Follow(ctx context.Context, changed func()) error {
	changed()
	select {
	case <-c.changed:
		changed()
	case <-ctx.Done():
	}
	return errors.New("cut off")
}

// lose empties the cloud, but for instances that another client brings in at once.
func (c *cloudOf) lose(others ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instances, c.pods, c.life = make(map[string]string), nil, c.life+"again"
	for _, id := range others {
		c.instances[id] = c.life
	}
	c.changed <- struct{}{}
}

func (c *cloudOf) delete(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.instances, id)
	c.changed <- struct{}{}
}

// await waits until the cloud has these instances and pods.
func (c *cloudOf) await(t *testing.T, instances []string, pods []string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		has, podsNow, unseen := slices.Sorted(maps.Keys(c.instances)), slices.Clone(c.pods), c.unseen
		c.mu.Unlock()
		if !unseen && slices.Equal(has, instances) && slices.Equal(podsNow, pods) {
			return
		}
		select {
		case <-c.imports:
		case <-deadline:
			t.Fatalf("the cloud has %v and %v, want %v and %v", has, podsNow, instances, pods)
		}
	}
}

func node(name, providerID, address string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: providerID},
		Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}}}
}

func pod(name, node, ip string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip}}
}

// Nodes and pods come in when they are there, when they are added and replaced, once
// more when the cloud has lost them, and after a refusal. What can't be imported yet
// keeps nothing else out. An instance deleted in the cloud stays so, with the
// pods of its node, until the cloud loses its state.
func TestFollows(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := fake.NewClientset(node("a", "cn-hangzhou.i-a", "172.18.0.2"), node("waiting", "", "172.18.0.9"), pod("web", "a", "10.244.0.5"), pod("early", "a", ""))
	// A fake has no events of what came between a list and the watch that follows it.
	watched := make(chan string, 2)
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		watched <- action.GetResource().Resource
		return true, w, err
	})
	c := &cloudOf{instances: make(map[string]string), life: "first", imports: make(chan struct{}, 100), changed: make(chan struct{}, 100)}
	done := make(chan error, 1)
	w := newWatcher(client, c, true)
	go func() { done <- w.run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	c.await(t, []string{"i-a"}, []string{"web=10.244.0.5"})
	<-watched
	<-watched

	nodes, pods := client.CoreV1().Nodes(), client.CoreV1().Pods("default")
	c.mu.Lock()
	c.refuse = true
	c.mu.Unlock()
	if _, err := nodes.Create(ctx, node("b", "cn-hangzhou.i-b", "172.18.0.3"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, []string{"i-a", "i-b"}, []string{"web=10.244.0.5"})
	if _, err := pods.Update(ctx, pod("early", "a", "10.244.0.6"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, []string{"i-a", "i-b"}, []string{"early=10.244.0.6", "web=10.244.0.5"})
	if _, err := nodes.Update(ctx, node("waiting", "cn-hangzhou.i-c", "172.18.0.9"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, []string{"i-a", "i-b", "i-c"}, []string{"early=10.244.0.6", "web=10.244.0.5"})
	c.lose()
	c.await(t, []string{"i-a", "i-b", "i-c"}, []string{"early=10.244.0.6", "web=10.244.0.5"})
	c.lose("i-a", "i-b", "i-c")
	c.await(t, []string{"i-a", "i-b", "i-c"}, []string{"early=10.244.0.6", "web=10.244.0.5"})
	c.delete("i-a")
	if _, err := pods.Create(ctx, pod("late", "b", "10.244.1.5"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, []string{"i-b", "i-c"}, []string{"late=10.244.1.5"})
	c.lose()
	c.await(t, []string{"i-a", "i-b", "i-c"}, []string{"early=10.244.0.6", "late=10.244.1.5", "web=10.244.0.5"})
}

// A heartbeat of a node is no change, and neither is what is not imported of a pod.
func TestDiffer(t *testing.T) {
	stripped := func(o any) any {
		s, err := strip(o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before, beat := node("a", "cn-hangzhou.i-a", "172.18.0.2"), node("a", "cn-hangzhou.i-a", "172.18.0.2")
	beat.ResourceVersion, beat.Annotations = "2", map[string]string{"x": "y"}
	beat.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}}
	moved := node("a", "cn-hangzhou.i-a", "172.18.0.7")
	if differ(stripped(before), stripped(beat)) || !differ(stripped(before), stripped(moved)) {
		t.Error("a heartbeat is taken for a change, or a new address for none")
	}
	web, ready, elsewhere := pod("web", "a", "10.244.0.5"), pod("web", "a", "10.244.0.5"), pod("web", "b", "10.244.1.5")
	ready.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}}
	if differ(stripped(web), stripped(ready)) || !differ(stripped(web), stripped(elsewhere)) {
		t.Error("a condition is taken for a change, or another node for none")
	}
}
