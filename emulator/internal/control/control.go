// Package control implements the control API on its own listener: health, metrics,
// the state and its snapshots, the conditions of the world and its clock, fault rules
// and the journal, with the console's pages at /. It decides who may call it. It must
// not serve the cloud's API, and knows products only by their tables of actions.
//
// openapi.yaml describes it.
package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/mux"
	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/internal/console"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/internal/snapshots"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// Config configures the control API.
type Config struct {
	Store    *state.Store
	Products []*gateway.Product
	// Plant puts the world back after a reset.
	Plant     func(*state.Tx) error
	Metrics   *metrics.Metrics
	Faults    *rules.Rules
	Journal   *journal.Journal
	Snapshots *snapshots.Snapshots
	// Packets knows where listeners answer. It is nil if none does.
	Packets inventory.Packets
	// Call signs a call of the cloud's API and makes it, as the console. If nil, there are no such
	// calls. An error means that there was no call.
	Call func(context.Context, controlapi.CloudCall) (controlapi.CloudAnswer, error)
	// Clouds forks clouds. If nil, none can be forked.
	Clouds Clouds
	// Player plays scenarios on the emulator of the API, and Apart on emulators of their own. If
	// nil, none are played.
	Player, Apart Player
	// Go does what goes on when its call was answered, until the emulator ends; nil
	// starts no scenario.
	Go func(func(context.Context))
	// Ready returns why calls are not taken; nil takes them always.
	Ready func() error
	// Token, if set, must come as a bearer token with everything but health.
	Token string
	// Host is the name or address that the listener was given. A call without a
	// token must name it, or a loopback address, as its host.
	Host    string
	Version controlapi.Version
	// Server, if set, describes the emulator that is served; Version and time are
	// filled in.
	Server func() controlapi.Server
	Log    zerolog.Logger
	// MaxImport is the largest state that an import takes, in bytes. If it is 0, that is 256 MiB,
	// some two hundred thousand load balancers.
	MaxImport int64
}

const defaultMaxImport = 256 << 20

// api is the control API's handlers.
type api struct {
	Config
	runs  scenarioRuns
	names func() *names.Names
	index func() (*explain.Index, error)

	exploration exploration
}

// New returns the control API.
func New(cfg Config) http.Handler {
	cfg.MaxImport = cmp.Or(cfg.MaxImport, defaultMaxImport)
	a := &api{Config: cfg, runs: scenarioRuns{news: make(chan struct{})},
		names: sync.OnceValue(func() *names.Names { return names.Of(cfg.Store.Schema(), cfg.Products) })}
	a.index = sync.OnceValues(func() (*explain.Index, error) { return explain.NewIndex(a.names()) })
	r := mux.NewRouter().SkipClean(true) // an untidy path is an unknown one, not a redirect
	closed := r.NewRoute().Subrouter()
	closed.Use(a.admit)
	handlers := a.handlers()
	slotsOf := map[routes.Slots]slots{routes.SlotsOfAnswers: make(slots, 4), routes.SlotsOfImports: make(slots, 1)}
	for _, route := range routes.All {
		handle := handlers[route]
		if free := slotsOf[route.Slots]; free != nil {
			handle = free.bound(handle)
		}
		handle = fromThisSite(handle)
		if route.Open {
			r.HandleFunc(route.Path, handle).Methods(route.Method)
		} else {
			closed.HandleFunc(route.Path, taking(route, handle)).Methods(route.Method)
		}
	}
	r.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool { return console.Has(r.URL.Path) }).Handler(a.fromHere(console.Handler()))
	r.MatcherFunc(a.isOfCloud).Handler(a.ofCloud(r))
	r.NotFoundHandler = console.Missing(refuse(http.StatusNotFound, "no such path: a name is not empty and has no slash, and GET /v1/openapi.yaml lists all paths"))
	r.MethodNotAllowedHandler = otherMethod(r)
	return r
}

// fromThisSite refuses what a page of another site asks, reads too.
func fromThisSite(handle http.HandlerFunc) http.HandlerFunc {
	refused := refuse(http.StatusForbidden, "the control API takes no calls from the pages of other sites")
	return func(w http.ResponseWriter, r *http.Request) {
		if CrossSite(r) {
			refused.ServeHTTP(w, r)
			return
		}
		handle(w, r)
	}
}

