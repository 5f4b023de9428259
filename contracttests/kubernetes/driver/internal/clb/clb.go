// Package clb makes the load balancers of CLB what Services say. It looks at a
// load balancer, plans the changes, and makes them one after the other, so that a plan alone is
// a dry run. It must not know when, or why, it is asked.
package clb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/annotation"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/backends"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/controller"
	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// Product makes load balancers.
type Product struct {
	Cloud     *openapi.Client
	Backends  *backends.Finder
	ClusterID string
	VPC       string
	// VSwitch is the vSwitch of intranet load balancers whose Service names none.
	VSwitch string
}

// Change is one step towards what a Service says.
type Change struct {
	// Code is the name of the change in the report of a dry run.
	Code string
	// Item is the listener's port or the server group, empty for the load balancer.
	Item string
	make func() error
}

// plan lists the changes to a load balancer.
type plan struct {
	balancer *balancer
	changes  []Change
	notes    []controller.Note
}

func (p *plan) add(code, item string, make func() error) {
	p.changes = append(p.changes, Change{code, item, make})
}

// Serves reports whether a Service of type LoadBalancer is one for CLB.
func (p *Product) Serves(service *corev1.Service) bool { return service.Spec.LoadBalancerClass == nil }

// Ensure makes the load balancer of a Service what the Service says. Known is a Service
// that had one and did not change since.
func (p *Product) Ensure(_ context.Context, service *corev1.Service, known bool) (done controller.Outcome, err error) {
	found, err := p.find(service)
	if err != nil {
		return done, err
	}
	if found == nil {
		if err := mayCreate(service, known); err != nil {
			return done, err
		}
		if found, err = p.create(service); err != nil {
			return done, err
		}
		done.Changed = true
	}
	done.ID = found.LoadBalancerID
	if err := p.mayUse(service, found); err != nil {
		return done, err
	}
	planned, err := p.plan(service, found)
	if err != nil {
		return done, err
	}
	done.Notes, done.Changed = planned.notes, done.Changed || len(planned.changes) > 0
	if done.Ingress.Hostname = service.Annotations[annotation.Hostname]; done.Ingress.Hostname == "" {
		done.Ingress.IP = found.Address
	}
	return done, planned.make()
}

// Remove takes from a load balancer what the Service has there, and deletes it if it was
// made for the Service.
func (p *Product) Remove(_ context.Context, service *corev1.Service) (done controller.Outcome, err error) {
	found, err := p.find(service)
	if openapi.Refused(err, "InvalidLoadBalancerId.NotFound") {
		return done, nil
	}
	if err != nil || found == nil {
		return done, err
	}
	done.ID = found.LoadBalancerID
	switch {
	case reuses(service):
		bare := service.DeepCopy()
		bare.Spec.Ports = nil
		planned := &plan{balancer: found}
		if err := p.planServing(planned, bare); err != nil {
			return done, err
		}
		return done, planned.make()
	case annotation.Is(service, annotation.Preserve, "true"):
		done.Notes = []controller.Note{{Type: corev1.EventTypeWarning, Reason: "PreservedOnDelete",
			Text: fmt.Sprintf("The lb [%s] will be preserved after the service is deleted.", found.LoadBalancerID)}}
		return done, p.giveUp(found)
	}
	return done, p.delete(found)
}

// DryRun returns the id of a Service's load balancer and what would be done about it.
func (p *Product) DryRun(service *corev1.Service, wanted bool) (id string, changes []Change, err error) {
	found, err := p.find(service)
	switch {
	case err != nil:
		return "", nil, err
	case found == nil && wanted:
		return "", []Change{{Code: "CreateSLB"}}, nil
	case found == nil:
		return "", nil, nil
	case !wanted && !reuses(service):
		return found.LoadBalancerID, []Change{{Code: "DeleteSLB"}}, nil
	}
	planned, err := p.plan(service, found)
	if err != nil {
		return "", nil, err
	}
	return found.LoadBalancerID, planned.changes, nil
}

// plan plans all that a Service says of its load balancer.
func (p *Product) plan(service *corev1.Service, found *balancer) (*plan, error) {
	planned := &plan{balancer: found}
	p.planSettings(planned, service)
	return planned, p.planServing(planned, service)
}

// planServing brings groups before the listeners that need them, and removes groups after
// the listeners that needed them.
func (p *Product) planServing(planned *plan, service *corev1.Service) error {
	groups, err := p.groups(planned.balancer)
	if err != nil {
		return err
	}
	targets, err := p.planGroups(planned, service, groups)
	if err != nil {
		return err
	}
	if !reuses(service) || annotation.Is(service, annotation.Override, "true") {
		if err := p.planListeners(planned, service, targets); err != nil {
			return err
		}
	}
	for _, g := range groups {
		if p.owns(service, g.name) && !slices.Contains(targets, g) {
			planned.add("DeleteVgroup", g.name, func() error {
				return p.Cloud.Call(openapi.SLB, "DeleteVServerGroup", openapi.Params{"VServerGroupId": g.id}, nil)
			})
		}
	}
	return nil
}

// make makes the changes, and none after one that failed.
func (p *plan) make() error {
	for _, change := range p.changes {
		if err := change.make(); err != nil {
			return err
		}
	}
	return nil
}

// reuses reports whether a Service names a load balancer that the controller did not make.
func reuses(service *corev1.Service) bool { return service.Annotations[annotation.ID] != "" }

// name returns the name of a load balancer, which is the value of its tag, too.
func name(service *corev1.Service) string { return cloudprovider.DefaultLoadBalancerName(service) }

// ownName returns the name of the driver's listeners and groups. One with another name has another
// owner.
func (p *Product) ownName(service *corev1.Service, port string) string {
	return "k8s/" + port + p.ownSuffix(service)
}

func (p *Product) ownSuffix(service *corev1.Service) string {
	return fmt.Sprintf("/%s/%s/%s", service.Name, service.Namespace, p.ClusterID)
}

func (p *Product) owns(service *corev1.Service, name string) bool {
	return strings.HasPrefix(name, "k8s/") && strings.HasSuffix(name, p.ownSuffix(service))
}
