package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// do does a step, but for a repeat.
func (p *play) do(ctx context.Context, original *Step) error {
	step, err := filled[Step](p, original.node)
	if err != nil {
		return err
	}
	switch {
	case step.Set != nil:
		return p.Target.Set(ctx, step.Set)
	case step.Fault != nil:
		return p.arm(ctx, step)
	case step.Clear != nil:
		return p.disarm(ctx, step.Clear)
	case step.Call != nil:
		return p.call(ctx, step.Call)
	case step.Clock != nil:
		return p.setClock(ctx, step.Clock)
	case step.Restart, step.Kill:
		return p.Target.Restart(ctx, step.Kill)
	case step.Kubectl != nil:
		return p.kubectl(ctx, step.Kubectl)
	case step.Exec != nil:
		return p.exec(ctx, step.Exec)
	case step.Start:
		p.restarts = 0
		return p.begin(ctx)
	case step.Stop:
		return p.kill()
	case step.Struck != nil:
		return p.struck(ctx, step.Struck)
	case step.Rest != nil:
		return p.rest(ctx, step.Rest)
	case step.Wait != nil:
		return p.wait(ctx, step.Wait)
	case step.Serve != nil:
		return p.serve(ctx, step.Serve)
	case step.Traffic != nil:
		return p.traffic(ctx, step.Traffic)
	case step.Mark != "":
		p.marks[step.Mark], err = p.Target.Mark(ctx)
		if err == nil && p.half == KubernetesHalf {
			err = p.noteEvents(ctx, step.Mark)
		}
		if err == nil {
			err = p.watchBackends(ctx, step.Mark)
		}
		return err
	}
	return p.expectAll(ctx, original.Expect, func(*Expectation, bool) {})
}

// title says in a few words what a step does.
func (s *Step) title() string {
	if s.Name != "" {
		return s.Name
	}
	switch {
	case s.Set != nil:
		return "set " + cut(s.Set.String())
	case s.Fault != nil:
		if rule, err := s.Fault.rule(); err == nil {
			return "fault " + rule.Name
		}
	case s.Clear != nil:
		return "clear " + strings.Join(s.Clear, " ")
	case s.Call != nil:
		return "call " + s.Call.Action
	case s.Clock != nil:
		return "clock " + s.Clock.String()
	case s.Exec != nil:
		return "exec " + strings.Join(s.Exec.Command, " ")
	case s.Start:
		return "start the program"
	case s.Stop:
		return "kill the program"
	case s.Struck != nil:
		return "wait for the fault " + s.Struck.Fault
	case s.Rest != nil:
		return "wait for rest"
	case s.Wait != nil:
		return "wait for " + s.Wait.Call.Action
	case s.Repeat != nil:
		return "repeat " + s.Repeat.Times + " times"
	case s.Serve != nil:
		return "serve " + s.Serve.ID
	case s.Traffic != nil:
		return fmt.Sprintf("traffic to port %d", s.Traffic.Port)
	case s.Mark != "":
		return "mark " + s.Mark
	case len(s.Expect) == 1:
		return s.Expect[0].title()
	}
	return s.kind()
}

func (c *Clock) String() string {
	var parts []string
	if c.Advance > 0 {
		parts = append(parts, "advance "+c.Advance.String())
	}
	if c.Freeze {
		parts = append(parts, "freeze")
	}
	if c.Scale != nil {
		parts = append(parts, fmt.Sprintf("scale %v", *c.Scale))
	}
	return strings.Join(parts, ", ")
}

func (p *play) setClock(ctx context.Context, c *Clock) error {
	scale := c.Scale
	if c.Freeze {
		scale = new(float64)
	}
	return p.Target.SetClock(ctx, time.Duration(c.Advance), scale)
}

// call makes a call, holds its answer against what is expected, and saves from
// it.
func (p *play) call(ctx context.Context, original *CallStep) error {
	call, err := filled[CallStep](p, original.node)
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

// refused reports whether a refusal is expected, or no answer.
func (r *Reply) refused() bool {
	return r != nil && (r.Lost || r.Status >= 300 || r.Code != nil && !r.Code.ofSuccess())
}

// compare holds an answer against what is expected; nil expects success.
func (r *Reply) compare(answer Answer) *difference {
	if r == nil {
		r = &Reply{}
	}
	if r.Lost || answer.Lost != "" {
		if r.Lost && answer.Lost != "" {
			return nil
		}
		return answer.differs(r)
	}
	refused := r.Code != nil && !r.Code.ofSuccess()
	wrong := r.Status != 0 && answer.Status != r.Status || r.Status == 0 && refused == answer.succeeded()
	code := ""
	if !answer.succeeded() {
		code = fmt.Sprint(answer.Body["Code"])
	}
	message, hasMessage := answer.Body["Message"]
	wrong = wrong || r.Code != nil && !r.Code.ofCode(code) || r.Message != nil && !r.Message.holds(message, hasMessage)
	if wrong {
		return answer.differs(r)
	}
	return compare(answer.Body, r.Fields)
}

// differs is the difference between an answer and the one that is expected.
func (a Answer) differs(r *Reply) *difference {
	d := &difference{expected: r.String(), seen: a.String()}
	if a.Lost == "" && !a.succeeded() {
		d.code = fmt.Sprint(a.Body["Code"])
	}
	return d
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

// wait makes a call until its answer is as expected.
func (p *play) wait(ctx context.Context, w *Wait) error {
	within, pause := time.Duration(w.Within), time.Duration(w.Every)
	if pause == 0 {
		pause = pauseFor(within)
	}
	for passed := time.Duration(0); ; passed += pause {
		err := p.call(ctx, &w.Call)
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

// pauseFor is a pause between two looks at something that may take so long.
func pauseFor(d time.Duration) time.Duration {
	return min(max(d/60, 200*time.Millisecond), 10*time.Second)
}
