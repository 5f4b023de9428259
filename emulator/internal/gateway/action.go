package gateway

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/state"
)

// Action is one row of a product's table.
type Action struct {
	Name string
	// Mutates reports whether the action writes.
	Mutates bool
	// Emulated is false for a row that only answers the NotEmulated error.
	Emulated bool

	also     []string // other names that clients call it by
	refuses  []Refusal
	unsigned bool

	// The plans for the request and the answer come into being when first needed.
	request  func() *decoder
	response func() *encoder
	// The handler is one of them.
	read  func(*state.View, any) (any, error)
	write func(*state.Tx, any) (any, error)
}

// Read declares an action that changes nothing.
func Read[Req, Res any](name string, handle func(*state.View, *Req) (*Res, error)) Action {
	a := newAction(name, reflect.TypeFor[Req](), reflect.TypeFor[Res]())
	a.read = func(v *state.View, request any) (any, error) { return handle(v, request.(*Req)) }
	return a
}

// Write declares an action whose handler may change the state. What it did is
// durable before it is answered.
func Write[Req, Res any](name string, handle func(*state.Tx, *Req) (*Res, error)) Action {
	a := newAction(name, reflect.TypeFor[Req](), reflect.TypeFor[Res]())
	a.Mutates = true
	a.write = func(tx *state.Tx, request any) (any, error) { return handle(tx, request.(*Req)) }
	return a
}

func newAction(name string, request, response reflect.Type) Action {
	return Action{
		Name:     name,
		Emulated: true,
		request:  sync.OnceValue(func() *decoder { return newDecoder(request) }),
		response: sync.OnceValue(func() *encoder { return newEncoder(response) }),
	}
}

// Also returns the action with other names by which clients call it.
func (a Action) Also(names ...string) Action {
	a.also = names
	return a
}

// Refusing returns the action with the refusals that no handler returns and that only the tags of
// its request name.
func (a Action) Refusing(refusals ...Refusal) Action {
	a.refuses = refusals
	return a
}

// Unsigned returns the action for callers without a key, whose signature is not checked.
func (a Action) Unsigned() Action {
	a.unsigned = true
	return a
}

// Refuses lists the refusals in the action's declaration.
func (a Action) Refuses() []Refusal { return a.refuses }

// NotEmulated declares an action that the cloud has and this emulator refuses,
// always with the same error.
func NotEmulated(name string) Action { return Action{Name: name} }

// Completed returns the rows of an API, whose actions are all named, one a line: the
// emulated ones, and a row for each other action, rejected as existing in
// the cloud but not emulated.
func Completed(names string, emulated ...[]Action) []Action {
	rows := slices.Concat(emulated...)
	known := make(map[string]bool, len(rows))
	for _, a := range rows {
		known[a.Name] = true
	}
	for name := range strings.FieldsSeq(names) {
		if !known[name] {
			rows = append(rows, NotEmulated(name))
		}
	}
	return rows
}

// Parameter describes a parameter that an action reads.
type Parameter struct {
	Name     string // Tag.N.Key for the fields of lists
	Required bool
	// Fields lists the fields of the objects in a parameter that is JSON text.
	Fields []string
	// What its tag says of a value: Type is string, bool, int32, int64, json for a
	// list in JSON text or object for an object in it; Range, such as 1..64, limits
	// an integer or the number of characters; Values are all that there are. Items is
	// how many elements its list has at most, 0 is any number.
	Type, Range string
	Values      []string
	Items       int
}

// Parameters lists what the action reads, in the order of its request struct.
func (a Action) Parameters() []Parameter {
	if a.request == nil {
		return nil
	}
	return a.request().parameters()
}

// TagRefusals names the refusals that the request's tags ask for.
func (a Action) TagRefusals() []state.Fact {
	if a.request == nil {
		return nil
	}
	return a.request().refusals()
}

// ResponseFields lists the paths that the action can answer, such as
// LoadBalancers.LoadBalancer[].LoadBalancerId.
func (a Action) ResponseFields() []string {
	if a.response == nil {
		return nil
	}
	return a.response().paths("")
}

// Caller is a part of requests whose handlers must know who calls; the gateway fills
// it.
type Caller struct {
	AccessKeyID string
	// KeyPrefix went before the id to choose a cloud, and goes before the id of each
	// key that the caller gets; "" where something else chose it.
	KeyPrefix string
}

func (c *Caller) setCaller(caller Caller) { *c = caller }

// Empty is the response of an action that answers a RequestId alone.
type Empty struct{}

// Product is an API: a version, its actions and its errors.
type Product struct {
	Name    string // Slb
	Version string // 2014-05-15
	// Title is its name for people, such as CLB.
	Title string
	// ShortNames choose its load balancers, as in `clbemu get clb`.
	ShortNames []string
	// Endpoint begins the names of its clients' endpoint variables, such as SLB for SLB_ENDPOINT,
	// or is "".
	Endpoint string
	// DNSApex ends the DNS names of its load balancers, or is "" if they have none.
	DNSApex string
	// HostID is the host that error replies name when the client's Host is not the
	// cloud's.
	HostID string
	// RAMName is the product's in policies, "" where that is its own.
	RAMName string
	Actions []Action
	Errors  *ErrorTable
	// Denial is the product's form of a refusal by RAM; its fact is not used.
	Denial ErrorRow
	// Resources say what calls are about, for RAM.
	Resources []Resource
	// FlatLists refuses a list that comes in one text, as JSON, and not as Name.1.
	FlatLists bool
	// RateLimits holds the limits of the realistic profile.
	RateLimits RateLimits
	// Idle are the parameters that its actions need not read.
	Idle []Idle
	// Guesses lists the guesses that successful answers rest on.
	Guesses []Guess
	// Offers refuses a call that the place where it would act does not support. It may be nil.
	Offers func(v *state.View, action string, params Params) error

	rows map[string]*Action // the actions by each of their names, once indexed
}

// index makes the actions known by their names, for all servers of the product. Actions
// that share a name are a programming error.
func (p *Product) index() {
	if p.rows != nil {
		return
	}
	rows := make(map[string]*Action, len(p.Actions))
	for i := range p.Actions {
		for _, name := range append([]string{p.Actions[i].Name}, p.Actions[i].also...) {
			if _, twice := rows[name]; twice {
				panic("gateway: two rows for action " + name)
			}
			rows[name] = &p.Actions[i]
		}
	}
	p.rows = rows
}

// Reads reports whether the product has an action, emulated, that changes nothing.
func (p *Product) Reads(action string) bool {
	row, ok := p.rows[action]
	return ok && row.Emulated && !row.Mutates
}

// Changes reports whether the product has an action, emulated, that changes the cloud.
func (p *Product) Changes(action string) bool {
	row, ok := p.rows[action]
	return ok && row.Emulated && row.Mutates
}

// Has reports whether the product has an action, emulated or not.
func (p *Product) Has(action string) bool {
	_, ok := p.rows[action]
	return ok
}

// PolicyName returns the product's name in actions and resources of policies.
func (p *Product) PolicyName() string { return cmp.Or(p.RAMName, strings.ToLower(p.Name)) }
