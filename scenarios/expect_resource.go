package scenarios

import (
	"context"
	"reflect"
)

var resourceKind = Kind{Name: "resource", About: "A resource, as a call returns it.", Value: reflect.TypeFor[Resource]()}

// Resource is a call that describes something, and what it must answer.
type Resource struct {
	Product string             `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string             `yaml:"action" required:"true" doc:"The action, such as DescribeLoadBalancerAttribute."`
	Params  map[string]Value   `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Code    *Matcher           `yaml:"code" doc:"The expected error code, for a resource that must not exist."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
}

func (r *Resource) title() string { return r.Action }

func (r *Resource) check(c *checker, at spot, in scope) {
	if action, known := c.action(at, r.Product, r.Action, r.Params, r.Code == nil); known {
		if action.Writes {
			c.refuse(at.in("action"), "%s changes something, and an expectation only looks: make the call in a step", r.Action)
		}
		c.code(at.in("code"), r.Code, []Action{action}, in)
		c.fields(at.in("fields"), action, r.Fields)
		if r.Code == nil || r.Code.ofSuccess() {
			c.ids(r.Params, at.in("params"), in)
		}
	}
}

func (r *Resource) look(ctx context.Context, p *play) error {
	call := CallStep{Product: r.Product, Action: r.Action, Params: r.Params}
	answer, err := p.Target.Call(ctx, call.api(ObserverAgent))
	if err != nil {
		return err
	}
	return (&Reply{Code: r.Code, Fields: r.Fields}).compare(answer)
}
