package private

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
)

// Forks is an emulator that gives each scenario a fork. It is in memory, in this process, and
// listens nowhere.
type Forks struct {
	emulator     *emulator.Emulator
	api, control *http.Client
	made         atomic.Int64
}

// NewForks starts the emulator.
func NewForks(ctx context.Context) (*Forks, error) {
	e, err := emulator.New(ctx, emulator.Config{Engine: emulator.Memory, StrictAuth: true, Seed: 1, Clock: state.NewManualClock(start)})
	if err != nil {
		return nil, err
	}
	client := func(h http.Handler) *http.Client { return &http.Client{Transport: controlclient.Transport(h)} }
	return &Forks{emulator: e, api: client(e.Handler()), control: client(e.ControlHandler())}, nil
}

// Fork is a cloud with the default world. It implements scenarios.Target.
type Fork struct {
	target.Remote

	name   string
	parent *controlclient.Client
}

var _ scenarios.Target = (*Fork)(nil)

// Fork makes a cloud. All have the same seed, so that what happens in one does not depend on how
// many there were before it.
func (f *Forks) Fork(ctx context.Context) (*Fork, error) {
	name := fmt.Sprintf("fork-%d", f.made.Add(1))
	parent := &controlclient.Client{URL: "http://localhost", HTTP: f.control}
	if _, err := parent.CreateCloud(ctx, name, controlapi.NewCloud{Seed: 1}); err != nil {
		return nil, err
	}
	return &Fork{name: name, parent: parent, Remote: target.Remote{API: "http://localhost", Control: "http://localhost/clouds/" + name,
		Products: products.All(), AccessKeyID: name + "." + apiclient.AccessKeyID, AccessKeySecret: apiclient.AccessKeySecret,
		HTTP: &http.Client{Transport: pathRouter{f.api.Transport, f.control.Transport}}}}, nil
}

// pathRouter sends what goes to the control API there, and all else to the cloud's.
type pathRouter struct{ api, control http.RoundTripper }

var _ http.RoundTripper = pathRouter{}

// RoundTrip implements http.RoundTripper.
func (t pathRouter) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(r.URL.Path) > 1 {
		return t.control.RoundTrip(r)
	}
	return t.api.RoundTrip(r)
}

// Pass implements scenarios.Target: nothing else runs in the fork, so that its clock may
// move on at once.
func (f *Fork) Pass(ctx context.Context, d time.Duration) error {
	return f.SetClock(ctx, d, nil)
}

// Close deletes the cloud.
func (f *Fork) Close(ctx context.Context) error { return f.parent.DeleteCloud(ctx, f.name) }

// Close ends the emulator.
func (f *Forks) Close(ctx context.Context) error { return f.emulator.Close(ctx) }
