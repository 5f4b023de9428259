package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/control"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

func (l *local) conditions(where world.Where) (list []world.Setting, err error) {
	err = l.store.View(state.Owner{}, func(v *state.View) error {
		list, err = world.Conditions(v, where)
		return err
	})
	return list, usage(err)
}

func (l *local) set(change control.Change) error {
	for _, setting := range change.Settings {
		if err := names.Of(cloud.Schema, emulator.Products()).CheckCondition(setting.Name, setting.Value); err != nil {
			return failed(err)
		}
	}
	return failed(l.store.Update(state.Owner{}, func(tx *state.Tx) error {
		return world.Set(tx, change.Where, change.Settings)
	}))
}

func (l *local) importCluster(where world.Where, r io.Reader) (done world.Imported, err error) {
	cluster, err := world.ReadCluster(r)
	if err != nil {
		return done, failed(err)
	}
	err = l.store.Update(state.Owner{}, func(tx *state.Tx) (err error) {
		done, err = cluster.Import(tx, where)
		return err
	})
	return done, failed(err)
}

func (l *local) quotas(where world.Where) ([]state.QuotaUse, error) {
	list, err := world.Quotas(l.store, where)
	return list, usage(err)
}

func (l *local) clock() (control.Clock, error) {
	status, err := l.store.ClockStatus()
	return control.Clock(status), cannot(err)
}

func (l *local) setClock(change control.ClockChange) error {
	err := change.Apply(l.store)
	if errors.Is(err, state.ErrClock) {
		return failed(err)
	}
	return cannot(err)
}

func (r *remote) conditions(where world.Where) ([]world.Setting, error) {
	var got control.Conditions
	err := r.call(http.MethodGet, "/v1/world"+query(where), nil, decode(&got))
	return got.Conditions, err
}

func (r *remote) set(change control.Change) error {
	return r.send(http.MethodPatch, "/v1/world", change)
}

func (r *remote) importCluster(where world.Where, from io.Reader) (done world.Imported, err error) {
	err = r.call(http.MethodPost, "/v1/world/import"+query(where), from, decode(&done))
	return done, err
}

func (r *remote) quotas(where world.Where) ([]state.QuotaUse, error) {
	var got control.Quotas
	err := r.call(http.MethodGet, "/v1/quotas"+query(where), nil, decode(&got))
	return got.Quotas, err
}

func (r *remote) clock() (control.Clock, error) {
	var got control.Clock
	err := r.call(http.MethodGet, "/v1/clock", nil, decode(&got))
	return got, err
}

func (r *remote) setClock(change control.ClockChange) error {
	return r.send(http.MethodPost, "/v1/clock", change)
}

// send makes a call with a JSON body.
func (r *remote) send(method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return cannot(err)
	}
	return r.call(method, path, bytes.NewReader(text), discard)
}

func decode(into any) func(io.Reader) error {
	return func(body io.Reader) error { return json.NewDecoder(body).Decode(into) }
}

func query(where world.Where) string {
	return "?" + url.Values{"account": {where.AccountID}, "region": {where.RegionID}}.Encode()
}