// CrossSite reports whether a browser says that the page of another site made the
// call. A GET is no better than a POST.
func CrossSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	for _, name := range []string{"Origin", "Referer"} {
		page := r.Header.Get(name)
		if page == "" {
			continue
		}
		if from, err := url.Parse(page); err != nil || from.Host != r.Host {
			return true
		}
	}
	return false
}

// otherMethod refuses a method, and says which ones the path takes.
func otherMethod(r *mux.Router) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		var takes []string
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			other, match := *request, mux.RouteMatch{}
			other.Method = method
			if r.Match(&other, &match) && match.MatchErr == nil {
				takes = append(takes, method)
			}
		}
		w.Header().Set("Allow", strings.Join(takes, ", "))
		fail(w, http.StatusMethodNotAllowed, "this path takes "+strings.Join(takes, " and ")+", not "+request.Method)
	}
}

// NewOffline returns the control API over a store that no emulator serves, and so without
// metrics, a journal or fault rules.
func NewOffline(cfg Config) (http.Handler, error) {
	cfg.Metrics = metrics.New(cfg.Store, cfg.Products)
	cfg.Faults = rules.New(cfg.Store, cfg.Products, &faults.Injector{})
	var err error
	cfg.Journal, err = journal.New(journal.Config{})
	return New(cfg), err
}

// handlers binds each call to its handler.
func (a *api) handlers() handlers {
	h := handlers{
		// What is no JSON, or goes on until the client leaves.
		routes.Metrics.Route:            a.Metrics.Handler().ServeHTTP,
		routes.ExportState.Route:        a.exportState,
		routes.WatchResources.Route:     a.watchResources,
		routes.StreamJournal.Route:      a.streamJournal,
		routes.GetExploration.Route:     a.getExploration,
		routes.RunScenario.Route:        a.runScenario,
		routes.WatchScenarios.Route:     a.watchScenarios,
		routes.GetLibraryScenario.Route: a.getLibraryScenario,
		routes.GetOpenAPI.Route:         a.openAPI,
	}
	on(h, routes.Health, a.healthz)
	on(h, routes.Ready, a.readyz)
	onText(h, routes.ImportState, a.MaxImport, a.importState)
	on(h, routes.CheckState, a.checkState)
	onQuery(h, routes.ResetState, a.resetState)
	onQuery(h, routes.GetWorld, a.getWorld)
	onBody(h, routes.SetWorld, a.setWorld)
	onText(h, routes.ImportCluster, a.MaxImport, a.importCluster)
	on(h, routes.GetConditions, a.conditions)
	onQuery(h, routes.GetQuotas, a.quotas)
	onQuery(h, routes.GetTraffic, a.getTraffic)
	on(h, routes.GetClock, a.getClock)
	onBody(h, routes.SetClock, a.setClock)
	onQuery(h, routes.GetResources, a.getResources)
	on(h, routes.GetResourceKinds, a.getResourceKinds)
	onQuery(h, routes.GetLoadBalancer, a.getLoadBalancer)
	onBody(h, routes.MakeCall, a.makeCall)
	on(h, routes.GetExplanation, a.explain)
	on(h, routes.GetFaults, a.getFaults)
	onText(h, routes.AddFaults, maxRequest, a.addFaults)
	on(h, routes.DeleteFaults, a.deleteFaults)
	on(h, routes.ResetFaults, a.resetFaults)
	on(h, routes.DeleteFault, a.deleteFaults)
	onQuery(h, routes.GetJournal, a.getJournal)
	on(h, routes.ClearJournal, a.clearJournal)
	on(h, routes.GetMarks, a.getMarks)
	onBody(h, routes.AddMark, a.addMark)
	onText(h, routes.PutExploration, maxExploration, a.putExploration)
	on(h, routes.GetScenarios, a.getScenarios)
	onText(h, routes.StartScenario, maxRequest, a.startScenario)
	on(h, routes.StopScenario, a.stopScenario)
	onQuery(h, routes.GetLibrary, a.getLibrary)
	on(h, routes.GetSnapshots, a.getSnapshots)
	on(h, routes.TakeSnapshot, a.takeSnapshot)
	on(h, routes.DeleteSnapshot, a.deleteSnapshot)
	on(h, routes.RestoreSnapshot, a.restoreSnapshot)
	on(h, routes.GetActions, a.actions)
	on(h, routes.GetVersion, a.version)
	on(h, routes.GetServer, a.server)
	a.bindClouds(h)
	return h
}

