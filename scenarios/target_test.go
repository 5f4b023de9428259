package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// fake is a target that remembers its calls. Its clock is the only
// thing that moves.
type fake struct {
	state   []string
	did     []string
	now     time.Duration
	journal []scenarios.JournalCall
	rules   []faults.Status
	// answer, if set, answers calls; the default is an empty success.
	answer func(call scenarios.APICall) scenarios.Answer
	fails  map[string]error // by method
	mortal bool             // Restart works
	free   int
	// listener is the address at which all listeners answer, "" for none.
	listener  string
	balancers []scenarios.LoadBalancerState
	// due is what happens as time passes.
	due []dueAt
}

// dueAt happens at a time.
type dueAt struct {
	at time.Duration
	do func()
}

// at does something after a while.
func (f *fake) at(after time.Duration, do func()) { f.due = append(f.due, dueAt{f.now + after, do}) }

func (f *fake) do(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	f.did = append(f.did, text)
	method, _, _ := strings.Cut(text, " ")
	return f.fails[method]
}

func (f *fake) Call(_ context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	answer := scenarios.Answer{Status: 200, Body: map[string]any{}}
	if f.answer != nil {
		answer = f.answer(call)
	}
	code, _ := answer.Body["Code"].(string)
	f.journal = append(f.journal, scenarios.JournalCall{Sequence: uint64(len(f.journal) + 1), UserAgent: call.UserAgent,
		Product: call.Product, Action: call.Action, Params: call.Params, Status: answer.Status, Code: code})
	return answer, f.do("call %s/%s %v", call.Product, call.Action, call.Params)
}

func (f *fake) Set(_ context.Context, settings []scenarios.Setting) error {
	for _, s := range settings {
		if err := f.do("set %s=%s", s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) AddFault(_ context.Context, rule faults.Rule) error {
	f.rules = slices.DeleteFunc(f.rules, func(s faults.Status) bool { return s.Rule.Name == rule.Name })
	f.rules = append(f.rules, faults.Status{Rule: rule, Seen: 1})
	return f.do("fault %s", rule.Name)
}

func (f *fake) ClearFaults(_ context.Context, names ...string) error {
	f.rules = slices.DeleteFunc(f.rules, func(s faults.Status) bool { return slices.Contains(names, s.Rule.Name) })
	return f.do("clear %s", strings.Join(names, ","))
}

func (f *fake) Faults(context.Context) ([]faults.Status, error) { return f.rules, f.fails["faults"] }

func (f *fake) SetClock(_ context.Context, advance time.Duration, scale *float64) error {
	f.now += advance
	if scale == nil {
		return f.do("clock %s", advance)
	}
	return f.do("clock %s at %v", advance, *scale)
}

func (f *fake) Pass(_ context.Context, d time.Duration) error {
	f.now += d
	for len(f.due) > 0 && f.due[0].at <= f.now {
		next := f.due[0]
		f.due = f.due[1:]
		next.do()
	}
	return f.fails["pass"]
}

func (f *fake) CanRestart() bool { return f.mortal }

func (f *fake) Restart(_ context.Context, kill bool) error { return f.do("restart %t", kill) }

func (f *fake) Mark(context.Context) (uint64, error) { return uint64(len(f.journal)), f.fails["mark"] }

func (f *fake) Calls(_ context.Context, since uint64) ([]scenarios.JournalCall, error) {
	return f.journal[since:], f.fails["calls"]
}

func (f *fake) Quotas(context.Context) ([]scenarios.QuotaUse, error) {
	return []scenarios.QuotaUse{{Name: "q", Limit: 10, Used: map[string]int{"a": 1, "b": 2}}}, f.fails["quotas"]
}

func (f *fake) Packets(context.Context) error { return nil }

func (f *fake) Reach(context.Context, string, int) (address, problem string, err error) {
	return f.listener, "it is stopped", nil
}

func (f *fake) LoadBalancers(_ context.Context, name string) ([]scenarios.LoadBalancerState, error) {
	if name == "" {
		return f.balancers, f.fails["loadBalancers"]
	}
	one := scenarios.LoadBalancerState{Addresses: []string{"10.0.0.1", "10.0.0.2"}, Listeners: map[string]int{"tcp:80": 3, "http:443": 1}}
	return map[string][]scenarios.LoadBalancerState{"web": {one}, "twin": {one, one}}[name], f.fails["loadBalancers"]
}

func (f *fake) State(context.Context) ([]string, error) { return f.state, f.fails["state"] }

func (f *fake) FreeAddresses(_ context.Context, vSwitch string) (int, error) {
	if vSwitch == "none" {
		return 0, errors.New("there is no vSwitch none")
	}
	return f.free, nil
}

// fakeCluster answers kubectl by its first words.
type fakeCluster struct {
	did     []string
	answers map[string]string
	deleted func()
	gone    bool // it does not answer
}

func (c *fakeCluster) Kubectl(_ context.Context, stdin string, args ...string) ([]byte, error) {
	if c.gone {
		return nil, errors.New("kubectl get: exit status 1: The connection to the server 127.0.0.1:6443 was refused")
	}
	if args[0] == "delete" && c.deleted != nil {
		c.deleted()
	}
	text := strings.Join(args, " ")
	c.did = append(c.did, strings.TrimSpace(text+" "+strings.ReplaceAll(stdin, "\n", "|")))
	for prefix, answer := range c.answers {
		if strings.HasPrefix(text, prefix) {
			return []byte(answer), nil
		}
	}
	if text == "get events --namespace default --output json" {
		return []byte(`{"items": []}`), nil
	}
	if args[0] == "get" && !slices.Contains(args, "--ignore-not-found") {
		return nil, errors.New("Error from server (NotFound): not found")
	}
	return nil, nil
}

// play plays a part of a scenario that must load without a problem.
func play(t *testing.T, text, part string, setup scenarios.Setup) scenarios.Result {
	t.Helper()
	s, err := scenarios.Load("dir/f.yaml", []byte("about: a\n"+text), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return scenarios.Play(t.Context(), s, part, setup)
}
