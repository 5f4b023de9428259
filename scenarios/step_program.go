package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var execKind = kind[Exec](Kind{Name: "exec", About: "Run a program, as [go, test, ./...], in the environment of clbemu env.", judges: true, needs: programs})

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
	if e.Exit < 0 || e.Exit > 255 {
		d.Fail(yamlfile.Child(node, "exit"), yamlfile.Join(field, "exit"), "no program ends with the status %d: it is 0 to 255", e.Exit)
	}
}

func (e *Exec) title() string { return "exec " + strings.Join(e.Command, " ") }

func (e *Exec) do(ctx context.Context, p *play, _ *Step) error {
	program := Program{Command: e.Command, Dir: e.Dir, Env: e.Env, Output: p.Output}
	running, err := p.Programs.Start(ctx, program)
	if err != nil {
		return err
	}
	defer running.Stop()
	timeout := cmp.Or(time.Duration(e.Timeout), defaultTimeout)
	over, err := p.await(ctx, running, timeout)
	u := &Unmet{output: running.Output()}
	switch {
	case err != nil:
		return err
	case !over:
		u.Expected, u.Seen = "the end of "+program.String()+" within "+Duration(timeout).String(), "that it still runs"
	case running.Exit() != e.Exit:
		u.Expected, u.Seen = fmt.Sprintf("exit status %d", e.Exit), fmt.Sprint(running.Exit())
	case e.Output != nil && !e.Output.holds(strings.TrimSpace(u.output), true):
		u.Expected, u.Seen = "output that is "+e.Output.String(), "what follows"
	default:
		return nil
	}
	return u
}

var startKind = kind[start](Kind{Name: "start", About: "true: start the watched program; it starts after the steps if absent.", needs: programs,
	notClient: "it is for the program part: in the client part, exec runs a program"})

type start bool

func (start) title() string { return "start the program" }

func (start) do(ctx context.Context, p *play, _ *Step) error {
	p.restarts = 0
	return p.begin(ctx)
}

var stopKind = kind[stop](Kind{Name: "stop", About: "true: kill the watched program; a later start starts it again.",
	notClient: "the client part has no program to kill"})

type stop bool

func (stop) title() string { return "kill the program" }

// do ends the program of the part as a crash does.
func (stop) do(_ context.Context, p *play, _ *Step) error {
	if p.running == nil {
		return errors.New("the program is not started")
	}
	p.running.Kill()
	p.running = nil
	return nil
}
