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
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
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

// bindClouds binds the calls about clouds. It refuses them if there are no clouds, as over the
// state of a stopped emulator.
func (a *api) bindClouds(h handlers) {
	on(h, routes.GetClouds, a.getClouds)
	onBody(h, routes.CreateCloud, a.createCloud)
	on(h, routes.ResetCloud, a.resetCloud)
	on(h, routes.DeleteCloud, a.deleteCloud)
	if a.Clouds != nil {
		return
	}
	for _, row := range []*routes.Route{routes.GetClouds.Route, routes.CreateCloud.Route, routes.ResetCloud.Route, routes.DeleteCloud.Route} {
		h[row] = refuse(http.StatusUnprocessableEntity, "only a running emulator has clouds").ServeHTTP
	}
}

func (a *api) getClouds(*http.Request) (controlapi.Clouds, error) {
	return controlapi.Clouds{Clouds: a.Clouds.List()}, nil
}

func (a *api) createCloud(r *http.Request, made controlapi.NewCloud) (controlapi.Cloud, error) {
	if made.From == "" {
		made.From, _ = r.Context().Value(within{}).(string)
	}
	created, err := a.Clouds.Create(r.Context(), mux.Vars(r)["name"], made)
	return created, a.ofClouds("create a cloud", err)
}

func (a *api) resetCloud(r *http.Request) (controlapi.Cloud, error) {
	reset, err := a.Clouds.Reset(r.Context(), mux.Vars(r)["name"])
	return reset, a.ofClouds("reset a cloud", err)
}

func (a *api) deleteCloud(r *http.Request) (controlapi.Clouds, error) {
	if err := a.Clouds.Delete(r.Context(), mux.Vars(r)["name"]); err != nil {
		return controlapi.Clouds{}, a.ofClouds("delete a cloud", err)
	}
	return a.getClouds(r)
}

// ofClouds returns the error of a failed operation on a cloud, or nil for nil. A journal has what
// happened in its own cloud, and so nothing that happened to clouds as a whole.
func (a *api) ofClouds(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNoCloud):
		return &refusal{err, http.StatusNotFound}
	case errors.Is(err, ErrCloud), errors.Is(err, ErrTaken):
		return &refusal{err, http.StatusUnprocessableEntity}
	}
	return a.inside(doing, err)
}
