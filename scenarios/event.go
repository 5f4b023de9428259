package scenarios

import (
	"context"
	"slices"
)

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

// noteEvents notes the Events that happened before a mark, or before the first step
// where mark is empty, in the namespaces that expectations since then look at. An Event
// that happens again gets another resourceVersion.
func (p *play) noteEvents(ctx context.Context, mark string) error {
	earlier := make(map[string]string)
	p.earlier[mark] = earlier
	noted := make(map[string]bool)
	for _, e := range p.scenario.Half(p.half).allExpectations() {
		in := ""
		switch {
		case e.Event != nil && e.Event.Since == mark:
			in = e.Event.Namespace
		case e.Refused != nil && mark == "":
			in = e.Refused.Namespace
		default:
			continue
		}
		namespace, err := newFiller(p.names).fill(in)
		if err != nil || noted[namespace] {
			continue // a name that a step saves is no namespace with earlier Events of ours
		}
		noted[namespace] = true
		list, err := p.events(ctx, namespace)
		if err != nil {
			return err
		}
		for _, is := range list {
			earlier[is.Metadata.UID] = is.Metadata.ResourceVersion
		}
	}
	return nil
}

// ours reports whether an Event happened since a mark, or since the half began where mark
// is empty, to the object of this id that the half applied, if it applied one.
func (p *play) ours(e event, id, mark string) bool {
	if version, was := p.earlier[mark][e.Metadata.UID]; was && version == e.Metadata.ResourceVersion {
		return false
	}
	uids := p.uids[id]
	return len(uids) == 0 || e.InvolvedObject.UID == "" || slices.Contains(uids, e.InvolvedObject.UID)
}

// noteApplied notes the uids of what was applied.
func (p *play) noteApplied(objects []appliedObject) {
	for _, o := range objects {
		id := idOf(o.Kind, o.Metadata.Namespace, o.Metadata.Name)
		p.uids[id] = append(p.uids[id], o.Metadata.UID)
		if o.Kind == "Node" { // its Events may have its name for a uid, as the kubelet's do
			p.uids[id] = append(p.uids[id], o.Metadata.Name)
		}
	}
}
