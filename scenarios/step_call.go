package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

var callKind = kind[CallStep](Kind{Name: "call", About: "Call an action and check its answer.", judges: true})

// CallStep is a call with the expectations of its answer.
type CallStep struct {
	Product string            `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string            `yaml:"action" required:"true" doc:"The action, such as CreateLoadBalancer."`
	Params  map[string]Value  `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Timeout Duration          `yaml:"timeout" doc:"When the client gives up, in real time."`
	Tries   int               `yaml:"tries" doc:"How often the client makes the call, at most, until the answer is as expected; 1 if absent."`
	Expect  *Reply            `yaml:"expect" doc:"The expected answer; success if absent."`
	Save    map[string]string `yaml:"save" doc:"Names for fields of the answer, such as Listeners.ListenerPort=80.ListenerId."`

	place
}

func (call *CallStep) Validate() error {
	if call.Tries < 0 || call.Tries > maxTries {
		return fmt.Errorf("tries is 1 to %d", maxTries)
	}
	return nil
}

func (call *CallStep) title() string { return "call " + call.Action }

func (call *CallStep) check(c *checker, at spot, in scope) {
	if tries := at.in("tries"); tries.node != at.node && tries.node.Value == "0" {
		c.refuse(tries, "no call is never made: tries is 1 to %d", maxTries)
	}
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

// do makes a call, compares its answer with the expectation, and saves from it.
func (call *CallStep) do(ctx context.Context, p *play, _ *Step) error {
	answer, err := p.callWithRetries(ctx, call)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(call.Save) {
		value, ok := field(answer.Body, call.Save[name])
		if !ok {
			return &Unmet{Expected: "a field " + call.Save[name] + " to save", Seen: showField(answer.Body, true)}
		}
		p.names[name] = show(value)
	}
	return nil
}

// callWithRetries makes a call until its answer is as expected, as often as it may.
func (p *play) callWithRetries(ctx context.Context, call *CallStep) (Answer, error) {
	for n := 1; ; n++ {
		answer, err := p.Target.Call(ctx, call.api(ClientAgent))
		if err != nil {
			return answer, err
		}
		if err = call.Expect.compare(answer); err == nil || n >= call.Tries {
			return answer, err
		}
		if err := p.advance(ctx, betweenTries); err != nil {
			return answer, err
		}
	}
}

// betweenTries is the pause before a retry.
const betweenTries = time.Second

func (call *CallStep) api(agent string) APICall {
	params := make(map[string]string, len(call.Params))
	for name, value := range call.Params {
		params[name] = string(value)
	}
	return APICall{Product: orSlb(call.Product), Action: call.Action, Params: params, UserAgent: agent, Timeout: time.Duration(call.Timeout)}
}

var waitKind = kind[Wait](Kind{Name: "wait", About: "Call an action until its answer is as expected.", judges: true})

// Wait is a call made again and again.
type Wait struct {
	Call   CallStep `yaml:"call" required:"true" doc:"The call, with the answer that ends the wait."`
	Within Duration `yaml:"within" required:"true" doc:"The longest wait."`
	Every  Duration `yaml:"every" doc:"The pause between two calls."`
}

// Validate rejects a pause that leaves time for one call alone.
func (w *Wait) Validate() error {
	if w.Within > 0 && w.Every > w.Within {
		return errors.New("every is longer than within: the call would be made once or twice alone")
	}
	return nil
}

func (w *Wait) title() string                       { return "wait for " + w.Call.Action }
func (w *Wait) check(c *checker, at spot, in scope) { w.Call.check(c, at.in("call"), in) }

func (w *Wait) do(ctx context.Context, p *play, s *Step) error {
	within := time.Duration(w.Within)
	pause := cmp.Or(time.Duration(w.Every), pauseFor(within))
	for passed := time.Duration(0); ; passed += pause {
		err := w.Call.do(ctx, p, s)
		if u := (*Unmet)(nil); !errors.As(err, &u) {
			return err
		} else if passed >= within {
			return u.after(" within "+w.Within.String(), "")
		} else {
			p.waiting(passed, within, "saw "+u.Seen)
		}
		if err := p.advance(ctx, pause); err != nil {
			return err
		}
	}
}

// Reply is the expected answer. Without status, code and lost, the answer must be a success.
type Reply struct {
	Status  int                `yaml:"status" counted:"true" doc:"The HTTP status."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for a success."`
	Message *Matcher           `yaml:"message" doc:"The error message."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
	Lost    bool               `yaml:"lost" doc:"true: the client must get no readable answer."`
}

func (r *Reply) Validate() error {
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return fmt.Errorf("status: no answer has the status %d", r.Status)
	}
	if r.Lost && (r.Status != 0 || r.Code != nil || r.Message != nil || len(r.Fields) > 0) {
		return errors.New("an answer that is lost has no status, code, message or fields")
	}
	if r.Status == 0 || r.Code == nil || r.Code.Count != nil {
		return nil
	}
	switch {
	case r.Code.ofSuccess() && r.Status >= 300:
		return fmt.Errorf("no answer has both the status %d and the code %s", r.Status, success)
	case !r.Code.ofSuccess() && r.Code.Equals != nil && r.Status < 300 && !template().MatchString(*r.Code.Equals):
		return fmt.Errorf("no answer has both the status %d and the code %s", r.Status, *r.Code.Equals)
	}
	return nil
}

// refused reports whether it expects a refusal, or no answer.
func (r *Reply) refused() bool {
	return r != nil && (r.Lost || r.Status >= 300 || r.Code != nil && !r.Code.ofSuccess())
}

// compare compares an answer with the expectation; nil expects success.
func (r *Reply) compare(answer Answer) error {
	if r == nil {
		r = &Reply{}
	}
	lost := answer.Lost != ""
	if lost && r.Lost {
		return nil
	}
	refused := r.Code != nil && !r.Code.ofSuccess()
	message, hasMessage := answer.Body["Message"]
	if lost != r.Lost || r.Status != 0 && answer.Status != r.Status || r.Status == 0 && refused == answer.succeeded() ||
		r.Code != nil && !r.Code.ofCode(answer.code()) || r.Message != nil && !r.Message.holds(message, hasMessage) {
		return &Unmet{Expected: r.String(), Seen: answer.String(), Code: answer.code()}
	}
	return compare(answer.Body, r.Fields)
}

// code returns the code of a refusal, or "" for other answers.
func (a Answer) code() string {
	if a.Lost != "" || a.succeeded() {
		return ""
	}
	return fmt.Sprint(a.Body["Code"])
}

func (a Answer) succeeded() bool { return a.Status >= 200 && a.Status < 300 }

func (a Answer) String() string {
	switch {
	case a.Lost != "":
		return "no answer: " + a.Lost
	case a.succeeded():
		return fmt.Sprintf("success (%d)", a.Status)
	}
	return fmt.Sprintf("%d %v: %v", a.Status, a.Body["Code"], a.Body["Message"])
}

func (r *Reply) String() string {
	if r.Lost {
		return "no answer"
	}
	var parts []string
	if r.Status != 0 {
		parts = append(parts, fmt.Sprintf("status %d", r.Status))
	}
	if r.Code != nil {
		parts = append(parts, "code "+r.Code.String())
	}
	if r.Message != nil {
		parts = append(parts, "message "+r.Message.String())
	}
	if parts == nil {
		return "success"
	}
	return strings.Join(parts, ", ")
}
