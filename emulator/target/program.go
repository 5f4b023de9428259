package target

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// Start implements scenarios.Programs: the program has the surroundings of this
// process and the variables that point clients at the emulator.
func (r *Remote) Start(ctx context.Context, p scenarios.Program) (scenarios.Running, error) {
	environment, err := r.environment()
	if err != nil {
		return nil, err
	}
	started, err := startProgram(ctx, p, slices.Concat(environment, r.Environment))
	if err != nil {
		return nil, err // and no interface that holds nil
	}
	return started, nil
}

func (r *Remote) environment() ([]string, error) {
	api, err := url.Parse(r.API)
	if err != nil {
		return nil, err
	}
	vars := []string{"CLBEMU_SERVER=" + strings.TrimSuffix(r.Control, "/"), "CLBEMU_API=" + r.API}
	if r.Token != "" {
		vars = append(vars, "CLBEMU_CONTROL_TOKEN="+r.Token)
	}
	for _, v := range (Environment{API: api, Endpoints: Endpoints(r.Products), AccessKeyID: r.AccessKeyID, AccessKeySecret: r.AccessKeySecret}).Variables() {
		vars = append(vars, v[0]+"="+v[1])
	}
	return vars, nil
}

// running is a program. It implements scenarios.Running.
type running struct {
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{}
	mark   string // in the environment of the program and of what it starts
}

var _ scenarios.Running = (*running)(nil)

func startProgram(ctx context.Context, p scenarios.Program, environment []string) (*running, error) {
	r := &running{cmd: exec.CommandContext(ctx, p.Command[0], p.Command[1:]...), output: &tail{also: p.Output}, ended: make(chan struct{}), mark: "CLBEMU_PROGRAM=" + rand.Text()}
	r.cmd.Dir = p.Dir
	r.cmd.Env = slices.Concat(os.Environ(), environment, []string{r.mark})
	for name, value := range p.Env {
		r.cmd.Env = append(r.cmd.Env, name+"="+value)
	}
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	r.cmd.WaitDelay = stopTime // children may hold its output open
	ownGroup(r.cmd)
	r.cmd.Cancel = func() error { return endGroup(r.cmd, true) }
	if err := r.cmd.Start(); err != nil {
		if errors.Is(err, syscall.ENOEXEC) {
			return nil, fmt.Errorf("start %s: %w: it is no program for this machine", p.Command[0], err)
		}
		return nil, fmt.Errorf("start %s: %w", p.Command[0], err)
	}
	go func() {
		_ = r.cmd.Wait() // the exit status tells
		close(r.ended)
	}()
	return r, nil
}

// Wait implements scenarios.Running.
func (r *running) Wait(ctx context.Context, most time.Duration) (ended bool, err error) {
	select {
	case <-r.ended:
		return true, nil // whatever time is left
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-r.ended:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Exit implements scenarios.Running.
func (r *running) Exit() int { return r.cmd.ProcessState.ExitCode() }

// Output implements scenarios.Running.
func (r *running) Output() string { return r.output.String() }

// stopTime limits how long a program has to end when asked to.
const stopTime = 5 * time.Second

// Stop implements scenarios.Running.
func (r *running) Stop() {
	defer endMarked(r.mark)
	for _, force := range []bool{false, true} {
		select {
		case <-r.ended:
			return
		default:
		}
		if err := endGroup(r.cmd, force); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return
		}
		select {
		case <-r.ended:
		case <-time.After(stopTime):
		}
	}
}

// Kill implements scenarios.Running.
func (r *running) Kill() {
	defer endMarked(r.mark)
	select {
	case <-r.ended: // its number may be another program's by now
		return
	default:
	}
	if err := endGroup(r.cmd, true); err == nil {
		<-r.ended
	}
}

// tail keeps the last part of what is written to it.
type tail struct {
	also io.Writer

	mu   sync.Mutex
	text bytes.Buffer
}

var _ io.Writer = (*tail)(nil)

const maxTail = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(text)
	if more := t.text.Len() - maxTail; more > 0 {
		t.text.Next(more)
	}
	if t.also != nil {
		_, _ = t.also.Write(text) // what it is for is kept here
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(t.text.String(), "")
}
