package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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

// Running is a started program.
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

// begin starts the program that the part is about.
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

// programEnded reports whether the part's program has ended, so that waiting is useless.
func (p *play) programEnded(ctx context.Context) bool {
	if p.running == nil {
		return false
	}
	over, err := p.running.Wait(ctx, 0)
	return over && err == nil
}

// ended starts a program again that has ended with an error, as often as it may, and
// reports whether it has ended for good. It returns the pause before the start, too.
func (p *play) ended(ctx context.Context) (over bool, pause time.Duration, err error) {
	if !p.programEnded(ctx) {
		return false, 0, nil
	}
	if p.running.Exit() == 0 || p.restarts >= max(p.Restarts, p.scenario.Part(p.part).Restarts) {
		return true, 0, nil
	}
	p.restarts++
	pause = min(firstBackOff<<min(p.restarts, 6), maxBackOff) // a hundred doublings overflow
	if err := p.advance(ctx, pause); err != nil {
		return false, pause, err
	}
	return false, pause, p.begin(ctx)
}

// finish lets the program of the part come to its end, and judges that. One that
// does not end on its own is judged as it runs.
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
	if !p.programEnded(ctx) || p.running.Exit() == 0 {
		return nil, nil
	}
	return &Unmet{Line: p.scenario.Part(p.part).Line, Kind: kindProgram, Step: "the program " + p.Program.String(), Expected: "exit status 0", Seen: fmt.Sprint(p.running.Exit())}, nil
}

// neverAsked reports whether a part failed only since its program never makes the calls that
// it judges: all its calls succeeded, and no fault has struck one.
func (p *play) neverAsked(ctx context.Context, failure *Failure) bool {
	if p.MustCall || p.part != ProgramPart || failure.status != Failed || p.running == nil || p.programEnded(ctx) && p.running.Exit() != 0 {
		return false
	}
	for _, u := range failure.Unmet {
		if u.Kind != callsKind.Name && u.Kind != faultKind.Name {
			return false
		}
	}
	calls, err := p.Target.Calls(ctx, p.marks[""])
	if err != nil || p.count(ctx) != nil || slices.ContainsFunc(p.watched, func(w *watchedFault) bool { return w.hits > 0 }) {
		return false
	}
	calls = slices.DeleteFunc(calls, func(c JournalCall) bool { return !p.judged(c) })
	return len(calls) > 0 && len(failure.Unmet) > 0 && !slices.ContainsFunc(calls, func(c JournalCall) bool { return c.Code != "" || len(c.Faults) > 0 })
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
