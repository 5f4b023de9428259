package scenarios

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var execKind = Kind{Name: "exec", About: "Run a program, as [go, test, ./...], in the environment of clbemu env.", Value: reflect.TypeFor[Exec](), judges: true, needs: programs}

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

func (e *Exec) title() string { return "exec " + strings.Join(e.Command, " ") }

// badEnd is a difference with what a program wrote.
type badEnd struct {
	difference
	output string
}

// do runs a program and holds its end against what is expected.
func (e *Exec) do(ctx context.Context, p *play, _ *Step) error {
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
