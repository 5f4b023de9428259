package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The types of a scenario file. The tag key names a field in YAML, doc explains
// it in the JSON Schema.

// place is a position in a file.
type place struct {
	Line int
	node *yaml.Node
}

// Place implements yamlfile.Placed.
func (p *place) Place(node *yaml.Node) { p.Line, p.node = node.Line, node }

// Scenario is a file.
type Scenario struct {
	// Name is the name of the file without its extension.
	Name string
	File string

	About      string            `yaml:"about" required:"true" doc:"What the scenario tests, in one line."`
	Advice     string            `yaml:"advice" doc:"What a client should do; shown when the scenario fails."`
	Values     map[string]string `yaml:"values" doc:"Texts for {{name}}, which may use each other; --set overrides them."`
	Given      Given             `yaml:"given" doc:"The state before the first step of each half."`
	Client     *Half             `yaml:"client" doc:"A scripted client, which runs on its own."`
	Kubernetes *Half             `yaml:"kubernetes" doc:"What a controller in a cluster must do. Skipped without a cluster."`
	Program    *Half             `yaml:"program" doc:"What a program that clbemu scenario watch runs must do."`
	Explore    Explore           `yaml:"explore" doc:"How clbemu explore judges this scenario."`
}

// Given is the state before the steps.
type Given struct {
	World Settings   `yaml:"world" doc:"Conditions of the world by name; clbemu world set --help lists them."`
	Clock *Clock     `yaml:"clock" doc:"Changes of the emulated time."`
	State []CallStep `yaml:"state" doc:"Calls that create the initial resources; each must succeed."`
	// Servers answer at this machine.
	Servers []Server `yaml:"servers" doc:"Servers of this machine that stand for instances or network interfaces of the world."`
	// Cluster is about the kubernetes half alone.
	Cluster []Object `yaml:"cluster" doc:"Objects that exist in the cluster, which steps and expectations may name."`

	place
}

// Object is an object of a cluster.
type Object struct {
	Kind      string `yaml:"kind" required:"true" doc:"The kind, such as Node."`
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	Name      string `yaml:"name" required:"true" doc:"The name."`
}

// Half is a part of a scenario that is played on its own.
type Half struct {
	Command  []string      `yaml:"command" doc:"The program of the half, as [./controller, --once]; a command line after -- replaces it."`
	Restarts int           `yaml:"restarts" doc:"How often the program starts again after an exit status other than 0."`
	Steps    []Step        `yaml:"steps" doc:"The steps, in order."`
	Expect   []Expectation `yaml:"expect" doc:"The expectations after the steps."`

	place
}

// Step is one step. Exactly one field besides name is set.
type Step struct {
	Name    string        `yaml:"name" doc:"The purpose of the step, shown while it runs."`
	Set     Settings      `yaml:"set" doc:"Change conditions of the world by name."`
	Fault   *Fault        `yaml:"fault" doc:"Add a fault rule; clbemu fault --help explains its fields."`
	Clear   NameList      `yaml:"clear" doc:"Remove fault rules by name."`
	Call    *CallStep     `yaml:"call" doc:"Call an action and check its answer."`
	Clock   *Clock        `yaml:"clock" doc:"Move, freeze or scale the emulated time."`
	Restart bool          `yaml:"restart" doc:"true: stop the server cleanly and start it again."`
	Kill    bool          `yaml:"kill" doc:"true: kill the server and start it again."`
	Kubectl *Kubectl      `yaml:"kubectl" doc:"Change the cluster."`
	Exec    *Exec         `yaml:"exec" doc:"Run a program, as [go, test, ./...], in the environment of clbemu env."`
	Start   bool          `yaml:"start" doc:"true: start the watched program; it starts after the steps if absent."`
	Stop    bool          `yaml:"stop" doc:"true: kill the watched program; a later start starts it again."`
	Struck  *struckStep   `yaml:"struck" doc:"Wait until a fault rule takes effect."`
	Rest    *restStep     `yaml:"rest" doc:"Wait until the program has ended, or the client has made no call for this long."`
	Wait    *Wait         `yaml:"wait" doc:"Call an action until its answer is as expected."`
	Repeat  *Repeat       `yaml:"repeat" doc:"Repeat steps."`
	Serve   *Server       `yaml:"serve" doc:"Change how a server of given.servers behaves."`
	Traffic *Traffic      `yaml:"traffic" doc:"Send HTTP requests to a listener."`
	Mark    string        `yaml:"mark" doc:"Name this moment for calls.since."`
	Expect  []Expectation `yaml:"expect" doc:"The expectations at this moment."`

	place
}

