package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/console"
	"github.com/clbemu/clbemu/emulator/internal/routes"
	"github.com/clbemu/clbemu/emulator/journal"
)

// Clouds forks clouds from one another. Errors wrap those below.
type Clouds interface {
	List() []controlapi.Cloud
	Create(ctx context.Context, name string, made controlapi.NewCloud) (controlapi.Cloud, error)
	// Reset forks a cloud again from the one that it was forked from, as that is now.
	Reset(ctx context.Context, name string) (controlapi.Cloud, error)
	Delete(ctx context.Context, name string) error
	// Control serves one call of the control API of a cloud.
	Control(name string) (http.Handler, error)
}

// What refusals of clouds wrap.
var (
	ErrCloud   = errors.New("the cloud is refused")
	ErrNoCloud = errors.New("there is no such cloud")
	ErrTaken   = errors.New("the cloud is not made")
)

// cloudsPath is before the name of a cloud, and before the paths of its control API and
// its console.
const cloudsPath = "/clouds/"

func (a *api) isOfCloud(r *http.Request, _ *mux.RouteMatch) bool {
	return a.Clouds != nil && strings.HasPrefix(r.URL.Path, cloudsPath)
}

// within is the key of the cloud in whose path a call about clouds is.
type within struct{}

// ofCloud serves the control API of a cloud at its path. What is about clouds is the
// same in each, but that a fork is of this one unless the call names another.
func (a *api) ofCloud(rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, path, whole := strings.Cut(strings.TrimPrefix(r.URL.Path, cloudsPath), "/")
		switch {
		case name == "":
			http.Redirect(w, r, strings.TrimSuffix(cloudsPath, "/"), http.StatusMovedPermanently)
			return
		case !whole: // or the console's relative links would lead elsewhere
			http.Redirect(w, r, cloudsPath+url.PathEscape(name)+"/", http.StatusMovedPermanently)
			return
		}
		own := rest
		if name != controlapi.DefaultCloud && !strings.HasPrefix(path, strings.TrimPrefix(routes.GetClouds.Path, "/")) {
			found, err := a.Clouds.Control(name)
			if err != nil {
				console.Missing(a.admit(refuse(http.StatusNotFound, err.Error()))).ServeHTTP(w, r)
				return
			}
			own = found
		}
		r = r.WithContext(context.WithValue(r.Context(), within{}, name))
		http.StripPrefix(cloudsPath+name, own).ServeHTTP(w, r)
	})
}

func (a *api) getClouds(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, controlapi.Clouds{Clouds: a.Clouds.List()})
}

func (a *api) createCloud(w http.ResponseWriter, r *http.Request) {
	var made controlapi.NewCloud
	if !read(w, r, &made) {
		return
	}
	name := mux.Vars(r)["name"]
	if made.From == "" {
		made.From, _ = r.Context().Value(within{}).(string)
	}
	created, err := a.Clouds.Create(r.Context(), name, made)
	if err != nil {
		a.failCloud(w, "create a cloud", err)
		return
	}
	a.changed(journal.KindState, "create cloud", "name", name, "from", created.From)
	answer(w, http.StatusOK, created)
}

func (a *api) resetCloud(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	reset, err := a.Clouds.Reset(r.Context(), name)
	if err != nil {
		a.failCloud(w, "reset a cloud", err)
		return
	}
	a.changed(journal.KindState, "reset cloud", "name", name)
	answer(w, http.StatusOK, reset)
}

func (a *api) deleteCloud(w http.ResponseWriter, r *http.Request) {
	name := mux.Vars(r)["name"]
	if err := a.Clouds.Delete(r.Context(), name); err != nil {
		a.failCloud(w, "delete a cloud", err)
		return
	}
	a.changed(journal.KindState, "delete cloud", "name", name)
	a.getClouds(w, r)
}

func (a *api) failCloud(w http.ResponseWriter, doing string, err error) {
	switch {
	case errors.Is(err, ErrNoCloud):
		fail(w, http.StatusNotFound, err.Error())
	case errors.Is(err, ErrCloud), errors.Is(err, ErrTaken):
		fail(w, http.StatusUnprocessableEntity, err.Error())
	default:
		a.failInside(w, doing, err)
	}
}

// withClouds refuses where there are none, as over the state of a stopped emulator.
func (a *api) withClouds(do http.HandlerFunc) http.HandlerFunc {
	if a.Clouds != nil {
		return do
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusUnprocessableEntity, "only a running emulator has clouds")
	}
}
