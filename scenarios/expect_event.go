package scenarios

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios/internal/cluster"
)

var eventKind = Kind{Name: "event", About: "A Kubernetes Event.", Value: reflect.TypeFor[Event](), ofCluster: true, Fickle: true}

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

func (e *Event) ofNothing() bool { return e.Absent }
func (e *Event) title() string   { return "event " + e.Reason }

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
		if !p.ours(is, idOf(kind, e.Namespace, name), moment{e.Since, e.Namespace}) {
			continue
		}
		seen = append(seen, is.Reason+" "+is.Message)
		found = found || is.Reason == e.Reason && (e.Message == nil || e.Message.holds(is.Message, true))
	}
	if found != e.Absent {
		return nil
	}
	return &difference{expected: e.String(), seen: "the events: " + strings.Join(seen, "; ")}
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
// that had the same name. Only what happened since the half began, to the objects that
// the half applied, says something about it.

// event holds the fields that are read from an Event.
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

// moment is a mark in a namespace, the first step if it is "".
type moment struct{ mark, namespace string }

// noteEvents notes the Events that happened before a mark in a namespace. One that happens
// again gets another resourceVersion.
func (p *play) noteEvents(ctx context.Context, mark, in string) error {
	namespace, err := newFiller(p.names).fill(in)
	if err != nil || p.earlier[moment{mark, namespace}] != nil {
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
	p.earlier[moment{mark, namespace}] = versions
	return nil
}

// ours reports whether an Event happened since a moment to the object of this id that the
// half applied, if it applied one.
func (p *play) ours(e event, id string, since moment) bool {
	if version, was := p.earlier[since][e.Metadata.UID]; was && version == e.Metadata.ResourceVersion {
		return false
	}
	uids := p.uids[id]
	return len(uids) == 0 || e.InvolvedObject.UID == "" || slices.Contains(uids, e.InvolvedObject.UID)
}

var refusedKind = Kind{Name: "refused", About: "Refused calls were made again, or an Event of type Warning tells of them, about an object that the half applied.", Value: reflect.TypeFor[refusedCalls](), ofCluster: true, Rule: "refused"}

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
	calls, err := p.Target.Calls(ctx, p.start)
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
		if slices.ContainsFunc(events, func(e event) bool { return e.InvolvedObject.UID != "" && p.ours(e, id, moment{"", r.Namespace}) }) {
			return nil
		}
	}
	return &difference{expected: "that a refused call is made again, or that an Event of type Warning tells of it", seen: forgotten}
}
