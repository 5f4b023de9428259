// Package dryrun reports what a controller would change, in the Event in which a CCM reports
// it and in the same form, which clbemu upgrade-check reads.
package dryrun

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/clb"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/controller"
)

// item is a finding about a Service, a listener or a server group.
type item struct {
	Name, ID, MessageLevel, MessageCode, Message string
}

// check are the findings about the load balancers of a product.
type check struct {
	Name        string
	FailedCount int
	Items       map[string]item `json:"instanceResults,omitempty"`
}

// report is the message of the Event.
type report struct {
	State        string
	CheckResults []check
}

// Run looks at all Services, and changes nothing but the Event.
func Run(ctx context.Context, client kubernetes.Interface, product *clb.Product, services []*corev1.Service, finalizer string) error {
	found := check{Name: "ccmSLB", Items: make(map[string]item)}
	for _, service := range services {
		wanted := controller.Wants(product, service)
		if !wanted && !holds(service, finalizer) {
			continue
		}
		id, changes, err := product.DryRun(service, wanted)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", service.Namespace, service.Name, err)
		}
		for _, change := range changes {
			name := service.Namespace + "/" + service.Name
			if change.Item != "" {
				name += "/" + change.Item
			}
			if _, told := found.Items[name]; !told {
				found.Items[name] = item{Name: name, ID: id, MessageLevel: "error", MessageCode: change.Code}
			}
		}
	}
	found.FailedCount = len(found.Items)
	return write(ctx, client, report{"Success", []check{found}})
}

func holds(service *corev1.Service, finalizer string) bool {
	for _, name := range service.Finalizers {
		if name == finalizer {
			return true
		}
	}
	return false
}

// write writes the Event, also over that of an earlier dry run.
func write(ctx context.Context, client kubernetes.Interface, r report) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	events := client.CoreV1().Events(metav1.NamespaceSystem)
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "CloudControllerManagerPrecheckResult"},
		Type:           corev1.EventTypeNormal,
		Reason:         r.State,
		Message:        string(text),
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Name: "ccm-precheck-pod", Namespace: metav1.NamespaceSystem},
	}
	if _, err = events.Create(ctx, event, metav1.CreateOptions{}); errors.IsAlreadyExists(err) {
		_, err = events.Update(ctx, event, metav1.UpdateOptions{})
	}
	return err
}
