package routes

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/scenarios"
)

// The parameters that several calls have.
var (
	ofWorld = []Parameter{
		{Name: "account", Help: "The account of the world; the first one by default."},
		{Name: "region", Help: "The region; the account's own by default."},
	}
	ofOwner = []Parameter{
		{Name: "account", Help: "Only resources of this account."},
		{Name: "region", Help: "Only resources in this region."},
	}
	ofResources = append([]Parameter{
		{Name: "kind", Help: "A kind of resource (lb, listener, rule, group, backend, acl, cert, vswitch, eip, bandwidthpackage, zone, instance, job, or an alias), or several separated by commas; all but jobs by default."},
		{Name: "name", Help: "An id, a name, or a glob of either, of the resource or of the resource that it belongs to."},
	}, ofOwner...)
	ofScenario = []Parameter{{Name: "name", Help: "A scenario of the library; without it, the scenario in the body runs."},
		{Name: "apart", Form: FormBoolean, Help: "Run it on an emulator of its own, in memory, and leave this one as it is."}}

	since     = Parameter{Name: "since", Form: FormNumber, Help: "Only entries after this sequence number."}
	sinceMark = Parameter{Name: "sinceMark", Help: "Only entries after this mark."}
	before    = Parameter{Name: "before", Form: FormNumber, Help: "Only entries before this sequence number, to page backwards."}
	limit     = Parameter{Name: "limit", Form: FormNumber, Help: "The number of newest entries; 0 for all."}
	fields    = Parameter{Name: "fields", Form: FormFields, Help: "Conditions, each a query parameter of its own: kind, sequence, requestId, accessKeyId, userAgent, " +
		"product, action, region, resource, made, status, code (OK for a success), fault, unread, text (in any of an entry's texts), " +
		"refused (true or false), from and to (times), or params.<Name>. action, fault and unread take globs, several by commas."}
	lastEventID = Parameter{Name: "Last-Event-ID", Form: FormNumber, Header: true, Help: "The sequence number after which to continue."}
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
	Health = call[None, controlapi.Status](Route{Method: "GET", Path: "/healthz", Open: true,
		Summary: "Check that the process is alive"})
	Ready = call[None, controlapi.Status](Route{Method: "GET", Path: "/readyz", Open: true, Refusals: []int{unavailable},
		Summary: "Check that the emulator accepts calls"})
	Metrics = call[None, Text](Route{Method: "GET", Path: "/metrics",
		Summary: "Return calls by product, action and code, their duration, and resources by kind, for Prometheus"})

	ExportState = call[None, State](Route{Method: "GET", Path: "/v1/state", Slots: SlotsOfAnswers,
		Summary: "Export the state", Description: "It holds the secrets of access keys."})
	ImportState = call[State, controlapi.Status](Route{Method: "PUT", Path: "/v1/state", Slots: SlotsOfImports, Refusals: []int{inside},
		Summary: "Replace the state with an exported one"})
	CheckState = call[None, controlapi.Problems](Route{Method: "POST", Path: "/v1/state/check", Refusals: []int{inside},
		Summary: "Verify the state's invariants"})
	ResetState = call[None, controlapi.Status](Route{Method: "POST", Path: "/v1/state/reset", Refusals: []int{inside},
		Parameters: []Parameter{{Name: "faults", Form: FormBoolean, Help: "Delete the fault rules too."}},
		Summary:    "Delete everything but the fault rules and plant the world again"})

	GetWorld = call[None, controlapi.Conditions](Route{Method: "GET", Path: "/v1/world", Parameters: ofWorld, Refusals: []int{unknown},
		Summary: "Show the conditions in force"})
	SetWorld = call[controlapi.Change, controlapi.Conditions](Route{Method: "PATCH", Path: "/v1/world", Parameters: ofWorld, Refusals: []int{unknown, inside},
		Summary: "Change conditions; if one change is refused, none is made"})
	ImportCluster = call[Object, controlapi.Imported](Route{Method: "POST", Path: "/v1/world/import", Parameters: ofWorld, Slots: SlotsOfImports, Refusals: []int{unknown, inside},
		Summary:     "Import a Kubernetes cluster's nodes and pods as instances and network interfaces; repeating it changes nothing",
		Description: "The body is the output of kubectl get -o json for nodes or pods."})
	GetConditions = call[None, controlapi.KnownConditions](Route{Method: "GET", Path: "/v1/conditions",
		Summary: "List all conditions with their names and meanings"})
	GetQuotas = call[None, controlapi.Quotas](Route{Method: "GET", Path: "/v1/quotas", Parameters: ofWorld, Refusals: []int{unknown},
		Summary: "Show the quotas and their use"})
	GetClock = call[None, controlapi.Clock](Route{Method: "GET", Path: "/v1/clock",
		Summary: "Show the emulated time"})
	SetClock = call[controlapi.ClockChange, controlapi.Clock](Route{Method: "POST", Path: "/v1/clock", Refusals: []int{inside},
		Summary: "Advance, freeze or scale the emulated time"})

	GetResources = call[None, controlapi.Resources](Route{Method: "GET", Path: "/v1/resources", Parameters: ofResources, Slots: SlotsOfAnswers, Refusals: []int{unknown},
		Summary: "List the cloud's resources"})
	GetResourceKinds = call[None, controlapi.ResourceKinds](Route{Method: "GET", Path: "/v1/resources/kinds",
		Summary: "List the kinds of resources, with their columns"})
	WatchResources = call[None, Events[controlapi.ResourceChange]](Route{Method: "GET", Path: "/v1/resources/stream", Parameters: ofResources,
		Summary: "Follow the cloud's resources",
		Description: "Server-sent events, each called resource, with a ResourceChange as its data: existing resources, as added; then one that is " +
			"synced; then what is added, changed and deleted. What becomes due by time is sent within a second."})
	GetLoadBalancer = call[None, controlapi.LoadBalancerTree](Route{Method: "GET", Path: "/v1/loadbalancers/{name}", Parameters: ofOwner, Refusals: []int{unknown},
		Summary: "Show a load balancer, by its id or its name, with everything that belongs to it"})

	GetTraffic = call[None, controlapi.Traffic](Route{Method: "GET", Path: "/v1/traffic", Refusals: []int{unknown},
		Parameters: []Parameter{{Name: "name", Help: "An id, a name, or a glob of either, of listeners or load balancers."}},
		Summary:    "Show what went through listeners"})

	MakeCall = call[controlapi.CloudCall, controlapi.CloudAnswer](Route{Method: "POST", Path: "/v1/calls",
		Summary: "Sign a call of the cloud's API and make it, as the console does"})

	GetExplanation = call[None, controlapi.Explanation](Route{Method: "GET", Path: "/v1/explanations/{name}", Refusals: []int{unknown},
		Summary: "Explain an error code or an action"})

	GetFaults = call[None, controlapi.FaultRules](Route{Method: "GET", Path: "/v1/faults",
		Summary: "List the fault rules with their counters, in evaluation order"})
	AddFaults = call[Rules, controlapi.FaultRules](Route{Method: "POST", Path: "/v1/faults", Refusals: []int{inside},
		Parameters:  []Parameter{{Name: "file", Help: "The name of the text in error messages."}},
		Summary:     "Add fault rules, all of them or none, replacing rules with the same name",
		Description: "The body is one rule, a list of them, or several YAML documents; JSON is YAML too."})
	DeleteFaults = call[None, controlapi.FaultRules](Route{Method: "DELETE", Path: "/v1/faults", Refusals: []int{inside},
		Summary: "Delete all fault rules"})
	ResetFaults = call[None, controlapi.FaultRules](Route{Method: "POST", Path: "/v1/faults/reset", Refusals: []int{inside},
		Summary: "Reset the counters and start times of all fault rules"})
	DeleteFault = call[None, controlapi.FaultRules](Route{Method: "DELETE", Path: "/v1/faults/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a fault rule"})

	GetJournal = call[None, journal.Page](Route{Method: "GET", Path: "/v1/journal", Slots: SlotsOfAnswers,
		Parameters: []Parameter{since, sinceMark, before, limit, fields},
		Summary:    "List calls and changes, oldest first"})
	ClearJournal = call[None, controlapi.Status](Route{Method: "DELETE", Path: "/v1/journal",
		Summary: "Empty the journal in memory; sequence numbers continue, marks and the file stay"})
	GetMarks = call[None, controlapi.Marks](Route{Method: "GET", Path: "/v1/journal/marks",
		Summary: "List the marks in order of their positions"})
	AddMark = call[controlapi.NewMark, controlapi.Marks](Route{Method: "POST", Path: "/v1/journal/marks",
		Summary: "Name the current end of the journal; an existing mark with the name moves"})
	StreamJournal = call[None, Events[journal.Entry]](Route{Method: "GET", Path: "/v1/journal/stream",
		Parameters: []Parameter{since, sinceMark, limit, fields, lastEventID},
		Summary:    "Follow the journal",
		Description: "Server-sent events: existing entries, then new ones. The name of an event is the kind of its entry, its id the sequence and " +
			"its data the Entry. A client that is too slow gets an event missed with how many entries it does not get."})

	GetExploration = call[None, Object](Route{Method: "GET", Path: "/v1/exploration",
		Summary:     "Show the results of the last clbemu explore that sent some",
		Description: "They have the form that the console's page shows, and are {} if there are none."})
	PutExploration = call[Object, controlapi.Status](Route{Method: "PUT", Path: "/v1/exploration", Slots: SlotsOfImports,
		Summary: "Keep the results of clbemu explore for the console, in memory"})

	GetScenarios = call[None, controlapi.Scenarios](Route{Method: "GET", Path: "/v1/scenarios",
		Summary: "Show the running scenario, the last results, and the names in the library"})
	RunScenario = call[YAML, scenarios.Result](Route{Method: "POST", Path: "/v1/scenarios/run", Parameters: ofScenario, Refusals: []int{conflict, unable},
		Summary: "Run the client part of a scenario, until it ends or the caller disconnects"})

	StartScenario = call[YAML, controlapi.Playing](Route{Method: "POST", Path: "/v1/scenarios/start", Parameters: ofScenario, Refusals: []int{conflict, unable},
		Summary: "Start the client part of a scenario; it runs until it ends or is stopped"})
	StopScenario = call[None, controlapi.Status](Route{Method: "POST", Path: "/v1/scenarios/stop", Refusals: []int{conflict},
		Summary: "Stop the running scenario"})
	WatchScenarios = call[None, Events[controlapi.ScenarioEvent]](Route{Method: "GET", Path: "/v1/scenarios/stream",
		Summary:     "Watch scenarios run",
		Description: "Server-sent events, called scenario, with a ScenarioEvent as data: all of what is being played, or was last, then what comes."})
	GetLibrary = call[None, controlapi.Library](Route{Method: "GET", Path: "/v1/scenarios/library", Refusals: []int{inside},
		Parameters: []Parameter{{Name: "text", Help: "Only the scenarios that this text finds, and what it is about: words in English or Chinese, a code, an Event or an error."}},
		Summary:    "List the scenarios of the library"})
	GetLibraryScenario = call[None, YAML](Route{Method: "GET", Path: "/v1/scenarios/library/{name}", Refusals: []int{unknown},
		Summary: "Show a scenario of the library"})

	GetSnapshots = call[None, controlapi.Snapshots](Route{Method: "GET", Path: "/v1/snapshots", Refusals: []int{inside},
		Summary: "List the snapshots of the state"})
	TakeSnapshot = call[None, controlapi.Snapshots](Route{Method: "PUT", Path: "/v1/snapshots/{name}", Slots: SlotsOfImports, Refusals: []int{inside},
		Summary: "Save the state under a name, replacing the snapshot that has it"})
	DeleteSnapshot = call[None, controlapi.Snapshots](Route{Method: "DELETE", Path: "/v1/snapshots/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a snapshot"})
	RestoreSnapshot = call[None, controlapi.Status](Route{Method: "POST", Path: "/v1/snapshots/{name}/restore", Slots: SlotsOfImports, Refusals: []int{unknown, inside},
		Summary: "Restore the state of a snapshot"})

	GetClouds = call[None, controlapi.Clouds](Route{Method: "GET", Path: "/v1/clouds",
		Summary: "List the clouds, the default one first"})
	CreateCloud = call[controlapi.NewCloud, controlapi.Cloud](Route{Method: "PUT", Path: "/v1/clouds/{name}", Refusals: []int{unknown, inside},
		Summary: "Create a cloud as a copy of another one",
		Description: "Its control API is at /clouds/{name}, with the same paths, and its console at /clouds/{name}/. " +
			"Clients reach it by the host {name}.localhost, by an access key's id with \"{name}.\" before it, or by its own port."})
	ResetCloud = call[None, controlapi.Cloud](Route{Method: "POST", Path: "/v1/clouds/{name}/reset", Refusals: []int{unknown, inside},
		Summary: "Fork a cloud again from the one that it was forked from, as that is now"})
	DeleteCloud = call[None, controlapi.Clouds](Route{Method: "DELETE", Path: "/v1/clouds/{name}", Refusals: []int{unknown, inside},
		Summary: "Delete a cloud"})

	GetOpenAPI = call[None, YAML](Route{Method: "GET", Path: "/v1/openapi.yaml",
		Summary: "This document"})
	GetActions = call[None, []controlapi.Action](Route{Method: "GET", Path: "/v1/actions",
		Summary: "List the actions of the cloud's API and which of them are emulated"})
	GetVersion = call[None, controlapi.Version](Route{Method: "GET", Path: "/v1/version",
		Summary: "The version of clbemu"})
	GetServer = call[None, controlapi.Server](Route{Method: "GET", Path: "/v1/server",
		Summary: "Return the addresses at which clients find this emulator"})
)
