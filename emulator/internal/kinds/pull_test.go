package kinds_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// A copy of a state of the model test, with changes that are at work, is equal to the copy of the
// copy but for times, and has as many of each kind as the state.
func TestPullOfModel(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", seed)
	clock := state.NewManualClock(start)
	s := openAt(t, &memory.Engine{}, clock)
	plantModel(t, s)
	update(t, s, state.Owner{}, func(tx *state.Tx) error {
		kinds.Regions.Put(tx, &kinds.Region{ID: hangzhou.RegionID})
		kinds.AccessKeys.Put(tx, &kinds.AccessKey{ID: "testid", Secret: "testsecret", AccountID: hangzhou.AccountID, Status: kinds.AccessKeyActive})
		return nil
	})
	want := play(t, s, clock, randomScript(t, seed))
	first, counts := pullFrom(t, emulator.Config{ForkOf: s, Clock: clock})
	second, _ := pullFrom(t, emulator.Config{Fork: first, Clock: clock})
	if one, other := tablesIn(t, first), tablesIn(t, second); one != other {
		t.Errorf("the copy is\n%s\nand the copy of it\n%s", one, other)
	}
	for kind, n := range map[state.Kind]int{"LoadBalancer": len(want.loadBalancers), "Listener": len(want.listeners), "VServerGroup": len(want.groups), "Rule": len(want.rules)} {
		if counts[string(kind)] != n {
			t.Errorf("the copy has %d of %s, want %d", counts[string(kind)], kind, n)
		}
	}
	checkAndClose(t, s)
}

// pullFrom copies what an emulator has into a new folder.
func pullFrom(t *testing.T, cfg emulator.Config) (dir string, counts map[string]int) {
	t.Helper()
	e, err := emulator.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	dir = t.TempDir()
	p := world.FromAccount(dir)
	p.Region, p.Pause = hangzhou.RegionID, func(string, string) time.Duration { return 0 }
	p.Call = func(_ context.Context, product, action string, params map[string]string) (int, map[string]any, error) {
		query := url.Values{"Action": {action}, "Version": {versionOf(product)}, "Format": {"JSON"}, "RegionId": {hangzhou.RegionID}}
		for name, value := range params {
			query.Set(name, value)
		}
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1:9600/?"+query.Encode(), nil))
		var body map[string]any
		err := json.Unmarshal(w.Body.Bytes(), &body)
		return w.Code, body, err
	}
	report, err := p.Pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range report.LeftOut {
		t.Errorf("left out: %+v", l)
	}
	return dir, report.Resources
}

func versionOf(product string) string {
	for _, p := range products.All() {
		if p.Name == product {
			return p.Version
		}
	}
	return ""
}

var anyTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"|"Sequence":\[[^\]]*\]`)

// tablesIn returns the state in a folder as text, without times.
func tablesIn(t *testing.T, dir string) string {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{Fork: dir, Clock: state.NewManualClock(start)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close(context.Background())
	return anyTime.ReplaceAllString(exported(t, e.Store()), "")
}
