package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator/control"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// target is a state to work on, wherever it is.
type target interface {
	export(w io.Writer) error
	replace(r io.Reader) error
	check() ([]string, error)
	reset(worldFile string) error
	conditions(world.Where) ([]world.Setting, error)
	set(control.Change) error
	importCluster(world.Where, io.Reader) (world.Imported, error)
	quotas(world.Where) ([]state.QuotaUse, error)
	clock() (control.Clock, error)
	setClock(control.ClockChange) error
	snapshots() ([]control.Snapshot, error)
	takeSnapshot(name string) error
	restoreSnapshot(name string) error
	deleteSnapshot(name string) error
}

// access is what a command does with a folder: some only read it, and some may
// start with one that holds nothing.
type access int

const (
	reads access = iota
	writes
	creates
)

func (a access) open(dir string) (*bolt.Engine, error) {
	if a == reads {
		return bolt.OpenReadOnly(dir)
	}
	return bolt.Open(dir)
}

// with runs do on the state that the flags name.
func (f *stateFlags) with(cmd *cobra.Command, a access, do func(target) error) error {
	if f.server != "" {
		return do(&remote{ctx: cmd.Context(), url: strings.TrimSuffix(f.server, "/"), token: f.token})
	}
	path := filepath.Join(f.dataDir, bolt.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && a != creates {
		return cannot(fmt.Errorf("there is no state in %s: name its folder by --data-dir, or a running emulator by --server", f.dataDir))
	}
	e, err := a.open(f.dataDir)
	if errors.Is(err, engine.ErrLocked) {
		err = fmt.Errorf("%s is in use by a running emulator: stop it, or name its control API, such as --server http://%s", f.dataDir, defaultControl)
	}
	if err != nil {
		return cannot(err)
	}
	store, err := state.Open(cmd.Context(), state.Config{Schema: cloud.Schema, Engine: e, Warn: func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", what) }})
	if err != nil {
		return cannot(err)
	}
	return errors.Join(do(&local{ctx: cmd.Context(), store: store, kept: control.NewSnapshots(f.dataDir)}), cannot(store.Close()))
}

// local is the state in a folder.
type local struct {
	ctx   context.Context
	store *state.Store
	kept  *control.Snapshots
}

func (l *local) export(w io.Writer) error {
	export, err := l.store.Export()
	if err != nil {
		return err
	}
	return export.Write(w)
}

func (l *local) replace(r io.Reader) error {
	export, err := l.store.ReadExport(r)
	if err != nil {
		return failed(err)
	}
	return failed(l.store.Import(export))
}

func (l *local) check() ([]string, error) { return l.store.Check(l.ctx) }

func (l *local) reset(worldFile string) error {
	w := world.Default()
	if worldFile != "" {
		var err error
		if w, err = world.Load(worldFile); err != nil {
			return err
		}
	}
	return l.store.Reset(w.Plant)
}

// remote is the state of a running emulator.
type remote struct {
	ctx        context.Context
	url, token string
}

func (r *remote) export(w io.Writer) error {
	return r.call(http.MethodGet, "/v1/state", nil, func(body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	})
}

func (r *remote) replace(from io.Reader) error {
	return r.call(http.MethodPut, "/v1/state", from, discard)
}

func (r *remote) check() ([]string, error) {
	var found control.Problems
	err := r.call(http.MethodPost, "/v1/state/check", nil, func(body io.Reader) error {
		return json.NewDecoder(body).Decode(&found)
	})
	return found.Problems, err
}

func (r *remote) reset(string) error {
	return r.call(http.MethodPost, "/v1/state/reset", nil, discard)
}

func discard(body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	return err
}

// call sends one call to the control API and hands on the body of a success.
func (r *remote) call(method, path string, body io.Reader, read func(io.Reader) error) error {
	request, err := http.NewRequestWithContext(r.ctx, method, r.url+path, body)
	if err != nil {
		return usage(fmt.Errorf("--server %s: %w", r.url, err))
	}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return cannot(fmt.Errorf("%w: is clbemu running with its control API at %s?", err, r.url))
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return cannot(read(response.Body))
	}
	why := reason(response.Body)
	wrong := response.StatusCode == http.StatusUnprocessableEntity || response.StatusCode == http.StatusBadRequest
	switch {
	case response.StatusCode == http.StatusNotFound, wrong && method == http.MethodGet:
		return usage(errors.New(why)) // the question is about what there is not
	case wrong:
		return failed(errors.New(why))
	}
	return cannot(fmt.Errorf("%s answers %s: %s", r.url, response.Status, why))
}

// reason is what an answer of the control API says went wrong.
func reason(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, 4096)) // what came is what there is to say
	var answer struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Error == "" {
		return string(bytes.TrimSpace(text))
	}
	return answer.Error
}