// Server is a server of this machine that answers HTTP with its id.
type Server struct {
	ID      string   `yaml:"id" required:"true" doc:"The instance, network interface or address that it stands for."`
	Address string   `yaml:"address" doc:"Its loopback address, such as 127.0.0.9, with which it can be its own client; 127.0.0.1 if absent."`
	Status  int      `yaml:"status" doc:"The status of its answers, 200 if absent."`
	Delay   Duration `yaml:"delay" doc:"How long it waits before each answer, in real time."`
	TLS     bool     `yaml:"tls" doc:"true: it speaks HTTPS, and answers 400 to plain HTTP."`
	Down    bool     `yaml:"down" doc:"true: it does not answer."`
}

// Traffic is a number of HTTP requests to a listener, also to one of TCP.
type Traffic struct {
	LoadBalancer string   `yaml:"loadBalancer" required:"true" doc:"The id of the load balancer."`
	Port         int      `yaml:"port" required:"true" doc:"The port of the listener."`
	Requests     int      `yaml:"requests" doc:"The number of requests of all clients together; one for each client if absent."`
	Connections  int      `yaml:"connections" doc:"The number of clients, each with one connection at a time; 1 if absent."`
	KeepAlive    bool     `yaml:"keepAlive" doc:"true: each client makes all its requests on one connection."`
	Clients      string   `yaml:"clients" doc:"A name under which the clients keep their connections for a later step."`
	Path         string   `yaml:"path" doc:"The path of the requests."`
	Host         string   `yaml:"host" doc:"The host that the requests name."`
	Source       string   `yaml:"source" doc:"The address of the clients, such as 127.0.0.9."`
	TLS          bool     `yaml:"tls" doc:"true: by HTTPS; any certificate will do."`
	Timeout      Duration `yaml:"timeout" doc:"How long a client waits for an answer, in real time; 10s if absent."`
	Expect       *Answers `yaml:"expect" doc:"What the clients get; 200 for each request if absent."`

	place
}

// Answers describes what the clients of a traffic step must get.
type Answers struct {
	Statuses  map[string]int     `yaml:"statuses" doc:"The number of answers, not a percentage, by status, such as {200: 38, 503: 2}."`
	Failures  int                `yaml:"failures" doc:"The number of requests without an answer."`
	Shares    map[string]float64 `yaml:"shares" doc:"The share of the answers by server, in percent, such as {i-1: 75, i-2: 25}."`
	Tolerance float64            `yaml:"tolerance" doc:"How many percentage points a share may differ."`
	Latency   Duration           `yaml:"latency" doc:"How long the slowest answer may take."`
}

// Fault is a rule as the file has it; templates in it are texts until it is
// played.
type Fault struct {
	node *yaml.Node
}

// Clock is a change of the emulated time.
type Clock struct {
	Advance Duration `yaml:"advance" doc:"Move the time forward, such as by 168h."`
	Freeze  bool     `yaml:"freeze" doc:"true: stop the time."`
	Scale   *float64 `yaml:"scale" doc:"Run the time this many times as fast."`
}

// CallStep is a call with what is expected of its answer.
type CallStep struct {
	Product string            `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string            `yaml:"action" required:"true" doc:"The action, such as CreateLoadBalancer."`
	Params  map[string]Value  `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Timeout Duration          `yaml:"timeout" doc:"When the client gives up, in real time."`
	Tries   int               `yaml:"tries" doc:"How often the client makes the call, at most, until the answer is as expected; 1 if absent."`
	Expect  *Reply            `yaml:"expect" doc:"The expected answer; success if absent."`
	Save    map[string]string `yaml:"save" doc:"Names for fields of the answer, as name: path."`

	place
}

