package scenarios

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios/internal/cluster"
)

var serviceKind = kind[Service](Kind{Name: "service", About: "A Kubernetes Service.", ofCluster: true})

// Service is a Service with fields.
type Service struct {
	Namespace string             `yaml:"namespace" doc:"The namespace, default if absent."`
	Name      string             `yaml:"name" required:"true" doc:"The Service."`
	Fields    map[string]Matcher `yaml:"fields" required:"true" doc:"Fields by path, such as status.loadBalancer.ingress.0.ip."`
}

func (s *Service) title() string { return "service " + s.Name }

func (s *Service) check(c *checker, at spot, in scope) {
	c.known(at.in("name"), "Service", s.Namespace, s.Name, in)
	for _, path := range sortedKeys(s.Fields) {
		if under := at.in("fields").in(path); c.settled(under, path) {
			c.addErr(under, checkPath(kindOf("v1", "Service").Fields, path, s.Fields[path].Count != nil))
		}
	}
}

func (s *Service) look(ctx context.Context, p *play) error {
	var service any
	if err := p.get(ctx, &service, "service/"+s.Name, s.Namespace); err != nil {
		return err
	}
	return compare(service, s.Fields)
}

var finalizerKind = kind[hasFinalizer](Kind{Name: "finalizer", About: "A finalizer of a Kubernetes object.", ofCluster: true})

// hasFinalizer is a finalizer of an object.
type hasFinalizer struct {
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	Object    string `yaml:"object" required:"true" doc:"Kind and name, such as service/web."`
	Name      string `yaml:"name" required:"true" doc:"The finalizer, such as service.k8s.alibaba/resources."`
	Custom    bool   `yaml:"custom" doc:"true: allow a finalizer that the Cloud Controller Manager does not have."`
	Absent    bool   `yaml:"absent" doc:"true: the object must not have it, or be gone."`
}

func (f *hasFinalizer) expectsAbsence() bool { return f.Absent }
func (f *hasFinalizer) title() string        { return "finalizer " + f.Name }

func (f *hasFinalizer) check(c *checker, at spot, in scope) {
	c.reference(at.in("object"), f.Object, f.Namespace, in)
	if !f.Custom {
		c.listed(at.in("name"), f.Name, cluster.Finalizers, "the cloud controller manager sets no %s, and custom: true takes any", "")
	}
}

func (f *hasFinalizer) look(ctx context.Context, p *play) error {
	var object struct {
		Metadata struct {
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := p.get(ctx, &object, f.Object, f.Namespace, "--ignore-not-found"); err != nil {
		return err
	}
	if slices.Contains(object.Metadata.Finalizers, f.Name) != f.Absent {
		return nil
	}
	expected := "the finalizer " + f.Name + " on " + f.Object
	if f.Absent {
		expected = "no finalizer " + f.Name + " on " + f.Object
	}
	return &Unmet{Expected: expected, Seen: "the finalizers: " + strings.Join(object.Metadata.Finalizers, ", ")}
}

var ingressKind = kind[ingressAddresses](Kind{Name: "ingress", About: "Load balancers exist at the addresses in the status of the Services that the part applied, and the addresses are of the given kinds.", ofCluster: true, Rule: "status"})

// ingressAddresses expects load balancers at the addresses that Services have.
type ingressAddresses struct {
	Namespace string              `yaml:"namespace" doc:"The namespace, default if absent."`
	Kinds     map[string][]string `yaml:"kinds" doc:"By Service, the kinds of its addresses, public, private or name. One that is absent may have any."`
}

func (i *ingressAddresses) look(ctx context.Context, p *play) error {
	all, err := p.Target.LoadBalancers(ctx, "")
	if err != nil {
		return err
	}
	services, err := ingressOf(ctx, p.Cluster, i.Namespace)
	if err != nil {
		return &Unmet{Expected: "the Services of the cluster", Seen: err.Error(), cannot: true}
	}
	for _, s := range services {
		if len(p.uids[idOf("Service", i.Namespace, s.name)]) == 0 {
			continue
		}
		for _, address := range s.addresses {
			if !slices.ContainsFunc(all, func(lb LoadBalancerState) bool { return slices.Contains(lb.Addresses, address) }) {
				return &Unmet{Expected: "a load balancer at the address in the status of service/" + s.name, Seen: address + ", which none has"}
			}
		}
		if kinds := s.kinds(); i.Kinds[s.name] != nil && !slices.Equal(kinds, i.Kinds[s.name]) {
			return &Unmet{Expected: "addresses in the status of service/" + s.name + " that are " + strings.Join(i.Kinds[s.name], ", "),
				Seen: cmp.Or(strings.Join(kinds, ", "), "none") + " " + fmt.Sprint(s.addresses)}
		}
	}
	return nil
}

func orDefault(namespace string) string { return cmp.Or(namespace, "default") }

// clusterHas returns an error unless the objects that the scenario requires exist.
func (p *play) clusterHas(ctx context.Context, objects []Object) error {
	for _, o := range objects {
		if _, err := p.Cluster.Kubectl(ctx, "", "get", o.Kind, o.Name, "--namespace", orDefault(o.Namespace)); err != nil {
			return fmt.Errorf("given.cluster: %w", err)
		}
	}
	return nil
}

// get reads an object of the cluster. One that is ignored when it is not found
// leaves the target as it is.
func (p *play) get(ctx context.Context, into any, object, namespace string, args ...string) error {
	out, err := p.Cluster.Kubectl(ctx, "", append([]string{"get", object, "--namespace", orDefault(namespace), "--output", "json"}, args...)...)
	switch {
	case err != nil:
		return &Unmet{Expected: object + " in the cluster", Seen: err.Error(), cannot: !isAbsent(err)}
	case len(out) == 0:
		return nil
	}
	return json.Unmarshal(out, into)
}

// isAbsent reports whether kubectl says that there is no such object, or no such kind: the
// cluster has answered.
func isAbsent(err error) bool {
	return strings.Contains(err.Error(), "NotFound") || strings.Contains(err.Error(), "the server doesn't have a resource type")
}

// ingressOf lists the Services of a namespace.
func ingressOf(ctx context.Context, cluster Cluster, namespace string) (all []serviceIngress, err error) {
	out, err := cluster.Kubectl(ctx, "", "get", "services", "--namespace", orDefault(namespace), "--output", "json")
	if err != nil {
		return nil, err
	}
	var services struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				LoadBalancer struct {
					Ingress []struct{ IP, Hostname string }
				}
			}
		}
	}
	if err := json.Unmarshal(out, &services); err != nil {
		return nil, err
	}
	for _, item := range services.Items {
		s := serviceIngress{name: item.Metadata.Name}
		for _, at := range item.Status.LoadBalancer.Ingress {
			s.addresses = append(s.addresses, at.IP+at.Hostname)
		}
		all = append(all, s)
	}
	return all, nil
}

