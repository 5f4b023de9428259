package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
)

var repeatKind = kind[Repeat](Kind{Name: "repeat", About: "Repeat steps."})

// Repeat is steps done several times.
type Repeat struct {
	Times string `yaml:"times" required:"true" doc:"The number of repetitions."`
	From  int    `yaml:"from" counted:"true" doc:"The first value of {{n}}; 1 if absent."`
	Steps []Step `yaml:"steps" required:"true" doc:"The steps to repeat; {{n}} is the count."`
}

// counter is the counter of a repeat; maxTimes bounds it.
const (
	counter  = "n"
	maxTimes = 100_000
)

// numberOf reads a number of repetitions.
func numberOf(times string) (n int, err error) {
	if n, err = strconv.Atoi(times); err != nil || n < 1 || n > maxTimes {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", times, maxTimes)
	}
	return n, nil
}

func (r *Repeat) title() string                  { return "repeat " + r.Times + " times" }
func (r *Repeat) holds() ([]Step, []Expectation) { return r.Steps, nil }

func (r *Repeat) check(c *checker, at spot, in scope) {
	if _, err := numberOf(r.Times); err != nil && !template().MatchString(r.Times) {
		c.refuse(at.in("times"), "%s", err)
	}
	if len(r.Steps) == 0 && !c.malformed {
		c.refuse(at.in("steps"), "there is nothing to repeat: give steps")
	}
	inner := in
	inner.names = maps.Clone(in.names)
	inner.names[counter] = true
	c.steps(r.Steps, at.path+".steps", inner)
	// What the last round saved stays.
	maps.Copy(in.names, inner.names)
	delete(in.names, counter)
}

func (r *Repeat) play(ctx context.Context, p *play, s *Step) *Failure {
	times, err := numberOf(p.shortText(r.Times))
	if err != nil {
		return p.stepFailure(s.Line, s.title(), fmt.Errorf("times: %w", err))
	}
	outer, nested := p.names[counter]
	first := cmp.Or(r.From, 1)
	quiet := p.Progress
	p.Progress = nil // one line for all of them
	var failure *Failure
	for n := first; n < first+times && failure == nil; n++ {
		p.names[counter] = strconv.Itoa(n)
		if failure = p.steps(ctx, r.Steps); failure != nil {
			failure.times(n)
		}
	}
	p.Progress = quiet
	if delete(p.names, counter); nested {
		p.names[counter] = outer
	}
	p.reportStep(s.Line, s.Kind.Name, s.title(), failure == nil)
	return failure
}
