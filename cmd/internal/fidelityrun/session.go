package fidelityrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// session is the cloud during the play of one case. It implements scenarios.Target.
type session struct {
	*Cloud

	mapping   Mapping
	ledger    *Ledger // nil for a run that changes nothing
	mark      string
	statement string
	mine      map[string]bool // ids of what the case made, also of parts of it
	exchanges []exchange
	// undecided says why the case says nothing about the statement, "" if it does.
	undecided string
	// ended is the error that ends the run.
	ended error
}

var _ scenarios.Target = (*session)(nil)

// exchange is a call with its answer, as sent.
type exchange struct {
	product, action string
	params          map[string]string
	answer          scenarios.Answer
}

// refusal returns the code and the message of the last refusal of an action, or "" for none.
func (s *session) refusal(action string) string {
	for _, e := range slices.Backward(s.exchanges) {
		if e.action == action && e.answer.Status >= 400 {
			return fmt.Sprintf("%v %v", e.answer.Body["Code"], e.answer.Body["Message"])
		}
	}
	return ""
}

// Call implements scenarios.Target.
func (s *session) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	params := make(map[string]string, len(call.Params))
	for name, value := range call.Params {
		params[name] = s.mapping.toAccount(value)
	}
	_, _, mutates := realcloud.Spacing(call.Product, call.Action)
	answer, err := s.send(ctx, call.Product, call.Action, params, mutates)
	if err != nil {
		s.ended = err
		return answer, err
	}
	s.exchanges = append(s.exchanges, exchange{call.Product, call.Action, params, answer})
	if why := saysNothing(answer); why != "" && s.undecided == "" {
		s.undecided = call.Action + " " + why
	}
	answer.Body, _ = s.mapping.fromAccount(answer.Body).(map[string]any)
	return answer, nil
}

// errRefused is the error of a call that was not sent.
var errRefused = errors.New("not sent")

// send makes a call. It checks a change against the ledger first.
func (s *session) send(ctx context.Context, product, action string, params map[string]string, mutates bool) (scenarios.Answer, error) {
	if !mutates {
		return s.Do(ctx, product, action, params)
	}
	if s.ledger == nil {
		return scenarios.Answer{}, fmt.Errorf("%w: %s changes something, and --allow-changes was not given", errRefused, action)
	}
	if err := allowed(product, action, s.Region, params, func(id string) bool { return s.mine[id] }); err != nil {
		s.undecided = err.Error()
		return scenarios.Answer{Lost: err.Error()}, nil
	}
	k := kindOf(product, action)
	if k == nil {
		return s.change(ctx, product, action, params)
	}
	return s.create(ctx, k, params)
}

// create records a creation, performs it, and records its result.
func (s *session) create(ctx context.Context, k *kind, params map[string]string) (scenarios.Answer, error) {
	mark := s.mark + "-" + k.create
	marked := maps.Clone(params)
	free := 1
	for n := range listed(params, "Tag") {
		if i, err := strconv.Atoi(n); err == nil {
			free = max(free, i+1)
		}
	}
	marked[fmt.Sprintf("Tag.%d.Key", free)], marked[fmt.Sprintf("Tag.%d.Value", free)] = markKey, mark
	if err := ctx.Err(); err != nil {
		return scenarios.Answer{}, err
	}
	entry, err := s.ledger.intend(Entry{Time: s.Clock.Now(), Product: k.product, Create: k.create, Region: s.Region, Mark: mark, Statement: s.statement})
	if err != nil {
		return scenarios.Answer{}, err
	}
	answer, err := s.change(ctx, k.product, k.create, marked)
	switch {
	case err != nil && answer.Status == 0, answer.Lost != "", answer.Status >= http.StatusInternalServerError:
		return answer, err // it may exist
	case answer.Status >= http.StatusMultipleChoices:
		return answer, errors.Join(err, s.ledger.set(entry, refused, ""))
	}
	id, _ := answer.Body[k.id].(string)
	if id == "" {
		return answer, nil // it is found by its mark
	}
	s.mine[id] = true
	if err := s.ledger.set(entry, made, id); err != nil {
		return answer, err
	}
	if k.product == "Nlb" && k.create == "CreateLoadBalancer" {
		return answer, s.until(ctx, "GetLoadBalancerAttribute", map[string]string{"LoadBalancerId": id}, "LoadBalancerStatus", "Provisioning")
	}
	return answer, nil
}

// The bounds of waits for the cloud's own work.
const (
	workPause = 2 * time.Second
	mostWaits = 60
)

