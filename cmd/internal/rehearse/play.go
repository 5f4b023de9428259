package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/scenarios"
)

// Config says what to rehearse.
type Config struct {
	Copy *cluster.Copy
	// Cloud returns a copy of the account that serves, with what stands before its API.
	Cloud func(ctx context.Context, around func(http.Handler) http.Handler) (*emulator.Emulator, error)
	// Plane returns an empty control plane.
	Plane func(context.Context) (*cluster.Plane, error)
	// Start starts a version against them.
	Start func(ctx context.Context, program string, p *cluster.Plane, cloud *emulator.Emulator) (scenarios.Running, error)
	// Old may be empty.
	Old, New string
	// Apply are the objects of a manifest, in place of what happens in every cluster.
	Apply []cluster.Object
	// Traffic lets clients use all listeners of the copy, which must answer packets.
	Traffic bool
	// Explore, if set, explores the new version next to the control plane that it leaves.
	Explore func(context.Context, *cluster.Plane) (*explore.Report, error)
	// Quiet is for how long a CCM that rests does nothing, Most how long it may take to rest.
	Quiet, Most time.Duration
	// Progress gets what is being played.
	Progress func(string)
}

// ErrIdle is the error of a program that made no call.
var ErrIdle = errors.New("made no call of the cloud")

// Run rehearses.
func (c *Config) Run(ctx context.Context) (*Report, error) {
	report := &Report{}
	notes := &cluster.Notes{}
	defer func() {
		report.Services, report.Nodes, report.Notes = len(c.Copy.Services), len(c.Copy.Nodes), slices.Concat(c.Copy.Notes, *notes)
	}()
	var old *play
	if c.Old != "" {
		var err error
		if old, err = c.open(ctx, &cluster.Notes{}, "the old version: "); err != nil {
			return nil, err
		}
		err = old.run(ctx, c.Old)
		old.close(ctx)
		if err != nil {
			return nil, fmt.Errorf("the old version: %w", err)
		}
	}
	p, err := c.open(ctx, notes, "")
	if err != nil {
		return report, err
	}
	defer p.close(ctx)
	report.Drift = p.drift
	err = p.run(ctx, c.New)
	report.Phases, report.Left, report.Applied = p.phases, p.left, p.applied
	report.compare(old)
	if err == nil && c.Explore != nil {
		p.program.Stop()
		c.Progress("exploring")
		report.explored(c.Explore(ctx, p.plane))
		err = ctx.Err()
	}
	return report, err
}

// play is a CCM next to a copy of an account and a cluster.
type play struct {
	*Config

	notes   *cluster.Notes
	prefix  string
	cloud   *emulator.Emulator
	plane   *cluster.Plane
	rec     *recorder
	program scenarios.Running
	started string
	scope   scope
	owners  owners
	seen    map[string]bool // Events
	again   func()          // judges the last phase
	drift   *Phase          // what the old version changes before a version starts
	phases  []*Phase
	left    []string
	applied []Applied
}

// open makes the copies.
func (c *Config) open(ctx context.Context, notes *cluster.Notes, prefix string) (*play, error) {
	p := &play{Config: c, notes: notes, prefix: prefix, seen: make(map[string]bool)}
	if err := p.open(ctx); err != nil {
		p.close(ctx)
		return nil, err
	}
	return p, nil
}

func (p *play) open(ctx context.Context) (err error) {
	p.Progress(p.prefix + "copying")
	if p.rec = newRecorder(); p.Traffic {
		if p.rec.traffic, err = newTraffic(); err != nil {
			return err
		}
	}
	if p.cloud, err = p.Cloud(ctx, p.rec.around); err != nil {
		return err
	}
	if p.plane, err = p.Plane(ctx); err != nil {
		return err
	}
	if err := p.plane.Fill(ctx, p.Copy); err != nil {
		return err
	}
	if err := errors.Join(p.rec.begins(ctx, p.cloud), p.own(ctx)); err != nil || p.Old == "" {
		return err
	}
	if p.drift, err = p.start(ctx, "drift", p.Old); err != nil {
		return fmt.Errorf("the old version: %w", err)
	}
	p.program.Stop()
	p.judgeLate()
	p.phases = nil
	return nil
}

func (p *play) close(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if p.program != nil {
		p.program.Stop()
	}
	p.rec.close(ctx)
	if p.plane != nil {
		p.plane.Stop()
	}
	if p.cloud != nil {
		_ = p.cloud.Close(ctx) // it is in memory
	}
}

