package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// settle is the time to gather changes before an import.
	settle = 200 * time.Millisecond
	// again is the pause before the next try after a refused import, or when a cloud
	// can't be followed.
	again = 2 * time.Second
)

// cloud receives nodes and pods.
type cloud interface {
	// Import brings in nodes and pods; it says what was done.
	Import(ctx context.Context, list *corev1.List) (string, error)
	// Instances returns when and where each instance was made, by id.
	Instances(ctx context.Context) (map[string]string, error)
	// Follow calls changed when it starts and after instances changed or went, until
	// ctx ends or the cloud can't be followed.
	Follow(ctx context.Context, changed func()) error
}

// watcher imports what a cluster has into a cloud.
type watcher struct {
	cloud   cloud
	factory informers.SharedInformerFactory
	nodes   listers.NodeLister
	pods    listers.PodLister // nil when they are not followed
	changed chan struct{}     // the cluster
	cloudy  chan struct{}     // the cloud changed
	log     *slog.Logger
	told    string            // the last error, logged once
	brought map[string]string // the instances that came of the last import
}

func newWatcher(client kubernetes.Interface, to cloud, pods bool) *watcher {
	w := &watcher{cloud: to, changed: make(chan struct{}, 1), cloudy: make(chan struct{}, 1), brought: make(map[string]string), log: slog.New(slog.DiscardHandler),
		factory: informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(strip))}
	w.nodes = w.factory.Core().V1().Nodes().Lister()
	w.follow(w.factory.Core().V1().Nodes().Informer())
	if pods {
		w.pods = w.factory.Core().V1().Pods().Lister()
		w.follow(w.factory.Core().V1().Pods().Informer())
	}
	return w
}

// strip keeps only the imported fields of an object, to save memory.
func strip(o any) (any, error) {
	switch o := o.(type) {
	case *corev1.Node:
		return &corev1.Node{ObjectMeta: meta(o.ObjectMeta), Spec: corev1.NodeSpec{ProviderID: o.Spec.ProviderID},
			Status: corev1.NodeStatus{Addresses: o.Status.Addresses}}, nil
	case *corev1.Pod:
		return &corev1.Pod{ObjectMeta: meta(o.ObjectMeta), Spec: corev1.PodSpec{NodeName: o.Spec.NodeName, HostNetwork: o.Spec.HostNetwork},
			Status: corev1.PodStatus{Phase: o.Status.Phase, PodIP: o.Status.PodIP}}, nil
	}
	return o, nil
}

func meta(m metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, ResourceVersion: m.ResourceVersion, UID: m.UID, Labels: map[string]string{}}
	for _, label := range []string{corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable} {
		if value, ok := m.Labels[label]; ok {
			kept.Labels[label] = value
		}
	}
	return kept
}

// follow notes that something changed, whatever it was. A heartbeat of a node changes
// nothing that is imported.
func (w *watcher) follow(informer cache.SharedIndexInformer) {
	note := func() { note(w.changed) }
	// An informer that was not started takes every handler.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { note() },
		UpdateFunc: func(before, after any) {
			if differ(before, after) {
				note()
			}
		},
		DeleteFunc: func(any) {},
	})
}

func note(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// followCloud notes when the cloud may have lost instances: they go with its state.
func (w *watcher) followCloud(ctx context.Context) {
	for ctx.Err() == nil {
		// An error is one of the imports' as well, and they say so.
		_ = w.cloud.Follow(ctx, func() { note(w.cloudy) })
		pause(ctx, again)
	}
}

// run imports until the context ends.
func (w *watcher) run(ctx context.Context) error {
	w.factory.Start(ctx.Done())
	defer w.factory.Shutdown()
	for kind, synced := range w.factory.WaitForCacheSync(ctx.Done()) {
		if !synced && ctx.Err() == nil {
			return errors.New("can't list " + kind.String())
		}
	}
	var following sync.WaitGroup
	following.Go(func() { w.followCloud(ctx) })
	defer following.Wait()
	for due := true; ; {
		var retry <-chan time.Time
		if due && !w.bring(ctx) {
			retry = time.After(again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.changed:
			due = true
			pause(ctx, settle)
		case <-w.cloudy:
			due = retry != nil || w.lost(ctx)
		case <-retry:
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// bring imports the cluster's nodes and pods, and reports whether that succeeded.
func (w *watcher) bring(ctx context.Context) bool { return w.tell(w.imported(ctx)) }

func (w *watcher) imported(ctx context.Context) error {
	instances, err := w.cloud.Instances(ctx)
	if err != nil {
		return err
	}
	list, ids, err := w.list(w.deleted(instances))
	if err != nil || len(list.Items) == 0 {
		return err
	}
	done, err := w.cloud.Import(ctx, list)
	if err != nil {
		return err
	}
	w.log.Info("imported", "done", done)
	if instances, err = w.cloud.Instances(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		w.brought[id] = instances[id]
	}
	return nil
}

// deleted returns the instances that were imported and no longer exist. A cloud that
// has lost its state has none of them, or has created them again, and gets all again.
func (w *watcher) deleted(instances map[string]string) map[string]bool {
	gone := make(map[string]bool)
	for id, made := range w.brought {
		switch now, there := instances[id]; {
		case !there:
			gone[id] = true
		case now != made:
			return w.begin()
		}
	}
	if len(gone) == len(w.brought) {
		return w.begin()
	}
	return gone
}

// begin forgets what was brought, so that all is.
func (w *watcher) begin() map[string]bool {
	w.brought = make(map[string]string)
	return nil
}

// tell logs an error when it is another than the last one.
func (w *watcher) tell(err error) bool {
	said := ""
	if err != nil {
		said = err.Error()
	}
	if said != w.told && said != "" {
		w.log.Error("not imported", "error", said)
	}
	w.told = said
	return err == nil
}

// lost reports whether the cloud has lost what was brought.
func (w *watcher) lost(ctx context.Context) bool {
	instances, err := w.cloud.Instances(ctx)
	if err != nil || len(w.brought) == 0 {
		return false // the next change after it is back tells
	}
	w.deleted(instances)
	return len(w.brought) == 0
}
