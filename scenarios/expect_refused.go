package scenarios

import (
	"context"
	"reflect"
	"slices"

	"github.com/clbemu/clbemu/emulator/glob"
)

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

func (r *refusedCalls) title() string { return "refused calls" }

func (r *refusedCalls) check(c *checker, at spot, _ scope) { c.globs(at.in("action"), r.Action) }

// look looks for refused calls that nobody made again or told of.
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