// admit lets in who has the token. Without one, a web page that the user of
// this machine looks at could come here under a name that it made resolve to a
// loopback address, so the name must be one that only local callers use.
func (a *api) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Token != "" && !hasToken(r, a.Token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, "the control API needs the token of --control-token: send Authorization: Bearer <token>")
			return
		}
		a.fromHere(next).ServeHTTP(w, r)
	})
}

// fromHere lets in who has no need of a token by the name that was called.
func (a *api) fromHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Token == "" && !isLocal(r.Host, a.Host) {
			fail(w, http.StatusForbidden, "the Host of the call must be a loopback address or the one that the control API listens on")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hasToken compares digests, which takes the same time however much of the
// token is right.
func hasToken(r *http.Request, token string) bool {
	sent, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// nameOf returns a host without its port.
func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLocal(host, own string) bool {
	host = nameOf(host)
	if host == "localhost" || own != "" && host == own {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func refuse(status int, reason string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fail(w, status, reason) })
}

func fail(w http.ResponseWriter, status int, reason string) {
	answer(w, status, controlapi.Refusal{Error: reason})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone, which is not an error here.
	_ = json.NewEncoder(w).Encode(body)
}

func (a *api) healthz(*http.Request) (controlapi.Status, error) {
	return controlapi.Status{Status: "ok"}, nil
}

func (a *api) readyz(*http.Request) (controlapi.Status, error) {
	if err := a.Store.Failing(); err != nil {
		return controlapi.Status{}, refused(http.StatusServiceUnavailable, "writes are refused, reads are served: "+err.Error())
	}
	if a.Ready != nil {
		if err := a.Ready(); err != nil {
			return controlapi.Status{}, &refusal{err, http.StatusServiceUnavailable}
		}
	}
	return controlapi.Status{Status: "ready", Warnings: a.warnings()}, nil
}

// warnings lists what is wrong with a state that is served all the same.
func (a *api) warnings() (list []string) {
	for _, skipped := range a.Faults.Skipped() {
		list = append(list, skipped.String())
	}
	return list
}

func (a *api) version(*http.Request) (controlapi.Version, error) { return a.Version, nil }

// server returns where the caller reaches the cloud's API: an API on all addresses is
// at the one where the caller found the control API.
func (a *api) server(r *http.Request) (controlapi.Server, error) {
	described := controlapi.Server{Auth: controlapi.AuthStrict}
	if a.Server != nil {
		described = a.Server()
	}
	if u, err := url.Parse(described.API); err == nil && u.Host != "" {
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.IsUnspecified() {
			u.Host = net.JoinHostPort(nameOf(r.Host), u.Port())
		}
		described.API = u.String()
	}
	described.Version, described.Time = a.Version, time.Now()
	described.Products = make([]controlapi.Product, len(a.Products))
	for i, p := range a.Products {
		described.Products[i] = controlapi.Product{Name: p.Name, Version: p.Version, Title: p.Title, ShortNames: p.ShortNames, Endpoint: p.Endpoint}
	}
	return described, nil
}

//go:embed openapi.yaml
var openAPIText []byte

func (a *api) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPIText) // the client may be gone
}

// Actions lists what the products know, in order of product and action.
func Actions(products []*gateway.Product) []controlapi.Action {
	var rows []controlapi.Action
	for _, p := range products {
		for _, a := range p.Actions {
			rows = append(rows, controlapi.Action{Product: p.Name, Version: p.Version, Action: a.Name, Mutates: a.Mutates, Emulated: a.Emulated})
		}
	}
	slices.SortFunc(rows, func(a, b controlapi.Action) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.Action, b.Action))
	})
	return rows
}

func (a *api) actions(*http.Request) ([]controlapi.Action, error) { return Actions(a.Products), nil }
