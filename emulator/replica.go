package emulator

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/replicas"
	"github.com/clbemu/clbemu/state"
)

// ErrDeposed ends an emulator that led others and can't be sure of it any more. Close it,
// and start another one in its place, which follows.
var ErrDeposed = replicas.ErrDeposed

// startReplica takes part in the election, once others can reach this emulator.
func (e *Emulator) startReplica() {
	if e.replica == nil {
		return
	}
	e.first.Go(func() {
		if err := e.replica.Run(e.first.Life()); err != nil && e.first.Life().Err() == nil {
			e.failed <- err
		}
	})
}

// newReplica must know the listeners.
func (e *Emulator) newReplica(api, control *listen.Server) *replicas.Replica {
	cfg := e.cfg.Replica
	self := controlapi.Replica{Name: cfg.Name, API: cmp.Or(cfg.API, api.URL()), Control: cmp.Or(cfg.Control, control.URL())}
	if e.cfg.TLS != nil {
		self.Certificate = listen.CertificateOf(e.cfg.TLS)
	}
	if self.Name == "" {
		self.Name = control.Addr()
	}
	made := replicas.Config{Election: cfg.State, Store: e.Store(), Self: self, Lead: e.lead, Log: e.cfg.Log}
	if cfg.ReadLocally {
		made.Local = e.mayReadLocally
	}
	return replicas.New(made)
}

// lead begins what only the leader has.
func (e *Emulator) lead(ctx context.Context) error {
	if err := errors.Join(e.cloud.PlantIfEmpty(e.Store()), e.cloud.WarnOfInstance(e.Store())); err != nil {
		return err
	}
	e.first.Faults().Follow()
	if err := errors.Join(e.first.Faults().Begin(), e.clouds.Reopen(ctx)); err != nil {
		return err
	}
	e.StartPackets()
	return nil
}

// mayReadLocally reports whether a call is a read of the default cloud that no fault rule
// can be about: rules count the calls that they see. A call whose body may say what it is
// goes to the leader.
func (e *Emulator) mayReadLocally(r *http.Request) bool {
	claim, known := gateway.ClaimOf(r)
	if !known {
		return false
	}
	host := strings.TrimSuffix(listen.HostOf(r.Host), ".localhost")
	if strings.Contains(claim.AccessKeyID, ".") || host != listen.HostOf(r.Host) && !slices.Contains(cloud.OwnHosts, host) {
		return false // a fork's
	}
	at := slices.IndexFunc(e.first.Products(), func(p *gateway.Product) bool { return p.Version == claim.Version })
	if at < 0 || !e.first.Products()[at].Reads(claim.Action) {
		return false
	}
	v := e.Store().View(state.Owner{})
	return kinds.Faults.Len(v) == 0 && kinds.Accounts.Len(v) > 0 // before it has a world, it knows no key
}
