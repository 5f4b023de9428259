package routes

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/scenarios"
)

// Statuses of refusals that only some calls have.
const (
	unknown     = http.StatusNotFound
	conflict    = http.StatusConflict
	inside      = http.StatusInternalServerError
	unable      = http.StatusNotImplemented
	unavailable = http.StatusServiceUnavailable
)

// The calls.
var (
	Health = call[None, None, controlapi.Status](Route{Method: "GET", Path: "/healthz", Open: true,
		Summary: "Check that the process is alive"})
	Ready = call[None, None, controlapi.Status](Route{Method: "GET", Path: "/readyz", Open: true, Refusals: []int{unavailable},
		Summary: "Check that the emulator accepts calls"})
	Metrics = call[None, None, Text](Route{Method: "GET", Path: "/metrics",
		Summary: "Return calls by product, action and code, their duration, and resources by kind, for Prometheus"})

	ExportState = call[None, None, State](Route{Method: "GET", Path: "/v1/state", Slots: SlotsOfAnswers,
		Summary: "Export the state", Description: "It holds the secrets of access keys."})
	ImportState = call[None, State, controlapi.Status](Route{Method: "PUT", Path: "/v1/state", Slots: SlotsOfImports, Refusals: []int{inside},
		Summary: "Replace the state with an exported one"})
	CheckState = call[None, None, controlapi.Problems](Route{Method: "POST", Path: "/v1/state/check", Refusals: []int{inside},
		Summary: "Verify the state's invariants"})
	ResetState = call[OfReset, None, controlapi.Status](Route{Method: "POST", Path: "/v1/state/reset", Refusals: []int{inside},
		Summary: "Delete everything but the fault rules and plant the world again"})

	GetWorld = call[OfWorld, None, controlapi.Conditions](Route{Method: "GET", Path: "/v1/world", Refusals: []int{unknown},
		Summary: "Show the conditions in force"})
	SetWorld = call[OfWorld, controlapi.Change, controlapi.Conditions](Route{Method: "PATCH", Path: "/v1/world", Refusals: []int{unknown, inside},
		Summary: "Change conditions; if one change is refused, none is made"})
	ImportCluster = call[OfWorld, Object, controlapi.Imported](Route{Method: "POST", Path: "/v1/world/import", Slots: SlotsOfImports, Refusals: []int{unknown, inside},
		Summary:     "Import a Kubernetes cluster's nodes and pods as instances and network interfaces; repeating it changes nothing",
		Description: "The body is the output of kubectl get -o json for nodes or pods."})
	GetConditions = call[None, None, controlapi.KnownConditions](Route{Method: "GET", Path: "/v1/conditions",
		Summary: "List all conditions with their names and meanings"})
	GetQuotas = call[OfWorld, None, controlapi.Quotas](Route{Method: "GET", Path: "/v1/quotas", Refusals: []int{unknown},
		Summary: "Show the quotas and their use"})
	GetClock = call[None, None, controlapi.Clock](Route{Method: "GET", Path: "/v1/clock",
		Summary: "Show the emulated time"})
	SetClock = call[None, controlapi.ClockChange, controlapi.Clock](Route{Method: "POST", Path: "/v1/clock", Refusals: []int{inside},
		Summary: "Advance, freeze or scale the emulated time"})

	GetResources = call[OfResources, None, controlapi.Resources](Route{Method: "GET", Path: "/v1/resources", Slots: SlotsOfAnswers, Refusals: []int{unknown},
		Summary: "List the cloud's resources"})
	GetResourceKinds = call[None, None, controlapi.ResourceKinds](Route{Method: "GET", Path: "/v1/resources/kinds",
		Summary: "List the kinds of resources, with their columns"})
	WatchResources = call[OfResources, None, Events[controlapi.ResourceChange]](Route{Method: "GET", Path: "/v1/resources/stream",
		Summary: "Follow the cloud's resources",
		Description: "Server-sent events, each called resource, with a ResourceChange as its data: existing resources, as added; then one that is " +
			"synced; then what is added, changed and deleted. What becomes due by time is sent within a second."})
	GetLoadBalancer = call[OfOwner, None, controlapi.LoadBalancerTree](Route{Method: "GET", Path: "/v1/loadbalancers/{name}", Refusals: []int{unknown},
		Summary: "Show a load balancer, by its id or its name, with everything that belongs to it"})

	GetTraffic = call[OfTraffic, None, controlapi.Traffic](Route{Method: "GET", Path: "/v1/traffic", Refusals: []int{unknown},
		Summary: "Show what went through listeners"})

	MakeCall = call[None, controlapi.CloudCall, controlapi.CloudAnswer](Route{Method: "POST", Path: "/v1/calls",
		Summary: "Sign a call of the cloud's API and make it, as the console does"})

	GetExplanation = call[None, None, controlapi.Explanation](Route{Method: "GET", Path: "/v1/explanations/{name}", Refusals: []int{unknown},
		Summary: "Explain an error code or an action"})

	GetFaults = call[None, None, controlapi.FaultRules](Route{Method: "GET", Path: "/v1/faults",
		Summary: "List the fault rules with their counters, in evaluation order"})
	AddFaults = call[OfRules, Rules, controlapi.FaultRules](Route{Method: "POST", Path: "/v1/faults", Refusals: []int{inside},
		Summary:     "Add fault rules, all of them or none, replacing rules with the same name",
		Description: "The body is one rule, a list of them, or several YAML documents; JSON is YAML too."})
	DeleteFaults = call[None, None, controlapi.FaultRules](Route{Method: "DELETE", Path: "/v1/faults", Refusals: []int{inside},
		Summary: "Delete all fault rules"})
	ResetFaults = call[None, None, controlapi.FaultRules](Route{Method: "POST", Path: "/v1/faults/reset", Refusals: []int{inside},
		Summary: "Reset the counters and start times of all fault rules"})
	DeleteFault = call[None, None, controlapi.FaultRules](Route{Method: "DELETE", Path: "/v1/faults/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a fault rule"})

	GetJournal = call[OfJournal, None, journal.Page](Route{Method: "GET", Path: "/v1/journal", Slots: SlotsOfAnswers,
		Summary: "List calls and changes, oldest first"})
	ClearJournal = call[None, None, controlapi.Status](Route{Method: "DELETE", Path: "/v1/journal",
		Summary: "Empty the journal in memory; sequence numbers continue, marks and the file stay"})
	GetMarks = call[None, None, controlapi.Marks](Route{Method: "GET", Path: "/v1/journal/marks",
		Summary: "List the marks in order of their positions"})
	AddMark = call[None, controlapi.NewMark, controlapi.Marks](Route{Method: "POST", Path: "/v1/journal/marks",
		Summary: "Name the current end of the journal; an existing mark with the name moves"})
	StreamJournal = call[OfStream, None, Events[journal.Entry]](Route{Method: "GET", Path: "/v1/journal/stream",
		Summary: "Follow the journal",
		Description: "Server-sent events: existing entries, then new ones. The name of an event is the kind of its entry, its id the sequence and " +
			"its data the Entry. A client that is too slow gets an event missed with how many entries it does not get."})

	GetExploration = call[None, None, Object](Route{Method: "GET", Path: "/v1/exploration",
		Summary:     "Show the results of the last clbemu explore that sent some",
		Description: "They have the form that the console's page shows, and are {} if there are none."})
	PutExploration = call[None, Object, controlapi.Status](Route{Method: "PUT", Path: "/v1/exploration", Slots: SlotsOfImports,
		Summary: "Keep the results of clbemu explore for the console, in memory"})

	GetScenarios = call[None, None, controlapi.Scenarios](Route{Method: "GET", Path: "/v1/scenarios",
		Summary: "Show the running scenario, the last results, and the names in the library"})
	RunScenario = call[OfScenario, YAML, scenarios.Result](Route{Method: "POST", Path: "/v1/scenarios/run", Refusals: []int{conflict, unable},
		Summary: "Run the client part of a scenario, until it ends or the caller disconnects"})

	StartScenario = call[OfScenario, YAML, controlapi.Playing](Route{Method: "POST", Path: "/v1/scenarios/start", Refusals: []int{conflict, unable},
		Summary: "Start the client part of a scenario; it runs until it ends or is stopped"})
	StopScenario = call[None, None, controlapi.Status](Route{Method: "POST", Path: "/v1/scenarios/stop", Refusals: []int{conflict},
		Summary: "Stop the running scenario"})
	WatchScenarios = call[None, None, Events[controlapi.ScenarioEvent]](Route{Method: "GET", Path: "/v1/scenarios/stream",
		Summary:     "Watch scenarios run",
		Description: "Server-sent events, called scenario, with a ScenarioEvent as data: all of what is being played, or was last, then what comes."})
	GetLibrary = call[OfLibrary, None, controlapi.Library](Route{Method: "GET", Path: "/v1/scenarios/library", Refusals: []int{inside},
		Summary: "List the scenarios of the library"})
	GetLibraryScenario = call[None, None, YAML](Route{Method: "GET", Path: "/v1/scenarios/library/{name}", Refusals: []int{unknown},
		Summary: "Show a scenario of the library"})

	GetSnapshots = call[None, None, controlapi.Snapshots](Route{Method: "GET", Path: "/v1/snapshots", Refusals: []int{inside},
		Summary: "List the snapshots of the state"})
	TakeSnapshot = call[None, None, controlapi.Snapshots](Route{Method: "PUT", Path: "/v1/snapshots/{name}", Slots: SlotsOfImports, Refusals: []int{inside},
		Summary: "Save the state under a name, replacing the snapshot that has it"})
	DeleteSnapshot = call[None, None, controlapi.Snapshots](Route{Method: "DELETE", Path: "/v1/snapshots/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a snapshot"})
	RestoreSnapshot = call[None, None, controlapi.Status](Route{Method: "POST", Path: "/v1/snapshots/{name}/restore", Slots: SlotsOfImports, Refusals: []int{unknown, inside},
		Summary: "Restore the state of a snapshot"})

	GetClouds = call[None, None, controlapi.Clouds](Route{Method: "GET", Path: "/v1/clouds",
		Summary: "List the clouds, the default one first"})
	CreateCloud = call[None, controlapi.NewCloud, controlapi.Cloud](Route{Method: "PUT", Path: "/v1/clouds/{name}", Refusals: []int{unknown, inside},
		Summary: "Create a cloud as a copy of another one",
		Description: "Its control API is at /clouds/{name}, with the same paths, and its console at /clouds/{name}/. " +
			"Clients reach it by the host {name}.localhost, by an access key's id with \"{name}.\" before it, or by its own port."})
	ResetCloud = call[None, None, controlapi.Cloud](Route{Method: "POST", Path: "/v1/clouds/{name}/reset", Refusals: []int{unknown, inside},
		Summary: "Fork a cloud again from the one that it was forked from, as that is now"})
	DeleteCloud = call[None, None, controlapi.Clouds](Route{Method: "DELETE", Path: "/v1/clouds/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a cloud"})

	GetOpenAPI = call[None, None, YAML](Route{Method: "GET", Path: "/v1/openapi.yaml",
		Summary: "This document"})
	GetActions = call[None, None, []controlapi.Action](Route{Method: "GET", Path: "/v1/actions",
		Summary: "List the actions of the cloud's API and which of them are emulated"})
	GetVersion = call[None, None, controlapi.Version](Route{Method: "GET", Path: "/v1/version",
		Summary: "The version of clbemu"})
	GetServer = call[None, None, controlapi.Server](Route{Method: "GET", Path: "/v1/server",
		Summary: "Return the addresses at which clients find this emulator"})
)
