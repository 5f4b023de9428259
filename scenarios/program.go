package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Programs runs programs of the user's, in an environment that points clients of
// the cloud at the target.
type Programs interface {
	Start(ctx context.Context, p Program) (Running, error)
}

// Program is a command line.
type Program struct {
	Command []string
	Dir     string
	// Env holds variables in addition to the environment's.
	Env map[string]string
	// Output, if set, gets what it writes, as it comes.
	Output io.Writer
}

func (p Program) String() string { return strings.Join(p.Command, " ") }

// Running is a program that was started.
type Running interface {
	// Wait returns when it has ended, or else after a time.
	Wait(ctx context.Context, most time.Duration) (ended bool, err error)
	// Exit is the exit status of one that has ended.
	Exit() int
	// Output is the last part of what it wrote.
	Output() string
	// Stop ends it, gently at first.
	Stop()
	// Kill ends it at once.
	Kill()
}

// Exec runs a program to its end.
type Exec struct {
	Command []string          `yaml:"command" required:"true" doc:"The program and its arguments."`
	Dir     string            `yaml:"dir" doc:"The folder to run it in; clbemu's own if absent."`
	Env     map[string]string `yaml:"env" doc:"Variables in addition to the ones of clbemu env."`
	Timeout Duration          `yaml:"timeout" doc:"The time limit; 10m if absent."`
	Exit    int               `yaml:"exit" doc:"The expected exit status; 0 if absent."`
	Output  *Matcher          `yaml:"output" doc:"The expected output, standard output and standard error together."`
}

// defaultTimeout limits how long a program may take.
const defaultTimeout = 10 * time.Minute

// ReadYAML reads a list as the command.
func (e *Exec) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	before := d.Found()
	if node.Kind == yaml.SequenceNode {
		d.Decode(node, &e.Command, field)
	} else {
		type plain Exec
		d.Decode(node, (*plain)(e), field)
	}
	if d.Found() == before && (len(e.Command) == 0 || e.Command[0] == "") {
		d.Fail(node, field, "give the program and its arguments, as [go, test, ./...]")
	}
}

// badEnd is a difference with what a program wrote.
type badEnd struct {
	difference
	output string
}

// exec runs a program and holds its end against what is expected.
func (p *play) exec(ctx context.Context, e *Exec) error {
	program := Program{Command: e.Command, Dir: e.Dir, Env: e.Env, Output: p.Output}
	running, err := p.Programs.Start(ctx, program)
	if err != nil {
		return err
	}
	defer running.Stop()
	timeout := time.Duration(e.Timeout)
	if timeout == 0 {
		timeout = defaultTimeout
	}
	over, err := p.await(ctx, running, timeout)
	switch {
	case err != nil:
		return err
	case !over:
		return &badEnd{difference{expected: "the end of " + program.String() + " within " + Duration(timeout).String(), seen: "that it still runs"}, running.Output()}
	case running.Exit() != e.Exit:
		return &badEnd{difference{expected: fmt.Sprintf("exit status %d", e.Exit), seen: fmt.Sprint(running.Exit())}, running.Output()}
	case e.Output != nil && !e.Output.holds(strings.TrimSpace(running.Output()), true):
		return &badEnd{difference{expected: "output that is " + e.Output.String(), seen: "what follows"}, running.Output()}
	}
	return nil
}

// await waits for a program's end.
func (p *play) await(ctx context.Context, running Running, most time.Duration) (over bool, err error) {
	for passed := time.Duration(0); ; passed += awaitSlice {
		if over, err = running.Wait(ctx, min(awaitSlice, most-passed)); over || err != nil || passed+awaitSlice >= most {
			return over, err
		}
		p.waiting(passed+awaitSlice, most, "it still runs")
	}
}

// awaitSlice is the interval at which a wait for a program reports progress.
const awaitSlice = time.Second

