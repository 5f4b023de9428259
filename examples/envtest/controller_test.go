package envtest_test

import (
	"os"
	"testing"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/clbemu/clbemu/emulator/emulatortest"
	example "github.com/clbemu/clbemu/examples/envtest"
)

// TestService proves that a Service gets one load balancer although the answer of its creation
// is lost, and that none is left when it is deleted.
func TestService(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip(`KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd: export KUBEBUILDER_ASSETS="$(go run sigs.k8s.io/controller-runtime/tools/setup-envtest@release-0.21 use -p path)"`)
	}
	log.SetLogger(zap.New(zap.WriteTo(t.Output())))
	cloud := emulatortest.Fork(t)
	cloud.Fault(t, "{name: lost, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {afterCommit: reset}}")
	kubernetes := start(t, cloud)

	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if err := kubernetes.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Service has an address", func() bool {
		err := kubernetes.Get(t.Context(), client.ObjectKeyFromObject(service), service)
		return err == nil && len(service.Status.LoadBalancer.Ingress) == 1 && service.Status.LoadBalancer.Ingress[0].IP != ""
	})
	if made := cloud.Calls(t, "action=CreateLoadBalancer", "code=OK"); len(made) != 1 {
		t.Errorf("%d load balancers were made, want 1", len(made))
	}
	if err := kubernetes.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Service is gone", func() bool {
		return client.IgnoreNotFound(kubernetes.Get(t.Context(), client.ObjectKeyFromObject(service), service)) == nil
	})
	if deleted := cloud.Calls(t, "action=DeleteLoadBalancer", "code=OK"); len(deleted) != 1 {
		t.Errorf("%d load balancers were deleted, want 1", len(deleted))
	}
}

// start runs an API server, and the controller with a client of the cloud.
func start(t *testing.T, cloud *emulatortest.Cloud) client.Client {
	t.Helper()
	cluster := &envtest.Environment{}
	config, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	balancers, err := slb.NewClientWithAccessKey("cn-hangzhou", emulatortest.AccessKeyID, emulatortest.AccessKeySecret)
	if err != nil {
		t.Fatal(err)
	}
	balancers.Domain = cloud.Host()
	balancers.GetConfig().WithScheme("HTTP").WithAutoRetry(false)
	manager, err := ctrl.NewManager(config, ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&example.Reconciler{Client: manager.GetClient(), SLB: balancers}).SetupWithManager(manager); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(t.Context()) }()
	t.Cleanup(func() { // after t.Context ended
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return manager.GetClient()
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it does not hold that %s", what)
		}
	}
}
