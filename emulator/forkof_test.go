package emulator_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
)

// TestForkOf proves that an emulator begins with the state of another's store, that neither sees
// what the other does then, and that a new id is none of those that there are.
func TestForkOf(t *testing.T) {
	open := func(cfg emulator.Config) *emulator.Emulator {
		cfg.Seed = 1
		e, err := emulator.New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
		return e
	}
	call := func(e *emulator.Emulator, query string) string {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/?Version=2014-05-15&RegionId=cn-hangzhou&Format=JSON&"+query, nil))
		return w.Body.String()
	}
	create := func(e *emulator.Emulator, name string) string {
		return call(e, "Action=CreateLoadBalancer&InstanceChargeType=PayByCLCU&LoadBalancerName="+name)
	}
	id := func(answer string) string {
		_, after, _ := strings.Cut(answer, `"LoadBalancerId":"`)
		id, _, _ := strings.Cut(after, `"`)
		return id
	}
	first := open(emulator.Config{})
	shared := id(create(first, "shared"))
	forked := open(emulator.Config{ForkOf: first.Store(), DataDir: t.TempDir()})
	own := id(create(forked, "own"))
	create(first, "late")
	list := "Action=DescribeLoadBalancers"
	if got := call(forked, list); shared == "" || own == "" || own == shared || !strings.Contains(got, shared) || !strings.Contains(got, own) || strings.Contains(got, "late") {
		t.Errorf("the fork has %s, want %q of the other and %q of its own", got, shared, own)
	}
	if got := call(first, list); strings.Contains(got, `"own"`) || !strings.Contains(got, "late") {
		t.Errorf("the other has %s, want nothing of the fork", got)
	}
}