// begin starts the program that the half is about.
func (p *play) begin(ctx context.Context) (err error) {
	if p.running != nil {
		if over, err := p.running.Wait(ctx, 0); err != nil || !over {
			return errors.Join(err, errors.New("the program runs already: stop it before it starts again"))
		}
	}
	if p.startedAt, err = p.Target.Mark(ctx); err != nil {
		return err
	}
	program := p.Program
	program.Output = p.Output
	p.running, err = p.Programs.Start(ctx, program)
	return err
}

// kill ends the program of the half as a crash does.
func (p *play) kill() error {
	if p.running == nil {
		return errors.New("the program is not started")
	}
	p.running.Kill()
	p.running = nil
	return nil
}

// gone reports whether the program of the half has ended, so that waiting is of no use.
func (p *play) gone(ctx context.Context) bool {
	if p.running == nil {
		return false
	}
	over, err := p.running.Wait(ctx, 0)
	return over && err == nil
}

// ended starts a program again that has ended with an error, as often as it may, and
// reports whether it has ended for good. It returns the pause before the start, too.
func (p *play) ended(ctx context.Context) (over bool, pause time.Duration, err error) {
	if !p.gone(ctx) {
		return false, 0, nil
	}
	if p.running.Exit() == 0 || p.restarts >= p.scenario.Half(p.half).Restarts {
		return true, 0, nil
	}
	p.restarts++
	pause = min(firstBackOff<<min(p.restarts, 6), maxBackOff) // a hundred doublings overflow
	if err := p.pass(ctx, pause); err != nil {
		return false, pause, err
	}
	return false, pause, p.begin(ctx)
}