// Reply is the expected answer. Without status, code and lost, the answer must be a
// success.
type Reply struct {
	Status  int                `yaml:"status" doc:"The HTTP status."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for a success."`
	Message *Matcher           `yaml:"message" doc:"The error message."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
	Lost    bool               `yaml:"lost" doc:"true: the client must get no readable answer."`
}

// Kubectl changes the cluster. Exactly one of apply, patch and delete is set.
type Kubectl struct {
	Apply  Manifest `yaml:"apply" doc:"Objects to apply, as YAML. They are deleted at the end of the half."`
	Patch  *Patch   `yaml:"patch" doc:"A merge patch of one object."`
	Delete Manifest `yaml:"delete" doc:"Objects to delete, as YAML; kind and metadata are enough."`
	// Balancer saves what a controller calls the load balancer of the one Service in
	// apply, and what the cloud controller manager tags all with that it makes for it.
	Balancer string `yaml:"balancer" doc:"With apply of one Service, the value {{name}} that holds the name of its load balancer, which is also the value of its tag kubernetes.do.not.delete."`
}

// Patch is a merge patch.
type Patch struct {
	Object    string `yaml:"object" required:"true" doc:"Kind and name, such as service/web."`
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	// Subresource is a part that only a separate request changes.
	Subresource string   `yaml:"subresource" doc:"The part of the object to patch, such as status."`
	Merge       Manifest `yaml:"merge" required:"true" doc:"The patch, as YAML."`
}

// Wait is a call made again and again.
type Wait struct {
	Call   CallStep `yaml:"call" required:"true" doc:"The call, with the answer that ends the wait."`
	Within Duration `yaml:"within" required:"true" doc:"The longest wait."`
	Every  Duration `yaml:"every" doc:"The pause between two calls."`
}

// struckStep is a wait for a fault rule.
type struckStep struct {
	Fault  string   `yaml:"fault" required:"true" doc:"The name of the rule."`
	Within Duration `yaml:"within" doc:"The longest wait; 30s if absent."`
}

// restStep is a wait for the client to come to rest.
type restStep struct {
	Quiet  Duration `yaml:"quiet" required:"true" doc:"How long the client must make no call."`
	Within Duration `yaml:"within" doc:"The longest wait; 5m if absent."`
	// Disturbed keeps a client in its back-off from being taken for one at rest.
	Disturbed *disturbed `yaml:"disturbed" doc:"What a disturbed client must do first."`
}

// disturbed says when a client that was disturbed since its last rest is at rest again.
type disturbed struct {
	By    NameList `yaml:"by" required:"true" doc:"The fault rules that disturb it."`
	Quiet Duration `yaml:"quiet" required:"true" doc:"How long it must make no call once one of them has struck, or a call was refused. Longer than its first back-off."`
	Again bool     `yaml:"again" doc:"true: it must have called again since, and since it was started; or within is over."`
}

// Repeat is steps done several times.
type Repeat struct {
	Times string `yaml:"times" required:"true" doc:"The number of repetitions."`
	From  int    `yaml:"from" doc:"The first value of {{n}}; 1 if absent."`
	Steps []Step `yaml:"steps" required:"true" doc:"The steps to repeat; {{n}} is the count."`
}

// Expectation is a condition that must hold. Exactly one field besides within and for
// is set.
type Expectation struct {
	Resource  *Resource  `yaml:"resource" doc:"A resource, as a call returns it."`
	Calls     *Calls     `yaml:"calls" doc:"Calls in the journal since the half started."`
	Quota     *Quota     `yaml:"quota" doc:"The use of a quota."`
	Addresses *Addresses `yaml:"addresses" doc:"The free addresses of a vSwitch."`
	// LoadBalancer is of any product.
	LoadBalancer *LoadBalancer `yaml:"loadBalancer" doc:"A load balancer with its listeners and backends."`
	State        *State        `yaml:"state" doc:"Everything that differs from the beginning, a line each; [] is nothing."`
	Backends     *keptBackends `yaml:"backends" doc:"No listener had fewer ready backends for a while than it had at the mark and has now; {} is since the half started."`

	Refused   *refusedCalls     `yaml:"refused" doc:"Refused calls were made again, or an Event of type Warning tells of them, about an object that the half applied."`
	Ingress   *ingressAddresses `yaml:"ingress" doc:"Load balancers exist at the addresses in the status of the Services that the half applied, and the addresses are of the given kinds."`
	Service   *Service          `yaml:"service" doc:"A Kubernetes Service."`
	Event     *Event            `yaml:"event" doc:"A Kubernetes Event."`
	Finalizer *Finalizer        `yaml:"finalizer" doc:"A finalizer of a Kubernetes object."`
	Within    Duration          `yaml:"within" doc:"It must come true within this time."`
	For       Duration          `yaml:"for" doc:"It must stay true for this time."`

	place
}

// Resource is a call that describes something, and what it must answer.
type Resource struct {
	Product string             `yaml:"product" doc:"The API that has the action, such as Nlb; Slb if absent."`
	Action  string             `yaml:"action" required:"true" doc:"The action, such as DescribeLoadBalancerAttribute."`
	Params  map[string]Value   `yaml:"params" doc:"Parameters by name; a list is sent in the form that the action reads, as Name.1 or as JSON."`
	Code    *Matcher           `yaml:"code" doc:"The expected error code, for a resource that must not exist."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
}

