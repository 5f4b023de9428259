package scenarios

import (
	"context"
	"time"

	"github.com/clbemu/clbemu/faults"
)

// Target is an emulator on which scenarios run.
type Target interface {
	// Call makes an API call. An answer that does not arrive, or that no client
	// could read, is an Answer with Lost; an error is one of the target itself.
	Call(ctx context.Context, call APICall) (Answer, error)
	// Set changes conditions of the world, either all of them or none.
	Set(ctx context.Context, settings []Setting) error
	// AddFault arms a rule, replacing one with its name.
	AddFault(ctx context.Context, rule faults.Rule) error
	// ClearFaults removes rules by name.
	ClearFaults(ctx context.Context, names ...string) error
	// Faults lists all rules with their counters.
	Faults(ctx context.Context) ([]faults.Status, error)
	// SetClock moves the emulated clock; a nil scale keeps its pace.
	SetClock(ctx context.Context, advance time.Duration, scale *float64) error
	// Pass lets time pass, as a client that waits does.
	Pass(ctx context.Context, d time.Duration) error
	// CanRestart reports whether Restart works and whether it survives a crash.
	CanRestart() bool
	// Restart ends the server, by a kill or in order, and starts it on what it had stored.
	Restart(ctx context.Context, kill bool) error
	// Mark is the number of the newest call in the journal.
	Mark(ctx context.Context) (uint64, error)
	// Calls lists the calls in the journal after a mark, in order.
	Calls(ctx context.Context, since uint64) ([]JournalCall, error)
	// Quotas lists the quotas with their use.
	Quotas(ctx context.Context) ([]QuotaUse, error)
	// Packets makes listeners answer, or says why they don't.
	Packets(ctx context.Context) error
	// Reach returns the address at which the listener at a port of a load balancer answers
	// when it applies the last change, or the problem if it does not answer.
	Reach(ctx context.Context, loadBalancer string, port int) (address, problem string, err error)
	// LoadBalancers returns the load balancers with a name or id, or all of them for "".
	LoadBalancers(ctx context.Context, name string) ([]LoadBalancerState, error)
	// State describes every resource in a line, without ids, addresses and times.
	State(ctx context.Context) ([]string, error)
	// FreeAddresses returns the number of addresses a vSwitch has left.
	FreeAddresses(ctx context.Context, vSwitch string) (int, error)
}

// Cluster is a Kubernetes cluster, by the command that everybody has.
type Cluster interface {
	// Kubectl runs a command to its end and returns its output.
	Kubectl(ctx context.Context, stdin string, args ...string) ([]byte, error)
}

// The user agents by which the journal tells a scripted client from the looks
// that the runner takes itself.
const (
	ClientAgent   = "clbemu-scenario-client"
	ObserverAgent = "clbemu-scenario-observer"
)

// ScriptedClient names the client that plays a client part without a program.
const ScriptedClient = "clbemu's own scripted client"

// APICall is a call of the cloud's API.
type APICall struct {
	Product, Action string
	Params          map[string]string
	UserAgent       string
	// Timeout is the real time after which the client gives up. If it is 0, that is late.
	Timeout time.Duration
}

// Answer is the part of a reply that a client reads.
type Answer struct {
	Status int
	Body   map[string]any
	// Lost says why there is no answer, "" when there is one.
	Lost string
}

// JournalCall is a call as the journal has it.
type JournalCall struct {
	Sequence  uint64            `json:"sequence"`
	Time      time.Time         `json:"time"`
	UserAgent string            `json:"userAgent"`
	Product   string            `json:"product"`
	Action    string            `json:"action"`
	Params    map[string]string `json:"params"`
	Status    int               `json:"status"`
	Code      string            `json:"code,omitempty"`
	Faults    []string          `json:"faults,omitempty"`
}

// LoadBalancerState describes a load balancer of any product.
type LoadBalancerState struct {
	ID, Name  string
	Addresses []string // IP addresses and names
	// Listeners holds the running listeners, by protocol:port, with the number of their backends.
	Listeners map[string]int
	// Stopped are the other listeners, by protocol:port.
	Stopped []string
	// Ready maps the running listeners to the number of their backends that get requests: those
	// that have a weight and no failed check.
	Ready map[string]int
}

// QuotaUse is a quota, its limit, and what each holder uses of it.
type QuotaUse struct {
	Name  string
	Limit int
	Used  map[string]int
}
