// Package target runs scenarios against an emulator, through its two APIs. It owns how
// a scenario's steps reach the emulator, the programs that the scenario runs, and the
// names that it may use. It must not know the contents of scenarios, or start an
// emulator, which package private does.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// Remote is a running emulator. It implements scenarios.Target, but for the end
// of the server.
type Remote struct {
	// API and Control are the addresses of the cloud's API and of the control API.
	API, Control string
	// Products lists the products that calls can name.
	Products []*gateway.Product
	// Token is the control API's, if it wants one.
	Token string
	// AccessKeyID and AccessKeySecret are the default world's when empty.
	AccessKeyID, AccessKeySecret string
	// HTTP makes the calls. It should keep no connection for two of them, so that a
	// broken one is one call's matter; nil makes one that does not.
	HTTP *http.Client
	// Environment holds variables that programs get in addition to those that point clients here.
	Environment []string

	before map[string]string // conditions as they were before the first change
	set    map[string]bool   // the conditions that were changed
	scale  *float64          // how the clock went before
}

var _ scenarios.Programs = (*Remote)(nil)
var _ scenarios.Target = (*Remote)(nil)

// callTimeout limits calls that set no timeout. It is the timeout of the
// SDK in the cloud controller manager.
const callTimeout = 20 * time.Second

func (r *Remote) client() *http.Client {
	if r.HTTP == nil {
		r.HTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	}
	return r.HTTP
}

// version returns the version that chooses a product, or "" for an unknown one.
func (r *Remote) version(product string) string {
	for _, p := range r.Products {
		if p.Name == product {
			return p.Version
		}
	}
	return ""
}

// Call implements scenarios.Target.
func (r *Remote) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	if call.Timeout == 0 {
		call.Timeout = callTimeout
	}
	version := r.version(call.Product)
	if version == "" {
		return scenarios.Answer{}, fmt.Errorf("no product is called %s", call.Product)
	}
	if err := new(apiclient.Client).Check(call.Params); err != nil {
		return scenarios.Answer{}, fmt.Errorf("%s: %w", call.Action, err)
	}
	limited, cancel := context.WithTimeout(ctx, call.Timeout)
	defer cancel()
	client := apiclient.Client{URL: r.API, HTTP: r.client(), UserAgent: call.UserAgent, AccessKeyID: r.AccessKeyID, AccessKeySecret: r.AccessKeySecret}
	reply, err := client.CallContext(limited, version, call.Action, call.Params)
	switch {
	case ctx.Err() != nil:
		return scenarios.Answer{}, ctx.Err()
	case errors.Is(err, syscall.ECONNREFUSED):
		return scenarios.Answer{}, fmt.Errorf("is clbemu running with its API at %s? %w", r.API, err)
	case errors.Is(err, context.DeadlineExceeded):
		return scenarios.Answer{Lost: "none came within " + call.Timeout.String()}, nil
	case err != nil:
		return scenarios.Answer{Lost: withoutQuery(err)}, nil
	}
	return scenarios.Answer{Status: reply.Status, Body: reply.Body}, nil
}

// withoutQuery leaves the long URL out of an error.
func withoutQuery(err error) string {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return inner.Err.Error()
	}
	return err.Error()
}

// control returns a client of the control API.
func (r *Remote) control() *controlclient.Client {
	return &controlclient.Client{URL: r.Control, Token: r.Token, HTTP: r.client()}
}

// Set implements scenarios.Target.
func (r *Remote) Set(ctx context.Context, settings []scenarios.Setting) error {
	if err := r.remember(ctx); err != nil {
		return err
	}
	change := controlapi.Change{}
	for _, s := range settings {
		change.Settings = append(change.Settings, controlapi.Setting{Name: s.Name, Value: s.Value})
		r.set[s.Name] = true
	}
	_, err := r.control().SetWorld(ctx, change)
	return err
}

// remember keeps what the conditions are before the first change.
func (r *Remote) remember(ctx context.Context) error {
	if r.before != nil {
		return nil
	}
	conditions, err := r.conditions(ctx)
	if err != nil {
		return err
	}
	r.before, r.set = conditions, make(map[string]bool)
	return nil
}

func (r *Remote) conditions(ctx context.Context) (map[string]string, error) {
	list, err := r.control().World(ctx, controlapi.Where{})
	if err != nil {
		return nil, err
	}
	all := make(map[string]string, len(list))
	for _, c := range list {
		all[c.Name] = c.Value
	}
	return all, nil
}

