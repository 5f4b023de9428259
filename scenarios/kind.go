package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Kind is a kind of steps or of expectations. Its row is all of its declaration: how a file
// gives it, its checks, its play, the JSON Schema and the reference derive from it.
type Kind struct {
	// Name is its key in a file.
	Name string
	// About says in a sentence what it does or expects.
	About string
	// Value is the type of its value. That of a step is acting or playing, that of an
	// expectation is looking; both may have more of the abilities below.
	Value reflect.Type

	// judges is true for a step that can fail by what the client does or gets.
	judges bool
	needs  need
	// notClient is why the client half has no such step, "" if it may.
	notClient string

	// ofCluster is true for an expectation about a cluster.
	ofCluster bool
	// ofCloud is true for an expectation that may come true after the client has ended.
	ofCloud bool
	// Rule is the rule of clbemu explore that an expectation stands for, ends if it is "".
	Rule string
	// Fickle is true for an expectation that a disturbance may thwart without any harm.
	Fickle bool
}

// stepKinds and expectationKinds are all kinds, in the order in which they are listed.
var (
	stepKinds = []*Kind{&setKind, &faultKind, &clearKind, &callKind, &clockKind, &restartKind, &killKind, &kubectlKind, &execKind, &startKind,
		&stopKind, &struckKind, &restKind, &waitKind, &repeatKind, &serveKind, &trafficKind, &markKind, &expectKind}
	expectationKinds = []*Kind{&resourceKind, &callsKind, &quotaKind, &addressesKind, &loadBalancerKind, &stateKind, &backendsKind,
		&refusedKind, &ingressKind, &serviceKind, &eventKind, &finalizerKind}
)

// ExpectationKinds lists the kinds of expectations.
func ExpectationKinds() []*Kind { return slices.Clone(expectationKinds) }

// need is what a step needs that not every target has.
type need int

const (
	programs need = iota + 1
	packets
	restarts
)

// acting does a step, whose templates are filled.
type acting interface {
	do(ctx context.Context, p *play, s *Step) error
}

// playing plays a step whose templates are not filled.
type playing interface {
	play(ctx context.Context, p *play, s *Step) *Failure
}

// looking looks once. What is not as expected is a difference.
type looking interface {
	look(ctx context.Context, p *play) error
}

// titled says in a few words what it does or expects. Without it, the name of the kind does.
type titled interface{ title() string }

// checking is checked once the form of the file is right.
type checking interface {
	check(c *checker, at spot, in scope)
}

// holding has steps or expectations in it.
type holding interface {
	holds() ([]Step, []Expectation)
}

// marking looks at what happened since a mark, or since the half began if that is "".
type marking interface{ since() string }

// noting notes at its mark, in the unfilled file's words, what was there before.
type noting interface {
	marking
	note(ctx context.Context, p *play) error
}

// negative may expect that something does not happen.
type negative interface{ ofNothing() bool }

// part is a step or an expectation: the value of one kind.
type part struct {
	// Kind and Value, which points to what the file gives, are nil in an invalid one.
	Kind  *Kind
	Value any
	given int

	place
}

// read reads a key that names a kind.
func (p *part) read(d *yamlfile.Decoder, e yamlfile.Entry, field string, kinds []*Kind) (ok bool) {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == e.Key.Value })
	if i < 0 {
		return false
	}
	value := reflect.New(kinds[i].Value)
	d.Decode(e.Value, value.Interface(), field)
	if value.Elem().Kind() == reflect.Struct || !value.Elem().IsZero() {
		p.Kind, p.Value, p.given = kinds[i], value.Interface(), p.given+1
	}
	return true
}

func (p *part) title() string {
	title := ""
	if t, ok := p.Value.(titled); ok {
		title = t.title()
	}
	return cmp.Or(title, p.Kind.Name)
}

func (p *part) holds() (steps []Step, expectations []Expectation) {
	if h, ok := p.Value.(holding); ok {
		return h.holds()
	}
	return nil, nil
}

func kindNames(kinds []*Kind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// Fields lists the fields of a struct that a file is read into. A step and an expectation
// have one for each kind.
func Fields(t reflect.Type) (fields []reflect.StructField) {
	kinds := map[reflect.Type][]*Kind{reflect.TypeFor[Step](): stepKinds, reflect.TypeFor[Expectation](): expectationKinds}[t]
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") != "" {
			fields = append(fields, f)
		} else if f.Type == reflect.TypeFor[part]() {
			for _, k := range kinds {
				fields = append(fields, reflect.StructField{Name: k.Name, Type: k.Value, Tag: reflect.StructTag(fmt.Sprintf("yaml:%q doc:%q", k.Name, k.About))})
			}
		}
	}
	return fields
}