// run starts a version, and lets happen what happens.
func (p *play) run(ctx context.Context, program string) error {
	upgrade, err := p.start(ctx, "upgrade", program)
	if err != nil || upgrade.Unrested != "" {
		return err
	}
	if len(p.Apply) > 0 {
		defer p.program.Stop()
		return p.apply(ctx)
	}
	after := p.rec.current()
	for _, s := range p.steps() {
		phase, err := p.step(ctx, s)
		if err != nil || phase.Unrested != "" {
			return err
		}
	}
	p.left = after.left(p.rec.current())
	deleting := p.deleting()
	phase, err := p.step(ctx, deleting)
	if err != nil || phase.Unrested != "" {
		return err
	}
	p.program.Stop()
	p.judgeLate()
	remains, err := p.remains(ctx, &deleting.scope)
	p.left = append(p.left, remains...)
	return err
}

// start starts a version, and waits until it rests.
func (p *play) start(ctx context.Context, name, program string) (*Phase, error) {
	return p.step(ctx, step{name: name, starts: true, do: func(ctx context.Context) error { return p.launch(ctx, program) }})
}

func (p *play) launch(ctx context.Context, program string) (err error) {
	p.started = program
	p.program, err = p.Start(ctx, program, p.plane, p.cloud)
	return err
}

// step plays a step, and judges what the CCM does.
func (p *play) step(ctx context.Context, s step) (*Phase, error) {
	phase := &Phase{Name: s.name, Changes: []*Change{}}
	p.phases = append(p.phases, phase)
	p.Progress(p.prefix + s.name)
	if phase.Skipped = s.impossible; s.impossible != "" {
		return phase, nil
	}
	at, before := time.Now(), p.rec.current()
	for _, note := range p.rec.begin(ctx, phase) {
		p.notes.Add("%s", note)
	}
	p.judgeLate()
	p.scope = s.scope
	if err := s.do(ctx); err != nil {
		return phase, err
	}
	quiet := p.Quiet
	if s.throttles { // a CCM waits, some 5 s at first, before it tries again
		quiet *= 2
	}
	unrested, err := p.rest(ctx, s.starts, quiet)
	if err != nil {
		return phase, err
	}
	if phase.Unrested = unrested; s.throttles { // calls that came are over, and others are not to be throttled later
		if _, err := p.rec.control.DeleteFaults(ctx); err != nil {
			return phase, err
		}
	}
	phase.Seconds = int(time.Since(at).Seconds())
	if err := errors.Join(p.rec.settle(ctx), p.own(ctx)); err != nil {
		return phase, err
	}
	phase.Warnings, err = p.warnings(ctx, s.throttles)
	p.again = func() {
		p.scope = s.scope
		p.rec.mu.Lock()
		defer p.rec.mu.Unlock()
		for _, c := range phase.Changes {
			c.Services = p.owners.of(c)
			p.judge(c, before)
		}
		p.judgeBreaks(phase)
	}
	p.again()
	return phase, err
}

// judgeLate judges the last phase again: a CCM that seemed to rest, as it waited to try again, may have gone on.
func (p *play) judgeLate() {
	if p.again != nil {
		p.again()
	}
}

// rest waits until the CCM rests. It returns how it ended or that it does not rest.
func (p *play) rest(ctx context.Context, starting bool, quiet time.Duration) (unrested string, err error) {
	deadline := time.Now().Add(p.Most)
	for {
		idle, _, _ := p.rec.idle()
		ended, err := p.program.Wait(ctx, min(max(quiet-idle, 10*time.Millisecond), pause))
		if err != nil {
			return "", err
		}
		p.rec.ask(ctx)
		idle, calls, err := p.rec.idle()
		if err != nil {
			return "", err
		}
		if idle >= quiet && (calls > 0 || !starting) && !ended {
			return "", nil
		}
		if ended || !time.Now().Before(deadline) {
			said := "It last wrote:\n" + tail(p.program.Output())
			why := fmt.Sprintf("%s does not rest within %s", p.started, p.Most)
			if ended {
				why = fmt.Sprintf("%s ended with status %d", p.started, p.program.Exit())
			}
			if calls == 0 && starting {
				return "", fmt.Errorf("%s, and %w. %s", why, ErrIdle, said)
			}
			return why + ". " + said, nil
		}
	}
}

// tail returns the last lines of a program's output.
func tail(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-10):], "\n  ")
}

// warnings returns the CCM's new Events that warn.
func (p *play) warnings(ctx context.Context, throttled bool) (list []Warning, err error) {
	events, err := p.plane.List(ctx, "Event")
	for _, e := range events {
		w := Warning{Service: e.Text("involvedObject", "namespace") + "/" + e.Text("involvedObject", "name"), Reason: e.Text("reason"), Message: e.Text("message")}
		own := strings.Contains(e.Text("source", "component")+e.Text("reportingComponent"), "allocator") // of the API server
		if e.Text("type") == "Warning" && !own && !p.seen[w.String()] {
			p.seen[w.String()] = true
			w.Meant = throttled && strings.Contains(w.Message, "flow control") // as the cloud says of Throttling.User
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b Warning) int { return cmp.Compare(a.String(), b.String()) })
	return list, err
}
