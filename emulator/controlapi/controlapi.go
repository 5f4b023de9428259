// Package controlapi defines the control API's wire format: the types of the bodies and
// answers of its calls, which emulator/internal/control/routes declares. The OpenAPI document is
// written from them and their comments: a tag enum lists the values that a field can
// have, or names the type whose constants they are.
// It must not know how a call is answered.
package controlapi

import (
	"fmt"
	"time"

	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/scenarios"
)

// Status is the answer of a call that returns nothing else.
type Status struct {
	Status string `json:"status"`
	// Warnings says what is wrong although the call succeeded.
	Warnings []string `json:"warnings,omitempty"`
}

// Refusal is the answer of a call that was refused.
type Refusal struct {
	Error string `json:"error"`
}

// Version is the answer of GetVersion: the version, the commit that it was built from, and
// the commit's date. Commit and Date are unknown to a build without its repository.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Date is the date of the commit.
	Date string `json:"date,omitempty"`
}

// Server is the answer of GetServer: how clients of the cloud find a running emulator.
type Server struct {
	Version Version `json:"version"`
	// API is the URL of the cloud's API as the caller reaches it, or "" if it is not served.
	API string `json:"api,omitempty"`
	// Certificate is the certificate of the API's HTTPS in PEM, for clients to trust.
	Certificate string `json:"certificate,omitempty"`
	// CAFile is the file, on the emulator's machine, with the certificate of the authority that
	// clients must trust, or "" if clbemu generated none.
	CAFile string `json:"caFile,omitempty"`
	// Proxy reports whether clients may use the API's address as their HTTP proxy.
	Proxy bool `json:"proxy,omitempty"`
	// Auth is strict if signatures are verified, and off otherwise.
	Auth string `json:"auth" enum:"strict,off"`
	// DataDir is the folder of the state, or "" if it is in memory.
	DataDir string `json:"dataDir,omitempty"`
	// Cloud is the name of a cloud that was forked, or "" for the default one.
	Cloud string `json:"cloud,omitempty"`
	// AccessKeyPrefix goes before an access key's id to choose that cloud.
	AccessKeyPrefix string `json:"accessKeyPrefix,omitempty"`
	// Time is real time at the emulator, with which signatures are compared.
	Time time.Time `json:"time"`
	// Products are the products that it serves.
	Products []Product `json:"products"`
	// Unusual are the conditions of the cloud that differ from the world as it was planted, and
	// FaultRules its fault rules: with them, calls fail that would not otherwise.
	Unusual    []string `json:"unusual,omitempty"`
	FaultRules []string `json:"faultRules,omitempty"`
	// Replicas lists the emulators that share the state. It is nil if one has it alone.
	Replicas *Replicas `json:"replicas,omitempty"`
}

// Replicas are the emulators that share a state, as one of them sees it.
type Replicas struct {
	// Self names the replica that answers.
	Self string `json:"self"`
	// Leader names the replica that leads, or is "" while none does.
	Leader string `json:"leader,omitempty"`
	// Leads reports whether the replica that answers leads for certain.
	Leads bool `json:"leads"`
	// Term numbers the leader's term; it grows with each.
	Term int64 `json:"term"`
	// Problem is why the replica that answers can't lead, or refuses writes, "" without such a reason.
	Problem string `json:"problem,omitempty"`
	// LagSeconds is the time by which the replica that answers may be behind the leader.
	LagSeconds float64 `json:"lagSeconds"`
	// All are the replicas, the leader first.
	All []Replica `json:"all"`
}

// Replica is an emulator that shares its state with others.
type Replica struct {
	Name string `json:"name"`
	// API is the URL at which other replicas reach its API.
	API string `json:"api"`
	// Control is the URL at which they reach its control API.
	Control string `json:"control"`
	// Certificate is the PEM certificate of the API's HTTPS, which the others trust.
	Certificate string `json:"certificate,omitempty"`
}

// Endpoints lists the names of the variables for the addresses of products.
func (s *Server) Endpoints() (names []string) {
	for _, p := range s.Products {
		if p.Endpoint != "" {
			names = append(names, p.Endpoint+"_ENDPOINT")
		}
	}
	return names
}

// Product is an API of the emulated cloud.
type Product struct {
	// Name is the name of its API, such as Slb.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Title is its name for people, such as CLB.
	Title string `json:"title,omitempty"`
	// ShortNames choose its load balancers, as in clbemu get clb.
	ShortNames []string `json:"shortNames,omitempty"`
	// Endpoint begins the names of its clients' endpoint variables, such as SLB for SLB_ENDPOINT,
	// or is "".
	Endpoint string `json:"endpoint,omitempty"`
}

// The values of Auth.
const (
	AuthStrict = "strict"
	AuthOff    = "off"
)