// change makes a change, again while something before it is still at work, and waits for its
// own job.
func (s *session) change(ctx context.Context, product, action string, params map[string]string) (answer scenarios.Answer, err error) {
	for n := 0; ; n++ {
		if answer, err = s.Do(ctx, product, action, params); err != nil {
			return answer, err
		}
		code := realcloud.CodeOf(answer)
		if n == mostWaits || !slices.ContainsFunc([]string{"InConfiguring", "InCreating", "Configuring", "Conflict.Lock", "SystemBusy"}, func(part string) bool { return strings.Contains(code, part) }) {
			break
		}
		if err := s.Clock.Sleep(ctx, workPause); err != nil {
			return scenarios.Answer{}, err
		}
	}
	if answer.Lost != "" || answer.Status >= http.StatusMultipleChoices {
		return answer, nil
	}
	for _, id := range idsUnder(answer.Body, parts...) {
		s.mine[id] = true
	}
	if job, _ := answer.Body["JobId"].(string); product == "Nlb" && job != "" {
		return answer, s.until(ctx, "GetJobStatus", map[string]string{"JobId": job}, "Status", "Processing")
	}
	return answer, nil
}

// until waits while a field of an answer of Nlb has a value. What takes too long shows in
// the case.
func (s *session) until(ctx context.Context, action string, params map[string]string, field, busy string) error {
	for range mostWaits {
		answer, err := s.Do(ctx, "Nlb", action, params)
		if err != nil || answer.Body[field] != busy {
			return err
		}
		if err := s.Clock.Sleep(ctx, workPause); err != nil {
			return err
		}
	}
	return nil
}

// saysNothing says why an answer says nothing about a statement, "" if it does.
func saysNothing(a scenarios.Answer) string {
	code := realcloud.CodeOf(a)
	switch {
	case a.Lost != "":
		return "was not answered: " + a.Lost
	case realcloud.Throttled(a):
		return "was throttled each time: " + code
	case a.Status >= http.StatusInternalServerError:
		return fmt.Sprintf("failed in the cloud: %d %s", a.Status, code)
	case strings.HasPrefix(code, "Forbidden.RAM"), strings.HasPrefix(code, "NoPermission"), strings.HasPrefix(code, "Forbidden.NoPermission"), code == "Forbidden.Caller":
		return "is not permitted to these credentials: " + code
	}
	return ""
}

// Pass implements scenarios.Target.
func (s *session) Pass(ctx context.Context, d time.Duration) error { return s.Clock.Sleep(ctx, d) }

// Mark implements scenarios.Target. The cloud has no journal.
func (s *session) Mark(context.Context) (uint64, error) { return 0, nil }

// Calls implements scenarios.Target.
func (s *session) Calls(context.Context, uint64) ([]scenarios.JournalCall, error) { return nil, nil }

// CanRestart implements scenarios.Target.
func (s *session) CanRestart() bool { return false }

// errCloud is the error of what only an emulator can do. A plan has no case that needs it.
var errCloud = errors.New("the cloud can't do this: only clbemu can")

// Set implements scenarios.Target.
func (s *session) Set(context.Context, []scenarios.Setting) error { return errCloud }

// AddFault implements scenarios.Target.
func (s *session) AddFault(context.Context, faults.Rule) error { return errCloud }

// ClearFaults implements scenarios.Target.
func (s *session) ClearFaults(context.Context, ...string) error { return errCloud }

// Faults implements scenarios.Target.
func (s *session) Faults(context.Context) ([]faults.Status, error) { return nil, errCloud }

// SetClock implements scenarios.Target.
func (s *session) SetClock(context.Context, time.Duration, *float64) error { return errCloud }

// Restart implements scenarios.Target.
func (s *session) Restart(context.Context, bool) error { return errCloud }

// Quotas implements scenarios.Target.
func (s *session) Quotas(context.Context) ([]scenarios.QuotaUse, error) { return nil, errCloud }

// Packets implements scenarios.Target.
func (s *session) Packets(context.Context) error { return errCloud }

// Reach implements scenarios.Target.
func (s *session) Reach(context.Context, string, int) (address, problem string, err error) {
	return "", "", errCloud
}

// LoadBalancers implements scenarios.Target.
func (s *session) LoadBalancers(context.Context, string) ([]scenarios.LoadBalancerState, error) {
	return nil, errCloud
}

// State implements scenarios.Target.
func (s *session) State(context.Context) ([]string, error) { return nil, errCloud }

// FreeAddresses implements scenarios.Target.
func (s *session) FreeAddresses(context.Context, string) (int, error) { return 0, errCloud }
