// Package routes names the calls of the control API: method, path, and what the query can
// have. Handlers and the client are bound to it; the types of bodies and answers are in
// controlapi.
package routes

import (
	"net/http"
	"net/url"
	"regexp"
	"sync"
)

// Route is a call of the control API.
type Route struct {
	Method, Path string
	// Parameters lists the query's parameters; AnyField stands for any field of the
	// journal.
	Parameters []string
	// Open is for those that everybody may call.
	Open bool
}

// AnyField stands for the fields of the journal.
const AnyField = "*"

// All lists all calls.
var All []*Route

func route(method, path string, parameters ...string) *Route {
	r := &Route{Method: method, Path: path, Parameters: parameters}
	All = append(All, r)
	return r
}

func open(method, path string) *Route {
	r := route(method, path)
	r.Open = true
	return r
}

// The calls.
var (
	Health  = open(http.MethodGet, "/healthz")
	Ready   = open(http.MethodGet, "/readyz")
	Metrics = route(http.MethodGet, "/metrics")

	ExportState = route(http.MethodGet, "/v1/state")
	ImportState = route(http.MethodPut, "/v1/state")
	CheckState  = route(http.MethodPost, "/v1/state/check")
	ResetState  = route(http.MethodPost, "/v1/state/reset", "faults")

	GetWorld      = route(http.MethodGet, "/v1/world", "account", "region")
	SetWorld      = route(http.MethodPatch, "/v1/world", "account", "region")
	ImportCluster = route(http.MethodPost, "/v1/world/import", "account", "region")
	GetConditions = route(http.MethodGet, "/v1/conditions")
	GetQuotas     = route(http.MethodGet, "/v1/quotas", "account", "region")
	GetClock      = route(http.MethodGet, "/v1/clock")
	SetClock      = route(http.MethodPost, "/v1/clock")

	GetResources     = route(http.MethodGet, "/v1/resources", "kind", "name", "account", "region")
	GetResourceKinds = route(http.MethodGet, "/v1/resources/kinds")
	WatchResources   = route(http.MethodGet, "/v1/resources/stream", "kind", "name", "account", "region")
	GetLoadBalancer  = route(http.MethodGet, "/v1/loadbalancers/{name}", "account", "region")

	GetTraffic = route(http.MethodGet, "/v1/traffic", "name")

	MakeCall = route(http.MethodPost, "/v1/calls")

	GetExplanation = route(http.MethodGet, "/v1/explanations/{name}")

	GetFaults    = route(http.MethodGet, "/v1/faults")
	AddFaults    = route(http.MethodPost, "/v1/faults", "file")
	DeleteFaults = route(http.MethodDelete, "/v1/faults")
	ResetFaults  = route(http.MethodPost, "/v1/faults/reset")
	DeleteFault  = route(http.MethodDelete, "/v1/faults/{name}")

	GetJournal    = route(http.MethodGet, "/v1/journal", "since", "sinceMark", "before", "limit", AnyField)
	ClearJournal  = route(http.MethodDelete, "/v1/journal")
	GetMarks      = route(http.MethodGet, "/v1/journal/marks")
	AddMark       = route(http.MethodPost, "/v1/journal/marks")
	StreamJournal = route(http.MethodGet, "/v1/journal/stream", "since", "sinceMark", "limit", AnyField)

	GetExploration = route(http.MethodGet, "/v1/exploration")
	PutExploration = route(http.MethodPut, "/v1/exploration")

	GetScenarios = route(http.MethodGet, "/v1/scenarios")
	RunScenario  = route(http.MethodPost, "/v1/scenarios/run", "name")

	StartScenario      = route(http.MethodPost, "/v1/scenarios/start", "name")
	StopScenario       = route(http.MethodPost, "/v1/scenarios/stop")
	WatchScenarios     = route(http.MethodGet, "/v1/scenarios/stream")
	GetLibrary         = route(http.MethodGet, "/v1/scenarios/library", "text")
	GetLibraryScenario = route(http.MethodGet, "/v1/scenarios/library/{name}")

	GetSnapshots    = route(http.MethodGet, "/v1/snapshots")
	TakeSnapshot    = route(http.MethodPut, "/v1/snapshots/{name}")
	DeleteSnapshot  = route(http.MethodDelete, "/v1/snapshots/{name}")
	RestoreSnapshot = route(http.MethodPost, "/v1/snapshots/{name}/restore")

	GetClouds   = route(http.MethodGet, "/v1/clouds")
	CreateCloud = route(http.MethodPut, "/v1/clouds/{name}")
	ResetCloud  = route(http.MethodPost, "/v1/clouds/{name}/reset")
	DeleteCloud = route(http.MethodDelete, "/v1/clouds/{name}")

	GetOpenAPI = route(http.MethodGet, "/v1/openapi.yaml")
	GetActions = route(http.MethodGet, "/v1/actions")
	GetVersion = route(http.MethodGet, "/v1/version")
	GetServer  = route(http.MethodGet, "/v1/server")
)

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[a-z]+\}`) })

// For returns the path of a call about the thing with this name.
func (r *Route) For(name string) string {
	return variable().ReplaceAllLiteralString(r.Path, url.PathEscape(name))
}
