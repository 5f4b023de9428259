// Package names knows the names in the emulated cloud: actions, their parameters, the
// fields of their answers and the codes of their refusals, and the names in conditions
// of the world. It reads them all from the tables of the products, so that it knows a
// new product or action at once. It rejects unknown names; it must not know who asks.
package names

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/state"
)

// Names holds the names of some products.
type Names struct {
	schema   *state.Schema
	products []*gateway.Product
	actions  []Action
	things   func() (Things, error) // nil where no world is known
}

// Action is an action with the names that calls of it can have.
type Action struct {
	Product string
	gateway.Action

	product *gateway.Product
	schema  *state.Schema
	// ofParameters lists the refusals of parameters: of each, and of a list without elements.
	ofParameters func() []*gateway.Problem
}

func (a Action) name() string { return a.Name }

// Version returns the version of the product's API, with which a call selects the product.
func (a Action) Version() string { return a.product.Version }

// Of returns the names of products.
func Of(schema *state.Schema, products []*gateway.Product) *Names {
	n := &Names{schema: schema, products: products}
	for _, p := range products {
		for _, a := range p.Actions {
			n.actions = append(n.actions, Action{p.Name, a, p, schema, sync.OnceValue(func() []*gateway.Problem { return ofParameters(p, a) })})
		}
	}
	return n
}

// Quotas lists the names of quotas.
func (n *Names) Quotas() []string {
	var all []string
	for _, name := range n.schema.QuotaNames() {
		all = append(all, string(name))
	}
	return all
}

// Stages returns how long each stage of life takes with realistic delays.
func (n *Names) Stages() map[state.Stage]time.Duration { return n.schema.Stages() }

// Actions lists all actions, emulated or not.
func (n *Names) Actions() []Action { return n.actions }

// Match lists the actions that a glob, or several by commas, is about. Each must
// be about one.
func (n *Names) Match(globs string) (matched []Action, err error) {
	matched, idle := glob.Select(glob.Split(globs), n.actions, Action.name)
	if idle != "" || globs == "" {
		return nil, fmt.Errorf("no action is called %s%s", idle, DidYouMean(idle, n.actionNames(), "clbemu actions lists them"))
	}
	return matched, nil
}

func (n *Names) actionNames() []string {
	all := make([]string, len(n.actions))
	for i, a := range n.actions {
		all[i] = a.Name
	}
	return all
}

// DidYouMean calls spelling.DidYouMean.
func DidYouMean(name string, names []string, otherwise string) string {
	return spelling.DidYouMean(name, names, otherwise)
}

// ParameterNames lists what the action reads: Tag.N.Key for the fields of lists,
// BackendServers[].Port for fields of JSON text, and the region.
func (a Action) ParameterNames() []string {
	all := []string{"RegionId"}
	for _, p := range a.Parameters() {
		if p.Name != "RegionId" {
			all = append(all, p.Name)
		}
		for _, field := range p.Fields {
			all = append(all, p.Name+"[]."+field)
		}
	}
	return all
}

// number finds the number of an element of a list, such as Tag.2.Key.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.[1-9][0-9]*(\.|$)`) })

// Reads reports whether the action reads a parameter.
func (a Action) Reads(parameter string) bool {
	known := a.ParameterNames()
	return slices.Contains(known, parameter) || slices.Contains(known, number().ReplaceAllString(parameter, ".N$1")) ||
		slices.Contains(known, parameter+".N") // a list of one
}

// ErrorRow declares how a refusal is worded.
type ErrorRow = gateway.ErrorRow

// Errors returns the refusals of the action's own product that the action can return.
func (a Action) Errors() iter.Seq[*ErrorRow] {
	return a.errors(func(*ErrorRow) bool { return true })
}

// ErrorsWith returns those of Errors with a code.
func (a Action) ErrorsWith(code string) iter.Seq[*ErrorRow] {
	return a.errors(func(row *ErrorRow) bool { return row.Code == code })
}

// errors asks for what costs more, whether the action reaches a refusal, last.
func (a Action) errors(wanted func(*ErrorRow) bool) iter.Seq[*ErrorRow] {
	return func(yield func(*ErrorRow) bool) {
		if !a.Emulated {
			return
		}
		rows := a.product.Errors.Rows()
		for i := range rows {
			if row := &rows[i]; wanted(row) && (row.Actions == nil && a.reaches(row.Fact) || slices.Contains(row.Actions, a.Name)) && !yield(row) {
				return
			}
		}
	}
}

// Worded returns how the action is refused with a code: by what it reads or by its product, or as
// the cloud's table of all products has it. Here reports whether this emulator refuses so on its
// own.
func (a Action) Worded(code string) (row ErrorRow, here, found bool) {
	if strings.HasPrefix(code, "Missing") || strings.HasPrefix(code, "Invalid") {
		for _, problem := range a.ofParameters() {
			if problem.Code == code {
				return ErrorRow{Actions: []string{a.Name}, Status: problem.Status, Code: code, Message: problem.Message}, true, true
			}
		}
	}
	known, found := findError(a.Product, a.Name, nil, code)
	row = ErrorRow{Status: known.Status, Code: code, Message: known.Message}
	if !slices.Contains(gateway.GatewayCodes(), code) {
		row.Actions = []string{a.Name}
		return row, code == a.product.Denial.Code, found
	}
	return row, true, true
}

func ofParameters(product *gateway.Product, a gateway.Action) (problems []*gateway.Problem) {
	for _, p := range a.Parameters() {
		problems = append(problems, gateway.Missing(p.Name), gateway.Invalid(p.Name))
		if list, _, of := strings.Cut(p.Name, ".N"); of {
			problems = append(problems, gateway.Missing(list))
			if product.FlatLists {
				problems = append(problems, gateway.Invalid(list))
			}
		}
	}
	return problems
}

// Codes lists the codes with which this emulator can refuse the action, with N for the
// number of a list element. Codes that faults inject are not among them.
func (a Action) Codes() []string {
	codes := append(gateway.GatewayCodes(), gateway.NotEmulatedCode) // of a parameter of an emulated action, too
	if !a.Emulated {
		return codes
	}
	if a.product.Denial.Code != "" {
		codes = append(codes, a.product.Denial.Code)
	}
	for _, problem := range a.ofParameters() {
		codes = append(codes, problem.Code)
	}
	for row := range a.Errors() {
		codes = append(codes, row.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Catalogued lists the codes that the cloud's table of all products has for the action.
func (a Action) Catalogued() []string { return errorCodes(a.Product, a.Name) }

// AllCodes lists the codes that any action can be refused with, here or, by a
// fault, as in the cloud.
func (n *Names) AllCodes() []string {
	all := make(map[string]bool)
	add := func(codes []string) {
		for _, code := range codes {
			all[code] = true
		}
	}
	add(codesUnder(anyAction)) // once, as it is a third of all
	for _, a := range n.actions {
		add(a.Codes())
		add(codesUnder(a.Product + "/" + a.Name))
	}
	return slices.Sorted(maps.Keys(all))
}

// ResourceFields lists the fields of the resources that the action's parameters can name.
func (a Action) ResourceFields() (fields []string) {
	for _, r := range a.product.Resources {
		if r.Kind != "" && slices.ContainsFunc(a.Parameters(), func(p gateway.Parameter) bool { return p.Name == r.Parameter }) {
			fields = append(fields, a.schema.FieldNames(r.Kind)...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// ProductNames lists the products.
func (n *Names) ProductNames() []string {
	all := make([]string, len(n.products))
	for i, p := range n.products {
		all[i] = p.Name
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}