// serviceIngress is a Service with the addresses in its status.
type serviceIngress struct {
	name      string
	addresses []string
}

// kinds returns what each address is: public, private or name.
func (s *serviceIngress) kinds() (kinds []string) {
	for _, address := range s.addresses {
		kind := "public"
		if ip, err := netip.ParseAddr(address); err != nil {
			kind = "name"
		} else if ip.IsPrivate() {
			kind = "private"
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// IngressKinds returns the kinds of the addresses that a namespace's Services have, by name.
// The addresses themselves differ between plays; whether clients in the internet can reach
// them must not.
func IngressKinds(ctx context.Context, cluster Cluster, namespace string) (map[string][]string, error) {
	services, err := ingressOf(ctx, cluster, namespace)
	all := make(map[string][]string)
	for _, s := range services {
		if s.addresses != nil {
			all[s.name] = s.kinds()
		}
	}
	return all, err
}

var eventKind = kind[Event](Kind{Name: "event", About: "A Kubernetes Event.", ofCluster: true, Flaky: true})

// Event is an Event about an object.
type Event struct {
	Namespace string   `yaml:"namespace" doc:"The namespace, default if absent."`
	Object    string   `yaml:"object" required:"true" doc:"Kind and name, such as Service/web."`
	Reason    string   `yaml:"reason" required:"true" doc:"The reason, such as SyncLoadBalancerFailed."`
	Custom    bool     `yaml:"custom" doc:"true: allow a reason that the Cloud Controller Manager does not have."`
	Message   *Matcher `yaml:"message" doc:"The text."`
	Since     string   `yaml:"since" doc:"Regard only what happened since a mark."`
	Absent    bool     `yaml:"absent" doc:"true: the Event must be absent."`
}

func (e *Event) since() string { return e.Since }

func (e *Event) note(ctx context.Context, p *play) error {
	return p.noteEvents(ctx, e.Since, e.Namespace)
}

func (e *Event) expectsAbsence() bool { return e.Absent }
func (e *Event) title() string        { return "event " + e.Reason }

func (e *Event) check(c *checker, at spot, in scope) {
	kind, _, _ := strings.Cut(e.Object, "/")
	c.kind(at.in("object"), "", kind)
	c.reference(at.in("object"), e.Object, e.Namespace, in)
	if !e.Custom {
		c.listed(at.in("reason"), e.Reason, cluster.Reasons, "the cloud controller manager writes no %s, and custom: true takes any", "")
	}
}

func (e *Event) look(ctx context.Context, p *play) error {
	kind, name, _ := strings.Cut(e.Object, "/")
	list, err := p.events(ctx, e.Namespace, "--field-selector", "involvedObject.kind="+kind+",involvedObject.name="+name)
	if err != nil {
		return err
	}
	var seen []string
	found := false
	for _, is := range list {
		if !p.eventOf(is, idOf(kind, e.Namespace, name), position{e.Since, e.Namespace}) {
			continue
		}
		seen = append(seen, is.Reason+" "+is.Message)
		found = found || is.Reason == e.Reason && (e.Message == nil || e.Message.holds(is.Message, true))
	}
	if found != e.Absent {
		return nil
	}
	return &Unmet{Expected: e.String(), Seen: "the events: " + strings.Join(seen, "; ")}
}

func (e *Event) String() string {
	text := "an event " + e.Reason + " about " + e.Object
	if e.Message != nil {
		text += " with " + e.Message.String()
	}
	if e.Absent {
		return "no such thing as " + text
	}
	return text
}

// A cluster keeps Events for an hour, also those of an earlier play and of an object
// that had the same name. Only what happened since the part began, to the objects that
// the part applied, says something about it.

// event holds the fields read from an Event.
type event struct {
	Metadata struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	InvolvedObject struct {
		UID string `json:"uid"`
	} `json:"involvedObject"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// events lists the events of a namespace that kubectl's further arguments select.
func (p *play) events(ctx context.Context, namespace string, args ...string) ([]event, error) {
	var list struct {
		Items []event `json:"items"`
	}
	err := p.get(ctx, &list, "events", namespace, args...)
	return list.Items, err
}

// position is a mark in a namespace, the first step if it is "".
type position struct{ mark, namespace string }

// noteEvents notes the Events that happened before a mark in a namespace. One that happens
// again gets another resourceVersion.
func (p *play) noteEvents(ctx context.Context, mark, in string) error {
	namespace, err := newFiller(p.names).fill(in)
	if err != nil || p.earlier[position{mark, namespace}] != nil {
		return nil // a name that a step saves is no namespace with earlier Events of ours
	}
	list, err := p.events(ctx, namespace)
	if err != nil {
		return err
	}
	versions := make(map[string]string, len(list))
	for _, is := range list {
		versions[is.Metadata.UID] = is.Metadata.ResourceVersion
	}
	p.earlier[position{mark, namespace}] = versions
	return nil
}

// eventOf reports whether an Event happened since a moment to the object of this id that the
// part applied, if it applied one.
func (p *play) eventOf(e event, id string, since position) bool {
	if version, was := p.earlier[since][e.Metadata.UID]; was && version == e.Metadata.ResourceVersion {
		return false
	}
	uids := p.uids[id]
	return len(uids) == 0 || e.InvolvedObject.UID == "" || slices.Contains(uids, e.InvolvedObject.UID)
}

var refusedKind = kind[refusedCalls](Kind{Name: "refused", About: "Refused calls were made again, or an Event of type Warning reports them, about an object that the part applied.", ofCluster: true, Rule: "refused"})

// refusedCalls expects that a refused call is not forgotten.
type refusedCalls struct {
	Action    string `yaml:"action" doc:"A glob, or several separated by commas; all if absent."`
	Namespace string `yaml:"namespace" doc:"The namespace of the Events, default if absent."`
}

func (r *refusedCalls) since() string { return "" }

func (r *refusedCalls) note(ctx context.Context, p *play) error {
	return p.noteEvents(ctx, "", r.Namespace)
}

func (r *refusedCalls) title() string                      { return "refused calls" }
func (r *refusedCalls) check(c *checker, at spot, _ scope) { c.globs(at.in("action"), r.Action) }

func (r *refusedCalls) look(ctx context.Context, p *play) error {
	calls, err := p.Target.Calls(ctx, p.marks[""])
	if err != nil {
		return err
	}
	forgotten := ""
	again := make(map[string]bool) // the actions of later calls
	for _, call := range slices.Backward(calls) {
		if !p.judged(call) || r.Action != "" && !glob.Split(r.Action).Match(call.Action) {
			continue
		}
		if call.Code != "" && !again[call.Action] {
			forgotten = call.Action + " was refused with " + call.Code
		}
		again[call.Action] = true
	}
	if forgotten == "" {
		return nil
	}
	events, err := p.events(ctx, r.Namespace, "--field-selector", "type=Warning")
	if err != nil {
		return err
	}
	for id := range p.uids {
		if slices.ContainsFunc(events, func(e event) bool { return e.InvolvedObject.UID != "" && p.eventOf(e, id, position{"", r.Namespace}) }) {
			return nil
		}
	}
	return &Unmet{Expected: "that a refused call is made again, or that an Event of type Warning reports it", Seen: forgotten}
}
