package names

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// ResolveFault checks the actions, parameters, resource fields and code of a rule
// against the API, and returns the problems. It sets the status and message that the
// cloud returns with a known code.
func (n *Names) ResolveFault(rule *faults.Rule) (problems []faults.Problem) {
	actions, err := n.actionsOf(rule.Match)
	if err != nil {
		return []faults.Problem{{Path: []string{"match", "action"}, Reason: err.Error()}}
	}
	for _, name := range slices.Sorted(maps.Keys(rule.Match.Fields)) {
		var err error
		if parameter, ok := strings.CutPrefix(name, "params."); ok {
			err = checkParameter(actions, parameter)
		} else if field, ok := strings.CutPrefix(name, "resource."); ok {
			err = checkResourceField(actions, field)
		}
		if err != nil {
			problems = append(problems, faults.Problem{Path: []string{"match", name}, Reason: err.Error()})
		}
	}
	life, _ := rule.Effect.Value.(faults.Life)
	for _, stage := range slices.Sorted(maps.Keys(life)) {
		if err := n.checkStage(stage); err != nil {
			problems = append(problems, faults.Problem{Path: []string{"effect", "life", stage}, Reason: err.Error()})
		}
	}
	if e, ok := rule.Effect.Value.(faults.ErrorEffect); ok {
		if rule.Effect.Value, err = knownError(e, actions); err != nil {
			problems = append(problems, faults.Problem{Path: []string{"effect", "error", "code"}, Reason: err.Error()})
		}
	}
	return problems
}

// checkStage wants a stage of life to be one.
func (n *Names) checkStage(name string) error {
	stages := n.schema.Stages()
	if _, ok := stages[state.Stage(name)]; ok {
		return nil
	}
	var known []string
	for stage := range stages {
		known = append(known, string(stage))
	}
	return fmt.Errorf("there is no stage of life %s%s", name, DidYouMean(name, known, "`clbemu world get` lists them as life.<stage>"))
}

// actionsOf lists the emulated actions that a rule matches; each of its patterns must
// match one.
func (n *Names) actionsOf(m faults.Match) (matched []Action, err error) {
	var all []Action
	var known []string
	for _, a := range n.actions {
		if a.Emulated {
			all, known = append(all, a), append(known, a.Name)
		}
	}
	if len(m.Actions()) == 0 {
		return all, nil
	}
	matched, idle := glob.Select(m.Actions(), all, Action.name)
	if idle != "" {
		return nil, fmt.Errorf("no emulated action is called %s%s", idle, DidYouMean(idle, known, "`clbemu actions` lists them"))
	}
	return matched, nil
}

// checkParameter wants one of the actions to read the parameter.
func checkParameter(actions []Action, name string) error {
	var known []string
	for _, a := range actions {
		for _, p := range a.Parameters() {
			known = append(known, p.Name)
			if p.Name == name || matchesElement(p.Name, name) {
				return nil
			}
		}
	}
	return fmt.Errorf("no action that the rule matches has a parameter %s%s", name, DidYouMean(name, known, "`clbemu actions` lists them"))
}

// checkResourceField wants one of the actions to be about a stored object that has
// the field.
func checkResourceField(actions []Action, name string) error {
	var known []string
	for _, a := range actions {
		fields := a.ResourceFields()
		if slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(field, name) }) {
			return nil // without a look at the fields of all others, for each of thousands of rules
		}
		known = append(known, fields...)
	}
	if len(known) == 0 {
		return errors.New("no action that the rule matches names a stored object: match by params.<Name>")
	}
	slices.Sort(known)
	return fmt.Errorf("what these actions are about has no field %s%s", name,
		DidYouMean(name, known, "there are "+strings.Join(slices.Compact(known), ", ")))
}

// matchesElement reports whether name is an element of a list: Tag.2.Key of
// Tag.N.Key.
func matchesElement(list, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(list, ".N", ".[0-9]*"), name)
	return ok && err == nil
}

// knownError returns an effect completed with the cloud's answer for its code, which one of the
// actions must know.
func knownError(e faults.ErrorEffect, actions []Action) (faults.ErrorEffect, error) {
	if e.Custom {
		return e, nil
	}
	var codes []string
	for _, a := range actions {
		known, ok := findError(a.Product, a.Name, a.ParameterNames(), e.Code)
		if !ok {
			codes = append(codes, errorCodes(a.Product, a.Name)...)
			continue
		}
		e.HTTPStatus = cmp.Or(e.HTTPStatus, known.Status)
		e.Message = cmp.Or(e.Message, known.Message)
		return e, nil
	}
	return e, fmt.Errorf("the cloud does not answer %s to these actions%s (custom: true takes any code)", e.Code, DidYouMean(e.Code, codes, ""))
}