// AddFault implements scenarios.Target.
func (r *Remote) AddFault(ctx context.Context, rule faults.Rule) error {
	_, err := r.control().AddFaults(ctx, "", []byte(rule.String()))
	return err
}

// ClearFaults implements scenarios.Target.
func (r *Remote) ClearFaults(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := r.control().DeleteFault(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Faults implements scenarios.Target.
func (r *Remote) Faults(ctx context.Context) ([]faults.Status, error) {
	armed, err := r.control().Faults(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]faults.Status, len(armed.Faults))
	for i, f := range armed.Faults {
		rules, err := faults.Parse([]byte(f.Rule))
		if err != nil {
			return nil, err
		}
		list[i] = faults.Status{Rule: rules[0], Since: f.Since, Seen: f.Seen, Hits: f.Hits}
	}
	return list, nil
}

// SetClock implements scenarios.Target.
func (r *Remote) SetClock(ctx context.Context, advance time.Duration, scale *float64) error {
	if r.scale == nil {
		clock, err := r.control().Clock(ctx)
		if err != nil {
			return err
		}
		r.scale = &clock.Scale
	}
	return r.control().SetClock(ctx, controlapi.ClockChange{Advance: advance.String(), Scale: scale})
}

// Pass implements scenarios.Target.
func (r *Remote) Pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CanRestart implements scenarios.Target.
func (r *Remote) CanRestart() bool { return false }

// Restart implements scenarios.Target.
func (r *Remote) Restart(context.Context, bool) error {
	return errors.New("a running emulator is not ended: play this scenario without --server")
}

// Reset deletes everything, and the fault rules if they are to go too, and plants the
// world again.
func (r *Remote) Reset(ctx context.Context, faults bool) error {
	return r.control().ResetState(ctx, faults)
}

// Close restores the conditions and the speed of the clock. Time itself does not go
// back.
func (r *Remote) Close(ctx context.Context) error {
	var errs []error
	for name := range r.before { // what cloud.year and account.site set
		switch kind, _, _ := strings.Cut(name, "."); {
		case kind == "stock" && r.set["cloud.year"], kind == "quota" && (r.set["cloud.year"] || r.set["account.site"]):
			r.set[name] = true
		}
	}
	for name := range r.set {
		key, secret := strings.CutSuffix(name, ".secret")
		if _, listed := r.before[key+".status"]; secret && !listed { // the part made the key
			delete(r.set, name)
			r.set[key+".status"] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.set)) {
		if err := r.putBack(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("put back %s: %w", name, err))
		}
	}
	if r.scale != nil {
		errs = append(errs, r.control().SetClock(ctx, controlapi.ClockChange{Scale: r.scale}))
	}
	return errors.Join(errs...)
}

// putBack restores a condition. The control API tells no secret.
func (r *Remote) putBack(ctx context.Context, name string) error {
	if strings.HasSuffix(name, ".secret") {
		return errors.New("the control API does not tell what it was: set it again by clbemu world set")
	}
	setting := controlapi.Setting{Name: name, Value: r.former(name)}
	_, err := r.control().SetWorld(ctx, controlapi.Change{Settings: []controlapi.Setting{setting}})
	return err
}

// former returns the former value of a condition. A condition that the emulator does
// not list was as in a new world.
func (r *Remote) former(name string) string {
	value, listed := r.before[name]
	switch {
	case strings.HasPrefix(name, "vswitch."):
		return "all"
	case listed:
		return value
	case strings.HasPrefix(name, "stock."):
		return "available"
	case strings.HasPrefix(name, "key."):
		return "deleted"
	case strings.HasPrefix(name, "linkedRole."):
		return "present"
	case strings.HasPrefix(name, "policy."), strings.HasPrefix(name, "nlb."), strings.HasSuffix(name, ".lacks"):
		return "none"
	case name == "cloud.year": // of none: what it sold then follows
		return "today"
	case name == "account.site":
		return "mainland"
	}
	return "default"
}

// ImportCluster creates the instances of a cluster's nodes, which kubectl get has printed.
func (r *Remote) ImportCluster(ctx context.Context, nodes io.Reader) error {
	if _, err := r.control().ImportCluster(ctx, controlapi.Where{}, nodes); err != nil {
		return fmt.Errorf("can't import the cluster's nodes as instances: %w", err)
	}
	return nil
}
