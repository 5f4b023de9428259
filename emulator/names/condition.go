package names

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state/cloud"
)

// CheckCondition refuses a condition of the world that there is not, and a value
// that names what there is not. What is in the world, such as zones, the world
// checks itself when it is set; an empty value is not known yet.
func (n *Names) CheckCondition(name, value string) error {
	row, named, ok := findCondition(name)
	if !ok {
		return fmt.Errorf("there is no condition %s%s", name, DidYouMean(name, n.conditionNames(), "clbemu world set --help lists them"))
	}
	if list := n.listOf(row); list != nil && !slices.Contains(list, named) {
		return fmt.Errorf("there is no condition %s%s", name, DidYouMean(name, n.conditionNames(), "there are "+strings.Join(list, ", ")))
	}
	if strings.HasPrefix(row, "policy.") && value != "" && value != "none" {
		document, err := cloud.ParsePolicy(value)
		if err != nil {
			return err
		}
		return n.checkPolicy(document)
	}
	return nil
}

// CheckPrefix refuses the beginning of conditions' names with which none begins.
func (n *Names) CheckPrefix(prefix string) error {
	for _, d := range world.Documentation() {
		before, _, variable := strings.Cut(d.Name, "<")
		if variable && n.listOf(d.Name) == nil && strings.HasPrefix(prefix, before) {
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

// findCondition finds the row of a condition's name, and what stands in it for
// <…>.
func findCondition(name string) (row, named string, ok bool) {
	for _, d := range world.Documentation() {
		before, rest, variable := strings.Cut(d.Name, "<")
		_, after, _ := strings.Cut(rest, ">")
		named, fits := strings.CutPrefix(name, before)
		if fits {
			named, fits = strings.CutSuffix(named, after)
		}
		if fits && (named != "") == variable {
			return d.Name, named, true
		}
	}
	return "", "", false
}

// listOf lists what the <…> of a row can be, nil where only a world knows it.
func (n *Names) listOf(row string) (list []string) {
	switch row {
	case "quota.<name>":
		for _, q := range n.schema.QuotaNames() {
			list = append(list, string(q))
		}
	case "throttle.action.<action>":
		return n.actionNames()
	case "life.<stage>":
		for stage := range n.schema.Stages() {
			list = append(list, string(stage))
		}
		slices.Sort(list)
	}
	return list
}

// conditionNames are all that can be listed.
func (n *Names) conditionNames() (all []string) {
	for _, d := range world.Documentation() {
		list := n.listOf(d.Name)
		if list == nil {
			all = append(all, d.Name)
		}
		before, _, _ := strings.Cut(d.Name, "<")
		for _, named := range list {
			all = append(all, before+named)
		}
	}
	return all
}

// checkPolicy refuses a policy with an action that no call can be. One that allows
// what is not emulated does no harm, and real policies do.
func (n *Names) checkPolicy(document cloud.PolicyDocument) error {
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

func (n *Names) policyMatches(pattern string) bool {
	document := cloud.PolicyDocument{Statement: []cloud.PolicyStatement{{Effect: "Allow", Action: cloud.TextList{pattern}, Resource: cloud.TextList{"*"}}}}
	return slices.ContainsFunc(n.policyActions(), func(action string) bool { return document.Decide(action, "") == cloud.Allowed })
}

// policyActions are the actions as policies name them.
func (n *Names) policyActions() []string {
	all := make([]string, len(n.actions))
	for i, a := range n.actions {
		all[i] = strings.ToLower(a.Product) + ":" + a.Name
	}
	return all
}