// Calls selects calls to count, and the number that there must be.
type Calls struct {
	Action  string             `yaml:"action" doc:"A glob, or several separated by commas; all if absent."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for calls that succeeded."`
	Params  map[string]Matcher `yaml:"params" doc:"Parameters by name."`
	Since   string             `yaml:"since" doc:"Count only calls since a mark."`
	AtLeast *int               `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int               `yaml:"atMost" doc:"At most this many."`
	Exactly *int               `yaml:"exactly" doc:"Exactly this many."`
	None    bool               `yaml:"none" doc:"true: none."`
	Order   []string           `yaml:"order" doc:"Actions that occur in this order; other calls may come between them."`
}

// Quota expects a use of a quota.
type Quota struct {
	Name   string `yaml:"name" required:"true" doc:"The quota; clbemu quota lists them."`
	Holder string `yaml:"holder" doc:"The resource that uses it, such as a load balancer; the sum of all if absent."`
	Used   *int   `yaml:"used" doc:"The amount in use."`
	Free   *int   `yaml:"free" doc:"The amount left."`
}

// Addresses is a budget of addresses.
type Addresses struct {
	VSwitch string `yaml:"vSwitch" required:"true" doc:"The vSwitch."`
	Free    *int   `yaml:"free" required:"true" doc:"The number of free addresses."`
}

// LoadBalancer is a load balancer of CLB or NLB that listens.
type LoadBalancer struct {
	Name      string            `yaml:"name" required:"true" doc:"Its name or id."`
	Absent    bool              `yaml:"absent" doc:"true: there must be none of that id, which an earlier step saved."`
	Address   *Matcher          `yaml:"address" doc:"One of its addresses."`
	Listeners map[string]Amount `yaml:"listeners" doc:"All its running listeners, each with the number of its backends: exactly so many, as in {tcp:80: 3}, or {tcp:80: {atLeast: 1}}."`
}

// Amount is how many of something there are: a number alone, or bounds.
type Amount struct {
	AtLeast *int `yaml:"atLeast" doc:"At least this many."`
	AtMost  *int `yaml:"atMost" doc:"At most this many."`
}

// State lists what differs from the beginning of the half, but for ids, addresses and
// times. A line that begins with "- " is of something that is gone.
type State []string

// Service is a Service with fields.
type Service struct {
	Namespace string             `yaml:"namespace" doc:"The namespace, default if absent."`
	Name      string             `yaml:"name" required:"true" doc:"The Service."`
	Fields    map[string]Matcher `yaml:"fields" required:"true" doc:"Fields by path, such as status.loadBalancer.ingress.0.ip."`
}

// Event is an Event about an object.
type Event struct {
	Namespace string   `yaml:"namespace" doc:"The namespace, default if absent."`
	Object    string   `yaml:"object" required:"true" doc:"Kind and name, such as Service/web."`
	Reason    string   `yaml:"reason" required:"true" doc:"The reason, such as SyncLoadBalancerFailed."`
	Custom    bool     `yaml:"custom" doc:"true: allow a reason that the Cloud Controller Manager does not have."`
	Message   *Matcher `yaml:"message" doc:"The text."`
	Since     string   `yaml:"since" doc:"Regard only what happened since a mark."`
	Absent    bool     `yaml:"absent" doc:"true: the Event must be absent."`
}

// Finalizer is a finalizer of an object.
type Finalizer struct {
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	Object    string `yaml:"object" required:"true" doc:"Kind and name, such as service/web."`
	Name      string `yaml:"name" required:"true" doc:"The finalizer, such as service.k8s.alibaba/resources."`
	Custom    bool   `yaml:"custom" doc:"true: allow a finalizer that the Cloud Controller Manager does not have."`
	Absent    bool   `yaml:"absent" doc:"true: the object must not have it, or be gone."`
}

func (s *Scenario) Validate() error {
	if s.Client == nil && s.Kubernetes == nil && s.Program == nil {
		return errors.New("there is nothing to play: give client, kubernetes or program")
	}
	return nil
}

func (h *Half) Validate() error {
	switch {
	case len(h.Steps) == 0 && len(h.Expect) == 0 && len(h.Command) == 0:
		return errors.New("there is nothing to play: give steps, expect or both")
	case h.Restarts < 0 || h.Restarts > maxTries:
		return fmt.Errorf("restarts is 0 to %d", maxTries)
	}
	return nil
}

// kinds lists what a step does.
func (s *Step) kinds() []kind {
	return []kind{
		{"set", s.Set != nil}, {"fault", s.Fault != nil}, {"clear", s.Clear != nil}, {"call", s.Call != nil},
		{"clock", s.Clock != nil}, {"restart", s.Restart}, {"kill", s.Kill}, {"kubectl", s.Kubectl != nil},
		{"exec", s.Exec != nil}, {"start", s.Start}, {"stop", s.Stop}, {"struck", s.Struck != nil}, {"rest", s.Rest != nil}, {"wait", s.Wait != nil}, {"repeat", s.Repeat != nil},
		{"serve", s.Serve != nil}, {"traffic", s.Traffic != nil}, {"mark", s.Mark != ""}, {"expect", s.Expect != nil},
	}
}

// kind names what a step does.
func (s *Step) kind() string { return nameOfSet(s.kinds()) }

func (e *Expectation) kind() string { return nameOfSet(e.kinds()) }

func (s *Step) Validate() error { return exactlyOne(s.kinds()) }

func (e *Expectation) kinds() []kind {
	return []kind{
		{"resource", e.Resource != nil}, {"calls", e.Calls != nil}, {"quota", e.Quota != nil}, {"addresses", e.Addresses != nil},
		{"loadBalancer", e.LoadBalancer != nil}, {"state", e.State != nil}, {"backends", e.Backends != nil}, {"refused", e.Refused != nil}, {"ingress", e.Ingress != nil}, {"service", e.Service != nil}, {"event", e.Event != nil}, {"finalizer", e.Finalizer != nil},
	}
}

func (e *Expectation) Validate() error {
	if e.Within > 0 && e.For > 0 {
		return errors.New("give within or for, not both")
	}
	return exactlyOne(e.kinds())
}

// protocols lists the protocols of listeners of CLB and NLB.
var protocols = []string{"tcp", "udp", "http", "https", "tcpssl", "quic"}

func validPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port >= 1 && port <= 65535
}

func (l *LoadBalancer) Validate() error {
	if l.Absent && (l.Address != nil || l.Listeners != nil) {
		return errors.New("an absent load balancer has no address and no listeners")
	}
	for name := range l.Listeners {
		protocol, port, _ := strings.Cut(name, ":")
		if !slices.Contains(protocols, protocol) {
			return fmt.Errorf("listeners: %q is not a protocol (%s) and a port, such as tcp:80", name, strings.Join(protocols, ", "))
		}
		first, last, ranges := strings.Cut(port, "-")
		if !validPort(first) || ranges && !validPort(last) {
			return fmt.Errorf("listeners: %q is not a port or a range of ports", port)
		}
	}
	return nil
}

func (t *Traffic) Validate() error {
	if t.Expect != nil {
		requests := t.requests()
		if len(usedIn(t.node)) > 0 {
			requests = maxRequests // some number, as far as can be told before it is played
		}
		if err := t.Expect.valid(requests); err != nil {
			return fmt.Errorf("expect.%w", err)
		}
	}
	switch {
	case t.Requests < 0 || t.Requests > maxRequests:
		return fmt.Errorf("requests is 0 to %d", maxRequests)
	case t.Connections < 0 || t.Connections > maxClients:
		return fmt.Errorf("connections is 0 to %d", maxClients)
	case t.Port < 1 || t.Port > 65535:
		return errors.New("port is 1 to 65535")
	}
	return nil
}

// valid refuses what no number of requests can be answered with.
func (a *Answers) valid(requests int) error {
	for _, status := range sortedKeys(a.Statuses) {
		if code, err := strconv.Atoi(status); (err != nil || code < 100 || code > 599) && !template().MatchString(status) {
			return fmt.Errorf("statuses: %q is no status: want one from 100 to 599 with the number of its answers", status)
		}
		if n := a.Statuses[status]; n < 0 || n > requests {
			return fmt.Errorf("statuses: %d answers of %s, but there are %d requests", n, status, requests)
		}
	}
	sum := 0.0
	for _, server := range sortedKeys(a.Shares) {
		share := a.Shares[server]
		if sum += share; share < 0 || share > 100 {
			return fmt.Errorf("shares: %s has %v, but a share is 0 to 100 percent", server, share)
		}
	}
	switch {
	case sum > 100+a.Tolerance*float64(len(a.Shares)):
		return fmt.Errorf("shares: together they are %v percent", sum)
	case a.Failures < 0 || a.Failures > requests:
		return fmt.Errorf("failures: %d of %d requests can't fail", a.Failures, requests)
	case a.Tolerance < 0 || a.Tolerance > 100:
		return errors.New("tolerance: it is 0 to 100 percentage points")
	}
	return nil
}

func (c *Clock) Validate() error {
	if c.Freeze && c.Scale != nil {
		return errors.New("give freeze or scale, not both")
	}
	if c.Advance == 0 && !c.Freeze && c.Scale == nil {
		return errors.New("give advance, freeze or scale")
	}
	return nil
}

func (r *Reply) Validate() error {
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return fmt.Errorf("status: no answer has the status %d", r.Status)
	}
	if r.Lost && (r.Status != 0 || r.Code != nil || r.Message != nil || len(r.Fields) > 0) {
		return errors.New("an answer that is lost has no status, code, message or fields")
	}
	return nil
}

func (k *Kubectl) Validate() error {
	if k.Balancer != "" && !k.Apply.set() {
		return errors.New("balancer is about a Service that apply makes: give apply")
	}
	return exactlyOne([]kind{{"apply", k.Apply.set()}, {"patch", k.Patch != nil}, {"delete", k.Delete.set()}})
}

func (c *Calls) Validate() error {
	switch {
	case c.AtLeast != nil && *c.AtLeast < 1:
		return errors.New("atLeast is always so: give 1 or more")
	case c.AtMost != nil && *c.AtMost < 0, c.Exactly != nil && *c.Exactly < 0:
		return errors.New("there are never fewer than 0 calls")
	case c.AtLeast != nil && c.AtMost != nil && *c.AtLeast > *c.AtMost:
		return errors.New("atLeast is more than atMost: that is never so")
	case c.Order != nil && len(c.Order) == 0:
		return errors.New("order is empty: give the actions")
	}
	return exactlyOne([]kind{{"atLeast or atMost", c.AtLeast != nil || c.AtMost != nil}, {"exactly", c.Exactly != nil}, {"none", c.None}, {"order", c.Order != nil}})
}

func (c *CallStep) Validate() error {
	if c.Tries < 0 || c.Tries > maxTries {
		return fmt.Errorf("tries is 1 to %d", maxTries)
	}
	return nil
}

// maxTries bounds how often something is tried.
const maxTries = 100

func (q *Quota) Validate() error {
	return exactlyOne([]kind{{"used", q.Used != nil}, {"free", q.Free != nil}})
}

// kind is one of several things that exclude each other.
type kind struct {
	name string
	set  bool
}

// nameOfSet names the kind that is set.
func nameOfSet(kinds []kind) string {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.set })
	if i < 0 {
		return ""
	}
	return kinds[i].name
}

func exactlyOne(kinds []kind) error {
	set, names := 0, ""
	for i, k := range kinds {
		if k.set {
			set++
		}
		switch {
		case i == 0:
			names = k.name
		case i == len(kinds)-1:
			names += " and " + k.name
		default:
			names += ", " + k.name
		}
	}
	if set != 1 {
		return fmt.Errorf("give exactly one of %s", names)
	}
	return nil
}
