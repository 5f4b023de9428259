package scenarios

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Kind is a kind of steps or of expectations. Its row is all of its declaration: how a file
// gives it, its checks, its play, the JSON Schema and the reference derive from it.
type Kind struct {
	Name  string       // its key in a file
	About string       // what it does or expects, in a sentence
	Value reflect.Type // what a file gives, with the abilities listed below

	// Of steps.
	judges    bool   // it can fail by what the client does or gets
	needs     need   // of the target
	notClient string // why the client part has no such step, "" if it may have

	// Of expectations.
	ofCluster bool   // it is about a cluster
	ofCloud   bool   // it may come true when the client has ended
	Rule      string // the rule of clbemu explore that it stands for, ends if it is ""
	Flaky     bool   // a disturbance may thwart it without any harm
}

// kind returns the row of a kind whose value is a T.
func kind[T any](k Kind) *Kind {
	k.Value = reflect.TypeFor[T]()
	return &k
}

// stepKinds and expectationKinds are all kinds, in the order of listing.
var (
	stepKinds = []*Kind{setKind, faultKind, clearKind, callKind, clockKind, restartKind, killKind, kubectlKind, execKind, startKind,
		stopKind, struckKind, restKind, waitKind, repeatKind, serveKind, trafficKind, markKind, expectKind}
	expectationKinds = []*Kind{resourceKind, callsKind, quotaKind, addressesKind, loadBalancerKind, stateKind, backendsKind, servedKind,
		refusedKind, ingressKind, serviceKind, eventKind, finalizerKind}
)

// StepKinds lists the kinds of steps.
func StepKinds() []*Kind { return slices.Clone(stepKinds) }

// ExpectationKinds lists the kinds of expectations.
func ExpectationKinds() []*Kind { return slices.Clone(expectationKinds) }

// need is a requirement of a step that not every target meets.
type need int

const (
	programs need = iota + 1
	packets
	restarts
)

// The abilities of values. A step is acting or playing, and an expectation is looking.
type (
	// acting does a step, whose templates are filled; playing fills them on its own.
	acting interface {
		do(ctx context.Context, p *play, s *Step) error
	}
	playing interface {
		play(ctx context.Context, p *play, s *Step) *Failure
	}
	// looking looks once. What is not as expected is an *Unmet.
	looking interface {
		look(ctx context.Context, p *play) error
	}
	// titled says in a few words what it does or expects; without it, the name of the kind does.
	titled interface{ title() string }
	// checking has a check that runs once the form of the file is right.
	checking interface {
		check(c *checker, at spot, in scope)
	}
	// holding has steps or expectations in it.
	holding interface {
		holds() ([]Step, []Expectation)
	}
	// marking looks at what happened since a mark, or since the part began if that is "".
	marking interface{ since() string }
	// noting notes at its mark what was there before; its templates are not filled.
	noting interface {
		marking
		note(ctx context.Context, p *play) error
	}
	// absenceChecker may expect that something does not happen.
	absenceChecker interface{ expectsAbsence() bool }
)

// element is a step or an expectation: the value of one kind.
type element struct {
	// Kind and Value, which points to what the file gives, are nil in an invalid one.
	Kind  *Kind
	Value any
	given []bool // one for each kind given

	place
}

// read reads a key, which is to name a kind.
func (p *element) read(d *yamlfile.Decoder, e yamlfile.Entry, field string, fields []string, kinds []*Kind) {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == e.Key.Value })
	if i < 0 {
		d.Unknown(e.Key, field, append(fields, kindNames(kinds)...), otherSteps)
		return
	}
	value := reflect.New(kinds[i].Value)
	d.Decode(e.Value, value.Interface(), field)
	if value.Elem().Kind() == reflect.Struct || !value.Elem().IsZero() {
		p.Kind, p.Value, p.given = kinds[i], value.Interface(), append(p.given, true)
	}
}

// otherSteps says what to write instead of the steps of other tools.
var otherSteps = map[string]string{
	"sleep":  "clock: {advance: 3s}, or wait: {within: 3s} for what must come",
	"delay":  "clock: {advance: 3s}, or wait: {within: 3s} for what must come",
	"run":    "exec: [COMMAND, ARGUMENT]",
	"shell":  "exec: [sh, -c, COMMAND]",
	"world":  "set: {NAME: VALUE}",
	"rule":   "fault: {name, match, effect}",
	"assert": "expect: [...]",
	"check":  "expect: [...]",
}

func (p *element) title() string {
	title := ""
	if t, ok := p.Value.(titled); ok {
		title = t.title()
	}
	return cmp.Or(title, p.Kind.Name)
}

func (p *element) holds() (steps []Step, expectations []Expectation) {
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
