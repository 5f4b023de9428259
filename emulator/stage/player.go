package stage

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/control"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// player plays on an emulator of this process that clients use. It implements
// control.Player.
type player struct {
	emulator *emulator.Emulator
	token    string // the control API's
}

// NewPlayer returns a player on an emulator.
func NewPlayer(e *emulator.Emulator, controlToken string) control.Player {
	return &player{e, controlToken}
}

// Load implements control.Player.
func (p *player) Load(ctx context.Context, name string, text []byte) (*scenarios.Scenario, error) {
	known, err := NewNames(ctx)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.Load(name, text, scenarios.Options{Names: known})
	return s, errors.Join(err, known.Close(ctx))
}

// Play implements control.Player. Its calls come by a door of their own, which
// needs no certificate.
func (p *player) Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result {
	failed := func(err error) scenarios.Result {
		return scenarios.Result{Scenario: s.Name, File: s.File, Half: scenarios.ClientHalf, Status: scenarios.Broken,
			Failure: &scenarios.Failure{File: s.File, Line: 1, Step: scenarios.ClientHalf, Reason: err.Error()}}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	door := &http.Server{Handler: &life{emulator: p.emulator}, ReadHeaderTimeout: callTimeout}
	go func() { _ = door.Serve(listener) }() // it ends when it is closed
	defer door.Close()
	remote := &Remote{API: "http://" + listener.Addr().String(), Token: p.token}
	remote.Control = remote.API
	if remote.AccessKeyID, remote.AccessKeySecret, err = p.key(); err != nil {
		return failed(err)
	}
	result := scenarios.Play(ctx, s, scenarios.ClientHalf, scenarios.Stage{Target: remote, Progress: progress})
	if err := remote.Close(context.WithoutCancel(ctx)); err != nil {
		result.Notes = append(result.Notes, err.Error())
	}
	return result
}

// key is an access key of the first account that has one, for the scripted client.
func (p *player) key() (id, secret string, err error) {
	err = p.emulator.Store().View(state.Owner{}, func(v *state.View) error {
		for key := range cloud.AccessKeys.All(v) {
			if key.Status == cloud.AccessKeyActive && key.RoleName == "" {
				id, secret = key.ID, key.Secret
				return nil
			}
		}
		return errors.New("no account has an active access key")
	})
	return id, secret, err
}
