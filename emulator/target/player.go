package target

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
)

// Player plays on an emulator of this process that clients use.
type Player struct {
	// API and Control are the emulator's handlers.
	API, Control http.Handler
	// Token is the control API's, if it wants one.
	Token    string
	Store    *state.Store
	Products []*gateway.Product
}

// Load reads a scenario; an error has a line for everything that is wrong.
func (p *Player) Load(name string, text []byte) (*scenarios.Scenario, error) {
	return scenarios.Load(name, text, scenarios.Options{Names: NewNames(names.Of(p.Store.Schema(), p.Products).In(p.things))})
}

// things lists what the emulator has now.
func (p *Player) things() (names.Things, error) {
	return names.ThingsOf(p.Store.View(state.Owner{})), nil
}

// OneAddress serves the control API next to the cloud's, which knows no such path.
func OneAddress(api, control http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			control.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// Play plays the client part of a scenario and reports the progress of each step. Its
// calls come through a separate listener, which needs no certificate.
func (p *Player) Play(ctx context.Context, s *scenarios.Scenario, progress func(scenarios.StepDone)) scenarios.Result {
	failed := func(err error) scenarios.Result {
		return scenarios.Result{Scenario: s.Name, File: s.File, Part: scenarios.ClientPart, Status: scenarios.Broken,
			Failure: &scenarios.Failure{File: s.File, Line: 1, Step: scenarios.ClientPart, Reason: err.Error()}}
	}
	listener, err := listen.TCP("listener of a scenario", "127.0.0.1:0")
	if err != nil {
		return failed(err)
	}
	server := &http.Server{Handler: OneAddress(p.API, p.Control), ReadHeaderTimeout: callTimeout}
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
	defer server.Close()
	remote := &Remote{API: "http://" + listener.Addr().String(), Products: p.Products, Token: p.Token}
	remote.Control = remote.API
	if remote.AccessKeyID, remote.AccessKeySecret, err = p.key(); err != nil {
		return failed(err)
	}
	result := scenarios.Play(ctx, s, scenarios.ClientPart, scenarios.Setup{Target: remote, Progress: progress})
	if err := remote.Close(context.WithoutCancel(ctx)); err != nil {
		result.Notes = append(result.Notes, err.Error())
	}
	return result
}

// key returns an active access key of an account, for the scripted client.
func (p *Player) key() (id, secret string, err error) {
	for key := range kinds.AccessKeys.All(p.Store.View(state.Owner{})) {
		if key.Status == kinds.AccessKeyActive && key.RoleName == "" {
			return key.ID, key.Secret, nil
		}
	}
	return "", "", errors.New("no account has an active access key")
}
