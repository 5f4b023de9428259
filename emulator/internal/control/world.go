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
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/jsonstream"
)

// maxRequest bounds the body of a request that is no import, in bytes.
const maxRequest = 1 << 20

// read decodes a small JSON body, refusing what it does not know. It has
// answered when it returns false.
func read(w http.ResponseWriter, r *http.Request, body any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(body)
	if err == nil {
		err = nothingBehind(d)
	}
	switch tooLarge := (*http.MaxBytesError)(nil); {
	case err == nil:
		return true
	case errors.As(err, &tooLarge):
		fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must not exceed %d bytes", maxRequest))
	default:
		fail(w, http.StatusBadRequest, "the body is not what this path takes: "+strings.TrimPrefix(jsonstream.InWords(err).Error(), "json: "))
	}
	return false
}

// nothingBehind refuses what is behind the value that was read.
func nothingBehind(d *json.Decoder) error {
	_, err := d.Token()
	if err == io.EOF {
		return nil
	}
	return cmp.Or(err, errors.New("there is more behind it"))
}

// where reads whose world a call is about.
func where(r *http.Request) controlapi.Where {
	query := r.URL.Query()
	return controlapi.Where{AccountID: query.Get("account"), RegionID: query.Get("region")}
}

func (a *api) getWorld(w http.ResponseWriter, r *http.Request) { a.answerWorld(w, where(r)) }

// answerWorld lists the conditions, with warnings of those that were set.
func (a *api) answerWorld(w http.ResponseWriter, where controlapi.Where, changed ...conditions.Setting) {
	list, warnings := []controlapi.Setting{}, []string(nil)
	err := a.Store.View(state.Owner{}, func(v *state.View) error {
		set, err := conditions.Get(v, state.Owner(where))
		for _, s := range set {
			list = append(list, controlapi.Setting(s))
		}
		warnings = conditions.Idle(v, state.Owner(where), changed)
		return err
	})
	if err != nil {
		failQuestion(w, err)
		return
	}
	answer(w, http.StatusOK, controlapi.Conditions{Conditions: list, Warnings: warnings})
}

func (a *api) conditions(w http.ResponseWriter, _ *http.Request) {
	known, rows := a.names(), conditions.All()
	list := make([]controlapi.KnownCondition, len(rows))
	for i := range rows {
		list[i] = controlapi.KnownCondition{Name: rows[i].Name, Help: rows[i].Help, Scope: string(rows[i].Scope),
			Secret: rows[i].Secret, Policy: rows[i].Policy, Named: known.Named(&rows[i])}
	}
	answer(w, http.StatusOK, controlapi.KnownConditions{Conditions: list})
}

func (a *api) setWorld(w http.ResponseWriter, r *http.Request) {
	var change controlapi.Change
	if !read(w, r, &change) {
		return
	}
	change.AccountID = cmp.Or(change.AccountID, where(r).AccountID)
	change.RegionID = cmp.Or(change.RegionID, where(r).RegionID)
	changed := make([]conditions.Setting, len(change.Settings))
	for i, s := range change.Settings {
		changed[i] = conditions.Setting(s)
	}
	err := a.checkSettings(change.Settings)
	if errors.Is(err, names.ErrNoCondition) {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if err == nil {
		err = a.Store.Update(state.Owner{}, func(tx *state.Tx) error {
			return conditions.Set(tx, state.Owner(change.Where), changed)
		})
	}
	if err != nil {
		a.failChange(w, "set conditions", err)
		return
	}
	settings := []string{"account", change.AccountID, "region", change.RegionID}
	for _, s := range changed {
		settings = append(settings, s.Name, conditions.Shown(s).Value)
	}
	a.changed(journal.KindWorld, "set conditions", settings...)
	a.answerWorld(w, change.Where, changed...)
}

func (a *api) quotas(w http.ResponseWriter, r *http.Request) {
	var quotas []state.QuotaUse
	err := a.Store.View(state.Owner{}, func(v *state.View) error {
		owner, err := resources.Owner(v, state.Owner(where(r)))
		if err == nil {
			quotas = state.QuotaUses(v.In(state.Owner{AccountID: owner.AccountID}))
		}
		return err
	})
	if err != nil {
		failQuestion(w, err)
		return
	}
	uses := make([]controlapi.QuotaUse, len(quotas))
	for i, q := range quotas {
		uses[i] = controlapi.QuotaUse{Name: string(q.Name), Default: q.Default, Limit: q.Limit}
		for _, h := range q.Holders {
			uses[i].Holders = append(uses[i].Holders, controlapi.QuotaHolder(h))
		}
	}
	answer(w, http.StatusOK, controlapi.Quotas{Quotas: uses})
}

func (a *api) getClock(w http.ResponseWriter, _ *http.Request) {
	status, err := a.Store.ClockStatus()
	if err != nil {
		a.failInside(w, "read the clock", err)
		return
	}
	answer(w, http.StatusOK, controlapi.Clock(status))
}

func (a *api) setClock(w http.ResponseWriter, r *http.Request) {
	var change controlapi.ClockChange
	if !read(w, r, &change) {
		return
	}
	err := adjust(a.Store, change)
	switch {
	case errors.Is(err, state.ErrClock):
		failQuestion(w, err)
	case err != nil:
		a.failInside(w, "set the clock", err)
	default:
		a.changed(journal.KindClock, "set the clock", "advance", change.Advance, "scale", scaleOf(change))
		a.getClock(w, r)
	}
}

// scaleOf is the scale as a text, "" when it stays.
func scaleOf(c controlapi.ClockChange) string {
	if c.Scale == nil {
		return ""
	}
	return strconv.FormatFloat(*c.Scale, 'g', -1, 64)
}

// adjust sets the clock of a store.
func adjust(store *state.Store, c controlapi.ClockChange) error {
	status, err := store.ClockStatus()
	if err != nil {
		return err
	}
	var advance time.Duration
	if c.Advance != "" {
		if advance, err = time.ParseDuration(c.Advance); err != nil {
			return fmt.Errorf("%w: advance is %q, want a duration such as 168h", state.ErrClock, c.Advance)
		}
	}
	scale := status.Scale
	if c.Scale != nil {
		scale = *c.Scale
	}
	return store.AdjustClock(advance, scale)
}
