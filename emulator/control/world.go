package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
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
		fail(w, http.StatusBadRequest, "the body is not what this path takes: "+err.Error())
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
func where(r *http.Request) world.Where {
	query := r.URL.Query()
	return world.Where{AccountID: query.Get("account"), RegionID: query.Get("region")}
}

// Conditions is the answer of GET and PATCH /v1/world.
type Conditions struct {
	Conditions []world.Setting `json:"conditions"`
}

func (a *api) getWorld(w http.ResponseWriter, r *http.Request) { a.answerWorld(w, where(r)) }

func (a *api) answerWorld(w http.ResponseWriter, where world.Where) {
	var list []world.Setting
	err := a.Store.View(state.Owner{}, func(v *state.View) (err error) {
		list, err = world.Conditions(v, where)
		return err
	})
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	answer(w, http.StatusOK, Conditions{list})
}

// Change is the body of PATCH /v1/world.
type Change struct {
	world.Where
	Settings []world.Setting `json:"settings"`
}

func (a *api) setWorld(w http.ResponseWriter, r *http.Request) {
	var change Change
	if !read(w, r, &change) {
		return
	}
	change.AccountID = cmp.Or(change.AccountID, where(r).AccountID)
	change.RegionID = cmp.Or(change.RegionID, where(r).RegionID)
	err := a.checkSettings(change.Settings)
	if err == nil {
		err = a.Store.Update(state.Owner{}, func(tx *state.Tx) error {
			return world.Set(tx, change.Where, change.Settings)
		})
	}
	if err != nil {
		a.failChange(w, "set conditions", err)
		return
	}
	settings := []string{"account", change.AccountID, "region", change.RegionID}
	for _, s := range change.Settings {
		settings = append(settings, s.Name, s.Shown().Value)
	}
	a.changed(journal.KindWorld, "set conditions", settings...)
	a.answerWorld(w, change.Where)
}

// Quotas is the answer of GET /v1/quotas.
type Quotas struct {
	Quotas []state.QuotaUse `json:"quotas"`
}

func (a *api) quotas(w http.ResponseWriter, r *http.Request) {
	quotas, err := world.Quotas(a.Store, where(r))
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	answer(w, http.StatusOK, Quotas{quotas})
}

// Clock is the answer of GET and POST /v1/clock.
type Clock struct {
	Now   time.Time `json:"now"`
	Scale float64   `json:"scale"`
}

func (a *api) getClock(w http.ResponseWriter, _ *http.Request) {
	status, err := a.Store.ClockStatus()
	if err != nil {
		a.failInside(w, "read the clock", err)
		return
	}
	answer(w, http.StatusOK, Clock(status))
}

// ClockChange is the body of POST /v1/clock: Advance is a duration such as 168h,
// Scale how fast the clock goes from there, 0 to freeze it. What is left out
// stays.
type ClockChange struct {
	Advance string   `json:"advance,omitempty"`
	Scale   *float64 `json:"scale,omitempty"`
}

func (a *api) setClock(w http.ResponseWriter, r *http.Request) {
	var change ClockChange
	if !read(w, r, &change) {
		return
	}
	err := change.Apply(a.Store)
	switch {
	case errors.Is(err, state.ErrClock):
		fail(w, http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		a.failInside(w, "set the clock", err)
	default:
		a.changed(journal.KindClock, "set the clock", "advance", change.Advance, "scale", change.scale())
		a.getClock(w, r)
	}
}

// scale is Scale as a text, "" when it stays.
func (c ClockChange) scale() string {
	if c.Scale == nil {
		return ""
	}
	return strconv.FormatFloat(*c.Scale, 'g', -1, 64)
}

// Apply sets the clock of a store.
func (c ClockChange) Apply(store *state.Store) error {
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
