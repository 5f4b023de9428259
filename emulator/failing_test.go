package emulator_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine/enginetest"
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
		state.Schedule(tx, tx.Now().Add(time.Second), state.Transition{Kind: cloud.Accounts.Kind(), ResourceID: "nobody", From: "arrears"})
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
