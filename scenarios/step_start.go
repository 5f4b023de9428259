package scenarios

import (
	"context"
	"errors"
	"reflect"
)

var startKind = Kind{Name: "start", About: "true: start the watched program; it starts after the steps if absent.", Value: reflect.TypeFor[start](), needs: programs}

type start bool

func (start) title() string { return "start the program" }

func (start) check(c *checker, at spot, in scope) {
	if in.half == ClientHalf {
		c.refuse(at, "it is for the program half: in the client half, exec runs a program")
	}
}

func (start) do(ctx context.Context, p *play, _ *Step) error {
	p.restarts = 0
	return p.begin(ctx)
}

var stopKind = Kind{Name: "stop", About: "true: kill the watched program; a later start starts it again.", Value: reflect.TypeFor[stop]()}

type stop bool

func (stop) title() string { return "kill the program" }

func (stop) check(c *checker, at spot, in scope) {
	if in.half == ClientHalf {
		c.refuse(at, "the client half has no program to kill")
	}
}

// do ends the program of the half as a crash does.
func (stop) do(_ context.Context, p *play, _ *Step) error {
	if p.running == nil {
		return errors.New("the program is not started")
	}
	p.running.Kill()
	p.running = nil
	return nil
}
