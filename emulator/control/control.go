// Package control is the control API on its own listener: health, metrics, the
// state as a whole and snapshots of it, the conditions of the world and its
// clock, fault rules, and the journal. It owns who may call it. It must not serve
// the cloud's API, and knows no product but by its table of actions.
//
// openapi.yaml describes it.
package control

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gorilla/mux"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/gateway"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

// Config says what the control API is over.
type Config struct {
	Store    *state.Store
	Products []*gateway.Product
	// Plant puts the world back after a reset.
	Plant     func(*state.Tx) error
	Metrics   *Metrics
	Faults    *Faults
	Journal   *journal.Journal
	Snapshots *Snapshots
	// Player plays the scenarios that come here; nil plays none.
	Player Player
	// Ready tells whether calls are taken; nil is always.
	Ready func() bool
	// Token, if set, must come as a bearer token with everything but health.
	Token string
	// Host is the name or address that the listener was given. A call without a
	// token must name it, or a loopback address, as its host.
	Host    string
	Version string
	Log     zerolog.Logger
	// MaxImport is the largest state that an import takes, in bytes; 0 is
	// 256 MiB, some two hundred thousand load balancers.
	MaxImport int64
}

const defaultMaxImport = 256 << 20

// api is the control API's handlers.
type api struct {
	Config
	theatre theatre
	answers room // for large ones
	imports room
}

// New returns the control API.
func New(cfg Config) http.Handler {
	cfg.MaxImport = cmp.Or(cfg.MaxImport, defaultMaxImport)
	a := &api{Config: cfg, theatre: theatre{Player: cfg.Player}, answers: make(room, 4), imports: make(room, 1)}
	r := mux.NewRouter().SkipClean(true) // an untidy path is an unknown one, not a redirect
	r.HandleFunc("/healthz", a.healthz).Methods(http.MethodGet)
	r.HandleFunc("/readyz", a.readyz).Methods(http.MethodGet)
	closed := r.NewRoute().Subrouter()
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(refuse(http.StatusForbidden, "the control API takes no calls from the pages of other sites"))
	closed.Use(a.admit, sameOrigin.Handler, a.checkParameters)
	a.route(closed)
	r.NotFoundHandler = refuse(http.StatusNotFound, "no such path: see the control API's section of the README")
	r.MethodNotAllowedHandler = refuse(http.StatusMethodNotAllowed, "this path does not take that method")
	return r
}