// finish lets the program of the half come to its end, and judges that. One that
// does not end by itself is judged as it runs.
func (p *play) finish(ctx context.Context) (exit *Unmet, err error) {
	if p.running == nil {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	for over := p.rested; !over; {
		ended, err := p.await(ctx, p.running, p.For)
		if err != nil || !ended {
			return nil, err
		}
		if over, _, err = p.ended(ctx); err != nil {
			return nil, err
		}
	}
	if !p.gone(ctx) || p.running.Exit() == 0 {
		return nil, nil
	}
	return &Unmet{Line: p.scenario.Half(p.half).Line, Kind: kindProgram, Step: "the program " + p.Program.String(), Expected: "exit status 0", Seen: fmt.Sprint(p.running.Exit())}, nil
}

// The defaults of steps that wait.
const (
	defaultStruck = 30 * time.Second
	defaultRest   = 5 * time.Minute
	// firstCall limits how long a client that runs may take to its first call.
	firstCall = 30 * time.Second
	// The pause before a program starts again doubles from twice firstBackOff.
	firstBackOff = 100 * time.Millisecond
	maxBackOff   = 5 * time.Second
	// lookEvery is the pause between two looks of such a step.
	lookEvery = 50 * time.Millisecond
)

// struck waits until a fault rule takes effect.
func (p *play) struck(ctx context.Context, s *struckStep) error {
	within := cmp.Or(time.Duration(s.Within), defaultStruck)
	expected := "the fault " + s.Fault + " to strike within " + Duration(within).String()
	for passed := time.Duration(0); ; passed += lookEvery {
		gone := p.gone(ctx) // before the calls are counted, or its last one is missed
		if err := p.count(ctx); err != nil {
			return err
		}
		w := p.armedFault(s.Fault)
		switch {
		case w == nil:
			return fmt.Errorf("there is no fault %s", s.Fault)
		case w.hits > 0:
			return nil
		case passed >= within:
			return &difference{expected: expected, seen: "that it did not: it matched " + callsOf(int(w.seen))}
		}
		if gone {
			over, pause, err := p.ended(ctx)
			if err != nil {
				return err
			}
			passed += pause
			if over {
				return &difference{expected: expected, seen: fmt.Sprintf("that the program ended first, with exit status %d: it matched %s", p.running.Exit(), callsOf(int(w.seen)))}
			}
		}
		if err := p.pass(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// hasCalled reports whether the client has made a call since the half began, also so many
// that the journal forgot some.
func (p *play) hasCalled(ctx context.Context) bool {
	calls, err := p.Target.Calls(ctx, p.start)
	return err != nil || slices.ContainsFunc(calls, p.judged)
}

// rest waits until the program has ended, or the client has made no call for a while.
func (p *play) rest(ctx context.Context, r *restStep) error {
	within := cmp.Or(time.Duration(r.Within), defaultRest)
	last, err := p.Target.Mark(ctx)
	if err != nil {
		return err
	}
	debt, err := p.debtOf(ctx, r)
	if err != nil {
		return err
	}
	begun := p.hasCalled(ctx)
	silence := time.Duration(0)
	for passed := time.Duration(0); ; passed, silence = passed+lookEvery, silence+lookEvery {
		if !begun && passed < firstCall {
			silence = 0 // a program that starts makes no call yet
		}
		over, pause, err := p.ended(ctx)
		if err != nil {
			return err
		}
		if over {
			break
		}
		passed += pause
		calls, err := p.Target.Calls(ctx, last)
		if err != nil {
			return err
		}
		for _, c := range calls {
			last = c.Sequence
			if debt.note(p, c); p.judged(c) {
				silence, begun = 0, true
			}
		}
		quiet, owes, err := debt.look(ctx, p)
		switch {
		case err != nil:
			return err
		case silence >= quiet && (!owes || passed >= within):
			over = true
		case passed >= within:
			return &difference{expected: "no call for " + Duration(quiet).String() + " within " + Duration(within).String(), seen: "that the client still calls"}
		}
		if over {
			break
		}
		if err := p.pass(ctx, lookEvery); err != nil {
			return err
		}
	}
	p.rested, p.restedAt = true, last
	return nil
}

// debt is what a disturbed client owes before it is at rest.
type debt struct {
	rest      *restStep
	disturbed bool   // since the last rest
	again     bool   // it has called since
	strikes   uint64 // in the journal since the half began
}

// debtOf reads what has happened since the last rest. A journal that forgot some of it
// tells nothing.
func (p *play) debtOf(ctx context.Context, r *restStep) (*debt, error) {
	d := &debt{rest: r}
	if r.Disturbed == nil {
		return d, nil
	}
	calls, err := p.Target.Calls(ctx, p.start)
	for _, c := range calls {
		d.note(p, c)
	}
	return d, err
}

// note regards a call.
func (d *debt) note(p *play, c JournalCall) {
	if d.rest.Disturbed == nil {
		return
	}
	struck := slices.ContainsFunc(c.Faults, func(name string) bool { return slices.Contains(d.rest.Disturbed.By, name) })
	if struck {
		d.strikes++
	}
	switch {
	case c.Sequence <= p.restedAt || !p.judged(c):
	case struck:
		d.disturbed, d.again = true, false
	default:
		d.disturbed = d.disturbed || c.Code != ""
		d.again = d.again || c.Sequence > p.startedAt
	}
}

// look returns how long the client must make no call, and whether it must call first. A call
// that hangs is in no journal yet.
func (d *debt) look(ctx context.Context, p *play) (quiet time.Duration, owes bool, err error) {
	quiet = time.Duration(d.rest.Quiet)
	if d.rest.Disturbed == nil {
		return quiet, false, nil
	}
	if err := p.count(ctx); err != nil {
		return quiet, false, err
	}
	hits := uint64(0)
	for _, w := range p.watched {
		if slices.Contains(d.rest.Disturbed.By, w.name) {
			hits += w.hits
		}
	}
	hangs := hits > d.strikes
	if d.disturbed || hangs {
		quiet = max(quiet, time.Duration(d.rest.Disturbed.Quiet))
	}
	return quiet, d.rest.Disturbed.Again && (hangs || d.disturbed && !d.again), nil
}
