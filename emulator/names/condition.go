package names

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world/conditions"
)

// ErrNoCondition begins the error about a condition that does not exist.
var ErrNoCondition = errors.New("there is no condition")

// CheckCondition refuses a condition that does not exist, and a value that it never
// takes. Only a world knows its zones, vSwitches and keys, and checks them when the
// condition is set; an empty value is not known yet.
func (n *Names) CheckCondition(name, value string) error {
	row, named, ok := conditions.Find(name)
	if !ok {
		return fmt.Errorf("%w %s%s", ErrNoCondition, name, DidYouMean(name, n.conditionNames(), "clbemu world set --help lists them"))
	}
	if list := row.Named(n.named()); list != nil && !slices.Contains(list, named) {
		return fmt.Errorf("%w %s%s", ErrNoCondition, name, DidYouMean(name, n.conditionNames(), "there are "+strings.Join(list, ", ")))
	}
	if value == "" { // it is known when it is played
		return nil
	}
	if err := row.Value.Check(value); err != nil {
		return fmt.Errorf("%s=%s: %w", name, conditions.Shown(conditions.Setting{Name: name, Value: value}).Value, err)
	}
	if row.Lacking && value != "none" {
		return n.checkLacking(value)
	}
	if !row.Policy || value == "none" {
		return nil
	}
	document, err := kinds.ParsePolicy(value)
	if err != nil {
		return err
	}
	return n.checkPolicy(document)
}

// named returns the names that may stand in names of conditions.
func (n *Names) named() conditions.Names {
	return conditions.Names{Schema: n.schema, Actions: n.actionNames()}
}

// Named lists what may stand for the <…> of a condition's name, nil where only a world
// knows that.
func (n *Names) Named(row *conditions.Condition) []string { return row.Named(n.named()) }

// CheckPrefix refuses the beginning of conditions' names with which none begins.
func (n *Names) CheckPrefix(prefix string) error {
	for _, row := range conditions.All() {
		before, _, variable := strings.Cut(row.Name, "<")
		if variable && row.Named(n.named()) == nil && strings.HasPrefix(prefix, before) {
			return nil
		}
	}
	if slices.ContainsFunc(n.conditionNames(), func(name string) bool { return strings.HasPrefix(name, prefix) }) {
		return nil
	}
	families := n.conditionNames()
	for _, name := range n.conditionNames() {
		family, _, _ := strings.Cut(name, ".")
		families = append(families, family)
	}
	return fmt.Errorf("no condition begins with %s%s", prefix, DidYouMean(prefix, families, "clbemu world set --help lists them"))
}

// conditionNames lists the conditions that have fixed names.
func (n *Names) conditionNames() (all []string) {
	for _, row := range conditions.All() {
		list := row.Named(n.named())
		if list == nil {
			all = append(all, row.Name)
		}
		before, _, _ := strings.Cut(row.Name, "<")
		for _, named := range list {
			all = append(all, before+named)
		}
	}
	return all
}

// checkPolicy refuses a policy with an action that does not exist. An action that is not emulated
// does no harm, and real policies allow some.
func (n *Names) checkPolicy(document kinds.PolicyDocument) error {
	for i, statement := range document.Statement {
		for _, pattern := range statement.Action {
			service, _, of := strings.Cut(pattern, ":")
			other := of && !slices.ContainsFunc(n.ProductNames(), func(p string) bool { return strings.EqualFold(p, service) })
			if !n.policyMatches(pattern) && !(other && statement.Effect == "Allow") {
				return fmt.Errorf("statement %d: Action: no call is %s%s", i+1, pattern,
					DidYouMean(pattern, n.policyActions(), "write product:Action, such as slb:CreateLoadBalancer"))
			}
		}
	}
	return nil
}

// checkLacking refuses a list with a name that is neither an action of Slb, nor a parameter of one,
// nor a key in such a parameter: no call could use it.
func (n *Names) checkLacking(list string) error {
	var actions, known []string
	for _, a := range n.actions {
		if a.Product != "Slb" {
			continue
		}
		actions, known = append(actions, a.Name), append(known, a.Name)
		for _, p := range a.Parameters() {
			name, _, _ := strings.Cut(p.Name, ".")
			known = append(append(known, name), p.Fields...)
		}
	}
	for what := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(what, "=")
		if value != "" && slices.Contains(actions, name) {
			return fmt.Errorf("%s is an action, which has no value: write %s, or a parameter and its value", name, name)
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("no action or parameter of Slb is called %s%s", name, DidYouMean(name, known, "`clbemu actions` lists them"))
		}
	}
	return nil
}

func (n *Names) policyMatches(pattern string) bool {
	document := kinds.PolicyDocument{Statement: []kinds.PolicyStatement{{Effect: "Allow", Action: kinds.TextList{pattern}, Resource: kinds.TextList{"*"}}}}
	return slices.ContainsFunc(n.policyActions(), func(action string) bool { return document.Decide(action, "") == kinds.Allowed })
}

// policyActions returns the actions as policies name them.
func (n *Names) policyActions() []string {
	all := make([]string, len(n.actions))
	for i, a := range n.actions {
		all[i] = strings.ToLower(a.Product) + ":" + a.Name
	}
	return all
}