// route gives the paths that not everybody may call to their handlers.
func (a *api) route(closed *mux.Router) {
	closed.Handle("/metrics", a.Metrics.Handler()).Methods(http.MethodGet)
	closed.HandleFunc("/v1/state", a.answers.bound(a.exportState)).Methods(http.MethodGet)
	closed.HandleFunc("/v1/state", a.imports.bound(a.importState)).Methods(http.MethodPut)
	closed.HandleFunc("/v1/state/check", a.checkState).Methods(http.MethodPost)
	closed.HandleFunc("/v1/state/reset", a.resetState).Methods(http.MethodPost)
	closed.HandleFunc("/v1/world", a.getWorld).Methods(http.MethodGet)
	closed.HandleFunc("/v1/world", a.setWorld).Methods(http.MethodPatch)
	closed.HandleFunc("/v1/world/import", a.imports.bound(a.importCluster)).Methods(http.MethodPost)
	closed.HandleFunc("/v1/quotas", a.quotas).Methods(http.MethodGet)
	closed.HandleFunc("/v1/clock", a.getClock).Methods(http.MethodGet)
	closed.HandleFunc("/v1/clock", a.setClock).Methods(http.MethodPost)
	closed.HandleFunc("/v1/faults", a.getFaults).Methods(http.MethodGet)
	closed.HandleFunc("/v1/faults", a.addFaults).Methods(http.MethodPost)
	closed.HandleFunc("/v1/faults", a.deleteFaults).Methods(http.MethodDelete)
	closed.HandleFunc("/v1/faults/reset", a.restartFaults).Methods(http.MethodPost)
	closed.HandleFunc("/v1/faults/{name}", a.deleteFaults).Methods(http.MethodDelete)
	closed.HandleFunc("/v1/journal", a.answers.bound(a.getJournal)).Methods(http.MethodGet)
	closed.HandleFunc("/v1/journal", a.clearJournal).Methods(http.MethodDelete)
	closed.HandleFunc("/v1/journal/marks", a.getMarks).Methods(http.MethodGet)
	closed.HandleFunc("/v1/journal/marks", a.addMark).Methods(http.MethodPost)
	closed.HandleFunc("/v1/journal/stream", a.streamJournal).Methods(http.MethodGet)
	closed.HandleFunc("/v1/scenarios", a.getScenarios).Methods(http.MethodGet)
	closed.HandleFunc("/v1/scenarios/run", a.runScenario).Methods(http.MethodPost)
	closed.HandleFunc("/v1/snapshots", a.getSnapshots).Methods(http.MethodGet)
	closed.HandleFunc("/v1/snapshots/{name}", a.imports.bound(a.takeSnapshot)).Methods(http.MethodPut)
	closed.HandleFunc("/v1/snapshots/{name}", a.deleteSnapshot).Methods(http.MethodDelete)
	closed.HandleFunc("/v1/snapshots/{name}/restore", a.imports.bound(a.restoreSnapshot)).Methods(http.MethodPost)
	closed.HandleFunc("/v1/openapi.yaml", a.openAPI).Methods(http.MethodGet)
	closed.HandleFunc("/v1/actions", a.actions).Methods(http.MethodGet)
	closed.HandleFunc("/v1/version", a.version).Methods(http.MethodGet)
}

// admit lets in who has the token. Without one, a web page that the user of
// this machine looks at could come here under a name that it made resolve to a
// loopback address, so the name must be one that only local callers use.
func (a *api) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.Token != "" && !hasToken(r, a.Token):
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, "the control API needs the token of --control-token: send Authorization: Bearer <token>")
		case a.Token == "" && !isLocal(r.Host, a.Host):
			fail(w, http.StatusForbidden, "the Host of the call must be a loopback address or the one that the control API listens on")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hasToken compares digests, which takes the same time however much of the
// token is right.
func hasToken(r *http.Request, token string) bool {
	sent, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func isLocal(host, own string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" || own != "" && host == own {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

func refuse(status int, reason string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fail(w, status, reason) })
}

func fail(w http.ResponseWriter, status int, reason string) {
	answer(w, status, map[string]string{"error": reason})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone, which is no matter of ours.
	_ = json.NewEncoder(w).Encode(body)
}

func (a *api) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (a *api) readyz(w http.ResponseWriter, _ *http.Request) {
	if a.Ready != nil && !a.Ready() {
		fail(w, http.StatusServiceUnavailable, "clbemu is closing")
		return
	}
	if err := a.Store.Failing(); err != nil {
		fail(w, http.StatusServiceUnavailable, "writes are refused, reads are served: "+err.Error())
		return
	}
	answer(w, http.StatusOK, map[string]string{"status": "ready"})
}

func (a *api) version(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]string{"version": a.Version})
}

//go:embed openapi.yaml
var openAPIText []byte

func (a *api) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPIText) // the client may be gone
}

// Action is a row of GET /v1/actions.
type Action struct {
	Product  string `json:"product"`
	Version  string `json:"version"`
	Action   string `json:"action"`
	Mutates  bool   `json:"mutates"`
	Emulated bool   `json:"emulated"`
}

// Actions lists what the products know, in order of product and action.
func Actions(products []*gateway.Product) []Action {
	var rows []Action
	for _, p := range products {
		for _, a := range p.Actions {
			rows = append(rows, Action{p.Name, p.Version, a.Name, a.Mutates, a.Emulated})
		}
	}
	slices.SortFunc(rows, func(a, b Action) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.Action, b.Action))
	})
	return rows
}

func (a *api) actions(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, Actions(a.Products))
}