// Action is a row of the answer of GetActions.
type Action struct {
	Product  string `json:"product"`
	Version  string `json:"version"`
	Action   string `json:"action"`
	Mutates  bool   `json:"mutates"`
	Emulated bool   `json:"emulated"`
}

// Problems is the answer of CheckState.
type Problems struct {
	// Problems is empty for a consistent state.
	Problems []string `json:"problems"`
}

// Where selects the account and region of the world; empty fields mean the first
// account and its region.
type Where struct {
	AccountID string `json:"account,omitempty"`
	RegionID  string `json:"region,omitempty"`
}

// Setting gives a condition of the world a value.
type Setting struct {
	// Name is one that clbemu world set --help lists.
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Conditions is the answer of GetWorld and SetWorld.
type Conditions struct {
	Conditions []Setting `json:"conditions"`
	// Warnings says which of the conditions that were set have no effect as things are.
	Warnings []string `json:"warnings,omitempty"`
}

// KnownConditions is the answer of GetConditions.
type KnownConditions struct {
	Conditions []KnownCondition `json:"conditions"`
}

// KnownCondition is a condition that there is, in force or not.
type KnownCondition struct {
	// Name has <…> for the part that the caller chooses.
	Name string `json:"name"`
	// Help describes the value and its effect.
	Help string `json:"help"`
	// Scope says what the condition belongs to.
	Scope string `json:"scope" enum:"account,region,emulator"`
	// Secret is a condition whose value only an export contains.
	Secret bool `json:"secret,omitempty"`
	// Policy is a condition whose value is a policy document.
	Policy bool `json:"policy,omitempty"`
	// Named lists what may stand for the <…>. It is absent if only the world knows.
	Named []string `json:"named,omitempty"`
}

// Change is the body of SetWorld.
type Change struct {
	Where
	Settings []Setting `json:"settings"`
}

// Imported is the answer of ImportCluster: what was done, by kind. What was there
// already as the cluster has it counts as unchanged.
type Imported struct {
	Instances         Count `json:"instances"`
	NetworkInterfaces Count `json:"networkInterfaces"`
	VPCs              int   `json:"newVpcs"`
	VSwitches         int   `json:"newVSwitches"`
	// SkippedPods have no own address: they are on the network of their
	// host, have ended or are yet to start, or have IPv6 alone.
	SkippedPods int `json:"skippedPods"`
}

// Count counts the outcomes for the resources of one kind.
type Count struct {
	Created   int `json:"created"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
}

// String returns the counts as text for people.
func (c Count) String() string {
	return fmt.Sprintf("%d created, %d changed, %d unchanged", c.Created, c.Changed, c.Unchanged)
}

// Quotas is the answer of GetQuotas.
type Quotas struct {
	Quotas []QuotaUse `json:"quotas"`
}

// QuotaUse is a quota of an account with who uses it.
type QuotaUse struct {
	Name    string        `json:"name"`
	Default int           `json:"default"`
	Limit   int           `json:"limit"`
	Holders []QuotaHolder `json:"holders,omitempty"`
}

// QuotaHolder is a resource that uses a quota.
type QuotaHolder struct {
	ID   string `json:"id"`
	Used int    `json:"used"`
}

// Clock is the answer of GetClock and SetClock.
type Clock struct {
	Now time.Time `json:"now"`
	// Scale is the speed relative to real time; 0 if frozen.
	Scale float64 `json:"scale"`
}

// ClockChange is the body of SetClock. What is left out stays.
type ClockChange struct {
	// Advance is a duration such as 168h.
	Advance string `json:"advance,omitempty"`
	// Scale is the speed of the clock from there on, or 0 to freeze it.
	Scale *float64 `json:"scale,omitempty" minimum:"0"`
}

// CloudCall is a call of the cloud's API that the emulator signs and sends to itself.
type CloudCall struct {
	// Account is the account whose key signs the call; the first one when empty.
	Account string `json:"account,omitempty"`
	// Product is the name of its API, such as Slb.
	Product string `json:"product"`
	Action  string `json:"action"`
	// Parameters holds the parameters of the action. Parameters of the protocol, such as Action,
	// Version and AccessKeyId, are refused.
	Parameters map[string]string `json:"parameters,omitempty"`
	// ReadOnly refuses an action that changes the cloud.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Caller is the caller in the journal; console when empty.
	Caller string `json:"caller,omitempty"`
}

// CloudAnswer is the answer of a CloudCall, of a refusal as well.
type CloudAnswer struct {
	Status int            `json:"status"`
	Body   map[string]any `json:"body"`
}

// FaultRule is a rule with its counters.
type FaultRule struct {
	Name string `json:"name"`
	// Rule is the rule as YAML.
	Rule  string    `json:"rule"`
	At    string    `json:"at" enum:"faults.Point"`
	Since time.Time `json:"since"`
	// Seen counts the calls that it matched.
	Seen uint64 `json:"seen"`
	// Hits counts the calls that it affected.
	Hits  uint64 `json:"hits"`
	Spent bool   `json:"spent"`
	// Disabled is a rule that is kept, and affects nothing.
	Disabled bool `json:"disabled,omitempty"`
}

// FaultRules is the answer of every call about faults.
type FaultRules struct {
	Faults []FaultRule `json:"faults"`
	// Skipped are rules that are kept and not in force.
	Skipped []SkippedFault `json:"skipped,omitempty"`
}

// SkippedFault is a fault rule that can't be read, perhaps because a newer clbemu wrote
// it.
type SkippedFault struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
	// Problem is why it is not in force.
	Problem string `json:"problem"`
}

// String describes the problem and what to do.
func (s SkippedFault) String() string {
	return "the fault rule " + s.Name + " is not in force: " + s.Problem + ": delete it, or add it again"
}

// Missed is the data of the stream's event of that name: the number of entries that
// were overwritten before they could be sent.
type Missed struct {
	Missed uint64 `json:"missed"`
}

// NewMark is the body of AddMark.
type NewMark struct {
	Name string `json:"name"`
}

// Marks is the answer of GetMarks and AddMark.
type Marks struct {
	Marks []journal.Mark `json:"marks"`
}

// Snapshot is an exported state with a name.
type Snapshot struct {
	Name string `json:"name"`
	// Taken is in real time.
	Taken time.Time `json:"taken"`
	Bytes int       `json:"bytes"`
}

// Snapshots is the answer of every call about snapshots but RestoreSnapshot.
type Snapshots struct {
	Snapshots []Snapshot `json:"snapshots"`
}

// Scenarios is the answer of GetScenarios.
type Scenarios struct {
	// Library are the names of the scenarios that can be run by them.
	Library []string `json:"library"`
	Playing *Playing `json:"playing,omitempty"`
	// Results lists the results of the last runs, the newest last.
	Results []scenarios.Result `json:"results"`
}

// Playing is a scenario that is being played.
type Playing struct {
	Scenario string `json:"scenario"`
	// Steps is the number of steps that are over.
	Steps int `json:"steps"`
	// Line is the line of the last of them.
	Line int    `json:"line,omitempty"`
	Step string `json:"step,omitempty"`
	// Apart is set of a scenario that has an emulator of its own.
	Apart bool `json:"apart,omitempty"`
}

// Library is the answer of GetLibrary.
type Library struct {
	Scenarios []LibraryScenario `json:"scenarios"`
	// Symptoms lists the symptoms that operators see, whatever text is asked for.
	Symptoms []Symptom `json:"symptoms"`
	// About is the subject of the text that was asked for, as clbemu explain finds it.
	About *TextAnswer `json:"about,omitempty"`
}

// TextAnswer is the subject of a text: an error, a symptom or a question.
type TextAnswer struct {
	Title    string `json:"title"`
	Happened string `json:"happened"`
	// Guess is true if the answer follows from the name of a code alone.
	Guess     bool           `json:"guess,omitempty"`
	Cures     []string       `json:"cures"`
	Causes    []SymptomCause `json:"causes"`
	Scenarios []string       `json:"scenarios"`
}

// Symptom is a symptom that an operator sees, with its causes, the most frequent first.
type Symptom struct {
	Name   string         `json:"name"`
	Title  string         `json:"title"`
	Causes []SymptomCause `json:"causes"`
}

// SymptomCause is a cause of a symptom: what a scenario of the library is about.
type SymptomCause struct {
	// About says it where no scenario plays it.
	About    string `json:"about,omitempty"`
	Scenario string `json:"scenario,omitempty"`
	Cure     string `json:"cure"`
}

// LibraryScenario is a scenario of the library, with the parts that it has.
type LibraryScenario struct {
	Name  string   `json:"name"`
	Parts []string `json:"parts" enum:"client,kubernetes,program"`
	About string   `json:"about"`
}

// ScenarioEvent is the data of an event of WatchScenarios. The stream starts with all
// events of the current or last play.
type ScenarioEvent struct {
	Event    string            `json:"event" enum:"begun,step,ended"`
	Scenario string            `json:"scenario"`
	Apart    bool              `json:"apart,omitempty"`
	Step     *ScenarioStep     `json:"step,omitempty"`
	Result   *scenarios.Result `json:"result,omitempty"`
}

// The values of Event.
const (
	ScenarioBegun    = "begun"
	ScenarioStepDone = "step"
	ScenarioEnded    = "ended"
)

// ScenarioStep is a step that is over.
type ScenarioStep struct {
	Line   int    `json:"line"`
	Title  string `json:"title"`
	Passed bool   `json:"passed"`
}
