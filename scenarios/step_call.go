package scenarios

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

var callKind = Kind{Name: "call", About: "Call an action and check its answer.", Value: reflect.TypeFor[CallStep](), judges: true}

// CallStep is a call with what is expected of its answer.
type CallStep struct {
	Product string            `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string            `yaml:"action" required:"true" doc:"The action, such as CreateLoadBalancer."`
	Params  map[string]Value  `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Timeout Duration          `yaml:"timeout" doc:"When the client gives up, in real time."`
	Tries   int               `yaml:"tries" doc:"How often the client makes the call, at most, until the answer is as expected; 1 if absent."`
	Expect  *Reply            `yaml:"expect" doc:"The expected answer; success if absent."`
	Save    map[string]string `yaml:"save" doc:"Names for fields of the answer, as name: path."`

	place
}

func (c *CallStep) Validate() error {
	if c.Tries < 0 || c.Tries > maxTries {
		return fmt.Errorf("tries is 1 to %d", maxTries)
	}
	return nil
}

func (c *CallStep) title() string { return "call " + c.Action }

func (call *CallStep) check(c *checker, at spot, in scope) {
	action, known := c.action(at, call.Product, call.Action, call.Params, call.Expect == nil)
	if !call.Expect.refused() {
		c.ids(call.Params, at.in("params"), in)
	}
	if known && call.Expect != nil {
		c.code(at.in("expect", "code"), call.Expect.Code, []Action{action}, in)
		c.fields(at.in("expect", "fields"), action, call.Expect.Fields)
	}
	for _, name := range sortedKeys(call.Save) {
		under := at.in("save").in(name)
		c.save(under, name, in)
		if known && c.settled(under, call.Save[name]) {
			if err := checkPath(action.answers(), call.Save[name], false); err != nil {
				c.refuse(under, "%s: %s", call.Save[name], err)
			}
		}
	}
}

// do makes a call, holds its answer against what is expected, and saves from
// it.
func (c *CallStep) do(ctx context.Context, p *play, _ *Step) error {
	call, err := filled[CallStep](p, c.node)
	if err != nil {
		return err
	}
	answer, err := p.tried(ctx, call)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(call.Save) {
		value, ok := field(answer.Body, call.Save[name])
		if !ok {
			return &difference{expected: "a field " + call.Save[name] + " to save", seen: showField(answer.Body, true)}
		}
		p.names[name] = show(value)
	}
	return nil
}

// tried makes a call until its answer is as expected, as often as it may.
func (p *play) tried(ctx context.Context, call *CallStep) (Answer, error) {
	for n := 1; ; n++ {
		answer, err := p.Target.Call(ctx, call.api(ClientAgent))
		if err != nil {
			return answer, err
		}
		d := call.Expect.compare(answer)
		if d == nil {
			return answer, nil
		}
		if n >= call.Tries {
			return answer, d
		}
		if err := p.pass(ctx, betweenTries); err != nil {
			return answer, err
		}
	}
}

// betweenTries is the pause before a call is made again.
const betweenTries = time.Second

func (c *CallStep) api(agent string) APICall {
	return APICall{Product: orSlb(c.Product), Action: c.Action, Params: texts(c.Params), UserAgent: agent, Timeout: time.Duration(c.Timeout)}
}

func texts(params map[string]Value) map[string]string {
	all := make(map[string]string, len(params))
	for name, value := range params {
		all[name] = string(value)
	}
	return all
}

var waitKind = Kind{Name: "wait", About: "Call an action until its answer is as expected.", Value: reflect.TypeFor[Wait](), judges: true}

// Wait is a call made again and again.
type Wait struct {
	Call   CallStep `yaml:"call" required:"true" doc:"The call, with the answer that ends the wait."`
	Within Duration `yaml:"within" required:"true" doc:"The longest wait."`
	Every  Duration `yaml:"every" doc:"The pause between two calls."`
}

func (w *Wait) title() string { return "wait for " + w.Call.Action }

func (w *Wait) check(c *checker, at spot, in scope) { w.Call.check(c, at.in("call"), in) }

// do makes a call until its answer is as expected.
func (w *Wait) do(ctx context.Context, p *play, s *Step) error {
	within, pause := time.Duration(w.Within), time.Duration(w.Every)
	if pause == 0 {
		pause = pauseFor(within)
	}
	for passed := time.Duration(0); ; passed += pause {
		err := w.Call.do(ctx, p, s)
		if d := (*difference)(nil); !errors.As(err, &d) {
			return err
		} else if passed >= within {
			return d.after(" within "+w.Within.String(), "")
		} else {
			p.waiting(passed, within, "saw "+d.seen)
		}
		if err := p.pass(ctx, pause); err != nil {
			return err
		}
	}
}
