// Package process runs programs for a test: each in its own process group, with its
// output in a file, and stopped at the end of the test. It does not know what the
// programs are.
package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
)

// grace limits how long a program may take to end when asked to, on a busy machine.
const grace = await.Patience

// Process is a running program.
type Process struct {
	// Name names the program in messages, and its log.
	Name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended, once done is closed
}

// Command describes a program to run.
type Command struct {
	// Dir holds the log, and is where the program works.
	Dir, Name string
	// Env is added to this process's environment.
	Env  []string
	Path string
	Args []string
}

// Start runs a command. Its output is added to Name.log.
func Start(c Command) (*Process, error) {
	p := &Process{Name: c.Name, log: filepath.Join(c.Dir, c.Name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(c.Path, c.Args...)
	p.cmd.Dir, p.cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	EndWithParent(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		p.signal(syscall.SIGKILL) // what the program itself started ends with it
		close(p.done)
	}()
	return p, nil
}

// EndWithParent makes a command end when this process dies, where the kernel can
// do that, and in any case puts it into a process group of its own.
func EndWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

// Done returns a channel that is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop asks the program to end, and kills it if it does not. An error is that it
// had to be killed, or ended with another code than 0.
func (p *Process) Stop() error {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
		p.Kill()
		return fmt.Errorf("%s ignored SIGTERM for %s: see %s", p.Name, grace, p.log)
	}
	if p.err != nil {
		return fmt.Errorf("%s ended with %w: see %s", p.Name, p.err, p.log)
	}
	return nil
}

// Kill ends the program's whole group at once, as a power failure would.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// Signal sends a signal to the program alone. When SIGSTOP is sent, none of its threads runs any
// more; on a busy machine they go on for a moment.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil || s != syscall.SIGSTOP {
		return err
	}
	looks := time.NewTicker(time.Millisecond)
	defer looks.Stop()
	for !stopped(p.cmd.Process.Pid) {
		<-looks.C
	}
	return nil
}

// signal reaches the whole group; an empty group is no error. Long after the
// end the group's number may be another program's.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		return
	default:
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		fmt.Fprintf(os.Stderr, "signal %s to %s: %v\n", s, p.Name, err)
	}
}

// Log returns the output of the program.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Tail returns the last lines that the program has written.
func (p *Process) Tail(lines int) string {
	all := strings.Split(strings.TrimRight(p.Log(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Ports that FreePorts gives away. The system takes others for connections and for
// listeners at port 0, and the data plane takes lower ones, so that a port stays free
// while its program is down.
const (
	firstPort = 30_000
	lastPort  = 32_767
)

// given has the ports that this process gave away, with the locked files that keep other
// processes of tests from them until this one ends.
var given struct {
	sync.Mutex
	ports map[int]*os.File
}

// FreePorts returns ports of the loopback address not in use, and none twice, whichever
// process of this user asks. A program of another kind may take one before its user does, which
// then says so.
func FreePorts(n int) ([]int, error) {
	given.Lock()
	defer given.Unlock()
	if given.ports == nil {
		given.ports = map[int]*os.File{}
	}
	locks, err := os.UserCacheDir() // which all share, as they do not the folder for temporary files
	if err == nil {
		locks = filepath.Join(locks, "clbemu-ports")
		err = os.MkdirAll(locks, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("choose ports: %w", err)
	}
	const count = lastPort - firstPort + 1
	var ports []int
	for i, begin := 0, rand.IntN(count); i < count && len(ports) < n; i++ {
		port := firstPort + (begin+i)%count
		if given.ports[port] != nil {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(locks, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("choose ports: %w", err)
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			lock.Close()
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			lock.Close()
			continue
		}
		listener.Close()
		given.ports[port] = lock
		ports = append(ports, port)
	}
	if len(ports) < n {
		return nil, fmt.Errorf("of the ports %d to %d, %d are free, want %d", firstPort, lastPort, len(ports), n)
	}
	return ports, nil
}
