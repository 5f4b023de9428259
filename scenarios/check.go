package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/faults"
)

// checker looks at what a scenario means once its form is right.
type checker struct {
	*decoder
	api API
}

// values settles the values of the scenario.
func (c *checker) values(root *yaml.Node, s *Scenario, set map[string]string) {
	for name := range s.Values {
		if !validName.MatchString(name) {
			c.fail(child(root, "values", name), "values."+name, "a name has letters, digits and _, and begins with a letter")
		}
		if text, ok := set[name]; ok {
			s.Values[name] = text
		}
	}
	resolved, err := resolve(s.Values)
	if err != nil {
		c.fail(child(root, "values"), "values", "%s", strings.TrimPrefix(err.Error(), "values."))
		return
	}
	s.Values = resolved
}

// child finds what a path of keys leads to, or how far it leads.
func child(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				node = node.Content[i+1]
				break
			}
		}
	}
	return node
}

// scope is what a step may use: names of values and of what was saved, and marks.
type scope struct {
	names   map[string]bool
	marks   map[string]bool
	faults  map[string]bool
	cluster bool
}

func (c *checker) scenario(s *Scenario) {
	for _, h := range []struct {
		name string
		half *Half
	}{{ClientHalf, s.Client}, {KubernetesHalf, s.Kubernetes}} {
		if h.half == nil {
			continue
		}
		in := scope{make(map[string]bool), make(map[string]bool), make(map[string]bool), h.name == KubernetesHalf}
		for name := range s.Values {
			in.names[name] = true
		}
		c.given(&s.Given, in)
		c.steps(h.half.Steps, h.name+".steps", in)
		c.expectations(h.half.Expect, h.name+".expect", in)
	}
}

func (c *checker) given(g *Given, in scope) {
	if g.node == nil {
		return
	}
	for _, part := range []string{"world", "clock"} {
		if node := child(g.node, part); node != g.node {
			c.names(node, "given."+part, in)
		}
	}
	c.settings(g.World, "given.world")
	for i := range g.State {
		path := fmt.Sprintf("given.state[%d]", i)
		c.names(g.State[i].node, path, in)
		c.call(&g.State[i], path, in)
	}
}

// names reports templates of names that are not known at this place.
func (c *checker) names(node *yaml.Node, path string, in scope) {
	if node.Kind == yaml.ScalarNode {
		names, err := namesIn(node.Value)
		if err != nil {
			c.fail(node, path, "%s", err)
		}
		for _, name := range names {
			if !in.names[name] {
				c.fail(node, path, "there is no value {{%s}} here: give it in values, or save it in an earlier step%s", name, near(name, in.names))
			}
		}
		return
	}
	if node.Kind == yaml.SequenceNode {
		for i, element := range node.Content {
			c.names(element, fmt.Sprintf("%s[%d]", path, i), in)
		}
		return
	}
	for i := 1; i < len(node.Content); i += 2 {
		key, value := node.Content[i-1], node.Content[i]
		under := join(path, key.Value)
		c.names(key, under, in)
		switch {
		case key.Value == "repeat":
			c.names(child(value, "times"), under+".times", in) // its steps are checked as steps
		case key.Value == "expect" && value.Kind == yaml.SequenceNode: // expectations are checked as such
		default:
			c.names(value, under, in)
		}
	}
}

func near(name string, known map[string]bool) string {
	if found := faults.Nearest(name, sortedKeys(known)); found != "" {
		return " (do you mean " + found + "?)"
	}
	return ""
}

func (c *checker) steps(steps []Step, path string, in scope) {
	for i := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.names(steps[i].node, at, in)
		c.step(&steps[i], at, in)
	}
}

