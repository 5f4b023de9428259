package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/jsonstream"
)

// maxRequest bounds the body of a request that is no import, in bytes.
const maxRequest = 1 << 20

// read decodes a small JSON body, refusing what it does not know.
func read(w http.ResponseWriter, r *http.Request, body any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(body)
	if err == nil {
		err = nothingBehind(d)
	}
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case err == nil:
		return nil
	case errors.As(err, &tooLarge):
		return refused(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must not exceed %d bytes", maxRequest))
	}
	return refused(http.StatusBadRequest, "the body is not what this path takes: "+strings.TrimPrefix(jsonstream.InWords(err).Error(), "json: "))
}

// nothingBehind refuses text after the value that was read.
func nothingBehind(d *json.Decoder) error {
	_, err := d.Token()
	if err == io.EOF {
		return nil
	}
	return cmp.Or(err, errors.New("there is more behind it"))
}

func (a *api) getWorld(_ *http.Request, of routes.OfWorld) (controlapi.Conditions, error) {
	return a.world(controlapi.Where(of))
}

// world lists the conditions, with warnings of those that were set.
func (a *api) world(where controlapi.Where, changed ...conditions.Setting) (controlapi.Conditions, error) {
	got := controlapi.Conditions{Conditions: []controlapi.Setting{}}
	v := a.Store.View(state.Owner{})
	set, err := conditions.Get(v, state.Owner(where))
	for _, s := range set {
		got.Conditions = append(got.Conditions, controlapi.Setting(s))
	}
	got.Warnings = conditions.Idle(v, state.Owner(where), changed)
	return got, err
}

func (a *api) conditions(*http.Request) (controlapi.KnownConditions, error) {
	known, rows := a.names(), conditions.All()
	list := make([]controlapi.KnownCondition, len(rows))
	for i := range rows {
		list[i] = controlapi.KnownCondition{Name: rows[i].Name, Help: rows[i].Help, Scope: string(rows[i].Scope),
			Secret: rows[i].Secret, Policy: rows[i].Policy, Named: known.Named(&rows[i])}
	}
	return controlapi.KnownConditions{Conditions: list}, nil
}

func (a *api) setWorld(r *http.Request, change controlapi.Change) (controlapi.Conditions, error) {
	of, err := routes.SetWorld.ReadQuery(r)
	if err != nil {
		return controlapi.Conditions{}, err
	}
	change.AccountID = cmp.Or(change.AccountID, of.AccountID)
	change.RegionID = cmp.Or(change.RegionID, of.RegionID)
	changed := make([]conditions.Setting, len(change.Settings))
	for i, s := range change.Settings {
		changed[i] = conditions.Setting(s)
	}
	err = a.checkSettings(change.Settings)
	if errors.Is(err, names.ErrNoCondition) {
		return controlapi.Conditions{}, &refusal{err, http.StatusBadRequest}
	}
	if err == nil {
		err = a.Store.Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner(change.Where), changed)
		})
	}
	if err != nil {
		return controlapi.Conditions{}, a.ofChange("set conditions", err)
	}
	settings := []string{"account", change.AccountID, "region", change.RegionID}
	for _, s := range changed {
		settings = append(settings, s.Name, conditions.Shown(s).Value)
	}
	a.changed(journal.KindWorld, "set conditions", settings...)
	return a.world(change.Where, changed...)
}

func (a *api) quotas(_ *http.Request, of routes.OfWorld) (controlapi.Quotas, error) {
	v := a.Store.View(state.Owner{})
	owner, err := resources.Owner(v, state.Owner(of))
	if err != nil {
		return controlapi.Quotas{}, err
	}
	quotas := state.QuotaUses(v.In(state.Owner{AccountID: owner.AccountID}))
	uses := make([]controlapi.QuotaUse, len(quotas))
	for i, q := range quotas {
		uses[i] = controlapi.QuotaUse{Name: string(q.Name), Default: q.Default, Limit: q.Limit}
		for _, h := range q.Holders {
			uses[i].Holders = append(uses[i].Holders, controlapi.QuotaHolder(h))
		}
	}
	return controlapi.Quotas{Quotas: uses}, nil
}

func (a *api) getClock(*http.Request) (controlapi.Clock, error) {
	return controlapi.Clock(a.Store.ClockStatus()), nil
}

func (a *api) setClock(r *http.Request, change controlapi.ClockChange) (controlapi.Clock, error) {
	switch err := adjust(a.Store, change); {
	case errors.Is(err, state.ErrClock):
		return controlapi.Clock{}, err
	case err != nil:
		return controlapi.Clock{}, a.inside("set the clock", err)
	}
	a.changed(journal.KindClock, "set the clock", "advance", change.Advance, "scale", scaleOf(change))
	return a.getClock(r)
}

// scaleOf returns the scale as a text, or "" if it stays.
func scaleOf(c controlapi.ClockChange) string {
	if c.Scale == nil {
		return ""
	}
	return strconv.FormatFloat(*c.Scale, 'g', -1, 64)
}

// adjust sets the clock of a store.
func adjust(store *state.Store, c controlapi.ClockChange) error {
	var advance time.Duration
	if c.Advance != "" {
		var err error
		if advance, err = time.ParseDuration(c.Advance); err != nil {
			return fmt.Errorf("%w: advance is %q, want a duration such as 168h", state.ErrClock, c.Advance)
		}
	}
	scale := store.ClockStatus().Scale
	if c.Scale != nil {
		scale = *c.Scale
	}
	return store.AdjustClock(advance, scale)
}
