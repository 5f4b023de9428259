package kubernetes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
)

const pollEvery = 50 * time.Millisecond

// patience covers the back-off of a controller, which doubles from 5 s. Mutants, which fail,
// have less.
func patience() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("E2E_PATIENCE")); err == nil {
		return d
	}
	return 5 * time.Minute
}

// fixture is a test's own cloud, controller and namespace, in a control plane that
// it has for itself until it ends.
type fixture struct {
	*testing.T
	ctx        context.Context
	dir        string
	cluster    *cluster.Cluster
	cloud      *cloud.Cloud
	controller *process.Process
	slb        *slb.Client
	kubernetes kubernetes.Interface
	namespace  string
	// patience is how long things may take.
	patience time.Duration
	// leaves is how many load balancers without a Service the test is about.
	leaves int
	// clusterID is the cluster's id in the cloud.
	clusterID string
	// accessKey gives a CCM a key instead of its instance's RAM role.
	accessKey bool
	// controllers are a CCM's besides the usual ones, each behind a comma.
	controllers string
	// world is the file of the cloud's world, in which the nodes are.
	world string
	// flags are more of the cloud's.
	flags []string
	// replicas are how many emulators share the cloud's state, 0 for one on its own.
	replicas int
	others   []*cloud.Cloud
}

// start brings them up, next to those of other tests. At the end all Services are
// deleted while the controller runs, which must leave no load balancer but those that
// the test made, and a state that passes its check.
func start(t *testing.T, options ...func(*fixture)) *fixture {
	t.Helper()
	t.Parallel()
	plane := <-shared.free
	t.Cleanup(func() { shared.free <- plane })
	f := &fixture{T: t, ctx: context.Background(), patience: patience(), dir: filepath.Join(shared.dir, t.Name()),
		cluster: plane, clusterID: cloud.ClusterID, world: shared.world, kubernetes: plane.Client, namespace: strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, option := range options {
		option(f)
	}
	if needsProxy(t) {
		f.flags = append(f.flags, "--proxy")
	}
	if f.replicas == 0 {
		f.cloud = cloud.Start(t, f.dir, f.world, f.flags...)
	} else {
		all := cloud.StartReplicas(t, f.replicas, f.dir, f.world, plane.Etcd, "/"+f.namespace+"/")
		f.cloud, f.others = all[0], all[1:]
	}
	t.Cleanup(f.stopCloud)
	var err error
	if f.slb, err = f.cloud.SLB(); err != nil {
		t.Fatal(err)
	}
	f.startController()
	t.Cleanup(f.stopController)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}
	if _, err := f.kubernetes.CoreV1().Namespaces().Create(f.ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.deleteNamespace)
	return f
}

// stopController ends it, and finds what its role did not let it do. The role is that
// of a CCM since v2; older ones also label persistent volumes.
func (f *fixture) stopController() {
	f.controller.Kill()
	if isFirstGeneration(f.T) {
		return
	}
	for line := range strings.Lines(f.controller.Log()) {
		if strings.Contains(line, " is forbidden: User ") {
			f.Errorf("the controller lacks a permission: %s", line)
		}
	}
}

func (f *fixture) stopCloud() {
	f.recordUsage()
	if err := f.cloud.Check(f.ctx); err != nil {
		f.Errorf("the state at the end: %v", err)
	}
	for _, c := range append(f.others, f.cloud) {
		if code := c.Stop(); code != 0 {
			f.Errorf("clbemu ended with %d: see its log in %s", code, f.dir)
		}
	}
}

// deleteNamespace ends the test's Services. A test that failed may have broken
// the controller, and must not leave the next one its Services.
func (f *fixture) deleteNamespace() {
	if f.Failed() {
		f.Logf("the controller's last words:\n%s", f.controller.Tail(15))
		f.releaseServices(f.namespace)
	}
	f.deleteServices()
	namespaces := f.kubernetes.CoreV1().Namespaces()
	if err := namespaces.Delete(f.ctx, f.namespace, metav1.DeleteOptions{}); err != nil {
		f.Error(err)
		return
	}
	err := wait.PollUntilContextTimeout(f.ctx, pollEvery, f.patience, true, func(ctx context.Context) (bool, error) {
		_, err := namespaces.Get(ctx, f.namespace, metav1.GetOptions{})
		return errors.IsNotFound(err), nil
	})
	if err != nil {
		f.Errorf("the namespace is not deleted: %v\n%s", err, f.controller.Tail(15))
		f.releaseServices(f.namespace)
		return
	}
	if left := f.ownLoadBalancers(); len(left) > f.leaves && !f.Failed() {
		f.Errorf("all Services are deleted, and the load balancers %v are left", left)
	}
}

// deleteServices goes before the deletion of the namespace, which waits many seconds more
// where it finds a finalizer.
func (f *fixture) deleteServices() {
	services := f.kubernetes.CoreV1().Services(f.namespace)
	err := wait.PollUntilContextTimeout(f.ctx, pollEvery, f.patience, true, func(ctx context.Context) (bool, error) {
		left, err := services.List(ctx, metav1.ListOptions{})
		for _, service := range left.Items {
			if service.DeletionTimestamp != nil {
				continue
			}
			if err := services.Delete(ctx, service.Name, metav1.DeleteOptions{}); err != nil && !errors.IsNotFound(err) {
				return false, err
			}
		}
		return err == nil && len(left.Items) == 0, err
	})
	if err != nil {
		f.Errorf("the Services are not deleted: %v", err)
	}
}

// releaseServices takes the Services of a namespace from the controllers that hold them, which may
// change them, or let go of one, meanwhile.
func (f *fixture) releaseServices(namespace string) {
	services := f.kubernetes.CoreV1().Services(namespace)
	list, err := services.List(f.ctx, metav1.ListOptions{})
	if err != nil {
		f.Error(err)
		return
	}
	for _, service := range list.Items {
		patch := []byte(`{"metadata": {"finalizers": null}}`)
		if _, err := services.Patch(f.ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil && !errors.IsNotFound(err) {
			f.Error(err)
		}
	}
}

// eventually waits until what is asked for holds; an error says what does not
// hold yet.
func (f *fixture) eventually(what string, holds func() error) {
	f.Helper()
	var last error
	err := wait.PollUntilContextTimeout(f.ctx, pollEvery, f.patience, true, func(context.Context) (bool, error) {
		last = holds()
		return last == nil, nil
	})
	if err != nil {
		f.Fatalf("%s: after %s still %v", what, f.patience, last)
	}
}