func (c *checker) step(s *Step, path string, in scope) {
	switch {
	case s.Set != nil:
		c.settings(s.Set, path+".set")
	case s.Fault != nil:
		c.fault(s, path+".fault", in)
	case s.Clear != nil:
		c.clear(s, path+".clear", in)
	case s.Call != nil:
		c.call(s.Call, path+".call", in)
	case s.Wait != nil:
		c.call(&s.Wait.Call, path+".wait.call", in)
	case s.Repeat != nil:
		c.repeat(s, path+".repeat", in)
	case s.Mark != "":
		in.marks[s.Mark] = true
	case s.Kubectl != nil && !in.cluster:
		c.fail(s.node, path+".kubectl", "it needs a cluster: put it in the kubernetes half")
	}
	c.expectations(s.Expect, path+".expect", in)
}

func (c *checker) repeat(s *Step, path string, in scope) {
	if times := s.Repeat.Times; !template.MatchString(times) {
		if n, err := strconv.Atoi(times); err != nil || n < 1 || n > maxTimes {
			c.fail(child(s.node, "repeat", "times"), path+".times", "%q is no number from 1 to %d", times, maxTimes)
		}
	}
	inner := in
	inner.names = maps.Clone(in.names)
	inner.names[counter] = true
	c.steps(s.Repeat.Steps, path+".steps", inner)
	// What the last round saved is there afterwards.
	maps.Copy(in.names, inner.names)
	delete(in.names, counter)
}

func (c *checker) settings(settings Settings, path string) {
	for _, s := range settings {
		if c.api == nil || template.MatchString(s.Name) {
			continue
		}
		if err := c.api.CheckCondition(s.Name); err != nil {
			c.fail(&yaml.Node{Line: s.Line}, path+"."+s.Name, "%s", err)
		}
	}
}

func (c *checker) fault(s *Step, path string, in scope) {
	rule, err := s.Fault.rule()
	if err == nil && c.api != nil {
		err = c.api.CheckFault(rule)
	}
	if err != nil {
		c.fail(s.Fault.node, path, "%s", err)
	}
	in.faults[rule.Name] = true
}

func (c *checker) clear(s *Step, path string, in scope) {
	for _, name := range s.Clear {
		if !in.faults[name] {
			c.fail(s.node, path, "no earlier step adds a fault called %s%s", name, near(name, in.faults))
		}
	}
}

func (c *checker) call(call *Call, path string, in scope) {
	var paths []string
	if call.Expect != nil {
		paths = sortedKeys(call.Expect.Fields)
	}
	paths = append(paths, slices.Sorted(maps.Values(call.Save))...)
	c.action(call.node, path, call.Product, call.Action, call.Params, paths)
	for _, name := range sortedKeys(call.Save) {
		if !validName.MatchString(name) || name == counter {
			c.fail(call.node, path+".save."+name, "it is no name for a value: use letters, digits and _, and not n")
		}
		in.names[name] = true
	}
}

func (c *checker) action(node *yaml.Node, path, product, action string, params map[string]Value, paths []string) {
	if c.api == nil || template.MatchString(action) {
		return
	}
	if err := c.api.CheckCall(orSlb(product), action, sortedKeys(params), paths); err != nil {
		c.fail(node, path, "%s", err)
	}
}

func (c *checker) expectations(list []Expectation, path string, in scope) {
	for i := range list {
		e, at := &list[i], fmt.Sprintf("%s[%d]", path, i)
		c.names(e.node, at, in)
		switch {
		case e.Resource != nil:
			c.action(e.node, at+".resource", e.Resource.Product, e.Resource.Action, e.Resource.Params, sortedKeys(e.Resource.Fields))
		case e.Calls != nil && e.Calls.Since != "" && !in.marks[e.Calls.Since]:
			c.fail(e.node, at+".calls.since", "no earlier step makes a mark called %s%s", e.Calls.Since, near(e.Calls.Since, in.marks))
		case e.needsCluster() && !in.cluster:
			c.fail(e.node, at, "it needs a cluster: put it in the kubernetes half")
		}
	}
}

func (e *Expectation) needsCluster() bool {
	return e.Service != nil || e.Event != nil || e.Finalizer != nil
}

func orSlb(product string) string {
	if product == "" {
		return "Slb"
	}
	return product
}
