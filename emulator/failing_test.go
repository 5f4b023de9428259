package emulator_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/enginetest"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// TestFullDisk proves that an emulator that can't write says so everywhere, and
// goes on answering reads, also when something is due.
func TestFullDisk(t *testing.T) {
	disk := &enginetest.FullDisk{}
	clock := state.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	e := mustNew(t, emulator.Config{Storage: disk, Clock: clock})
	get := func(h http.Handler, method, target string) (int, http.Header, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+target, nil))
		body, _ := io.ReadAll(w.Body)
		return w.Code, w.Header(), string(body)
	}
	const role = "/latest/meta-data/ram/security-credentials/clbemu-node"
	if code, _, body := get(e.Handler(), "GET", role); code != 200 {
		t.Fatalf("the role's key before the disk is full = %d %s", code, body)
	}
	const slb = "/?Version=2014-05-15&RegionId=cn-hangzhou&Action="
	if code, _, body := get(e.Handler(), "GET", slb+"CreateLoadBalancer&InstanceChargeType=PayByCLCU"); code != 200 {
		t.Fatalf("a write before the disk is full = %d %s", code, body)
	}
	due := func(tx *state.Tx) error {
		state.Schedule(tx, tx.Now().Add(time.Second), state.Transition{Kind: kinds.Accounts.Kind(), ResourceID: "nobody", From: "arrears"})
		return nil
	}
	if err := e.Store().Update(state.Owner{}, due); err != nil {
		t.Fatal(err)
	}
	disk.Full = true
	clock.Advance(time.Hour)
	code, header, body := get(e.Handler(), "GET", slb+"CreateLoadBalancer&InstanceChargeType=PayByCLCU")
	if code != 500 || !strings.Contains(body, "it is not known whether the change is kept") || !strings.Contains(body, enginetest.ErrFull.Error()) || !strings.Contains(header.Get(gateway.WarningHeader), enginetest.ErrFull.Error()) {
		t.Errorf("a write on a full disk = %d %v %s", code, header, body)
	}
	for target, h := range map[string]http.Handler{
		slb + "DescribeRegions":         e.Handler(),
		slb + "DescribeLoadBalancers":   e.Handler(),
		"/latest/meta-data/instance-id": e.Handler(),
		role:                            e.Handler(),
		"/metrics":                      e.ControlHandler(),
		"/v1/state":                     e.ControlHandler(),
		"/v1/quotas":                    e.ControlHandler(),
		"/v1/clock":                     e.ControlHandler(),
		"/v1/world":                     e.ControlHandler(),
		"/healthz":                      e.ControlHandler(),
		slb + "DescribeLoadBalancers&Tag.1.Key=a": e.Handler(),
	} {
		code, header, body := get(h, "GET", target)
		if code != 200 {
			t.Errorf("GET %s on a full disk = %d %s", target, code, body)
		}
		if strings.HasPrefix(target, slb) && header.Get(gateway.WarningHeader) == "" {
			t.Errorf("GET %s does not warn", target)
		}
		if target == "/metrics" && !strings.Contains(body, "\nclbemu_writes_refused 1\n") {
			t.Errorf("the metrics do not tell: %s", body)
		}
	}
	if code, _, body := get(e.ControlHandler(), "GET", "/readyz"); code != 503 || !strings.Contains(body, enginetest.ErrFull.Error()) {
		t.Errorf("GET /readyz on a full disk = %d %s", code, body)
	}
}

// lostAnswers keeps its writes but reports failure while lost is set.
type lostAnswers struct {
	memory.Engine
	lost bool
}

var errLost = errors.New("no answer from the disk")

func (l *lostAnswers) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if err := l.Engine.Commit(ctx, sets); err != nil || !l.lost {
		return err
	}
	return errLost
}

func (l *lostAnswers) Recover(ctx context.Context) error {
	if l.lost {
		return errLost
	}
	return l.Engine.Recover(ctx)
}

// TestUnknownRule proves that a fault rule that may or may not have been kept is in force
// as soon as the store knows that it was.
func TestUnknownRule(t *testing.T) {
	disk := &lostAnswers{}
	e := mustNew(t, emulator.Config{Storage: disk})
	call := func() string {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/?Version=2014-05-15&RegionId=cn-hangzhou&Action=CreateLoadBalancer&InstanceChargeType=PayByCLCU", nil))
		return w.Body.String()
	}
	disk.lost = true
	if _, err := e.AddFaults([]byte("{name: busy, match: {action: DescribeRegions}, effect: {error: {code: ServiceUnavailable}}}")); !errors.Is(err, state.ErrNotKept) {
		t.Fatalf("adding a rule is answered with %v, want that it is not known to be kept", err)
	}
	if rules := e.FaultRules(); len(rules) != 0 {
		t.Fatalf("the rules %v are in force before they are known to be kept", rules)
	}
	disk.lost = false
	for begun := time.Now(); e.Store().Failing() != nil; { // which looks again after a second
		call()
		if time.Since(begun) > time.Minute {
			t.Fatal("the store does not recover")
		}
	}
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/?Version=2014-05-15&Action=DescribeRegions", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a call that the rule is about is answered with %d, and the rules are %v", w.Code, e.FaultRules())
	}
}
